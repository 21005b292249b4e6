import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const RELEASE = 'src/controllers/fence/release/release.test.ts';
const KEPT = 'src/controllers/fence/release/kept-pods.test.ts';
const PLAN = 'src/domain/release-plan.test.ts';
const STORAGE = 'src/controllers/fence/release/storage.test.ts';
const STEPS = 'src/domain/release-steps.test.ts';

/** Defects of what lets a workload go. */
export const RELEASE_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'lease not read',
    defect: 'the Lease at the quorum is not looked at before a release',
    file: 'src/controllers/fence/release/order.ts',
    edits: [['lease?.spec.renewTime !== undefined && lease.spec.renewTime !== order.renewTime', 'lease === null']],
    killedBy: byTest(RELEASE, 'is void when the API shows at its quorum that the lease was renewed after the last off read'),
  },
  {
    name: 'boot not compared',
    defect: 'a node that shows another boot after the off is released all the same',
    file: 'src/controllers/fence/release/order.ts',
    edits: [['order.proof.bootID !== undefined && node.status.nodeInfo?.bootID !== order.proof.bootID', 'node === null']],
    killedBy: byTest(RELEASE, 'is void when the API shows at its quorum that another boot ID appeared'),
  },
  {
    name: 'released under a stop',
    defect: 'stops, holds and the lease are not looked at between two batches',
    file: 'src/controllers/fence/release/order.ts',
    edits: [['  order.mayGoOn();\n', '']],
    killedBy: byTest(RELEASE, 'writes nothing when a stop, a hold or a lost lease comes in between'),
  },
  {
    name: 'batches unchecked',
    defect: 'life is asked for before the first handful of pods only',
    file: 'src/controllers/fence/release/pods.ts',
    edits: [['AT_ONCE) {\n    await silentNode(dependencies, order);', 'AT_ONCE) {\n    if (index === 0) await silentNode(dependencies, order);']],
    killedBy: byTest(RELEASE, 'deletes pods by uid in batches, and asks for life again before each'),
  },
  {
    name: 'any pod of that name',
    defect: 'a pod is deleted by its name, not by its uid',
    file: 'src/controllers/fence/release/pods.ts',
    edits: [['const how = { ...(uid === undefined ? {} : { uid }), ...grace, beforeSend };', 'const how = { ...grace, beforeSend };']],
    killedBy: byTest(RELEASE, 'deletes pods by uid in batches, and asks for life again before each'),
  },
  {
    name: 'taints of others lost',
    defect: 'our out-of-service taint replaces the taints of others',
    file: 'src/controllers/fence/release/out-of-service.ts',
    edits: [['[...taints, OUT_OF_SERVICE_TAINT]', '[OUT_OF_SERVICE_TAINT]']],
    killedBy: byTest(RELEASE, 'sets our taint beside those of others, under the resource version that was read, with our mark'),
  },
  {
    name: "an admin's taint taken",
    defect: 'an out-of-service taint that an admin set is taken away',
    file: 'src/controllers/fence/release/out-of-service.ts',
    edits: [['if (node === undefined || !isMarked(node)) return;', 'if (node === undefined) return;']],
    killedBy: byTest(RELEASE, 'leaves the same taint of an admin, which does not carry our mark'),
  },
  {
    name: 'taint believed gone',
    defect: 'our taint is not read absent after it was taken back',
    file: 'src/controllers/fence/release/end.ts',
    edits: [["if (owner === 'ours') return", 'if (owner === undefined) return']],
    killedBy: byTest(RELEASE, 'has failed when our taint is still read after it was taken back'),
  },
  {
    name: 'system pods let go',
    defect: 'pods of DaemonSets are deleted',
    file: 'src/domain/release-plan.ts',
    edits: [["return pod.ownerKind !== 'DaemonSet' && ", 'return ']],
    killedBy: byTest(RELEASE, 'leaves pods of DaemonSets and static pods alone'),
  },
  {
    name: 'one storage is enough',
    defect: 'a pod is freed when one of its storages is revoked, not all',
    file: 'src/domain/release-plan.ts',
    edits: [['storages.every((storage) => revoked.includes(storage))', 'storages.some((storage) => revoked.includes(storage))']],
    killedBy: byTest(PLAN, 'by {"kind":"storage-revoked","storages":["san"]}'),
  },
  {
    name: 'read-only many is read-only',
    defect: 'a volume whose access mode is ReadOnlyMany counts as one that nobody writes to',
    file: 'src/controllers/fence/release/storage.ts',
    edits: [
      [
        '    if (volume === undefined) return [];\n',
        '    if (volume === undefined) return [];\n    if (JSON.stringify(volume.spec).includes(\'["ReadOnlyMany"]\')) return undefined as never;\n',
      ],
    ],
    killedBy: byTest(STORAGE, 'stays when a claim of access modes ["ReadOnlyMany"] is mounted read-write beside it: ReadOnlyMany forbids no write'),
  },
  {
    name: 'writable inline volume',
    defect: 'a volume that the pod names inline counts as read-only whatever its source says',
    file: 'src/controllers/fence/release/storage.ts',
    edits: [[' && said.readOnly === true', '']],
    killedBy: byTest(STORAGE, 'is freed beside an inline volume only if that says readOnly: true itself'),
  },
  {
    name: 'storage opened too soon',
    defect: 'revoked storage is opened for the boot that wrote to it',
    file: 'src/domain/storage-opening.ts',
    edits: [['if (!isBoundToStorage(node, status)) return true;', 'if (status !== null || !isBoundToStorage(node, status)) return true;']],
    killedBy: byTest(STEPS, 'stays closed for the same boot when the NodeFence is deleted by hand, and is opened after another'),
  },
  {
    name: 'volumes before pods',
    defect: 'VolumeAttachments are deleted while pods are left',
    file: 'src/controllers/fence/release/release.ts',
    edits: [
      ['  else if (left.length === 0) {', '  else {'],
      ['  if (left.some((pod) => !order.asked.wasAsked(pod))) return;\n', ''],
    ],
    killedBy: byTest(RELEASE, 'deletes VolumeAttachments after the last pod, and none while pods are left'),
  },
  {
    name: 'crash let nothing go',
    defect: 'a release of pods that a crash cut off counts as one that let nothing go',
    file: 'src/controllers/fence/release/end.ts',
    edits: [['|| isTaintOnly(choice, proof)', '|| isTaintOnly(choice, proof) || true']],
    killedBy: byTest(RELEASE, 'may have let pods go where pods are deleted: it counts as begun, and goes on'),
  },
  {
    name: 'unanswered deletion',
    defect: 'a pod whose deletion nobody answered for counts as still there',
    file: 'src/controllers/fence/release/pods.ts',
    edits: [['did not answer: ${error.message}`, isUnsure: true }', 'did not answer: ${error.message}`, isUnsure: false }']],
    killedBy: byTest(RELEASE, 'tells of whom nobody knows whether it was let go'),
  },
  {
    name: 'refused is released',
    defect: 'a pod that the server failed to let go is reported as released',
    file: 'src/controllers/fence/release/pods.ts',
    edits: [["return { kind: 'kept', refused: { by, isUnsure: false } };", "return { kind: 'freed' };"]],
    killedBy: byTest(KEPT, 'keeps none of the others and is never reported as released'),
  },
  {
    name: 'one pod stops all',
    defect: 'a release ends at the first pod that is refused',
    file: 'src/controllers/fence/release/pods.ts',
    edits: [["  return { kind: 'kept', refused: { by, isUnsure: error.status > 500 } };", "  return { kind: 'stop', error };"]],
    killedBy: byTest(KEPT, 'for a webhook that forbids it, keeps none of the others and is never reported as released'),
  },
  {
    name: 'hanging deletion repeated',
    defect: 'a deletion that has not been answered is sent again with the next batch',
    file: 'src/controllers/fence/release/asked-pods.ts',
    edits: [['(!refusal.isUnderWay && refusal.notBeforeMs <= nowMs)', 'refusal.notBeforeMs <= nowMs']],
    killedBy: byTest(KEPT, 'is not waited for: the others go, and it is asked once for as long as it hangs'),
  },
  {
    name: 'half a millisecond',
    defect: 'the API server refuses the whole status for ever because a wait is no whole number',
    file: 'src/controllers/fence/release/asked-pods.ts',
    edits: [['Math.ceil(refusal.notBeforeMs - nowMs)', 'refusal.notBeforeMs - nowMs']],
    killedBy: byTest(KEPT, 'is told with whole milliseconds, as the NodeFence takes them'),
  },
  {
    name: 'no back-off',
    defect: 'a pod that was refused is asked for again with every batch',
    file: 'src/controllers/fence/release/asked-pods.ts',
    edits: [['notBeforeMs: nowMs + waitMs', 'notBeforeMs: nowMs']],
    killedBy: byTest(KEPT, 'is asked for again less and less often, and let go when it may'),
  },
  {
    name: 'refused pod goes first',
    defect: 'a pod that was refused takes the place of others in every batch',
    file: 'src/controllers/fence/release/release.ts',
    edits: [['return [...due.filter((pod) => !asked.wasAsked(pod)), ...due.filter((pod) => asked.wasAsked(pod))];', 'return due;']],
    killedBy: byTest(KEPT, 'does not take the place of others when one goes at a time'),
  },
  {
    name: 'on under a deletion',
    defect: 'a machine is switched on while the deletion of one of its pods may still take effect',
    file: 'src/controllers/fence/runs.ts',
    edits: [['if (observation.asked.isUnderWay)', 'if (observation === undefined)']],
    killedBy: byTest('src/controllers/fence/runs.test.ts', 'is not sent while a deletion has not been answered'),
  },
  {
    name: 'kept for ever',
    defect: 'a release by deletion is never given up while a pod is kept: the node stays off',
    file: 'src/domain/advance.ts',
    edits: [
      [
        "const mayGiveUp = context.plan.release === 'evict' || keptAgainInMs(status) !== undefined;",
        "const mayGiveUp = context.plan.release === 'evict';",
      ],
    ],
    killedBy: byTest(STEPS, 'gives up pods that are kept, release_timeout after the last that was let go'),
  },
  {
    name: 'left to the garbage collector',
    defect: 'behind the taint no pod is deleted by us: its replacement waits for the next round of the garbage collector',
    file: 'src/domain/release-plan.ts',
    edits: [['taken: taint ? freed.filter(isTaken) : [],', 'taken: [],']],
    killedBy: byTest(KEPT, 'those that it concerns are deleted at once, each by its uid, and no other'),
  },
  {
    name: 'taken before its time',
    defect: 'behind the taint a pod is deleted that tolerates it for a time yet',
    file: 'src/domain/release-plan.ts',
    edits: [['!pod.isForced && (!pod.staysForNow || pod.isTerminating)', '!pod.isForced']],
    killedBy: byTest(KEPT, 'those that it concerns are deleted at once, each by its uid, and no other'),
  },
  {
    name: 'proof not asked for each pod',
    defect: 'stops, holds, life and the lease are not looked at in the turn of each deletion',
    file: 'src/controllers/fence/release/pods.ts',
    edits: [['      order.mayGoOn();\n', '']],
    killedBy: byTest(KEPT, 'none is deleted once a stop or a lost lease forbids it'),
  },
  {
    name: 'unanswered taint',
    defect: 'a taint that may have been set counts as not set',
    file: 'src/controllers/fence/release/out-of-service.ts',
    edits: [['if (isUnanswered(error)) mayStand();', '']],
    killedBy: byTest(RELEASE, 'counts a taint that may have been set, and its pods once only'),
  },
  {
    name: 'one supply found off',
    defect: 'one supply of several that is found off after a crash is taken for an off of the machine',
    file: 'src/domain/health.ts',
    edits: [['offsOf(entry, status).length <= 1', 'true']],
    killedBy: byTest('src/domain/supplies.test.ts', 'takes one supply that is found off after a crash for no off of the machine'),
  },
  {
    name: 'blind judge of supplies',
    defect: 'the judge lets a supply be that was told on again, or stayed on, when the other one of its level is proven',
    file: 'src/drill/laws/proof.ts',
    edits: [['declared.some((method) => isPlug(method, device, expectations));', 'false;']],
    killedBy: byTest(
      'src/drill/laws/p1-proof.test.ts',
      'catches one that was told on again, although the other one was told off after it and is proven',
    ),
  },
  {
    name: 'on upon an unread off',
    defect: 'a machine is switched on though an off that a hand-over cut off was never read back',
    file: 'src/domain/advance.ts',
    edits: [[' || isUnread(operation, status))', ')']],
    killedBy: byTest(STEPS, 'has an off that a hand-over cut off read before anything is switched on: nothing is sent again'),
  },
  {
    name: 'off sent under a hold',
    defect: 'an off that a hand-over cut off is sent anew although a hold has come since',
    file: 'src/domain/advance.ts',
    edits: [['isReadOnly ? { ...now, confirm: true } : now', 'now']],
    killedBy: byTest(STEPS, 'has an off that a hand-over cut off read before anything is switched on: nothing is sent again'),
  },
];
