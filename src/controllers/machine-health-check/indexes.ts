import type { UntypedObject } from '../../ports/cluster-api.ts';
import { clusterNameOf, nodeNameOf } from './read/machine.ts';
import type { HealthCheck } from './snapshot.ts';

export const BY_NODE = 'node';
export const BY_CLUSTER = 'cluster';
export const BY_LABEL = 'label';

/** How the lister of Machines is indexed: by the name of their Node, by their Cluster `namespace/name`, by namespace, and by namespace and label. */
export const MACHINE_INDEXES: Readonly<Record<string, (machine: UntypedObject) => readonly string[]>> = {
  [BY_NODE]: (machine) => listed(nodeNameOf(machine)),
  [BY_CLUSTER]: (machine) => listed(clusterNameOf(machine)).map((name) => `${machine.metadata.namespace ?? ''}/${name}`),
  [BY_LABEL]: ({ metadata: { namespace = '', labels } }) => labelKeysOf(namespace, labels ?? {}),
};

/** Under each of these stand all Machines that the check selects, beside others. */
export function labelKeysOf(namespace: string, labels: HealthCheck['matchLabels']): [string, ...string[]] {
  return [namespace, ...Object.entries(labels).map(([key, value]) => `${namespace}\n${key}\n${value}`)];
}

function listed(name: string | undefined): string[] {
  return name === undefined ? [] : [name];
}
