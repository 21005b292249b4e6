import { BY_SEARCH, byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const PRESERVATION = 'src/domain/preservation';
const RUNS = 'src/controllers/fence/preserved-runs.test.ts';

/** Defects of what a fence heeds of the preservation of its machine. */
export const PRESERVATION_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'a Machine deleted with its volumes',
    defect: 'a Machine is deleted, and its Node with it, while the volumes of that are being detached, which then takes six minutes',
    file: 'src/controllers/preservation/write.ts',
    edits: [['if (attached === 0) return undefined;', 'if (attached >= 0) return undefined;']],
    killedBy: byTest('test/preservation/proof-read-anew.test.ts', 'is deleted when that is detached, for the Node goes with it'),
  },
  {
    name: 'preserved and switched off',
    defect: 'the fence of a preserved machine is not held before power-management',
    file: `${PRESERVATION}.ts`,
    edits: [['if (mayNotWait(status, plan) || isOffByUs(status)) return undefined;', 'return undefined;']],
    killedBy: BY_SEARCH,
  },
  {
    name: 'outage as silence',
    defect: 'the time in which the API server was away counts as silence of the machines',
    file: 'src/controllers/preservation/phase.ts',
    edits: [['return Math.max(sinceMs, freshSinceMs ?? sinceMs);', 'return Math.min(sinceMs, freshSinceMs ?? sinceMs);']],
    killedBy: byTest('test/preservation/outage.test.ts', 'an outage of the API server is no silence of the machines'),
  },
  {
    name: 'outage as a manager that is gone',
    defect:
      'behind an outage of the API server the part of another controller is taken over at once: it could renew nothing in it, and comes back to a second writer',
    file: 'src/manager/detection/activity-tracker.ts',
    edits: [['nowMs - this.#lookedAtMs > OUTAGE_MS', 'nowMs - this.#lookedAtMs > Infinity']],
    killedBy: byTest('src/manager/preservation/mode-gate.test.ts', 'takes no outage of the API server for the quiet of an MCM'),
  },
  {
    name: 'inherited drain',
    defect: 'a condition of an earlier failure is taken for a drain of this one, so that its pods stay',
    file: 'src/controllers/preservation/drain.ts',
    edits: [['preservedMs < phaseSinceMs;', 'preservedMs < 0;']],
    killedBy: byTest('test/preservation/own-mode.test.ts', 'that the node was drained for an earlier failure says nothing of this one'),
  },
  {
    name: 'drain dated by another clock',
    defect: 'a drain counts for a failure by their times, so that one that another clock wrote is drained for again and again, and nobody is told',
    file: 'src/controllers/preservation/drain.ts',
    edits: [['drain.sinceMs !== phaseSinceMs && drain.atMs', 'drain.atMs']],
    killedBy: byTest('test/preservation/clock-set.test.ts', 'drains the node once, and says so'),
  },
  {
    name: 'time of an Unknown machine by dates',
    defect: 'a machine whose node is silent for seconds fails at once where the clock is set ahead, or a replica with such a clock takes over',
    file: 'src/controllers/preservation/phase.ts',
    edits: [['machine.phaseSeenMs ?? ', '']],
    killedBy: byTest('test/preservation/clock-set.test.ts', 'is given its ten minutes, and fails then'),
  },
  {
    name: 'time of a silent node by dates',
    defect: 'a node without a machine fails at once where the clock is set ahead',
    file: 'src/controllers/preservation/phase.ts',
    edits: [['node.readySeenMs ?? ', '']],
    killedBy: byTest('test/preservation/clock-set.test.ts', 'a node without a machine is given its ten minutes'),
  },
  {
    name: 'drain that failed in the future',
    defect: 'a drain that failed is tried again only when the clock, which was set back, has come there once more',
    file: 'src/controllers/preservation/drain.ts',
    edits: [[' && node.drain.atMs <= nowMs ?', ' ?']],
    killedBy: byTest('test/preservation/own-mode.test.ts', 'one that failed by a clock that was set back since is tried again at once'),
  },
  {
    name: 'condition before its failure',
    defect: 'the condition that tells of a drain is dated by a clock that is behind, and is taken for one of an earlier failure',
    file: 'src/controllers/preservation/patch.ts',
    edits: [['Math.max(nowMs, action.sinceMs ?? nowMs)', 'nowMs']],
    killedBy: byTest('test/preservation/clock-set.test.ts', 'drains the node once, and says so'),
  },
  {
    name: 'timeout of 0',
    defect: 'timeoutSeconds: 0 of a Metal3Remediation is over at once, so that the machine is handed to its owner',
    file: 'src/controllers/metal3-remediation/spec.ts',
    edits: [['timeoutSeconds: seconds > 0 ? seconds : DEFAULT_TIMEOUT_MS / 1000,', 'timeoutSeconds: timeoutSeconds ?? DEFAULT_TIMEOUT_MS / 1000,']],
    killedBy: byTest('test/metal3-remediation/timeout-zero.test.ts', 'leaves the host its way back'),
  },
  {
    name: 'timeout of 0 as proposed',
    defect: 'powerOffTimeoutSeconds: 0 of the proposal’s Metal3Remediation is over at once',
    file: 'src/controllers/metal3-remediation/spec.ts',
    edits: [['1000 * (numbers.notNegative(name) ?? 0) || DEFAULT_TIMEOUT_MS;', '1000 * (numbers.notNegative(name) ?? DEFAULT_TIMEOUT_MS / 1000);']],
    killedBy: byTest('test/metal3-remediation/timeout-zero.test.ts', 'counts as not said in the kind of the proposal too'),
  },
  {
    name: 'healthy, preserved and fenced',
    defect: 'a healthy machine that is preserved by now is fenced when somebody asks for it',
    file: `${PRESERVATION}.ts`,
    edits: [["if (kind === 'never-fence')\n", "if (kind === 'never-fence' && status.incident < 0)\n"]],
    killedBy: BY_SEARCH,
  },
  {
    name: 'fenced from a condition',
    defect: 'a fence of a healthy machine that is preserved by now begins from a condition',
    file: `${PRESERVATION}.ts`,
    edits: [["return preservation?.kind === 'never-fence' && plan", "return preservation?.kind === 'drop' && plan"]],
    killedBy: byTest(`${PRESERVATION}.test.ts`, 'a healthy machine that is preserved by now is not fenced from a condition'),
  },
  {
    name: 'deleted and switched on',
    defect: 'a machine whose fence ends in off, or that is being deleted, is switched on all the same',
    file: 'src/domain/advance.ts',
    edits: [["if ((operation.phase === 'on' || operation.phase === 'delete') && status.ending", "if (operation.phase === 'delete' && status.ending"]],
    killedBy: BY_SEARCH,
  },
  {
    name: 'deletion forgotten',
    defect: 'that a Machine is being deleted is not written down, so that the next leader does not know it',
    file: `${PRESERVATION}.ts`,
    edits: [["return isSeen ? { ...status, ending: 'deleted' } : status;", 'return isSeen && status.incident < 0 ? status : status;']],
    killedBy: byTest(`${PRESERVATION}.test.ts`, 'stays so for a leader that has not heard of the deletion'),
  },
  {
    name: 'left off and brought back',
    defect: 'the record of a machine that was left off for good expires, and the silent node is taken for one that has failed',
    file: 'src/domain/rows/final.ts',
    edits: [['&& !isKept(context),', ',']],
    killedBy: byTest(`${PRESERVATION}.test.ts`, 'is kept on record for as long as the node is down: nobody takes it for one that has failed'),
  },
  {
    name: 'guard not asked before the call',
    defect: 'a preservation that comes between the decision and the call is overlooked',
    file: 'src/controllers/fence/guard.ts',
    edits: [['return hold === undefined ? [] : [hold];', 'return hold === undefined ? [] : [];']],
    killedBy: byTest(RUNS, 'before off:off: isolate-and-hold'),
  },
  {
    name: 'looked at too late',
    defect: 'what a preserved machine shows is read only after its ways to storage were closed',
    file: 'src/controllers/fence/run/failure-diagnostics.ts',
    edits: [["=== 'isolate-and-hold';", "=== 'never-fence';"]],
    killedBy: byTest(RUNS, 'is kept before its ways to storage are closed'),
  },
  {
    name: 'a slot for days',
    defect: 'a fence that is held for a look keeps others from being fenced',
    file: 'src/domain/rows/new.ts',
    edits: [["standing.reason === 'preserved' && { slotGivenAway", "standing.reason === '' && { slotGivenAway"]],
    killedBy: byTest(`${PRESERVATION}.test.ts`, 'gives its slot away, whatever holds it later, and takes another with the next call that cuts off'),
  },
  {
    name: 'a slot taken back',
    defect: 'a fence that gave its slot away while its machine was kept goes on beside the one that has it',
    file: 'src/controllers/fence/storm/fence-facts.ts',
    edits: [
      ['if (status.slotGivenAway === true) return false;', "if (status.slotGivenAway === true && status.hold?.reason === 'preserved') return false;"],
    ],
    killedBy: byTest(
      'src/controllers/fence/storm/fence-facts.test.ts',
      'is not had again by another hold that came since, nor when the machine is not kept any more',
    ),
  },
  {
    name: 'left off by its own requester',
    defect: 'a machine whose fence ended in off stays off although who asked for it has taken that back',
    file: 'src/domain/request.ts',
    edits: [['return deleting && spec.ending === undefined ? withEnding(status, undefined) : status;', 'return status;']],
    killedBy: byTest('src/domain/request.test.ts', 'that has ended in off comes back when its request is withdrawn with its ending'),
  },
  {
    name: 'evicted by its name',
    defect: 'a drain evicts whichever pod has the name of the one that it saw',
    file: 'src/controllers/preservation/drain-run.ts',
    edits: [['...(metadata.uid === undefined ? {} : { uid }), ', '']],
    killedBy: byTest(
      'src/controllers/preservation/drain-run.test.ts',
      'leaves the one alone that came back under the same name on another node, and ends',
    ),
  },
  {
    name: 'one hanging eviction',
    defect: 'a drain waits for an eviction that hangs behind a webhook before it asks for the next pods',
    file: 'src/controllers/preservation/drain-run.ts',
    edits: [['await isOverWithin(reach.clock, ANSWER_WAIT_MS, Promise.all(answers));', 'await Promise.all(answers);']],
    killedBy: byTest('src/controllers/preservation/drain-run.test.ts', 'keeps none of the others, is asked once, and is waited for to its end'),
  },
  {
    name: 'hanging eviction repeated',
    defect: 'a drain asks again for a pod whose eviction has not been answered',
    file: 'src/controllers/preservation/drain-run.ts',
    edits: [['!isGoing(pod) && !underWay.has(uidOf(pod)) && ', '!isGoing(pod) && ']],
    killedBy: byTest('src/controllers/preservation/drain-run.test.ts', 'keeps none of the others, is asked once, and is waited for to its end'),
  },
  {
    name: 'drained without grace',
    defect: 'a pod without any grace is evicted late, as if its kubelet had to end it first',
    file: 'src/controllers/preservation/drain-run.ts',
    edits: [['mayBeLate: spec.terminationGracePeriodSeconds !== 0', 'mayBeLate: spec !== null']],
    killedBy: byTest(
      'src/controllers/preservation/drain-run.test.ts',
      'is given up as any other where the pod has no grace: it would be gone at once, ended or not',
    ),
  },
];
