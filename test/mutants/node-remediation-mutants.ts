import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const NODE_REMEDIATION_SHELL = 'test/node-remediation/shell.test.ts';
const REMOVAL = 'test/node-remediation/removal.test.ts';
const REQUEST = 'test/node-remediation/request.test.ts';
const LOST = 'test/node-remediation/lost.test.ts';
const PLACE = 'src/controllers/shared/remediation/place.ts';
const PLACE_TEST = 'src/controllers/shared/remediation/place.test.ts';

/** Defects of what carries out a NodeFenceRemediation. */
export const NODE_REMEDIATION_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'removal against a stop',
    defect: 'a Node is deleted for good although a stop stands',
    file: 'src/controllers/node-remediation/node-removal.ts',
    edits: [['if (stop !== undefined) throw new Conflict(stop);', '']],
    killedBy: byTest(NODE_REMEDIATION_SHELL, 'stays while a person has stopped it'),
  },
  {
    name: 'removal without proof',
    defect: 'a Node is deleted for good although its fence holds no proof any more',
    file: 'src/controllers/node-remediation/node-removal.ts',
    edits: [['fence?.metadata.uid !== named.uid || !fenceFactsOf(fence).isOff)', 'fence?.metadata.uid !== named.uid)']],
    killedBy: byTest(REMOVAL, 'is not done when the proof was taken away meanwhile'),
  },
  {
    name: 'removal by another fence',
    defect: 'a Node is deleted for good on the proof of another NodeFence of its name',
    file: 'src/controllers/node-remediation/node-removal.ts',
    edits: [['fence?.metadata.uid !== named.uid || !', 'fence === undefined || !']],
    killedBy: byTest(REMOVAL, 'is not done on the proof of another fence that has its name now'),
  },
  {
    name: 'removal of another Node',
    defect: 'a Node that has come anew under the name is deleted for good',
    file: 'src/controllers/node-remediation/node-removal.ts',
    edits: [['node?.metadata.uid !== target.uid || node.metadata.uid !== fence.status?.frozen?.nodeUID', 'node?.metadata.uid !== target.uid']],
    killedBy: byTest(REMOVAL, 'is not done to a Node that came under the name after the fence'),
  },
  {
    name: 'removal of a living one',
    defect: 'a Node that is Ready is deleted for good',
    file: 'src/controllers/node-remediation/node-removal.ts',
    edits: [['if (isAlive(node, proof?.bootID)) throw', 'if (isAlive(node, proof?.bootID) && stop !== undefined) throw']],
    killedBy: byTest(NODE_REMEDIATION_SHELL, 'is Ready'),
  },
  {
    name: 'removal of another boot',
    defect: 'a Node that has started since its off is deleted for good',
    file: 'src/controllers/node-remediation/node-removal.ts',
    edits: [
      ['return isReady || (bootID !== undefined && status.nodeInfo?.bootID !== undefined && status.nodeInfo.bootID !== bootID);', 'return isReady;'],
    ],
    killedBy: byTest(NODE_REMEDIATION_SHELL, 'has another boot'),
  },
  {
    name: 'removal before silence',
    defect: 'a Node is deleted for good before its Lease has stood still',
    file: 'src/controllers/node-remediation/node-removal.ts',
    edits: [['if (silentForMs < SILENCE_MS) throw', 'if (silentForMs < 0) throw']],
    killedBy: byTest(NODE_REMEDIATION_SHELL, 'is deleted once its lease has stood still, on the proof, and that is told before'),
  },
  {
    name: 'removal without version',
    defect: 'a Node is deleted for good although it has changed since it was read',
    file: 'src/controllers/node-remediation/node-removal.ts',
    edits: [['...(resourceVersion !== undefined && { resourceVersion }) }', '...(resourceVersion === undefined && { resourceVersion }) }']],
    killedBy: byTest(REMOVAL, 'is not done to a Node that was written to since it was read'),
  },
  {
    name: 'cooldown skipped',
    defect: 'fences of one node follow each other without a pause',
    file: 'src/controllers/node-remediation/attempt.ts',
    edits: [['if (request.retryCount > 0 && nowMs < dueMs) return', 'if (request.retryCount > 0 && nowMs < 0) return']],
    killedBy: byTest(REQUEST, 'keeps the cooldown between the beginnings of two fences'),
  },
  {
    name: 'limit of requests',
    defect: 'more remediations go on at once than may',
    file: 'src/controllers/node-remediation/attempt.ts',
    edits: [['inFlight.count >= inFlight.limit', 'inFlight.count > inFlight.limit']],
    killedBy: byTest(REQUEST, 'no more fences are under way than may be'),
  },
  {
    name: 'taken all the same',
    defect: 'a node whose fence is another’s is fenced again',
    file: 'src/controllers/node-remediation/attempt.ts',
    edits: [
      [
        'if (fence !== undefined && fence.isJoinable !== true && (fence.isDeleting || !fence.isFinal)) return',
        'if (fence !== undefined && fence.isJoinable !== true && fence.isDeleting) return',
      ],
    ],
    killedBy: byTest(NODE_REMEDIATION_SHELL, 'gets no node that somebody else has, and the one who has it is told'),
  },
  {
    name: 'held and failed',
    defect: 'a fence that is held counts as failed in time',
    file: 'src/controllers/node-remediation/attempt.ts',
    edits: [
      ['if (heldBecause !== undefined) return wait(snapshot, `${taken}, whose', "if (heldBecause === '') return wait(snapshot, `${taken}, whose"],
    ],
    killedBy: byTest(REQUEST, 'no time runs while the fence of somebody else is held'),
  },
  {
    name: 'one retry too many',
    defect: 'it is tried once more than the limit',
    file: 'src/controllers/node-remediation/attempt.ts',
    edits: [['const isLast = retryCount >= settings.retryLimit;', 'const isLast = retryCount > settings.retryLimit;']],
    killedBy: byTest(NODE_REMEDIATION_SHELL, 'hands the Machine back when nothing more is tried, in the conditions that Cluster API reads'),
  },
  {
    name: 'left off and withdrawn',
    defect: 'a node that is to be left off at the limit comes back',
    file: 'src/controllers/node-remediation/attempt.ts',
    edits: [["&& !(isLast && settings.onExhaustion === 'LeaveOff')) {", ') {']],
    killedBy: byTest(REQUEST, 'LeaveOff'),
  },
  {
    name: 'no owner asked',
    defect: 'at the limit of escalate nobody is asked to replace the Machine',
    file: 'src/controllers/node-remediation/attempt.ts',
    edits: [["const asked = strategy === 'escalate' && typeof machine", "const asked = strategy === 'fence' && typeof machine"]],
    killedBy: byTest(NODE_REMEDIATION_SHELL, 'hands the Machine back when nothing more is tried, in the conditions that Cluster API reads'),
  },
  {
    name: 'removal unproven',
    defect: 'the deletion of a Node is decided although its fence holds no proof',
    file: 'src/controllers/node-remediation/attempt.ts',
    edits: [['if (!fence.isOff) return wait(', 'if (fence.isDeleting) return wait(']],
    killedBy: byTest(REQUEST, 'deletes no Node without a proof that stands'),
  },
  {
    name: 'cancelled in mid off',
    defect: 'a request that is deleted in the middle of an off withdraws its fence',
    file: 'src/controllers/node-remediation/ending.ts',
    edits: [['if (!fence.isOffSent) return withdraw', 'if (!fence.isOff) return withdraw']],
    killedBy: byTest(REQUEST, 'after the off was sent, waits until its fence has brought the node back'),
  },
  {
    name: 'stopped and begun',
    defect: 'a request that medik8s has given up goes on',
    file: 'src/controllers/node-remediation/decide.ts',
    edits: [["if (request.annotations[TIMED_OUT] !== undefined && request.phase !== 'Succeeded') return timedOut(snapshot);", '']],
    killedBy: byTest(
      NODE_REMEDIATION_SHELL,
      'times a request out: nothing more is begun, the fence is withdrawn, the request stays until it is deleted',
    ),
  },
  {
    name: 'paused and begun',
    defect: 'a request that is paused goes on',
    file: 'src/controllers/node-remediation/decide.ts',
    edits: [['if (request.isPaused || (typeof machine', 'if ((typeof machine']],
    killedBy: byTest(REQUEST, 'what stands in the way the request is paused: nothing is done'),
  },
  {
    name: 'wrong and begun',
    defect: 'a request that cannot be read is carried out with what is usual',
    file: 'src/controllers/node-remediation/decide.ts',
    edits: [["if (problem !== undefined && request.phase === '') return exhausted", "if (problem === '' && request.phase === '') return exhausted"]],
    killedBy: byTest(NODE_REMEDIATION_SHELL, 'is refused what cannot be followed'),
  },
  {
    name: 'gone without proof',
    defect: 'a node that is gone without a proof of its off counts as remediated',
    file: 'src/controllers/node-remediation/under-way.ts',
    edits: [['return fence.isOff\n        ? succeeded', 'return fence.isFinal\n        ? succeeded']],
    killedBy: byTest(REMOVAL, 'without its node has succeeded only where the off was proven'),
  },
  {
    name: 'stopped is success',
    defect: 'a fence that was stopped counts as remediated',
    file: 'src/controllers/node-remediation/under-way.ts',
    edits: [
      [
        '    // untouched, failed, stopped, or nothing at all.\n    default:',
        "    case 'stopped':\n      return succeeded(snapshot, '', true);\n    default:",
      ],
    ],
    killedBy: byTest(REMOVAL, 'a request whose fence ended stopped has not succeeded'),
  },
  {
    name: 'time while held',
    defect: 'time runs while a hold keeps the fence',
    file: 'src/controllers/node-remediation/under-way.ts',
    edits: [['if (fence.heldBecause !== undefined) return wait(', "if (fence.heldBecause === '') return wait("]],
    killedBy: byTest(REQUEST, 'runs no clock while its fence is held, and says why it waits'),
  },
  {
    name: 'node by its name',
    defect: 'a request whose Machine has no node yet fences the Node that bears its name',
    file: 'src/controllers/node-remediation/target.ts',
    edits: [["machine === 'none' ? request.name : undefined;", 'request.name;']],
    killedBy: byTest('test/node-remediation/contracts.test.ts', 'is none while its Machine has none, whatever Node bears its name'),
  },
  {
    name: 'here for elsewhere',
    defect: 'a Machine of a workload cluster is fenced in the cluster of the controller',
    file: 'src/controllers/node-remediation/target.ts',
    edits: [['if (cluster === undefined) return { node };', 'if (node !== undefined) return { node };']],
    killedBy: byTest(
      NODE_REMEDIATION_SHELL,
      'asks for the Machine: its node is fenced in the cluster of the Secret, and never one of the same name here',
    ),
  },
  {
    name: 'success of medik8s',
    defect: 'a request that has failed says Succeeded',
    file: 'src/controllers/node-remediation/status.ts',
    edits: [["Failed: { processing: 'False', succeeded: 'False'", "Failed: { processing: 'False', succeeded: 'True'"]],
    killedBy: byTest(NODE_REMEDIATION_SHELL, 'that has failed ends with its Machine and Node, though no Secret may be read: nothing of it is left'),
  },
  {
    name: 'DeleteNode of a node that comes back',
    defect: 'DeleteNode is taken with a strategy under which the node comes back',
    file: 'src/controllers/node-remediation/spec.ts',
    edits: [["const isOdd = settings.nodeRemoval === 'DeleteNode' && strategy !== 'fence';", 'const isOdd = false;']],
    killedBy: byTest(REQUEST, 'what stands in the way a Node deleted that is to come back: it fails and says so'),
  },
  {
    name: 'gone without end',
    defect: 'a request whose Node and fence are gone is never over where no Secret leads to its cluster, though that is this one',
    file: PLACE,
    edits: [['const isGone = here === undefined &&', 'const isGone = here !== undefined &&']],
    killedBy: byTest(PLACE_TEST, 'is this one, and the node is gone, where there is no Secret and others of its Cluster are here'),
  },
  {
    name: 'gone though it is here',
    defect: 'a node whose Node has only just come again, and says nothing yet, is taken for gone',
    file: PLACE,
    edits: [['const isGone = here === undefined &&', 'const isGone =']],
    killedBy: byTest(PLACE_TEST, 'is not known where a Node of that name is here that does not say whose it is, though others of its Cluster are'),
  },
  {
    name: 'lost, and timed all the same',
    defect: 'the time of a request runs while nobody knows where its node is: its fence is withdrawn at the first look',
    file: 'src/controllers/node-remediation/controller.ts',
    edits: [['if (seen.snapshot.lostNode === undefined) phase.answered();', 'phase.answered();']],
    killedBy: byTest(LOST, 'has its whole time anew when the Secret is there again, and its fence is left alone till then'),
  },
  {
    name: 'lost, and let go',
    defect: 'a request that is deleted leaves its fence behind in a cluster to which no Secret leads just then',
    file: 'src/controllers/node-remediation/decide.ts',
    edits: [['return lost(snapshot) ?? ending(snapshot);', 'return ending(snapshot);']],
    killedBy: byTest(LOST, 'that is deleted keeps its finalizer, for its fence may be under way there, and says so'),
  },
  {
    name: 'lost, and why is forgotten',
    defect: 'why a fence was withdrawn is overwritten while nobody knows where its node is',
    file: 'src/controllers/node-remediation/attempt.ts',
    edits: [["phase === 'Succeeded' || whyWithdrawn(snapshot) !== undefined", "phase === 'Succeeded'"]],
    killedBy: byTest(LOST, 'keeps why its fence was withdrawn'),
  },
  {
    name: 'requests unheard',
    defect: 'requests are served although their watch has been silent for minutes: how many are under way is not known',
    file: 'src/controllers/node-remediation/controller.ts',
    edits: [['[fences, ...kinds.map(({ listers }) => listers.requests)]', '[fences]']],
    killedBy: byTest('test/node-remediation/outage.test.ts', 'a silent watch of /nodefenceremediations'),
  },
  {
    name: 'written into silence',
    defect: 'a controller writes although its watches have been silent for minutes',
    file: 'src/controllers/shared/write-gate.ts',
    edits: [['!this.#isClosed && !this.isSilent &&', '!this.#isClosed &&']],
    killedBy: byTest('src/controllers/shared/write-gate.test.ts', 'a watch has told nothing for too long'),
  },
  {
    name: 'one failure is an event',
    defect: 'a single call that fails is reported on the request',
    file: 'src/controllers/node-remediation/controller.ts',
    edits: [['failures > 1', 'failures > 0']],
    killedBy: byTest('test/node-remediation/failed-looks.test.ts', 'of which 1 writes in a row are lost is told of from the second on, once'),
  },
  {
    name: 'problem reported again and again',
    defect: 'a problem is reported each time that its object is reconciled',
    file: 'src/controllers/shared/reconciler/active-problems.ts',
    edits: [['if (!before.has(identityOf(problem)))', 'if (before.size >= 0)']],
    killedBy: byTest(
      'src/controllers/shared/reconciler/reconciler.test.ts',
      'is reported once for as long as it is active, and anew when it comes back',
    ),
  },
  {
    name: 'conflict is a failure',
    defect: 'an object that somebody else has written meanwhile is retried as one that fails',
    file: 'src/controllers/shared/conflict.ts',
    edits: [['return error instanceof Conflict || isWriteConflict(error);', 'return error instanceof Conflict;']],
    killedBy: byTest('src/controllers/shared/reconciler/reconciler.test.ts', 'is reconciled soon after a conflict, and what follows is not done'),
  },
];
