import { fenceName } from '../../../domain/node-fence.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import type { ClusterMachine } from '../../../ports/cluster-api.ts';
import type { Node } from '../../../ports/objects.ts';
import { NODE_FENCES, NODES } from '../../../ports/resources.ts';

/** Label of a Machine and of what is made for it. */
export const CLUSTER_NAME = 'cluster.x-k8s.io/cluster-name';

/** The node that a remediation is about, and the Cluster of Cluster API that it belongs to; without one it is in the own cluster. */
export interface Target {
  node: string;
  ofCluster?: { namespace: string; name: string };
}

/** By namespace and name of the Secret. `undefined`: there is no such Secret. Rejects when it cannot be read or used. */
export type WorkloadClusters = (secret: { namespace: string; name: string }) => Promise<Cluster | undefined>;

/** The cluster in which the node of a request is fenced; `node` is its Node there, read consistently. */
export interface Place {
  cluster: Cluster;
  isOwn: boolean;
  node: Node | undefined;
}

/** What Cluster API writes on every Node of its Machines. */
const CLUSTER_NAMESPACE = 'cluster.x-k8s.io/cluster-namespace';
export const MACHINE = 'cluster.x-k8s.io/machine';
/** Label of a Machine of a control plane. */
export const CONTROL_PLANE_LABEL = 'cluster.x-k8s.io/control-plane';

/**
 * Where the target is. A Machine of Cluster API belongs to the cluster of its Secret, unless the Node here says that it is that Machine's, or a fence here was
 * begun for the request `uid`: then this is that cluster, and no Secret is read. Where there is no Secret, and the Nodes here are that Cluster's, the target is
 * gone; a Node of its name that does not say whose it is is never taken for it. `undefined`: nobody knows where it is. Rejects when the other cluster cannot
 * be asked, for then nothing is known of its node.
 */
export async function placeOf(
  { cluster, workloadClusters }: { cluster: Cluster; workloadClusters: WorkloadClusters },
  { node: name, ofCluster }: Target,
  { uid, machine }: { uid: string; machine: ClusterMachine | undefined },
): Promise<Place | undefined> {
  const here = await cluster.get(NODES, name);
  if (ofCluster === undefined) return { cluster, isOwn: true, node: here };
  if (here !== undefined && machine !== undefined && isNodeOf(here, machine)) return { cluster, isOwn: true, node: here };
  const fence = await cluster.get(NODE_FENCES, fenceName(name));
  if (fence?.spec.requestedBy?.uid === uid) return { cluster, isOwn: true, node: here };
  const other = await workloadClusters({ ...ofCluster, name: secretOf(ofCluster.name) });
  if (other !== undefined) return { cluster: other, isOwn: false, node: await other.get(NODES, name) };
  const isGone = here === undefined && isClusterHere(await cluster.list(NODES), ofCluster);
  return isGone ? { cluster, isOwn: true, node: undefined } : undefined;
}

/** Where Cluster API keeps the kubeconfig of a Cluster. */
export function secretOf(cluster: string): string {
  return `${cluster}-kubeconfig`;
}

/** Whether these Nodes are those of a Cluster: one of its Machines may have lost its own. */
export function isClusterHere(nodes: Iterable<Node>, { namespace, name }: { namespace: string; name: string }): boolean {
  for (const { metadata } of nodes) {
    if (metadata.annotations?.[CLUSTER_NAME] === name && metadata.annotations[CLUSTER_NAMESPACE] === namespace) return true;
  }
  return false;
}

/** The Node of a Machine that is gone: it still says whose it was. */
export async function nodeLeftBy(cluster: Pick<Cluster, 'list'>, machine: { namespace: string; name: string }): Promise<Node | undefined> {
  const nodes = await cluster.list(NODES);
  return nodes.find(
    ({ metadata: { annotations = {} } }) => annotations[MACHINE] === machine.name && annotations[CLUSTER_NAMESPACE] === machine.namespace,
  );
}

function isNodeOf({ metadata, spec }: Node, machine: ClusterMachine): boolean {
  const marks = metadata.annotations ?? {};
  const { name, namespace, labels } = machine.metadata;
  const providerID = machine.spec?.providerID;
  return (
    marks[MACHINE] === name &&
    marks[CLUSTER_NAMESPACE] === namespace &&
    marks[CLUSTER_NAME] === (machine.spec?.clusterName ?? labels?.[CLUSTER_NAME]) &&
    (providerID === undefined || spec.providerID === undefined || providerID === spec.providerID)
  );
}
