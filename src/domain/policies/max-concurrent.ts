import { Domains, describeDomain, valueOf, ZONE_LABEL } from './domains.ts';
import type { Domain } from './domains.ts';
import { hasLabel, holdsSlot } from './node-set.ts';
import type { StormPolicy } from './policy.ts';
import { forAll, holdersIn, named, nodesOf, stormPolicy } from './scope.ts';
import type { CommonSettings } from './scope.ts';
import type { StormNode, StormView } from './view.ts';

export interface MaxConcurrentSettings extends CommonSettings {
  /** Fences that may hold a slot at once, in all of the scope. */
  max: number;
  /** The same in each failure domain; those without the label are one domain. */
  maxPerDomain: number;
  /** Labels that name failure domains. A key that nobody has counts only where nobody has any of them: then all are one domain. */
  topologyKeys: readonly string[];
}

export const DEFAULT_CONCURRENT = { max: 3, maxPerDomain: 1, topologyKeys: [ZONE_LABEL] } as const;

/** So many at once and no more: a fence takes capacity away until its workload is released. One that holds a slot goes on. */
export function maxConcurrent(settings: MaxConcurrentSettings): StormPolicy {
  const { max, maxPerDomain, topologyKeys } = settings;
  return stormPolicy('max-concurrent', settings, (view) => {
    const holders = holdersIn(settings, view);
    if (holders.length >= max) {
      const message = `${slots(holders)} of ${max} at once: ends when one of them is released, fails or is off on purpose`;
      const hold = { reason: 'max-concurrent' as const, message };
      return (node) => (holdsSlot(node) ? undefined : hold);
    }
    if (holders.length === 0 && maxPerDomain > 0) return forAll(undefined);
    const full = new Map(topologyKeys.map((key) => [key, new Map<string | undefined, string>()]));
    const present = topologyKeys.filter((key) => isPresent(key, settings, view));
    const counting = present.length > 0 ? present : topologyKeys.slice(0, 1);
    // Where a domain may have any, only those that have one can be full.
    for (const domain of new Domains(maxPerDomain > 0 ? holders : nodesOf(settings, view), counting).all()) {
      const within = domain.nodes.filter(holdsSlot);
      if (within.length >= maxPerDomain) full.get(domain.key)?.set(domain.value, describeHold(domain, within, maxPerDomain));
    }
    return (node) => {
      if (holdsSlot(node)) return undefined;
      for (const key of counting) {
        const message = full.get(key)?.get(valueOf(node, key));
        if (message !== undefined) return { reason: 'max-concurrent', message };
      }
      return undefined;
    };
  });
}

function isPresent(key: string, { scope }: CommonSettings, view: StormView): boolean {
  if (scope === undefined || !hasLabel(view.nodes, key)) return hasLabel(view.nodes, key);
  for (const node of view.nodes.values()) if (valueOf(node, key) !== undefined && scope(node.labels)) return true;
  return false;
}

function slots(holders: readonly StormNode[]): string {
  return holders.length === 0 ? 'no fence is allowed,' : `${holders.length} under way (${named(holders.map(({ name }) => name).toSorted())})`;
}

function describeHold(domain: Domain, holders: readonly StormNode[], max: number): string {
  return `${slots(holders)} of ${max} at once in ${describeDomain(domain)}: ends when one of them is released, fails or is off on purpose`;
}
