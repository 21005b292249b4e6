import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const NAMESAKE = 'src/controllers/fence/run/namesake.test.ts';
const FINAL = 'src/domain/final.test.ts';
const FINAL_FILE = 'src/domain/rows/final.ts';
const TAKEN_BACK = 'src/domain/taken-back.test.ts';
const CLOSING_FILE = 'src/domain/rows/closing.ts';
const RELEASE_END = 'src/domain/release-end.test.ts';
const ADVANCE_FILE = 'src/domain/advance.ts';
const ASKED = 'src/controllers/shared/release/asked-pods.test.ts';
const ASKED_FILE = 'src/controllers/shared/release/asked-pods.ts';
const BEFORE = 'src/domain/released-before.test.ts';
const BEFORE_FILE = 'src/domain/released-before.ts';
const PLAN = 'src/domain/release-plan.test.ts';
const PLAN_FILE = 'src/domain/release-plan.ts';

/** Defects of how a fence ends, of what is taken back behind it, and of what a release is told to have let go. */
export const OVER_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'marks of a machine that was to be replaced',
    defect: 'our cordon and the ways that we closed are forgotten when a node whose machine was to be replaced comes back and is fenced again',
    file: FINAL_FILE,
    edits: [
      ["status.outcome === 'fenced-off' || status.outcome === 'replaced';\n  if (isLeft &&", "status.outcome === 'fenced-off';\n  if (isLeft &&"],
    ],
    killedBy: byTest(FINAL, 'takes back what an end in replaced left on the Node, once that is well again'),
  },
  {
    name: 'marks of a machine that was left off',
    defect: 'what was switched off and closed for good is forgotten when its node comes back and is fenced again',
    file: FINAL_FILE,
    edits: [
      ["status.outcome === 'fenced-off' || status.outcome === 'replaced';\n  if (isLeft &&", "status.outcome === 'replaced';\n  if (isLeft &&"],
    ],
    killedBy: byTest(FINAL, 'takes back what an end in fenced-off left on the Node, once that is well again'),
  },
  {
    name: 'old end for a new failure',
    defect: 'a node that fails again within its probation is fenced to the end that an earlier request had: its machine stays off',
    file: FINAL_FILE,
    edits: [['      delete next.ending;\n', '']],
    killedBy: byTest(FINAL, 'is fenced for itself: how the fence before was to end is forgotten, or its machine would stay off'),
  },
  {
    name: 'left off for a namesake',
    defect: 'the machine of another Node of the same name is switched on for a fence',
    file: FINAL_FILE,
    edits: [[' && sameNode({ status, node: snapshot.node })) next', ') next']],
    killedBy: byTest(FINAL, 'is of that node alone: what was left off of another Node of its name is not switched on for it'),
  },
  {
    name: 'namesake as it was left',
    defect: 'a Node that came anew under the name of one that was replaced is never fenced while neither has shown a boot',
    file: FINAL_FILE,
    edits: [['isLeft && sameNode({ status, node }) && ', 'isLeft && ']],
    killedBy: byTest(FINAL, 'comes though neither Node has shown a boot: another Node of its name is not as the fence left it'),
  },
  {
    name: 'number of before',
    defect: 'an incident has the number of an earlier one, whose mark and record then count for it',
    file: FINAL_FILE,
    edits: [['Math.max(status.incident, snapshot.lastIncident) + 1', 'status.incident + 1']],
    killedBy: byTest(FINAL, 'has a number of its own, whatever the report and the NodeFence say'),
  },
  {
    name: 'over, and kept for ever',
    defect: 'nothing looks at a NodeFence again when its time is over: it stays',
    file: FINAL_FILE,
    edits: [['earliest(waitForChange(context).requeueAtMs, isKept(context) ? undefined : expiresAtMs)', 'waitForChange(context).requeueAtMs']],
    killedBy: byTest(FINAL, 'goes with its finalizer when its time is over, and asks to be looked at then'),
  },
  {
    name: 'gone at a first look',
    defect: 'a new leader deletes every NodeFence that is over, and the next takes what was left off for a failure',
    file: FINAL_FILE,
    edits: [['(snapshot.since.position ?? snapshot.nowMs) + afterFinalMs', '(snapshot.since.position ?? 0) + afterFinalMs']],
    killedBy: byTest(FINAL, 'is not deleted at the first look of a new leader, which has seen nothing of its time'),
  },
  {
    name: 'on under a taint that stays',
    defect: 'a machine is switched on while our taint of its Node cannot be taken back',
    file: CLOSING_FILE,
    edits: [['else if (undoneAtMs(context) <= context.snapshot.nowMs)', 'if (undoneAtMs(context) <= context.snapshot.nowMs)']],
    killedBy: byTest(TAKEN_BACK, 'is no machine while its taint cannot be taken back, however long after its off'),
  },
  {
    name: 'taken back from a namesake',
    defect: 'the machine of another Node of the same name is switched on, and that Node uncordoned, when a NodeFence is deleted',
    file: CLOSING_FILE,
    edits: [
      ['const gone = node === undefined || (status.frozen !== undefined && node.uid !== status.frozen.nodeUID);', 'const gone = node === undefined;'],
    ],
    killedBy: byTest(TAKEN_BACK, 'is nothing of another Node that has its name: that one’s machine may be another'),
  },
  {
    name: 'on for one made anew',
    defect: 'while our watch is late, a machine is switched on for a Node that was made anew under the name of the one that was proven off',
    file: 'src/controllers/fence/run/permission.ts',
    edits: [
      [
        'const standing = await this.#sameNode(run);\n      if (taintOwnerOf',
        'const standing = (await this.#dependencies.cluster.get(NODES, node)) as Node;\n      if (taintOwnerOf',
      ],
    ],
    killedBy: byTest(NAMESAKE, 'is not switched on by that fence, nor is one that is gone'),
  },
  {
    name: 'uncordon of one made anew',
    defect: 'while our watch is late, a Node that was made anew under the name of the one that was proven off is uncordoned',
    file: 'agents/shared/node-edit.ts',
    edits: [['if (nodeUID !== undefined && node.metadata.uid !== nodeUID)', 'if (nodeUID === "")']],
    killedBy: byTest('agents/shared/node-edit.test.ts', 'leaves a Node alone that was made anew under the name of the one that it is for'),
  },
  {
    name: 'edit of whatever has the name',
    defect: 'an agent that changes Nodes is not told of which Node the fence is',
    file: 'src/controllers/fence/run/next-off.ts',
    edits: [['return { node, nodeUID, ', 'return { node, ']],
    killedBy: byTest(NAMESAKE, 'is none that an agent may change: it is told of which Node the fence is'),
  },
  {
    name: 'untaint of one made anew',
    defect: 'while our watch is late, the taint is taken from a Node that was made anew under the name of the one that was proven off',
    file: 'src/controllers/fence/release/out-of-service.ts',
    edits: [['if (node.metadata.uid !== uid)', 'if (node.metadata.uid === undefined)']],
    killedBy: byTest(NAMESAKE, 'keeps the taint that was copied to it until its own fence, or nobody, has it'),
  },
  {
    name: 'deleted in vain while observing',
    defect: 'a NodeFence that is deleted in mode observe waits for ever for what nobody takes back',
    file: CLOSING_FILE,
    edits: [['facts === undefined && !untouchable && isToWait', 'facts === undefined && isToWait']],
    killedBy: byTest(TAKEN_BACK, 'is nothing while it only observes: it is let go, and says what stays'),
  },
  {
    name: 'storage closed with an off',
    defect: 'the storage of a node that was to end in off stays closed for good when its NodeFence is deleted',
    file: CLOSING_FILE,
    edits: [["ending === undefined || state === 'closed'", 'ending === undefined']],
    killedBy: byTest(TAKEN_BACK, 'is the way to the storage, not the machine, where that was to end in off'),
  },
  {
    name: 'on under attached volumes',
    defect: 'the machine of a NodeFence that is deleted is switched on while volumes of a release are still attached to its Node',
    file: CLOSING_FILE,
    edits: [['snapshot.workload.pods === 0 && snapshot.workload.volumeAttachments === 0', 'snapshot.workload.pods === 0']],
    killedBy: byTest(TAKEN_BACK, 'waits for volumes as well as for pods that a release let go'),
  },
  {
    name: 'history without end',
    defect: 'a node that fails often has a history that the API server refuses, and its status with it for ever',
    file: CLOSING_FILE,
    edits: [['].slice(-LIMITS.history)', ']']],
    killedBy: byTest(TAKEN_BACK, 'has no more entries than one takes, the newest'),
  },
  {
    name: 'forgotten under way',
    defect: 'the deletion of a pod that nobody has answered for is forgotten as soon as the pod is not seen: its machine is switched on under it',
    file: ASKED_FILE,
    edits: [['if (!isUnderWay && !keys.has(key))', 'if (!keys.has(key))']],
    killedBy: byTest(ASKED, 'is not forgotten while nobody has answered: it may be let go when nothing shows it any more'),
  },
  {
    name: 'endless words of who keeps it',
    defect: 'what a webhook says of a pod is told in full, and the API server refuses the status for ever',
    file: ASKED_FILE,
    edits: [['by: bounded(by, WORDS_MAX)', 'by']],
    killedBy: byTest(ASKED, 'is told as kept, with who keeps it, and that it may be let go where nobody answered'),
  },
  {
    name: 'asked for again in an hour',
    defect: 'pods that the API server asks to be patient for are waited for longer than a minute',
    file: ASKED_FILE,
    edits: [['Math.min(...waits, LONGEST_MS)', 'Math.min(...waits)']],
    killedBy: byTest(ASKED, 'is for the first of them, in whole milliseconds, a minute away at the most'),
  },
  {
    name: 'never asked for, and waited for',
    defect: 'pods that were never asked for wait behind one that was refused',
    file: ASKED_FILE,
    edits: [['if (refusal === undefined) return 0;', 'if (refusal === undefined) return LONGEST_MS;']],
    killedBy: byTest(ASKED, 'is at once where one was never asked for, and in five seconds where none has answered'),
  },
  {
    name: 'alarm of the other step',
    defect: 'the alarm that pods may run twice names those of another step, or none',
    file: BEFORE_FILE,
    edits: [["step === 'isolation' ? storageRelease : released", 'released ?? storageRelease']],
    killedBy: byTest(BEFORE, 'is that of the step: in isolation of what revoked storage let go, behind it of what the off did'),
  },
  {
    name: 'alarm without the unanswered',
    defect: 'the alarm that pods may run twice does not name those that nobody answered for',
    file: BEFORE_FILE,
    edits: [['before${names}.${unsure}`', 'before${names}.`']],
    killedBy: byTest(BEFORE, 'names those that nobody answered for, and not those that stay'),
  },
  {
    name: 'alarm of those that stay',
    defect: 'the alarm that pods may run twice names some that were refused, and stay',
    file: BEFORE_FILE,
    edits: [['kept.filter(({ isUnsure }) => isUnsure === true)', 'kept']],
    killedBy: byTest(BEFORE, 'names those that nobody answered for, and not those that stay'),
  },
  {
    name: 'two classes in a batch',
    defect: 'pods of a class that priority_order has go later go in one batch with those before them',
    file: PLAN_FILE,
    edits: [[' || pod.priorityClass !== first.priorityClass', '']],
    killedBy: byTest(PLAN, 'has the batch of a pod end before one with another class of its value'),
  },
  {
    name: 'evicted without a pause',
    defect: 'pods that a PodDisruptionBudget keeps are asked for again every second where pods_per_minute is high',
    file: PLAN_FILE,
    edits: [['Math.max(leastMs, Math.ceil((size * 60_000) / podsPerMinute))', 'Math.ceil((size * 60_000) / podsPerMinute)']],
    killedBy: byTest(PLAN, 'of 6000 pods a minute by evict is kept by batches of one size'),
  },
  {
    name: 'taint held on a word',
    defect: 'our taint stays on a node for as long as a hold stands that came after its release on a word',
    file: 'src/domain/rows/running.ts',
    edits: [[' &&\n      !isLetGo(status),', ',']],
    killedBy: byTest(
      'src/domain/acknowledgement.test.ts',
      'ends a release on a word under a hold that came after it: nothing is left to let go, and our taint does not stay',
    ),
  },
  {
    name: 'taint gone before the volumes',
    defect: 'our taint is taken back while volumes are attached, which Kubernetes then leaves to the old node for six minutes',
    file: ADVANCE_FILE,
    edits: [['(workload.pods === 0 && workload.volumeAttachments === 0)', 'workload.pods === 0']],
    killedBy: byTest(RELEASE_END, 'stays while a volume is left, for release_timeout at most'),
  },
  {
    name: 'taint gone before the pods',
    defect: 'our taint is taken back while pods are left that Kubernetes deletes for it',
    file: ADVANCE_FILE,
    edits: [['(workload.pods === 0 && workload.volumeAttachments === 0)', 'workload.volumeAttachments === 0']],
    killedBy: byTest(RELEASE_END, 'stays while a pod is left, for release_timeout at most'),
  },
  {
    name: 'taint on a node that lives',
    defect: 'our taint ends pods of a node that shows life until release_timeout is over',
    file: ADVANCE_FILE,
    edits: [['  if (status.released.voidedAt !== undefined && !isBootedAnew(context, status)) return true;\n', '']],
    killedBy: byTest(RELEASE_END, 'goes at once where the node lives after all, whatever is left'),
  },
  {
    name: 'unseen for gone',
    defect: 'a NodeFence that was asked for is removed because the watch does not show its Node yet, asked for again at once, and removed again',
    file: 'src/controllers/fence/unseen-node.ts',
    edits: [['(await cluster.get(NODES, name)) === undefined', 'name.length > 0']],
    killedBy: byTest(
      'src/controllers/fence/unseen-node.test.ts',
      'a NodeFence of a Node that the watch alone does not show stays, and is looked at again',
    ),
  },
];
