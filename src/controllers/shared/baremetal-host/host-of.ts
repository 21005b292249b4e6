import { CLUSTER_API_VERSIONS, OPENSHIFT_GROUP } from '../../../ports/cluster-api.ts';
import type { ClusterMachine } from '../../../ports/cluster-api.ts';
import type { Cluster, Resource } from '../../../ports/cluster.ts';
import { BARE_METAL_HOSTS, INFRASTRUCTURE_GROUP } from '../../../ports/metal3.ts';
import type { BareMetalHost } from '../../../ports/metal3.ts';
import type { KubeObject } from '../../../ports/objects.ts';
import { HOST_ANNOTATION, hostKeyOf } from './host.ts';

/**
 * The BareMetalHost of a Machine: named by the annotation of OpenShift's Machine, or by that of the Metal3Machine that a Machine of Cluster API stands on.
 * `undefined`: it has none, or what names it is gone.
 */
export async function hostOf(cluster: Pick<Cluster, 'get'>, machine: ClusterMachine, apiVersion: string): Promise<BareMetalHost | undefined> {
  const { namespace = '' } = machine.metadata;
  const carrier = apiVersion.startsWith(`${OPENSHIFT_GROUP}/`) ? machine : await metal3MachineOf(cluster, machine);
  const key = hostKeyOf(carrier?.metadata.annotations?.[HOST_ANNOTATION], namespace);
  return key === undefined ? undefined : cluster.get(BARE_METAL_HOSTS, key.name, key.namespace);
}

/** The Metal3Machine that a Machine of Cluster API stands on. */
export async function metal3MachineOf(cluster: Pick<Cluster, 'get'>, { metadata, spec }: ClusterMachine): Promise<KubeObject | undefined> {
  const { kind, name, apiVersion } = spec?.infrastructureRef ?? {};
  if (kind !== 'Metal3Machine' || name === undefined) return undefined;
  const named = apiVersion?.split('/')[1];
  // A version that is served no more answers as one that is gone does.
  for (const version of new Set([...(named === undefined ? [] : [named]), ...CLUSTER_API_VERSIONS])) {
    const resource: Resource = { group: INFRASTRUCTURE_GROUP, version, kind, plural: 'metal3machines', namespaced: true };
    const found = await cluster.get(resource, name, metadata.namespace);
    if (found !== undefined) return found;
  }
  return undefined;
}
