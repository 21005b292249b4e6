import { attestationName, PEERS } from '../../domain/node-daemon/attestation.ts';
import { CONTROLLERS_TOLD, controllersData } from '../../domain/node-daemon/controllers.ts';
import { fenceName } from '../../domain/node-fence.ts';
import { timestamp } from '../../ports/clock.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { CONFIG_MAPS, LEASES, NODE_FENCES, NODES } from '../../ports/resources.ts';
import { Conflict } from '../shared/conflict.ts';
import { updateReport } from '../shared/node-report.ts';
import type { Action } from './actions.ts';
import type { AttestedNodes } from './attested-nodes.ts';
import { withDaemon } from './daemon-report.ts';
import type { NodeDaemonDependencies } from './dependencies.ts';
import type { SharedSecret } from './shared-secret.ts';

export interface WriteParts {
  clock: Clock;
  /** Its writes reject where this replica may not write any more. */
  cluster: Cluster;
  listers: Pick<NodeDaemonDependencies['listers'], 'reports' | 'configMaps'>;
  namespace: string;
  nodes: Pick<AttestedNodes, 'get'>;
  secret: Pick<SharedSecret, 'make' | 'change'>;
}

/** Does one action, under the version of the object that it was decided from. */
export async function perform(parts: WriteParts, action: Action): Promise<void> {
  const { cluster, clock, listers, secret } = parts;
  switch (action.kind) {
    case 'assign-peers':
      return assignPeers(parts, action);
    case 'tell-controllers':
      return tellControllers(parts, action);
    case 'make-key':
      return secret.make();
    case 'change-key':
      return secret.change(action.request);
    case 'forget-node':
      return forgetNode(parts, action);
    case 'report-daemon':
      return updateReport({ cluster, listers }, action.node, (status) => withDaemon(status, action, timestamp(clock)));
  }
}

async function assignPeers({ cluster, namespace, nodes }: WriteParts, { node, told }: Extract<Action, { kind: 'assign-peers' }>): Promise<void> {
  const { uid, resourceVersion } = nodes.get(node)?.lease.metadata ?? {};
  if (resourceVersion === undefined) throw new Conflict(`node ${node} attests nothing any more`);
  const patch = { metadata: { uid, resourceVersion, annotations: { [PEERS]: JSON.stringify(told) } } };
  await cluster.mergePatch(LEASES, attestationName(node), patch, { namespace });
}

/** By consistent reads: which grants were ended is needed while the node may come back, and for as long as a fence of it is known. */
async function forgetNode({ cluster, namespace }: WriteParts, { node, uid, version }: Extract<Action, { kind: 'forget-node' }>): Promise<void> {
  const [standing, fence] = await Promise.all([cluster.get(NODES, node), cluster.get(NODE_FENCES, fenceName(node))]);
  if (standing !== undefined) throw new Conflict(`node ${node} is there again`);
  if (fence !== undefined) throw new Conflict(`NodeFence ${fence.metadata.name} is there`);
  await cluster.remove(LEASES, attestationName(node), { namespace, uid, resourceVersion: version });
}

async function tellControllers({ cluster, listers, namespace }: WriteParts, { told }: Extract<Action, { kind: 'tell-controllers' }>): Promise<void> {
  const standing = listers.configMaps.get(`${namespace}/${CONTROLLERS_TOLD}`);
  const data = controllersData(told);
  if (standing === undefined) {
    await cluster.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: CONTROLLERS_TOLD, namespace }, data });
    return;
  }
  const { uid, resourceVersion } = standing.metadata;
  await cluster.mergePatch(CONFIG_MAPS, CONTROLLERS_TOLD, { metadata: { uid, resourceVersion }, data }, { namespace });
}
