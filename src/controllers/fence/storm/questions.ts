import type { StormPolicy } from '../../../domain/policies/policy.ts';
import type { Lister } from '../../../ports/cluster.ts';
import type { Node } from '../../../ports/objects.ts';
import type { Questions } from '../../../ports/connectivity.ts';

/** What the configured policies need to know from outside the API server. */
export function questionsOf(policies: readonly StormPolicy[], places: ReadonlyMap<string, string>, nodes: Lister<Node>): Questions {
  const targets = policies.flatMap((policy) => policy.targets ?? []);
  const alerts = policies.flatMap(({ name, alertQuery }) => (alertQuery === undefined ? [] : [[name, alertQuery] as const]));
  const members = policies.some(({ policy }) => policy === 'control-plane') ? hostsOf(places, nodes) : new Map();
  const isIsolationAsked = policies.some(({ policy }) => policy === 'controller-isolated');
  return { targets: targets.length > 0 || !isIsolationAsked ? targets : undefined, members, alerts: new Map(alerts) };
}

/** A member is a static pod in its node's own network. */
function hostsOf(places: ReadonlyMap<string, string>, nodes: Lister<Node>): Map<string, { host: string }> {
  const hosts = new Map<string, { host: string }>();
  for (const [member, node] of places) {
    const host = nodes.get(node)?.status.addresses?.find(({ type }) => type === 'InternalIP')?.address;
    if (host !== undefined) hosts.set(member, { host });
  }
  return hosts;
}
