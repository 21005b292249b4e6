import type { Cluster, Resource } from '../ports/cluster.ts';
import type { KubeObject } from '../ports/objects.ts';
import type { Target } from './tcp-target.ts';

interface EndpointSlice extends KubeObject {
  endpoints?: { addresses?: string[] }[];
  ports?: { port?: number }[];
}

export const ENDPOINT_SLICES: Resource<EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
};

const PEERS_MAX = 8;

/** Addresses of the API servers themselves, as they publish them for the Service `kubernetes`. Rejects as the cluster port does. */
export async function apiPeers(cluster: Pick<Cluster, 'list'>): Promise<Target[]> {
  const slices = await cluster.list(ENDPOINT_SLICES, { namespace: 'default', labelSelector: 'kubernetes.io/service-name=kubernetes' });
  const targets = slices.flatMap(({ endpoints = [], ports = [] }) =>
    endpoints.flatMap(({ addresses = [] }) => addresses.map((host) => ({ host, port: ports[0]?.port ?? 6443 }))),
  );
  return targets.slice(0, PEERS_MAX);
}
