import type { Cluster, Resource } from '../../ports/cluster.ts';
import { apiClusters, CLUSTER_API_GROUP, clusterMachines } from '../../ports/cluster-api.ts';
import type { ClusterCondition, UntypedObject } from '../../ports/cluster-api.ts';
import { BARE_METAL_HOSTS, INFRASTRUCTURE_GROUP } from '../../ports/metal3.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { definitionOf } from '../objects/any-definition.ts';
import { NAMESPACES } from '../cluster/kinds.ts';
import { clusterApiDefinition } from './cluster-api.ts';

/** Where the drill's Machines of Cluster API stand, with the hosts under them. */
export const HOSTS_NAMESPACE = 'metal3';
export const HOSTS_CLUSTER = 'drill';
/** Label of a BareMetalHost: the node that runs on it. */
export const HOST_NODE_LABEL = 'drill.nodefence/node';
const VERSION = 'v1beta2';
const INFRASTRUCTURE_VERSION = 'v1beta1';

export const HOST_MACHINES = clusterMachines(VERSION);
const METAL3_MACHINES: Resource<UntypedObject> = {
  group: INFRASTRUCTURE_GROUP,
  version: INFRASTRUCTURE_VERSION,
  kind: 'Metal3Machine',
  plural: 'metal3machines',
  namespaced: true,
};

/** Kinds that Cluster API and metal3 bring along; those of metal3 take whatever somebody writes. */
export const HOST_DEFINITIONS: readonly KubeObject[] = [
  ...[apiClusters(VERSION), HOST_MACHINES].map(clusterApiDefinition),
  ...[METAL3_MACHINES, BARE_METAL_HOSTS].map(definitionOf),
].map((definition) => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...definition }));

export function hostName(node: string): string {
  return `host-${node}`;
}

export function hostMachineName(node: string): string {
  return `machine-${node}`;
}

function metalMachineName(node: string): string {
  return `metal-${node}`;
}

/** As the kubelet registers it; the Machine has the same. */
export function hostProviderID(node: string): string {
  return `drill:///${node}`;
}

/** One Cluster, and for each node a BareMetalHost, the Metal3Machine that consumes it, and the Machine on top. No operator has looked at a host yet. */
export async function createHostFleet(cluster: Pick<Cluster, 'create' | 'mergePatch'>, nodes: readonly string[], wallMs: number): Promise<void> {
  const metadata = { namespace: HOSTS_NAMESPACE };
  const nowText = new Date(wallMs).toISOString().replace(/\.\d+Z$/, 'Z');
  await cluster.create(NAMESPACES, { metadata: { name: HOSTS_NAMESPACE } });
  await cluster.create(apiClusters(VERSION), { metadata: { ...metadata, name: HOSTS_CLUSTER }, spec: { paused: false } });
  const said = (type: string): ClusterCondition => ({ type, status: 'True', reason: type, message: '', lastTransitionTime: nowText });
  const conditions = [said('InfrastructureReady'), said('ControlPlaneInitialized')];
  await cluster.mergePatch(apiClusters(VERSION), HOSTS_CLUSTER, { status: { conditions } }, { ...metadata, subresource: 'status' });
  for (const node of nodes) await createMachine(cluster, node);
}

async function createMachine(cluster: Pick<Cluster, 'create' | 'mergePatch'>, node: string): Promise<void> {
  const namespace = HOSTS_NAMESPACE;
  const place = { namespace, subresource: 'status' } as const;
  const [host, metal, machine] = [hostName(node), metalMachineName(node), hostMachineName(node)];
  await cluster.create(METAL3_MACHINES, { metadata: { name: metal, namespace, annotations: { 'metal3.io/BareMetalHost': `${namespace}/${host}` } } });
  const consumerRef = { apiVersion: `${INFRASTRUCTURE_GROUP}/${INFRASTRUCTURE_VERSION}`, kind: 'Metal3Machine', namespace, name: metal };
  await cluster.create(BARE_METAL_HOSTS, {
    metadata: { name: host, namespace, labels: { [HOST_NODE_LABEL]: node } },
    spec: { online: true, consumerRef },
  });
  await cluster.mergePatch(BARE_METAL_HOSTS, host, { status: { provisioning: { state: 'provisioned' } } }, place);
  await cluster.create(HOST_MACHINES, {
    metadata: { name: machine, namespace, labels: { [`${CLUSTER_API_GROUP}/cluster-name`]: HOSTS_CLUSTER } },
    spec: {
      clusterName: HOSTS_CLUSTER,
      providerID: hostProviderID(node),
      bootstrap: { dataSecretName: `bootstrap-${machine}` },
      infrastructureRef: { apiGroup: INFRASTRUCTURE_GROUP, kind: 'Metal3Machine', name: metal },
    },
  });
  await cluster.mergePatch(HOST_MACHINES, machine, { status: { nodeRef: { name: node }, phase: 'Running' } }, place);
}
