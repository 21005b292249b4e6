import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const DAEMON = 'test/node-daemon/daemon.test.ts';
const TIMES = 'test/node-daemon/times.test.ts';
const ATTESTER = 'src/node/core/attester.test.ts';
const SELF_FENCE = 'src/domain/node-daemon/self-fence.test.ts';
const PEERS = 'src/domain/node-daemon/peers.test.ts';
const DATAGRAM = 'src/domain/node-daemon/datagram.test.ts';
const CHECKS = 'src/node/core/checks.test.ts';
const CHECKED = 'test/node-daemon/checks.test.ts';
const CONDITIONS = 'src/node/core/conditions.test.ts';
const STORAGE_LOSS = 'src/domain/node-daemon/storage-loss.test.ts';
const OLDER_KERNEL = 'src/node/shell/watchdog-older-kernel.test.ts';
const STOPPER = 'src/node/shell/workload/workload-stopper.test.ts';
const WATCHDOG_AGENT = 'agents/watchdog/agent.test.ts';

/** Defects of the node daemon, and of what it shares with the controllers. */
export const NODE_DAEMON_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'pods that are killed unasked',
    defect: 'a node that takes itself down does not ask its containers to end: taking a pod down kills them',
    file: 'src/node/shell/workload/workload-stopper.ts',
    edits: [['containers.filter(({ sandboxID }) => sandboxID === id)', 'containers.filter(() => false)']],
    killedBy: byTest(STOPPER, 'asks each container to end before its pod is taken down'),
  },
  {
    name: 'grace beyond the time of force',
    defect: 'a container has as long to end as its pod says, while the time in which force must begin passes',
    file: 'src/node/shell/workload/workload-stopper.ts',
    edits: [['Math.min(graceSeconds, graceMaxSeconds)', 'graceSeconds']],
    killedBy: byTest(STOPPER, 'asks each container to end before its pod is taken down'),
  },
  {
    name: 'watchdog that was never tried',
    defect: 'a driver of which nothing is known is taken to go on when its process dies',
    file: 'src/node/shell/watchdog-device.ts',
    edits: [['const goesOn = !(await this.#settles(false, TRIED_FOR_MS));', 'const goesOn = true;']],
    killedBy: byTest(OLDER_KERNEL, 'does not where it stood still at that close'),
  },
  {
    name: 'watchdog without options',
    defect: 'a watchdog of a kernel without options in sysfs cannot be used',
    file: 'src/node/shell/watchdog-facts.ts',
    edits: [['Number(options ?? 0)', 'Number(options)']],
    killedBy: byTest(OLDER_KERNEL, 'is hardware that can be used'),
  },
  {
    name: 'controllers that were moved',
    defect: 'a daemon does not look for the controllers sooner when grants cease',
    file: 'src/node/core/controllers-reader.ts',
    edits: [['? CEASED_AGAIN_MS : AGAIN_MS;', '? AGAIN_MS : AGAIN_MS;']],
    killedBy: byTest(DAEMON, 'finds controllers that were moved before it takes itself down, though nobody vouches for it'),
  },
  {
    name: 'self-fence of the stopped',
    defect: 'a daemon that was stopped cleanly says for ever that it takes its node down',
    file: 'src/node/core/daemon.ts',
    edits: [['...(fencesItself && !this.#isEnding ? { selfFence:', '...(fencesItself ? { selfFence:']],
    killedBy: byTest(DAEMON, 'disarms the watchdog at a clean stop after the API server knows'),
  },
  {
    name: 'uninstalled under armed nodes',
    defect: 'the controllers are taken away from nodes that take themselves down without them',
    file: 'src/cli/uninstall/node-daemons.ts',
    edits: [['...(attestation?.selfFence === undefined ? []', '...(attestation !== undefined ? []']],
    killedBy: byTest(
      'src/cli/uninstall/node-daemons.test.ts',
      'are in the way of a node while it fences itself, without a watchdog, and its Lease stays',
    ),
  },
  {
    name: 'times that change',
    defect: 'a daemon takes other times while others count with those that it attested',
    file: 'src/node/core/daemon-times.ts',
    edits: [['if (!this.#isFixed) this.#current = wanted;', 'this.#current = wanted;']],
    killedBy: byTest(TIMES, 'do not change while others count with them: the difference is a problem of its status'),
  },
  {
    name: 'times of the dead',
    defect: 'a daemon that was started anew forgets the times that the killed one attested with an armed watchdog',
    file: 'src/node/core/daemon-times.ts',
    edits: [
      ['this.#current = daemonTiming({ ...this.#own, ...times });', 'this.#current = daemonTiming({ ...times, ...this.#own });'],
      ['    this.#isFixed = true;\n    this.#differ(wanted);', '    this.#differ(wanted);'],
    ],
    killedBy: byTest(TIMES, 'outlive a daemon that was killed while its watchdog was armed'),
  },
  {
    name: 'times that break a rule',
    defect: 'a node that attests times which nobody reckoned with gives evidence',
    file: 'agents/watchdog/judgement.ts',
    edits: [[' ?? timesDoubt(broken(watchdog, selfFence));', ' ?? timesDoubt(broken(watchdog, { ...selfFence, isolationTimeoutMs: 40_000 }));']],
    killedBy: byTest(WATCHDOG_AGENT, 'proves nothing with'),
  },
  {
    name: 'grant from its receipt',
    defect: 'a grant holds from when it came, not from when it was asked for',
    file: 'src/node/core/exchange.ts',
    edits: [['const untilMs = asked.atMs + this.#grantMs;', 'const untilMs = this.#ports.clock.monotonicMs() + this.#grantMs;']],
    killedBy: byTest(DAEMON, 'counts a grant from when it was asked for, however late the answer comes'),
  },
  {
    name: 'grant of anybody',
    defect: 'a node that is no controller may grant',
    file: 'src/node/core/exchange.ts',
    edits: [
      [
        'return isController ? this.#known.controllerKeys.map((key) => this.#macWith(key)).filter((mac) => mac !== undefined) : [];',
        "return [...this.#known.controllerKeys, 'e'.padEnd(43, 'A')].map((key) => this.#macWith(key)).filter((mac) => mac !== undefined);",
      ],
      ["const from = type === 'vouch' ? sender : undefined;", "const from = type === 'vouch' ? sender : asked?.to;"],
    ],
    killedBy: byTest(DAEMON, 'is not kept up by a grant of a node'),
  },
  {
    name: 'vouch of the promised',
    defect: 'a peer that promised to vouch no more goes on',
    file: 'src/node/core/promises.ts',
    edits: [['return this.#promised !== undefined && !this.#promised.has(bootID);', "return this.#promised !== undefined && bootID !== '';"]],
    killedBy: byTest(DAEMON, 'vouches no more once it has promised, and the node goes down though it reaches everybody'),
  },
  {
    name: 'vouch without memory',
    defect: 'a peer vouches though it does not know what it promised',
    file: 'src/node/core/promises.ts',
    edits: [['return this.#promised !== undefined && !this.#promised.has(bootID);', 'return this.#promised?.has(bootID) !== true;']],
    killedBy: byTest(DAEMON, 'vouches for nobody when what it promised before cannot be read'),
  },
  {
    name: 'promise before the disk',
    defect: 'a promise is given before it is on the disk',
    file: 'src/node/core/promises.ts',
    edits: [['      await this.#store.write(new Map(promised));\n', '      void this.#store.write(new Map(promised)).catch(() => undefined);\n']],
    killedBy: byTest(DAEMON, 'gives no promise that is not on its disk, and vouches no more all the same'),
  },
  {
    name: 'attestation put off',
    defect: 'what changed while a write was under way is attested at the next interval',
    file: 'src/node/core/attester.ts',
    edits: [['if (!this.#isClosed && turn === this.#turn)', 'if (!this.#isClosed)']],
    killedBy: byTest(ATTESTER, 'says at once what changed while a write was under way, however soon that is answered'),
  },
  {
    name: 'peers that were sent',
    defect: 'a peer is relied on that an earlier write, which may have arrived, does not name',
    file: 'src/node/core/attester.ts',
    edits: [['isTooMany ? [] : this.#accepted.filter((peer) => peers.includes(peer))', 'isTooMany ? [] : peers']],
    killedBy: byTest(ATTESTER, 'accepts only peers that stand in every write that may have arrived'),
  },
  {
    name: 'attestation refused unnoticed',
    defect: 'an attestation that the API server refused counts as written',
    file: 'src/node/core/attester.ts',
    edits: [['      this.#lease = undefined;\n      return false;', '      return true;']],
    killedBy: byTest(DAEMON, 'attests the peers that it is told of later'),
  },
  {
    name: 'disarmed unknown',
    defect: 'a clean stop disarms the watchdog though the API server still has it armed',
    file: 'src/node/core/daemon.ts',
    edits: [['if (isKnown) await this.#keeper.disarm();', 'if (isKnown || true) await this.#keeper.disarm();']],
    killedBy: byTest(DAEMON, 'stays armed at a clean stop that the API server does not learn of'),
  },
  {
    name: 'armed to the end',
    defect: 'a clean stop disarms the watchdog and attests that it is armed',
    file: 'src/node/core/daemon.ts',
    edits: [["state: this.#isEnding ? 'disarmed' : watchdogState", 'state: watchdogState']],
    killedBy: byTest(DAEMON, 'disarms the watchdog at a clean stop after the API server knows'),
  },
  {
    name: 'daemon without past',
    defect: 'a daemon that is started anew counts from its own start',
    file: 'src/node/core/keeper.ts',
    edits: [
      [
        'if (record?.isArmed === true) this.#keptUntilMs = record.keptUntilMs;',
        'if (record?.isArmed === true) this.#keptUntilMs = this.#ports.clock.monotonicMs();',
      ],
    ],
    killedBy: byTest(DAEMON, 'gives a daemon that is started anew no more time than the one before it had'),
  },
  {
    name: 'feeding a wedged daemon',
    defect: 'the watchdog is fed though a check does not get on',
    file: 'src/node/core/keeper.ts',
    edits: [["    if (stuck !== '') return;\n", '']],
    killedBy: byTest(DAEMON, 'is not fed while a check of the daemon does not get on'),
  },
  {
    name: 'daemon after a sleep',
    defect: 'a machine that slept goes on as if nothing were',
    file: 'src/node/core/keeper.ts',
    edits: [['if (isUnexpected) this.#hasSlept = true;', '']],
    killedBy: byTest(DAEMON, 'goes down at once when it slept though it attested that it cannot'),
  },
  {
    name: 'armed unasked',
    defect: 'the watchdog is opened before anybody keeps the node up',
    file: 'src/node/core/keeper.ts',
    edits: [["if (decision.phase !== 'waiting') this.#open(nowMs);", 'this.#open(nowMs);']],
    killedBy: byTest(DAEMON, 'opens the watchdog with the first grant, attests it, and feeds it as long as grants come'),
  },
  {
    name: 'opened after the stop',
    defect: 'a watchdog that is being opened during a clean stop stays armed with nobody to feed it',
    file: 'src/node/core/keeper.ts',
    edits: [['    await this.#opened;\n', '']],
    killedBy: byTest(DAEMON, 'leaves no watchdog armed that is being opened while it is stopped'),
  },
  {
    name: 'fed as it was asked',
    defect: 'the watchdog is fed by the timeout that was asked for, not by the one that the driver has',
    file: 'src/node/core/keeper.ts',
    edits: [
      [
        'Math.min(this.#options.times.current.feedIntervalMs, (this.#facts?.timeoutMs ?? Number.POSITIVE_INFINITY) / 3)',
        'this.#options.times.current.feedIntervalMs',
      ],
    ],
    killedBy: byTest(DAEMON, 'feeds a driver in time that waits for less than it was asked to'),
  },
  {
    name: 'isolation for ever',
    defect: 'a node that is cut off waits without end',
    file: 'src/domain/node-daemon/self-fence.ts',
    edits: [['if (storageLostAtMs !== undefined || nowMs >= isolationEndsMs) {', 'if (storageLostAtMs !== undefined) {']],
    killedBy: byTest(SELF_FENCE, 'it ended 40 s ago'),
  },
  {
    name: 'stopping from when it was noticed',
    defect: 'a node that noticed late takes the whole time for its pods',
    file: 'src/domain/node-daemon/self-fence.ts',
    edits: [['const endMs = Math.min(latestMs, nowMs + times.podStopMaxMs);', 'const endMs = nowMs + times.podStopMaxMs;']],
    killedBy: byTest(SELF_FENCE, 'nobody looked for 69 s: what is left is for the pods'),
  },
  {
    name: 'a way back',
    defect: 'a node whose pods are being stopped goes on when a grant comes',
    file: 'src/domain/node-daemon/self-fence.ts',
    edits: [['if (stoppingSinceMs !== undefined) {', 'if (stoppingSinceMs !== undefined && nowMs >= (keptUntilMs ?? NEVER_MS)) {']],
    killedBy: byTest(SELF_FENCE, 'a grant comes back too late: no way leads back'),
  },
  {
    name: 'half of the domains',
    defect: 'half of the failure domains is enough to keep a node up',
    file: 'src/domain/node-daemon/peers.ts',
    edits: [['Math.floor(votes.length / 2) + 1', 'Math.max(1, Math.floor(votes.length / 2))']],
    killedBy: byTest(PEERS, 'another rack alone is not'),
  },
  {
    name: 'each peer for itself',
    defect: 'peers of one failure domain count one by one',
    file: 'src/domain/node-daemon/peers.ts',
    edits: [['domains.size > 1 ? [...domains.values()]', 'domains.size > 1 && peers.length === 0 ? [...domains.values()]']],
    killedBy: byTest(PEERS, 'the own rack alone is not, however many are in it'),
  },
  {
    name: 'storage lost by an accident',
    defect: 'two probes that failed take the node down',
    file: 'src/domain/node-daemon/storage-loss.ts',
    edits: [['export const LOST_PROBES_MIN = 3;', 'export const LOST_PROBES_MIN = 2;']],
    killedBy: byTest(STORAGE_LOSS, 'is not lost by two probes that are far enough apart'),
  },
  {
    name: 'storage lost by many probes',
    defect: 'storage is lost by the number of its probes, whatever time they took',
    file: 'src/domain/node-daemon/storage-loss.ts',
    edits: [[' && lost.lastMs - lost.sinceMs >= timeoutMs', ' && timeoutMs > 0']],
    killedBy: byTest(STORAGE_LOSS, 'is not lost by many probes in less than the timeout'),
  },
  {
    name: 'probe that never ran',
    defect: 'a probe that could not be started counts as one that was not answered',
    file: 'src/domain/node-daemon/storage-loss.ts',
    edits: [["if (reach === 'unknown' || !run.hasAnswered)", 'if (!run.hasAnswered)']],
    killedBy: byTest(CHECKED, 'stays up where the probes cannot be started, or do not end'),
  },
  {
    name: 'storage with a wrong name',
    defect: 'storage that was never there is lost',
    file: 'src/domain/node-daemon/storage-loss.ts',
    edits: [["if (reach === 'unknown' || !run.hasAnswered)", "if (reach === 'unknown')"]],
    killedBy: byTest(CHECKED, 'stays up where the storage was never reached since its start, as of a wrong name or in a sandbox'),
  },
  {
    name: 'storage lost while nobody looked',
    defect: 'the time in which nobody probed counts',
    file: 'src/domain/node-daemon/storage-loss.ts',
    edits: [[' || nowMs - lost.lastMs > gapMaxMs', ' || nowMs - lost.lastMs > 10 * gapMaxMs']],
    killedBy: byTest(STORAGE_LOSS, 'is not lost by probes with a gap in which nobody probed'),
  },
  {
    name: 'storage lost in a pause',
    defect: 'probes before and after a pause of the machine are one run',
    file: 'src/node/core/daemon.ts',
    edits: [['      this.#storage?.interrupt();\n', '']],
    killedBy: byTest(CHECKED, 'stays up where the machine was paused meanwhile, until it is lost for a whole minute again'),
  },
  {
    name: 'storage lost unasked',
    defect: 'lost storage takes down a node whose admin did not want that',
    file: 'src/node/core/daemon.ts',
    edits: [
      ['|| !fencesItself || lostMs === undefined) return undefined;', '|| !fencesItself) return undefined;'],
      ['timeoutMs: lostMs, gap', 'timeoutMs: lostMs ?? 60_000, gap'],
    ],
    killedBy: byTest(CHECKED, 'stays up where nobody wants that of it'),
  },
  {
    name: 'cause forgotten',
    defect: 'a daemon that is started anew forgets why it takes its node down',
    file: 'src/node/core/keeper.ts',
    edits: [['    this.#stoppingCause = record?.stoppingCause;\n', '']],
    killedBy: byTest(CHECKED, 'says so though it is started anew while its pods are stopped'),
  },
  {
    name: 'daemon held by a check',
    defect: 'a check that hangs keeps the watchdog from being fed',
    file: 'src/node/core/checks.ts',
    edits: [["    this.#progress.report('checks');\n", "    if (this.#states.every(({ isLate }) => !isLate)) this.#progress.report('checks');\n"]],
    killedBy: byTest(CHECKED, 'is fed though a check hangs'),
  },
  {
    name: 'scheduler that nobody watches',
    defect: 'the watchdog is fed though the scheduler of the checks stands still',
    file: 'src/node/core/checks.ts',
    edits: [["    this.#progress.expect('checks', PROGRESS_LIMIT_MS);\n", '']],
    killedBy: byTest(CHECKS, 'do not get on where their scheduler does not'),
  },
  {
    name: 'hung check begun again',
    defect: 'a check that hangs is begun again and again',
    file: 'src/node/core/checks.ts',
    edits: [['        state.isLate = true;\n', '        state.isLate = true;\n        delete state.startedAtMs;\n']],
    killedBy: byTest(CHECKS, 'that hang are late, are not begun a second time, and hold up neither the others nor the progress of the daemon'),
  },
  {
    name: 'second writer of a condition',
    defect: 'a condition that node-problem-detector writes is written by the daemon too',
    file: 'src/node/core/conditions.ts',
    edits: [['!this.#others.has(condition.type) && ', '']],
    killedBy: byTest(CONDITIONS, 'that somebody else writes are left alone, and it is said once'),
  },
  {
    name: 'condition left as it was',
    defect: 'a problem of which nothing is known any more stands for ever',
    file: 'src/domain/node-daemon/conditions.ts',
    edits: [
      [
        "return status !== 'Unknown' || standing.some((one) => one.type === type && isOurs(type, one.reason));",
        "return status !== 'Unknown' || standing.length < 0 || type.length === 0;",
      ],
    ],
    killedBy: byTest(CONDITIONS, 'of what is not known any more do not stay as they were, be it by an earlier process'),
  },
  {
    name: 'transition at each heartbeat',
    defect: 'a condition that stays as it is seems to change',
    file: 'src/node/core/conditions.ts',
    edits: [['const isSame = before?.status === condition.status && ', 'const isSame = before?.status !== condition.status && ']],
    killedBy: byTest(CONDITIONS, 'that stay as they are have a heartbeat each five minutes, and no transition'),
  },
  {
    name: 'words of a node',
    defect: 'a node writes words for people into the address of its BMC',
    file: 'src/domain/node-daemon/attestation.ts',
    edits: [['!/^[0-9a-f.:]{2,45}$/i.test(address)', 'address.length > 45']],
    killedBy: byTest('src/domain/node-daemon/attestation.test.ts', 'with a BMC whose address is words is not whole'),
  },
  {
    name: 'forged datagram',
    defect: 'a datagram counts whatever its MAC',
    file: 'src/domain/node-daemon/seal.ts',
    edits: [['return difference === 0;', 'return difference >= 0;']],
    killedBy: byTest(DATAGRAM, 'is refused when one bit of it changed'),
  },
  {
    name: 'eligible by the controller',
    defect: 'a peer that the node attested, and that whoever ended the grants left out, needs not promise',
    file: 'src/domain/node-daemon/missing-promises.ts',
    edits: [['[...new Set([...eligible, ...peers])]', '[...new Set([...eligible])]']],
    killedBy: byTest(WATCHDOG_AGENT, 'waits for a peer that the node attested, though whoever ended the grants left it out'),
  },
];
