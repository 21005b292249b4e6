import type { ClusterMachine } from '../../ports/cluster-api.ts';
import type { BareMetalHost } from '../../ports/metal3.ts';
import { HOST_ANNOTATION, hostKeyOf } from '../shared/baremetal-host/host.ts';
import { BY_HOST, BY_NODE } from './dependencies.ts';

/** For the watches of Machines. */
export const MACHINE_INDEXES = {
  [BY_HOST]: hostNamesOf,
  [BY_NODE]: ({ status }: ClusterMachine): readonly string[] => (status?.nodeRef?.name === undefined ? [] : [status.nodeRef.name]),
};

/** OpenShift's Machine names its host, and is named by it; one of Cluster API stands on an object that does. */
function hostNamesOf({ metadata, spec }: ClusterMachine): readonly string[] {
  const { namespace = '', name, annotations } = metadata;
  const own = hostKeyOf(annotations?.[HOST_ANNOTATION], namespace);
  const { kind, name: base } = spec?.infrastructureRef ?? {};
  return [
    consumerName('Machine', namespace, name),
    ...(own === undefined ? [] : [consumerName('BareMetalHost', own.namespace, own.name)]),
    ...(kind === undefined || base === undefined ? [] : [consumerName(kind, namespace, base)]),
  ];
}

/** Under which values of the index its Machine stands. */
export function namesOnHost({ metadata: { namespace = '', name }, spec }: BareMetalHost): readonly string[] {
  const { kind, namespace: place = namespace, name: consumer } = spec?.consumerRef ?? {};
  const named = consumerName('BareMetalHost', namespace, name);
  return kind === undefined || consumer === undefined ? [named] : [named, consumerName(kind, place, consumer)];
}

function consumerName(kind: string, namespace: string, name: string): string {
  return `${kind} ${namespace}/${name}`;
}
