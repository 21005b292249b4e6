import { CLUSTER_API_GROUP } from '../../ports/cluster-api.ts';
import type { ClusterMachine } from '../../ports/cluster-api.ts';
import type { Node } from '../../ports/objects.ts';
import { CLUSTER_NAME, isClusterHere } from '../shared/remediation/place.ts';

/** What Machine API of OpenShift, and Cluster API, write on each Node of theirs. */
const OPENSHIFT_MACHINE = 'machine.openshift.io/machine';
const MACHINE = 'cluster.x-k8s.io/machine';
const CLUSTER_NAMESPACE = 'cluster.x-k8s.io/cluster-namespace';

export interface Placement {
  group: string;
  machine: ClusterMachine;
  /** Of status.nodeRef, in this cluster. */
  node: Node | undefined;
  /** Something of ours stands on the Machine or its host already: its Node was here. */
  isBegun: boolean;
  /** All of this cluster. */
  nodes: Iterable<Node>;
}

/**
 * Why nothing may be concluded about the Node of this Machine; `undefined`: it is that of this cluster. Whether a missing one was deleted or is in another
 * cluster must not be guessed, and one that bears its name may be another machine's (P10).
 */
export function misplacedBecause({ group, machine, node, isBegun, nodes }: Placement): string | undefined {
  const { namespace = '', name, labels } = machine.metadata;
  const marks = node?.metadata.annotations ?? {};
  if (group !== CLUSTER_API_GROUP) {
    const told = marks[OPENSHIFT_MACHINE];
    return told === undefined || told === `${namespace}/${name}` ? undefined : `node ${node?.metadata.name ?? ''} is that of Machine ${told}`;
  }
  const cluster = machine.spec?.clusterName ?? labels?.[CLUSTER_NAME] ?? '';
  if (!isBegun && !isClusterHere(nodes, { namespace, name: cluster })) return `the Nodes of Cluster ${namespace}/${cluster} are not in this cluster`;
  if (node === undefined) return undefined;
  const isMarked = marks[MACHINE] === name && marks[CLUSTER_NAMESPACE] === namespace && marks[CLUSTER_NAME] === cluster;
  // One that has just come back carries no marks yet.
  const isBack = marks[MACHINE] === undefined && (isBegun || isSameProvider(machine, node));
  return isMarked || isBack ? undefined : `node ${node.metadata.name} is not that of this Machine`;
}

function isSameProvider({ spec }: ClusterMachine, node: Node): boolean {
  return spec?.providerID !== undefined && spec.providerID === node.spec.providerID;
}
