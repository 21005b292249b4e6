import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const SHELL_TEST = 'test/remedies/shell.test.ts';
const COME_BACK_TEST = 'test/remedies/come-back.test.ts';
const FENCED_TEST = 'test/remedies/fenced.test.ts';
const NODES = 'src/controllers/remedies/nodes.ts';
const OBSERVE = 'src/controllers/remedies/observe.ts';
const PERFORM = 'src/controllers/remedies/perform.ts';
const JOB_RUNS = 'src/controllers/remedies/runs/job-runs.ts';
const JOB_RUNS_TEST = 'src/controllers/remedies/runs/job-runs.test.ts';
const FENCE_RUNS = 'src/controllers/remedies/runs/fence-runs.ts';
const REMEDIED = 'src/domain/policies/remedied.ts';
const REMEDIED_TEST = 'src/domain/policies/remedied.test.ts';
const READ_NO_DEVICE = 'read no device while a call of its fence to one may still arrive, and say so; nor while the fence is after the node';

/** Defects of the controller of remedies. */
export const REMEDY_CONTROLLER_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'predecessor forgotten at first sight',
    defect: 'a new leader counts what remedies of its predecessor do no more once it has seen their nodes, and begins more than storm policies admit',
    file: 'src/controllers/remedies/nodes.ts',
    edits: [['if (known !== undefined && known.nodeUID !== uid) this.#forget(name);', 'if (known?.nodeUID !== uid) this.#forget(name);']],
    killedBy: byTest('test/remedies/predecessor.test.ts', 'what a predecessor began is counted also while /api/v1/nodes/a cannot be read'),
  },
  {
    name: 'attempts of another Node',
    defect: 'a Node that is made anew under its name goes on with the attempts of the one before, or waits for the person who was asked about that',
    file: 'src/controllers/remedies/status.ts',
    edits: [
      ['return written !== undefined && nodeUID !== undefined && written !== nodeUID;', 'return written !== undefined && nodeUID === undefined;'],
    ],
    killedBy: byTest('test/remedies/made-anew.test.ts', 'does so also where another controller takes over that never saw the one before'),
  },
  {
    name: 'memory of another Node',
    defect: 'what this process knows of a Node is held against the one that is made anew under its name',
    file: 'src/controllers/remedies/nodes.ts',
    edits: [['if (known !== undefined && known.nodeUID !== uid) this.#forget(name);', '']],
    killedBy: byTest('test/remedies/made-anew.test.ts', 'begins with its first attempt where the watch shows it in place of the one before'),
  },
  {
    name: 'request of another Node',
    defect: 'what a remedy asked for a Node that is gone fences the one that is made anew under its name',
    file: 'src/controllers/remedies/nodes.ts',
    edits: [['isOfAnother(report, node.metadata.uid) ? orphan : undefined', 'undefined as typeof orphan']],
    killedBy: byTest('test/remedies/made-anew.test.ts', 'is not fenced by what a remedy asked for the one before'),
  },
  {
    name: 'release of a remedy unread',
    defect: 'pods are deleted at once of a node whose remedy asks for evictions under their budgets',
    file: 'src/controllers/remedies/perform.ts',
    edits: [['...(mode !== undefined && { release: mode }),', "...(mode === 'none' && { release: mode }),"]],
    killedBy: byTest('test/remedies/shell.test.ts', 'are let go of by whatever way the remedy names'),
  },
  {
    name: 'remedy unwritten',
    defect: 'what was decided is done before it stands written',
    file: NODES,
    edits: [['if (isChanged || mustBeWritten(', 'if (!isChanged && mustBeWritten(']],
    killedBy: byTest(SHELL_TEST, 'waits the period, begins one Job, and tells what it does'),
  },
  {
    name: 'quick pod unnamed',
    defect: 'the Node does not name a pod of a remedy that ended before it was seen to run',
    file: NODES,
    edits: [['...annotations(node, podOfEnded(found))', '']],
    killedBy: byTest(SHELL_TEST, 'escalates when a remedy has failed, and asks a person when all have'),
  },
  {
    name: 'remedy written by a watch',
    defect: 'what stood written before, and stands in a watch that lags, is not written again',
    file: NODES,
    edits: [['listers: { reports: { get: () => report } }', 'listers: this.#given.listers']],
    killedBy: byTest('test/remedies/lagging-watch.test.ts', 'is written also when a watch of reports that lags shows the same, of before'),
  },
  {
    name: 'deleted Job begun again',
    defect: 'a Job that was begun and deleted before it was written down as seen is created again',
    file: JOB_RUNS,
    edits: [[" && position.phase === 'running' ? 'absent'", " ? 'absent'"]],
    killedBy: byTest(JOB_RUNS_TEST, 'is not begun again when its Job was seen, and a person deleted it, though the answer to its creation was lost'),
  },
  {
    name: 'Job begun unheard',
    defect: 'a Job whose creation was not answered, and that was seen since, counts as not begun',
    file: JOB_RUNS,
    edits: [["    if (job !== undefined && job !== 'another') memory.begins(context.run);\n", '']],
    killedBy: byTest(JOB_RUNS_TEST, 'is not begun again when its Job was seen, and a person deleted it, though the answer to its creation was lost'),
  },
  {
    name: 'cordon of a fence lifted by a remedy',
    defect: 'a recovery takes the cordon away that a fence set after a person had uncordoned',
    file: 'src/ports/cordon-marks.ts',
    edits: [['other !== mark && annotations[other] !== undefined', 'other !== mark && annotations[other] === mark']],
    killedBy: byTest('src/controllers/remedies/cordon.test.ts', 'stays where another of us set one after a person had taken ours away'),
  },
  {
    name: 'remedy forgotten at a take-over',
    defect: 'a new leader does not go on from what is written down',
    file: 'src/controllers/remedies/memory.ts',
    edits: [['    this.#states = written.states;\n', '']],
    killedBy: byTest(SHELL_TEST, 'while its Job runs: the next one finds it, and counts its end'),
  },
  {
    name: 'remedy decided under a stop',
    defect: 'a remedy begins although it was not asked whether it may',
    file: OBSERVE,
    edits: [['    holds,\n', '    holds: [],\n']],
    killedBy: byTest(SHELL_TEST, 'a stop keeps one from beginning, and is told once'),
  },
  {
    name: 'remedies at once',
    defect: 'a remedy that begins is not counted in the turn in which it begins',
    file: PERFORM,
    edits: [['if (!isRecovery) stages.begins(name, clock.monotonicMs());', '']],
    killedBy: byTest('src/controllers/remedies/perform.test.ts', 'counts a remedy in the turn in which it begins'),
  },
  {
    name: 'remedy in observe',
    defect: 'a remedy begins in mode observe',
    file: 'src/controllers/remedies/permission.ts',
    edits: [["this.#dependencies.mode === 'observe'", "this.#dependencies.mode === ('never' as string)"]],
    killedBy: byTest(SHELL_TEST, 'in mode observe nothing begins, and it is said what would'),
  },
  {
    name: 'remedy that outlives a fence',
    defect: 'a fence of the node does not end its remedy',
    file: OBSERVE,
    edits: [['fence: openFence(fence),', 'fence: openFence(undefined),']],
    killedBy: byTest(SHELL_TEST, 'a fence of the node takes over: the Job is ended, and nothing begins while it is open'),
  },
  {
    name: 'pods of a silent node evicted',
    defect: 'a node whose kubelet is silent counts as alive',
    file: 'src/controllers/remedies/presence.ts',
    edits: [["if (ready !== 'Unknown' && !isSilent(dependencies, node)) return { kind: 'alive' };", "return { kind: 'alive' };"]],
    killedBy: byTest(SHELL_TEST, 'are let go of a silent node only when its devices read off, by a fence that ends in off'),
  },
  {
    name: 'pods that come back by the clock',
    defect: 'which pods stood there is told by times of creation alone: where the clock is set back, they are evicted again and again',
    file: 'src/controllers/remedies/memory.ts',
    edits: [['const standing = known ?? new Set(', 'const standing = new Set(']],
    killedBy: byTest(COME_BACK_TEST, 'stay when they come back, by clean-pods, also where the clock of the API server is set back meanwhile'),
  },
  {
    name: 'device read in the wait for a call',
    defect: 'a remedy reads a device while a call of a predecessor to it may still arrive',
    file: OBSERVE,
    edits: [['callUnderWay(fence) ?? ', 'callUnderWay(undefined) ?? ']],
    killedBy: byTest(FENCED_TEST, READ_NO_DEVICE),
  },
  {
    name: 'device read for nothing',
    defect: 'a remedy reads the devices of a node that a fence is after',
    file: OBSERVE,
    edits: [[' && holds.length === 0;', ';']],
    killedBy: byTest(FENCED_TEST, READ_NO_DEVICE),
  },
  {
    name: 'any reading is off',
    defect: 'pods are released although a device reads on',
    file: 'src/controllers/remedies/presence.ts',
    edits: [["if (answer?.state !== 'off') {", "if (answer?.state === 'pending') {"]],
    killedBy: byTest(SHELL_TEST, 'are let go of a silent node only when its devices read off, by a fence that ends in off'),
  },
  {
    name: 'remedy over while its pod runs',
    defect: 'the next remedy begins while a pod of the last one may still act',
    file: JOB_RUNS,
    edits: [
      [
        "if (!(await this.#jobs.isQuiet(intent, job?.metadata.uid ?? '')))",
        "if (!(await this.#jobs.isQuiet(intent, 'nobody')) && job !== undefined)",
      ],
    ],
    killedBy: byTest(SHELL_TEST, 'a Job that hangs is ended in time, and counts as failed'),
  },
  {
    name: 'job of a node that is gone',
    defect: 'the Job of a Node that was deleted goes on',
    file: NODES,
    edits: [['if (!isFinished(job) && !uids.has(nodeOfJob(job)))', 'if (!isFinished(job) && uids.has(nodeOfJob(job)))']],
    killedBy: byTest(SHELL_TEST, 'the Job of a Node that is deleted is ended'),
  },
  {
    name: 'isolation that goes on',
    defect: 'storage-fence asks for a whole fence',
    file: FENCE_RUNS,
    edits: [["return { lastStep: 'isolation' };", 'return {};']],
    killedBy: byTest(FENCED_TEST, 'storage-fence asks for isolation alone, and is done when the node is isolated; the request stands'),
  },
  {
    name: 'remedy beside its own fence',
    defect: 'the next remedy begins while the fence of the last one is after the node',
    file: FENCE_RUNS,
    edits: [['&& status?.hold?.policy === ISOLATION_ONLY;', '&& status !== undefined;']],
    killedBy: byTest(FENCED_TEST, 'goes through nothing more while the fence is after the node by itself, and says so'),
  },
  {
    name: 'typing error forgets',
    defect: 'a Configuration with an error makes what was under way forgotten',
    file: 'src/domain/remedy/rows-fence.ts',
    edits: [
      [
        'threshold === undefined && isIncomplete === true',
        'threshold === undefined && isIncomplete === undefined && state.position.phase === undefined',
      ],
    ],
    killedBy: byTest(FENCED_TEST, 'a Configuration with an error ends nothing and begins nothing, and what was under way goes on when it is mended'),
  },
  {
    name: 'request of nobody',
    defect: 'a request whose remedies are configured no more stands for ever',
    file: OBSERVE,
    edits: [['if (requestedBy?.kind !== kind) return false;', 'return false;']],
    killedBy: byTest(FENCED_TEST, 'a request whose remedies are configured no more is withdrawn'),
  },
  {
    name: 'remedies uncounted',
    defect: 'nodes under a remedy count as healthy',
    file: REMEDIED,
    edits: [["return { ...node, health: 'failed' };", 'return node;']],
    killedBy: byTest(REMEDIED_TEST, 'max-unhealthy: one more than 40 percent'),
  },
  {
    name: 'remedies without slots',
    defect: 'a remedy that runs holds no slot',
    file: REMEDIED,
    edits: [['fence: { ...fence, holdsSlot: true }', 'fence']],
    killedBy: byTest(REMEDIED_TEST, 'max-concurrent: one that runs holds a slot, also beside a fence; whoever holds one goes on'),
  },
  {
    name: 'drained by a remedy',
    defect: 'a node that a remedy has drained counts as somebody else’s work, and is never fenced',
    file: 'src/controllers/fence/storm/node-roster.ts',
    edits: [[' || annotations[CORDON_BY_REMEDY] !== undefined', '']],
    killedBy: byTest(
      'src/controllers/fence/storm/storm.test.ts',
      'takes what an earlier fence of the node left cordoned for ours: nobody has the node in hand',
    ),
  },
  {
    name: 'pod that comes back',
    defect: 'a pod that comes back to the node is evicted again, as often as it does',
    file: 'src/controllers/remedies/memory.ts',
    edits: [['<= Date.parse(podsUntil);', '<= Infinity;']],
    killedBy: byTest(COME_BACK_TEST, 'are evicted once each: those that come back to the node stay, also under another controller, and are told'),
  },
  {
    name: 'cleaned for ever',
    defect: 'clean-resource does not keep which pods stood there, and evicts each that comes later',
    file: 'src/domain/remedy/rows-run.ts',
    edits: [['{ cleans: run.of, podsUntil: newestPod }', '{ cleans: run.of }']],
    killedBy: byTest(COME_BACK_TEST, 'are let go once each by clean-resource'),
  },
  {
    name: 'evictions unasked',
    defect: 'a remedy that evicts without a cordon of its own begins unasked, and no other node counts it',
    file: 'src/controllers/remedies/runs/node-runs.ts',
    edits: [['    if (!hasAsked) mayBegin();\n', '    if (hasAsked) mayBegin();\n']],
    killedBy: byTest(SHELL_TEST, 'a storm policy keeps them, and counts those of other nodes in the turn in which they begin: clean-pods'),
  },
];
