import { BY_NODE } from '../../controllers/fence/dependencies.ts';
import type { FenceListers } from '../../controllers/fence/dependencies.ts';
import { fenceName } from '../../domain/node-fence.ts';
import { ObjectCache } from '../../kube/lister.ts';
import type { Indexers } from '../../kube/lister.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { ConfigMap, KubeObject, Node } from '../../ports/objects.ts';
import type { Logger } from '../../ports/recorder.ts';
import {
  CONFIG_MAPS,
  LEASES,
  NODE_FENCE_ACKNOWLEDGEMENTS,
  NODE_FENCE_REPORTS,
  NODE_FENCE_STOPS,
  NODE_FENCES,
  NODE_LEASE_NAMESPACE,
  NODES,
  PODS,
  VOLUME_ATTACHMENTS,
} from '../../ports/resources.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { LEADER_LEASE } from '../../manager/composition.ts';
import { readLease, unreadLeases } from './read-lease.ts';
import type { LeaseReading } from './read-lease.ts';

/** What the fence controller would see of one node now. */
export interface ListedCluster {
  listers: FenceListers;
  configMaps: Lister<ConfigMap>;
  /** Every Node: plugs and names are held against those of others. Absent: the caller may not list them. */
  fleet?: Lister<Node>;
  leader: LeaseReading;
  /** What the caller may not read, in words; whatever rests on it is not known. */
  unreadable: readonly string[];
}

const nothing = (): void => undefined;
export const QUIET: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Reads everything that a decision about one node rests on, once. `demanded`: rejects where that may not be read. */
export async function listForNode(access: ClusterAccess, node: string, demanded: readonly ('pods' | 'configMaps')[] = []): Promise<ListedCluster> {
  const { cluster, namespace } = access;
  const unreadable: string[] = [];
  const orNothing = async <T>(what: string, reading: Promise<T[]>): Promise<T[]> => {
    try {
      return await reading;
    } catch (error) {
      if (!(error instanceof ApiStatusError) || error.status !== 403) throw error;
      unreadable.push(what);
      return [];
    }
  };
  const allowed = <T>(key: (typeof demanded)[number], what: string, reading: Promise<T[]>): Promise<T[]> =>
    demanded.includes(key) ? reading : orNothing(what, reading);
  const one = async <T>(reading: Promise<T | undefined>): Promise<T[]> => {
    const found = await reading;
    return found === undefined ? [] : [found];
  };
  const [fleet, nodes, leases, pods, volumeAttachments, fences, stops, acknowledgements, reports, configMaps, leader] = await Promise.all([
    orNothing('the other Nodes', cluster.list(NODES)),
    one(cluster.get(NODES, node)),
    orNothing(unreadLeases(NODE_LEASE_NAMESPACE), one(cluster.get(LEASES, node, NODE_LEASE_NAMESPACE))),
    allowed('pods', 'pods', cluster.list(PODS, { fieldSelector: `spec.nodeName=${node}` })),
    orNothing('VolumeAttachments', cluster.list(VOLUME_ATTACHMENTS)),
    one(cluster.get(NODE_FENCES, fenceName(node))),
    cluster.list(NODE_FENCE_STOPS),
    orNothing('acknowledgements', cluster.list(NODE_FENCE_ACKNOWLEDGEMENTS)),
    orNothing('fence reports', one(cluster.get(NODE_FENCE_REPORTS, node))),
    allowed('configMaps', `ConfigMaps of ${namespace}`, cluster.list(CONFIG_MAPS, { namespace })),
    readLease(access, LEADER_LEASE),
  ]);
  const listers: FenceListers = {
    nodes: listed(nodes),
    leases: listed(leases),
    pods: listed(pods, { [BY_NODE]: (pod) => (pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName]) }),
    volumeAttachments: listed(volumeAttachments, { [BY_NODE]: (attachment) => [attachment.spec.nodeName] }),
    fences: listed(fences),
    stops: listed(stops),
    acknowledgements: listed(acknowledgements),
    reports: listed(reports),
  };
  return {
    listers,
    configMaps: listed(configMaps),
    ...(fleet.length > 0 && { fleet: listed(fleet) }),
    leader,
    unreadable: leader.unread === undefined ? unreadable : [...unreadable, leader.unread],
  };
}

/** A collection that was read once, as fresh as it gets. */
export function listed<T extends KubeObject>(objects: readonly T[], indexes: Indexers<T> = {}): Lister<T> {
  const cache = new ObjectCache<T>(indexes, QUIET);
  cache.replaceAll(objects);
  cache.synced = true;
  cache.freshAtMs = Number.POSITIVE_INFINITY;
  return cache;
}
