import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const CONTROLLER = 'src/controllers/probes/controller.test.ts';
const AHEAD = 'src/controllers/probes/ahead.test.ts';
const RECORD = 'src/controllers/probes/record.test.ts';

const BEHIND_CALLS = 'src/controllers/shared/prober-behind-calls.ts';
const WAITS = 'waits for the deadline of a call that a former leader left open, whatever it is for, and then goes on';

/** Defects of the probes of fence paths. */
export const PROBE_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'read beside a call of a former leader',
    defect: 'fast detection reads a device that a call of a former leader may still reach',
    file: 'src/manager/compose.ts',
    edits: [['fences: listers.fences, leadership: elector });', 'fences: { all: () => [] }, leadership: elector });']],
    killedBy: byTest(
      'test/node-daemon/controllers/reads-behind-calls.test.ts',
      'is not read while a call of the former leader to its device may still arrive',
    ),
  },
  {
    name: 'connected beside a call of a former leader',
    defect: 'a device is connected for a fence while a call of a former leader may still reach it',
    file: BEHIND_CALLS,
    edits: [['if (!this.#isAwaited(request)) await', 'await']],
    killedBy: byTest('src/controllers/shared/prober-behind-calls.test.ts', WAITS),
  },
  {
    name: 'waits for ever for a former leader',
    defect: 'the wait for a call of a former leader begins anew at each look',
    file: BEHIND_CALLS,
    edits: [['this.#seenAtMs.get(key) ?? nowMs', 'nowMs']],
    killedBy: byTest('src/controllers/shared/prober-behind-calls.test.ts', WAITS),
  },
  {
    name: 'one device of a node',
    defect: 'what one device of a node shows drops what its others showed',
    file: 'src/controllers/probes/controller.ts',
    edits: [['entryAfter(known), paths, now)', 'entryAfter(known), [path], now)']],
    killedBy: byTest(
      'src/controllers/probes/several-devices.test.ts',
      'probes keep what every device of a node showed, until no plan names it any more',
    ),
  },
  {
    name: 'survey in one turn',
    defect: 'the plans of all nodes are made in one turn of the process: with thousands a failed node waits for a second',
    file: 'src/controllers/shared/in-turns.ts',
    edits: [['const AT_ONCE = 64;', 'const AT_ONCE = 6_400;']],
    killedBy: byTest('src/controllers/shared/in-turns.test.ts', 'leaves others their turn among thousands: no turn takes more than 64'),
  },
  {
    name: 'survey without end',
    defect: 'a look at all nodes goes on for a controller that has stopped',
    file: 'src/controllers/shared/in-turns.ts',
    edits: [['    this.#cancel?.();\n    this.#cancel = undefined;', '    this.#cancel = undefined;']],
    killedBy: byTest('src/controllers/shared/in-turns.test.ts', 'is over when it is closed: nobody else is looked at, and no end is told'),
  },
  {
    name: 'probe beside a fence',
    defect: 'a device is probed while its node is fenced',
    file: 'src/controllers/probes/controller.ts',
    edits: [['&& !this.#busy.has(path) && !this.#isFenced(path.node));', '&& !this.#busy.has(path));']],
    killedBy: byTest(CONTROLLER, 'are the leader’s alone, and leave a node alone that is being fenced'),
  },
  {
    name: 'probe into a fence',
    defect: 'what a device shows during a fence is recorded as its health',
    file: 'src/controllers/probes/controller.ts',
    edits: [['if (answer === undefined || this.#isFenced(path.node)) return;', 'if (answer === undefined) return;']],
    killedBy: byTest(CONTROLLER, 'tell nothing of what a device showed while its node began to be fenced'),
  },
  {
    name: 'probe without a lease',
    defect: 'a replica that does not lead probes devices',
    file: 'src/controllers/probes/controller.ts',
    edits: [['if (!leadership.isLeading) {', 'if (!leadership.isLeading && this.#paths.all.length < 0) {']],
    killedBy: byTest(CONTROLLER, 'are the leader’s alone, and leave a node alone that is being fenced'),
  },
  {
    name: 'probe recorded late',
    defect: 'a replica that has lost its Lease records what it read',
    file: 'src/controllers/probes/controller.ts',
    edits: [['if (this.#stopping.signal.aborted || !this.#dependencies.leadership.isLeading) return;', '']],
    killedBy: byTest(CONTROLLER, 'write nothing of what was read for a replica that has lost its Lease meanwhile'),
  },
  {
    name: 'probe told at once',
    defect: 'one lost answer breaks a path',
    file: 'src/controllers/probes/controller.ts',
    edits: [['const FAILURES_TO_TELL = 2;', 'const FAILURES_TO_TELL = 1;']],
    killedBy: byTest(CONTROLLER, 'take one lost answer for nothing'),
  },
  {
    name: 'probes without measure',
    defect: 'all devices of a fleet are read at once',
    file: 'src/controllers/probes/controller.ts',
    edits: [['const room = Math.min(BEGUN_MAX, UNDER_WAY_MAX - this.#underWay.size);', 'const room = Infinity;']],
    killedBy: byTest(CONTROLLER, 'never have more than 16 reads under way, whatever hangs'),
  },
  {
    name: 'probe of another identity',
    defect: 'a probe does not compare the machine with what was recorded of the Node',
    file: 'src/controllers/probes/controller.ts',
    edits: [['systemUUID: identity?.systemUUID ?? node.status.nodeInfo?.systemUUID,', 'systemUUID: undefined as string | undefined,']],
    killedBy: byTest(CONTROLLER, 'ask with the identity that was recorded while the node was healthy'),
  },
  {
    name: 'connection opened in mode observe',
    defect: 'in mode observe devices are called before an off that never comes',
    file: 'src/controllers/probes/controller.ts',
    edits: [["if (this.#dependencies.options.mode === 'enforce') this.#warm(nowMs);", 'this.#warm(nowMs);']],
    killedBy: byTest(
      CONTROLLER,
      'are opened before the first off of a fence, of its node alone, every half minute; by the leader, and where something is switched',
    ),
  },
  {
    name: 'all silent nodes are suspects',
    defect: 'where an API server hears nobody the devices of a whole fleet are called',
    file: 'src/controllers/probes/controller.ts',
    edits: [['if (found.size > SUSPECTS_MAX) return NOBODY;', '']],
    killedBy: byTest(AHEAD, 'are opened to the device of a node that has missed a renewal, every half minute for a minute, and not where many have'),
  },
  {
    name: 'connection at once in mode observe',
    defect: 'in mode observe the devices of a node that fails are called',
    file: 'src/controllers/probes/controller.ts',
    edits: [["options.mode !== 'enforce' || ", '']],
    killedBy: byTest(AHEAD, 'are opened in the turn in which a node fails whose off follows at once, beside the writes of its records'),
  },
  {
    name: 'connection of a held fence',
    defect: 'a fence that is held has its devices called again and again',
    file: 'src/controllers/probes/warming.ts',
    edits: [['status.hold !== undefined || ', '']],
    killedBy: byTest('src/controllers/probes/warming.test.ts', 'is not near of one that is held'),
  },
  {
    name: 'busy device counted as read',
    defect: 'a device that was busy is looked at again only in its turn',
    file: 'src/controllers/probes/controller.ts',
    edits: [['(answer === undefined ? Math.min(AGAIN_MS, path.intervalMs) : path.intervalMs)', 'path.intervalMs']],
    killedBy: byTest(CONTROLLER, 'know nothing of a device that was busy, and come back soon'),
  },
  {
    name: 'broken path forgotten',
    defect: 'a broken path of a former leader counts as working',
    file: 'src/controllers/probes/controller.ts',
    edits: [["return recorded?.path === 'broken' ? {", "return recorded?.path === 'working' && recorded.plug === '?' ? {"]],
    killedBy: byTest(CONTROLLER, 'do not take a path that a leader before found broken for working until it was read anew'),
  },
  {
    name: 'broken path told again',
    defect: 'a broken path is told with every probe',
    file: 'src/controllers/probes/controller.ts',
    edits: [["if (entry.path === 'broken' && before?.path !== 'broken')", "if (entry.path === 'broken')"]],
    killedBy: byTest(CONTROLLER, 'tell once that a path is broken, after a second look half a minute later, and once that it is healed'),
  },
  {
    name: 'healed untold',
    defect: 'nobody is told that a path works again',
    file: 'src/controllers/probes/controller.ts',
    edits: [
      ["if (entry.path === 'working' && before?.path === 'broken') this.#emit", "if (entry.path === 'working' && before === undefined) this.#emit"],
    ],
    killedBy: byTest(CONTROLLER, 'read a broken path again as soon as the configuration has changed, and only that'),
  },
  {
    name: 'certificate ends untold',
    defect: 'nobody is told that a certificate ends',
    file: 'src/controllers/probes/record.ts',
    edits: [['path.expiresAtMs - wallMs <= EXPIRES_SOON_MS', 'path.expiresAtMs - wallMs <= 0']],
    killedBy: byTest(CONTROLLER, 'warn once of a certificate that ends within three weeks, and show the time that is left'),
  },
  {
    name: 'later end',
    defect: 'of certificate and credential the later end counts',
    file: 'src/controllers/probes/record.ts',
    edits: [['Math.min(...ends);', 'Math.max(...ends);']],
    killedBy: byTest(RECORD, 'end with the first of both'),
  },
  {
    name: 'one plug of several well',
    defect: 'one working plug makes the condition of a node with a broken one true',
    file: 'src/controllers/probes/record.ts',
    edits: [["const value = broken.length === 0 ? 'True' : 'False';", "const value = broken.length < devices.length ? 'True' : 'False';"]],
    killedBy: byTest(RECORD, 'is not well while one of them cannot be used'),
  },
  {
    name: 'entries of all that ever was',
    defect: 'the report keeps devices that are no more',
    file: 'src/controllers/probes/record.ts',
    edits: [['(status.devices ?? []).filter((device) => paths.some((path) => isOf(device, path)));', '(status.devices ?? []);']],
    killedBy: byTest(CONTROLLER, 'forget devices that the configuration names no more'),
  },
  {
    name: 'not hurried',
    defect: 'a mended configuration is probed in its turn',
    file: 'src/controllers/probes/controller.ts',
    edits: [['if (isReconfigured) this.#hurry(nowMs);', '']],
    killedBy: byTest(CONTROLLER, 'read a broken path again as soon as the configuration has changed, and only that'),
  },
];
