import {
  apiClusters,
  CLUSTER_API_GROUP,
  CLUSTER_API_VERSIONS,
  clusterMachines,
  OPENSHIFT_GROUP,
  OPENSHIFT_MACHINES,
} from '../../../ports/cluster-api.ts';
import type { ClusterApiVersion, ClusterMachine } from '../../../ports/cluster-api.ts';
import type { Cluster, Resource } from '../../../ports/cluster.ts';
import type { KubeObject, OwnerReference } from '../../../ports/objects.ts';
import type { OwnerMachine } from './owner-machine.ts';
import { CLUSTER_NAME } from './place.ts';
import { readMachine } from './read-machine.ts';

/** The Machine that owns a request, with the object that it was read from. */
export interface Owner {
  facts: OwnerMachine;
  object: ClusterMachine;
  /** spec.paused of the Cluster that the request or its Machine names. */
  isClusterPaused: boolean;
}

type Reader = Pick<Cluster, 'get'>;

/** none: nobody of kind Machine owns the request. gone: NotFound in every version of its API, or another uid under its name. */
export async function ownerOf(cluster: Reader, { metadata }: KubeObject): Promise<Owner | 'none' | 'gone'> {
  const reference = metadata.ownerReferences?.find(({ kind, apiVersion }) => kind === 'Machine' && isKnown(apiVersion));
  if (reference === undefined) return 'none';
  const { namespace = '' } = metadata;
  const found = await machineOf(cluster, reference, namespace);
  if (found === undefined || found.object.metadata.uid !== reference.uid) return 'gone';
  const { object, apiVersion } = found;
  const clusterName = metadata.labels?.[CLUSTER_NAME] ?? object.metadata.labels?.[CLUSTER_NAME];
  const version = CLUSTER_API_VERSIONS.find((each) => apiVersion === `${CLUSTER_API_GROUP}/${each}`);
  const own = clusterName === undefined || version === undefined ? undefined : await cluster.get(apiClusters(version), clusterName, namespace);
  const isClusterPaused = own?.spec?.paused === true;
  return { facts: readMachine(object, apiVersion, isClusterPaused), object, isClusterPaused };
}

function isKnown(apiVersion: string): boolean {
  return apiVersion.startsWith(`${CLUSTER_API_GROUP}/`) || apiVersion.startsWith(`${OPENSHIFT_GROUP}/`);
}

/** A version that is served no more answers as a Machine that is gone does: the others are asked too. */
async function machineOf(
  cluster: Reader,
  { apiVersion, name }: OwnerReference,
  namespace: string,
): Promise<{ object: ClusterMachine; apiVersion: string } | undefined> {
  for (const resource of machineKinds(apiVersion)) {
    const object = await cluster.get(resource, name, namespace);
    if (object !== undefined) return { object, apiVersion: `${resource.group}/${resource.version}` };
  }
  return undefined;
}

function machineKinds(apiVersion: string): Resource<ClusterMachine>[] {
  if (!apiVersion.startsWith(`${CLUSTER_API_GROUP}/`)) return [OPENSHIFT_MACHINES];
  const isNamed = (version: ClusterApiVersion): boolean => apiVersion.endsWith(`/${version}`);
  const versions = [...CLUSTER_API_VERSIONS].sort((one, other) => Number(isNamed(other)) - Number(isNamed(one)));
  return versions.map(clusterMachines);
}
