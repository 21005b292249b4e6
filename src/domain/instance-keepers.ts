import { AUTOSCALER_MARK, SCALE_DOWN_DISABLED } from './node-fence.ts';

/** What of a Node says who else makes and deletes its machine; absent: it is not known. */
export interface KeptNode {
  labels?: Readonly<Record<string, string>> | undefined;
  annotations?: Readonly<Record<string, string>> | undefined;
  taints?: readonly { key: string }[] | undefined;
  ownerReferences?: readonly { kind: string; name: string }[] | undefined;
}

/** Somebody's mark on a Node, and what to do instead of deleting its machine behind their back. */
interface Keeper {
  on: 'labels' | 'annotations';
  key: string;
  who: string;
  instead: string;
}

const DELETE_MACHINE = 'delete the Machine object (kubectl delete machine) once the node is proven off';
const KEEPERS: readonly Keeper[] = [
  // Cluster API book, "Machine controller"; OpenShift's machine-api-operator; Gardener's machine-controller-manager; Karpenter, "Scheduling" (well-known labels).
  { on: 'annotations', key: 'cluster.x-k8s.io/machine', who: 'a Machine of Cluster API', instead: DELETE_MACHINE },
  { on: 'annotations', key: 'machine.openshift.io/machine', who: 'a Machine of OpenShift', instead: DELETE_MACHINE },
  { on: 'labels', key: 'node.gardener.cloud/machine-name', who: 'a Machine of machine-controller-manager', instead: DELETE_MACHINE },
  {
    on: 'labels',
    key: 'karpenter.sh/nodepool',
    who: 'a NodeClaim of Karpenter',
    instead: 'delete the NodeClaim (kubectl delete nodeclaim) once the node is proven off',
  },
  {
    on: 'labels',
    key: 'karpenter.sh/provisioner-name',
    who: 'a Machine of Karpenter',
    instead: 'delete the Node (kubectl delete node) once it is proven off: Karpenter ends its instance',
  },
];
/** Its etcd member, and with it a vote, lives on its disk. */
const CONTROL_PLANE = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master', 'node-role.kubernetes.io/etcd'] as const;
const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler';
const OWNERS: ReadonlySet<string> = new Set(['Machine', 'NodeClaim', 'MachineSet']);

/** Why the machine of this Node is not ours to delete, and what to do instead; undefined: nothing on the Node says so. */
export function keeperOf({ labels = {}, annotations = {}, taints = [], ownerReferences = [] }: KeptNode): string | undefined {
  const found = KEEPERS.find(({ on, key }) => (on === 'labels' ? labels : annotations)[key] !== undefined);
  if (found !== undefined) return `it belongs to ${found.who} (${found.on === 'labels' ? 'label' : 'annotation'} ${found.key}): ${found.instead}`;
  const owner = ownerReferences.find(({ kind }) => OWNERS.has(kind));
  if (owner !== undefined) return `it is owned by ${owner.kind} ${owner.name.slice(0, 100)}: delete that object once the node is proven off`;
  if (taints.some(({ key }) => key === AUTOSCALER_TAINT))
    return `the cluster autoscaler deletes it already (taint ${AUTOSCALER_TAINT}): leave it to it`;
  const role = CONTROL_PLANE.find((key) => labels[key] !== undefined);
  if (role !== undefined) return `it carries the control plane (label ${role}), whose data would be lost: use power_management=restart-instance`;
  const isWanted = annotations[SCALE_DOWN_DISABLED] === 'true' && annotations[AUTOSCALER_MARK] === undefined;
  return isWanted
    ? `somebody wants it kept (annotation ${SCALE_DOWN_DISABLED}=true, which no fence has set): remove that, or use power_management=restart-instance`
    : undefined;
}
