import { Domains, describeDomain, valueOf, ZONE_LABEL } from './domains.ts';
import type { Domain } from './domains.ts';
import type { StormPolicy } from './policy.ts';
import { isUnhealthy } from './node-set.ts';
import { forAll, nodesOf, stormPolicy, unhealthyIn } from './scope.ts';
import type { CommonSettings } from './scope.ts';

export interface FailureDomainSettings extends CommonSettings {
  /** Labels that name racks, switches, zones. */
  topologyKeys: readonly string[];
  /** Percent of a domain's nodes from which on it is mostly gone. */
  share: number;
}

export const DEFAULT_FAILURE_DOMAIN = { topologyKeys: [ZONE_LABEL], share: 60 } as const;

/**
 * A switch or a power feed, not the nodes. A domain is gone when two or more of its nodes, and `share` percent of them, are unhealthy. Its nodes are held
 * while more than half of all unhealthy nodes stand in gone domains of the same label (several racks may hang on one feed). One node, all nodes, and the
 * nodes without the label are no domain.
 */
export function failureDomain(settings: FailureDomainSettings): StormPolicy {
  const { topologyKeys, share } = settings;
  return stormPolicy('failure-domain', settings, (view) => {
    const unhealthy = unhealthyIn(settings, view).length;
    if (unhealthy < 2) return forAll(undefined);
    const nodes = nodesOf(settings, view);
    const domains = new Domains(nodes, topologyKeys).all().filter(({ value }) => value !== undefined);
    const everybody = [...view.nodes.values()];
    const gone = domains.filter((domain) => isGone(domain, share) && everybody.some((node) => valueOf(node, domain.key) !== domain.value));
    const messages = new Map<string, Map<string | undefined, string>>();
    for (const key of topologyKeys) {
      const ofKey = gone.filter((domain) => domain.key === key);
      const within = ofKey.reduce((sum, { nodes: members }) => sum + members.filter(isUnhealthy).length, 0);
      if (within * 2 <= unhealthy) continue;
      messages.set(key, new Map(ofKey.map((domain) => [domain.value, describeHold(domain, { unhealthy, within, share })])));
    }
    if (messages.size === 0) return forAll(undefined);
    return (node) => {
      for (const [key, ofKey] of messages) {
        const message = ofKey.get(valueOf(node, key));
        if (message !== undefined) return { reason: 'failure-domain', message };
      }
      return undefined;
    };
  });
}

function isGone({ nodes }: Domain, share: number): boolean {
  const unhealthy = nodes.filter(isUnhealthy).length;
  return unhealthy >= 2 && unhealthy * 100 >= share * nodes.length;
}

function describeHold(domain: Domain, { unhealthy, within, share }: { unhealthy: number; within: number; share: number }): string {
  const own = domain.nodes.filter(isUnhealthy).length;
  return `${own} of ${domain.nodes.length} nodes of ${describeDomain(domain)} are unhealthy, and ${within} of all ${unhealthy} unhealthy nodes are in such domains: a switch or a power feed, not the nodes; ends when less than ${share}% of it is unhealthy`;
}
