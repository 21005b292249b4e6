import { CLUSTER_API_VERSIONS, clusterMachines, OPENSHIFT_MACHINES } from '../../ports/cluster-api.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { BareMetalHost } from '../../ports/metal3.ts';
import { metal3MachineOf } from '../shared/baremetal-host/host-of.ts';

/**
 * The Machine that stands on this host, `namespace/name`, read consistently whether it is ours to remediate or not; `undefined`: there is none any
 * more. A Metal3Machine stands for the Machine that owns it.
 */
export async function consumerOf(cluster: Pick<Cluster, 'get'>, { metadata, spec }: BareMetalHost): Promise<string | undefined> {
  const { kind, name, namespace = metadata.namespace ?? '' } = spec?.consumerRef ?? {};
  if (kind === undefined || name === undefined) return undefined;
  if (kind !== 'Metal3Machine') return (await cluster.get(OPENSHIFT_MACHINES, name, namespace)) === undefined ? undefined : `${namespace}/${name}`;
  const base = await metal3MachineOf(cluster, { metadata: { name, namespace }, spec: { infrastructureRef: { kind, name } } });
  const owner = base?.metadata.ownerReferences?.find((reference) => reference.kind === 'Machine');
  if (owner === undefined) return undefined;
  for (const version of CLUSTER_API_VERSIONS) {
    if ((await cluster.get(clusterMachines(version), owner.name, namespace)) !== undefined) return `${namespace}/${owner.name}`;
  }
  return undefined;
}
