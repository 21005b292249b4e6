import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const RELEASE = 'src/controllers/fence/release/release.test.ts';
const PLAN = 'src/domain/release-plan.test.ts';
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
    edits: [['{ namespace, ...(uid === undefined ? {} : { uid }), ...how }', '{ namespace, ...how }']],
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
    edits: [['  if (act.left > 0) return;\n', '']],
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
    edits: [['if (isUnanswered(error)) freed.push(pod);', '']],
    killedBy: byTest(RELEASE, 'counts what nobody answered for as let go'),
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
