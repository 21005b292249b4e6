import type { ClusterMachine } from '../../ports/cluster-api.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { readMetadata } from '../shared/remediation/read-machine.ts';
import type { MachineFacts } from './snapshot.ts';

/**
 * A Machine with the object that its infrastructureRef names, where it has one; `apiVersion`: the one it was read in. `isClusterPaused`: spec.paused of its
 * Cluster.
 */
export function readMachine(
  { metadata, spec }: ClusterMachine,
  apiVersion: string,
  infrastructure: KubeObject | undefined,
  isClusterPaused: boolean,
): MachineFacts {
  const { kind, name } = spec?.infrastructureRef ?? {};
  const annotations = infrastructure?.metadata.annotations ?? {};
  return {
    ...readMetadata(metadata, apiVersion, isClusterPaused),
    hasController: metadata.ownerReferences?.some(({ controller }) => controller === true) === true,
    ...(kind !== undefined && name !== undefined && { infrastructure: { kind, name, annotations } }),
  };
}
