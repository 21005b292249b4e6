import type { HostFacts } from './host.ts';

/** What must lead to the host: the object that consumes it, and the Node's own providerID. */
export interface HostClaim {
  consumer: { kind: string; name: string; namespace: string };
  providerID?: string | undefined;
}

/** Why this host may be another machine's (P10); undefined: everything that names a host names this one. */
export function contradictionOf(host: HostFacts, { consumer, providerID }: HostClaim): string | undefined {
  const told = host.consumer;
  if (told === undefined) return `BareMetalHost ${host.namespace}/${host.name} has no consumer`;
  const isSame = told.kind === consumer.kind && told.name === consumer.name && (told.namespace ?? consumer.namespace) === consumer.namespace;
  if (!isSame) return `BareMetalHost ${host.namespace}/${host.name} belongs to ${told.kind} ${told.namespace ?? ''}/${told.name}`;
  return providerID === undefined || isNamedBy(providerID, host) ? undefined : `the node's providerID ${providerID} names another machine`;
}

/**
 * `metal3://<namespace>/<host>/<Metal3Machine>`, the older `metal3://<uid of the host>`, OpenShift's `baremetalhost:///<namespace>/<host>/<uid>`. One of
 * another scheme says nothing about hosts.
 */
function isNamedBy(providerID: string, host: HostFacts): boolean {
  const [, scheme, path = ''] = /^(metal3|baremetalhost):\/\/(.+)$/.exec(providerID) ?? [];
  if (scheme === undefined) return true;
  const [first = '', second, third] = path.split('/').filter((part) => part !== '');
  if (scheme === 'metal3' && second === undefined) return first.toLowerCase() === host.uid.toLowerCase();
  if (first !== host.namespace || second !== host.name) return false;
  return scheme === 'metal3' || third === undefined || third.toLowerCase() === host.uid.toLowerCase();
}
