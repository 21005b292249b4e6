import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const TABLE = 'src/domain/node-daemon/unfencing.test.ts';
const DAEMON = 'test/node-daemon/controllers/unfence.test.ts';
const AGENT = 'agents/unfence/agent.test.ts';
const FENCE = 'src/domain/unfence.test.ts';
const DECISION = 'src/domain/node-daemon/unfencing.ts';

/** Defects of what puts a node's storage registrations back. */
export const UNFENCE_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'unfence of a boot proven shut out',
    defect: 'the boot whose storage was proven closed may register again once the journal has forgotten its off',
    file: 'src/domain/unfence.ts',
    edits: [["  if (evidence.some((item) => item.kind === 'storage-revoked' && item.bootID === bootID)) return true;\n", '']],
    killedBy: byTest(FENCE, 'the boot whose storage was proven closed, by an off that the journal has no more'),
  },
  {
    name: 'unfence before recovery',
    defect: 'a node is permitted to put its registrations back while its fence has failed',
    file: 'src/domain/unfence.ts',
    edits: [["status.state !== 'done' || status.step !== 'recovery'", "status.step !== 'recovery'"]],
    killedBy: byTest(FENCE, 'in a recovery that is not reached yet'),
  },
  {
    name: 'registered on some devices',
    defect: 'a way counts as open that the node has registered at on fewer devices than were closed',
    file: 'src/domain/unfence.ts',
    edits: [[' && named.length === devices;', ' && named.length > 0;']],
    killedBy: byTest(FENCE, 'tells what it closed as open or not where it registered on more devices'),
  },
  {
    name: 'registered too late, told as open',
    defect: 'a way counts as open although the daemon never said that it had registered',
    file: 'src/domain/unfence.ts',
    edits: [["(result === 'succeeded' || result === 'found-done')", 'result !== undefined']],
    killedBy: byTest(FENCE, 'tells what it closed as open or not where its daemon was too late'),
  },
  {
    name: 'unfence without a permit',
    defect: 'a daemon that starts registers its node by itself',
    file: DECISION,
    edits: [
      [
        'if (permit === undefined || permit.bootID !== bootID || permit.epoch < newestEpoch || permit.untilMs <= nowMs)',
        'if (permit !== undefined && (permit.bootID !== bootID || permit.epoch < newestEpoch || permit.untilMs <= nowMs))',
      ],
    ],
    killedBy: byTest(TABLE, 'no permit'),
  },
  {
    name: 'unfence of the old boot',
    defect: 'a permit for another boot counts',
    file: DECISION,
    edits: [['permit.bootID !== bootID || ', '']],
    killedBy: byTest(TABLE, 'a permit of an older boot'),
  },
  {
    name: 'unfence by an older leader',
    defect: 'a permit of an earlier term counts after one of a later term',
    file: DECISION,
    edits: [['permit.epoch < newestEpoch || ', '']],
    killedBy: byTest(TABLE, 'a permit of an older leader'),
  },
  {
    name: 'unfence after the permit',
    defect: 'a permit holds for ever',
    file: DECISION,
    edits: [[' || permit.untilMs <= nowMs', '']],
    killedBy: byTest(TABLE, 'a permit that is over'),
  },
  {
    name: 'unfence at a restart',
    defect: 'a boot that was shut out registers again, as after a restart of its daemon',
    file: DECISION,
    edits: [["if (!record.lacks) return { step: 'failed'", "if (record.lacks === undefined) return { step: 'failed'"]],
    killedBy: byTest(DAEMON, 'registers no more in a boot that had its registrations and lost them'),
  },
  {
    name: 'unfence unannounced',
    defect: 'a daemon registers before it has said that it may',
    file: DECISION,
    edits: [["isAnnounced ? 'register' : 'announce'", "isAnnounced ? 'register' : 'register'"]],
    killedBy: byTest(TABLE, 'not announced'),
  },
  {
    name: 'unfence unacknowledged',
    defect: 'a daemon registers before the API server has its word that it may',
    file: 'src/node/core/unfencer.ts',
    edits: [[' && this.#hooks.acknowledged() === this.#attested', '']],
    killedBy: byTest(DAEMON, 'begins nothing before the API server has its word'),
  },
  {
    name: 'ready without a look',
    defect: 'ready to recover is attested without reading the keys back',
    file: 'src/node/core/unfencer.ts',
    edits: [["this.#found = 'unread';\n    this.#hasRegistered = true;", "this.#found = 'registered';\n    this.#hasRegistered = true;"]],
    killedBy: byTest(DAEMON, 'says that it registers before it does, and that it is ready when it has read it back'),
  },
  {
    name: 'permit for any boot',
    defect: 'the leader permits whichever boot is heard',
    file: 'src/controllers/node-daemons/permits.ts',
    edits: [['return permit?.bootID === now.bootID && permit.epoch', 'return permit !== undefined && permit.epoch']],
    killedBy: byTest(DAEMON, 'is permitted nothing for another boot, after the permit was withdrawn, or by a replica that does not lead'),
  },
  {
    name: 'permit to another boot',
    defect: 'a daemon takes a permit that names another boot for its own',
    file: 'src/node/core/exchange.ts',
    edits: [[' || subject !== node || subjectBootID !== bootID) return;\n    this.#hooks.permitted', ') return;\n    this.#hooks.permitted']],
    killedBy: byTest(DAEMON, 'takes no permit for another boot or node, and none that answers nothing it asked lately'),
  },
  {
    name: 'ready for another run',
    defect: 'what answers an earlier run is taken for the answer to this one',
    file: 'agents/unfence/agent.ts',
    edits: [["'ready to recover' && fence === asked.fence && run === asked.run", "'ready to recover' && fence === asked.fence"]],
    killedBy: byTest(AGENT, 'does not take for ready: another run'),
  },
  {
    name: 'ready for another fence',
    defect: 'what answers another fence is taken for the answer to this one',
    file: 'agents/unfence/agent.ts',
    edits: [["'ready to recover' && fence === asked.fence && run === asked.run", "'ready to recover' && run === asked.run"]],
    killedBy: byTest(AGENT, 'does not take for ready: another fence'),
  },
  {
    name: 'unfence under a stop',
    defect: 'a permit stands on after a person said stop',
    file: 'agents/unfence/agent.ts',
    edits: [['if (stop !== undefined) throw', 'if (stop === undefined && stops.length > 0) throw']],
    killedBy: byTest(AGENT, 'is withdrawn when a person says stop'),
  },
  {
    name: 'unfence of the shut out',
    defect: 'the boot that was shut out of its storage is permitted to register again',
    file: 'src/domain/unfence.ts',
    edits: [['if (wasShutOut(bootID, status))', "if (wasShutOut('', status))"]],
    killedBy: byTest(FENCE, 'the boot that was shut out'),
  },
  {
    name: 'evidence that outlives the permit',
    defect: 'evidence that storage is revoked stands when the node may register again',
    file: 'src/domain/advance.ts',
    edits: [
      [
        "if (entry.agent === 'unfence') {\n    written.evidence =",
        "if (entry.agent === 'unfence') {\n    written.history = status.history;\n    const _void =",
      ],
    ],
    killedBy: byTest(FENCE, 'voids the evidence in the write that announces it'),
  },
  {
    name: 'release while it registers',
    defect: 'pods are released on revoked storage while a daemon may be registering its node',
    file: 'src/controllers/fence/run/own-operations.ts',
    edits: [["if (doubt !== undefined) return { result: 'voided', message: doubt };", '']],
    killedBy: byTest(
      'src/controllers/fence/run/own-operations.test.ts',
      'releases nothing on revoked storage while the daemon of the node may register again',
    ),
  },
];
