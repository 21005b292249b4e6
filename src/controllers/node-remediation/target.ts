import { FENCE_NAME_PREFIX } from '../../domain/node-fence.ts';
import { CLUSTER_NAME } from '../shared/remediation/place.ts';
import type { Target } from '../shared/remediation/place.ts';
import { NODE_NAME } from './names.ts';
import type { RequestFacts, Snapshot } from './snapshot.ts';

/**
 * medik8s and OpenShift name the node in an annotation; Cluster API by the owner's nodeRef; a person by the request's own name. A request whose Machine has
 * no node yet means none: a Node that happens to bear the Machine's name is another one.
 */
export function targetOf(request: RequestFacts, machine: Snapshot['machine']): Target | undefined {
  const named = request.annotations[NODE_NAME];
  const own = typeof machine === 'object' ? machine.nodeName : machine === 'none' ? request.name : undefined;
  const node = named ?? own;
  if (node === undefined || node === '') return undefined;
  const cluster = typeof machine === 'object' && machine.apiVersion.startsWith('cluster.x-k8s.io/') ? clusterOf(request, machine.labels) : undefined;
  if (cluster === undefined) return { node };
  return { node, ofCluster: { namespace: request.namespace, name: cluster } };
}

/** The same of a request whose Machine is gone, and names no node any more: the fence that was begun for it does. */
export function leftTarget({ annotations, nodeFence, namespace, labels }: Omit<RequestFacts, 'phaseSeenMs'>): Target | undefined {
  const node = annotations[NODE_NAME] ?? nodeFence?.slice(FENCE_NAME_PREFIX.length);
  const cluster = labels[CLUSTER_NAME];
  if (node === undefined || node === '') return undefined;
  return { node, ...(cluster !== undefined && { ofCluster: { namespace, name: cluster } }) };
}

/** Both name a node, and not the same. */
export function contradictionOf(request: RequestFacts, machine: Snapshot['machine']): string | undefined {
  const named = request.annotations[NODE_NAME];
  const own = typeof machine === 'object' ? machine.nodeName : undefined;
  if (named === undefined || own === undefined || named === own) return undefined;
  return `annotation ${NODE_NAME} names ${named}, the Machine's nodeRef ${own}`;
}

function clusterOf({ labels }: RequestFacts, machineLabels: RequestFacts['labels']): string | undefined {
  return labels[CLUSTER_NAME] ?? machineLabels[CLUSTER_NAME];
}
