import type { Identity } from '../../src/ports/agents.ts';
import type { Resource } from '../../src/ports/cluster.ts';
import type { KubeObject, Node } from '../../src/ports/objects.ts';
import { NODES } from '../../src/ports/resources.ts';
import type { ObjectCall } from '../shared/cluster/object-call.ts';

/** What a Node's own records say of the host behind it. */
export interface HostClaim {
  namespace?: string;
  name?: string;
  uid?: string;
  /** Metal3Machine that has to be the host's consumer. */
  consumer?: string;
  /** Where this stands, for messages. */
  source: string;
}

const HOST_ANNOTATION = 'metal3.io/BareMetalHost';

/**
 * `metal3://<namespace>/<host>/<Metal3Machine>`, the older `metal3://<uid of the host>`, OpenShift's `baremetalhost:///<namespace>/<host>/<uid>`.
 * Sources: cluster-api-provider-metal3, cluster-api-provider-baremetal.
 */
export function claimOf(providerID: string | undefined): HostClaim | undefined {
  const [, scheme, path = ''] = /^(metal3|baremetalhost):\/\/(.+)$/.exec(providerID ?? '') ?? [];
  const parts = path.split('/').filter((part) => part !== '');
  const source = `providerID ${(providerID ?? '').slice(0, 200)}`;
  const [first, second, third] = parts;
  if (scheme === 'baremetalhost' && parts.length === 3) return { namespace: first, name: second, uid: third, source } as HostClaim;
  if (scheme === 'metal3' && parts.length === 3) return { namespace: first, name: second, consumer: third, source } as HostClaim;
  if (scheme === 'metal3' && parts.length === 1 && /^[0-9a-f-]{36}$/i.test(first ?? '')) return { uid: (first ?? '').toLowerCase(), source };
  return undefined;
}

interface Machine extends KubeObject {
  spec?: { infrastructureRef?: { kind?: string; name?: string } };
}

function resource(group: string, version: string, kind: string, plural: string): Resource<Machine> {
  return { group, version, kind, plural, namespaced: true };
}

const OPENSHIFT_MACHINES = resource('machine.openshift.io', 'v1beta1', 'Machine', 'machines');
/** The newer first; a server that does not know a version answers 404. */
const MACHINES = ['v1beta2', 'v1beta1'].map((version) => resource('cluster.x-k8s.io', version, 'Machine', 'machines'));
const METAL3_MACHINES = ['v1beta2', 'v1beta1'].map((version) =>
  resource('infrastructure.cluster.x-k8s.io', version, 'Metal3Machine', 'metal3machines'),
);

/** Through the Machine that the Node names, in the cluster that holds the hosts. `own`: where the Node is. */
export async function claimOfMachine(own: ObjectCall, there: ObjectCall, { node: name }: Identity): Promise<HostClaim | undefined> {
  const node: Node | undefined = await own.get(NODES, name);
  const annotations = node?.metadata.annotations ?? {};
  const [openshiftNamespace, openshift] = (annotations['machine.openshift.io/machine'] ?? '').split('/');
  if (openshift !== undefined && openshiftNamespace !== undefined) {
    return annotated(await there.get(OPENSHIFT_MACHINES, openshift, openshiftNamespace));
  }
  const machine = annotations['cluster.x-k8s.io/machine'];
  const namespace = annotations['cluster.x-k8s.io/cluster-namespace'];
  if (machine === undefined || namespace === undefined) return undefined;
  const found = await first(there, MACHINES, machine, namespace);
  const reference = found?.spec?.infrastructureRef;
  if (reference?.kind !== 'Metal3Machine' || reference.name === undefined) return undefined;
  const claim = annotated(await first(there, METAL3_MACHINES, reference.name, namespace));
  return claim === undefined ? undefined : { ...claim, consumer: reference.name };
}

async function first(call: ObjectCall, versions: readonly Resource<Machine>[], name: string, namespace: string): Promise<Machine | undefined> {
  for (const version of versions) {
    const found = await call.get(version, name, namespace);
    if (found !== undefined) return found;
  }
  return undefined;
}

function annotated(machine: Machine | undefined): HostClaim | undefined {
  const [namespace, name] = (machine?.metadata.annotations?.[HOST_ANNOTATION] ?? '').split('/');
  if (machine === undefined || name === undefined || namespace === undefined || name === '') return undefined;
  return { namespace, name, source: `annotation ${HOST_ANNOTATION} of ${machine.kind ?? 'Machine'} ${machine.metadata.name}` };
}
