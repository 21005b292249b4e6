import type { Plan } from '../domain/plan.ts';
import type { Configuration, ConfigText, NodeFacts } from './configuration.ts';
import type { MachineIndex } from './machine-index.ts';
import { matchingGroups } from './node-groups.ts';
import type { SecretKeys } from './plan-method.ts';
import type { PlugOwners } from './plug-owners.ts';
import { resolvePlan } from './resolve-plan.ts';

/** All that a plan can be made of, as it stands now. */
export interface Sources {
  configuration: Configuration;
  owners: PlugOwners;
  machines: MachineIndex | undefined;
  secretKeys: SecretKeys | undefined;
}

/** A look-up that was made, and a word for what it found. */
type Look = readonly [name: string, found: unknown];

/** What one plan was made of: it is the same plan as long as every look finds the same. */
interface Entry {
  plan: Plan;
  facts: string;
  groups: readonly ConfigText[];
  configMaps: readonly Look[];
  secrets: readonly Look[];
  owners: readonly Look[];
  machines: readonly Look[];
  /** It depends on names that were searched for among all. */
  isOfAll: boolean;
}

/** Plans of nodes, made anew only when something that went into them has changed: a cluster has thousands, an edit concerns few. */
export class PlanCache {
  readonly #entries = new Map<string, Entry>();
  #resolutions = 0;

  /** Plans that were made, for measuring. */
  get resolutions(): number {
    return this.#resolutions;
  }

  planFor(node: NodeFacts, sources: Sources): Plan {
    const facts = JSON.stringify(node);
    const known = this.#entries.get(node.name);
    if (known?.facts === facts && isCurrent(known, node, sources)) return known.plan;
    this.#resolutions += 1;
    const entry = resolve(node, facts, sources);
    if (entry.isOfAll) this.#entries.delete(node.name);
    else this.#entries.set(node.name, entry);
    return entry.plan;
  }

  forget(node: string): void {
    this.#entries.delete(node);
  }
}

function isCurrent(entry: Entry, node: NodeFacts, { configuration, owners, machines, secretKeys }: Sources): boolean {
  const groups = matchingGroups(configuration, node);
  return (
    groups.length === entry.groups.length &&
    groups.every((group, index) => group === entry.groups[index]) &&
    entry.configMaps.every(([name, found]) => configuration.configMaps.get(name) === found) &&
    entry.secrets.every(([name, found]) => keysWord(secretKeys?.(name)) === found) &&
    entry.owners.every(([plug, found]) => ownersWord(owners.get(plug)) === found) &&
    entry.machines.every(([name, found]) => machines?.nodeOf(name) === found)
  );
}

function keysWord(keys: readonly string[] | undefined): string | undefined {
  return keys?.join('\n');
}

/** Two owners say whether there is another one; a third changes nothing that `shared=` does not name. */
function ownersWord(owners: ReadonlyMap<string, string> | undefined): string {
  const first = [...(owners ?? [])].slice(0, 3);
  return JSON.stringify([owners?.size ?? 0, first]);
}

function resolve(node: NodeFacts, facts: string, { configuration, owners, machines, secretKeys }: Sources): Entry {
  const entry = { configMaps: [] as Look[], secrets: [] as Look[], owners: [] as Look[], machines: [] as Look[], isOfAll: false };
  const { configMaps } = configuration;
  const all = (): typeof configMaps => {
    entry.isOfAll = true;
    return configMaps;
  };
  const seen = (name: string): ConfigText | undefined => {
    const found = configMaps.get(name);
    entry.configMaps.push([name, found]);
    return found;
  };
  const plan = resolvePlan({
    node,
    configuration: {
      ...configuration,
      configMaps: { get: seen, has: (name) => seen(name) !== undefined, keys: () => all().keys(), values: () => all().values() },
    },
    owners: {
      get: (plug) => {
        const found = owners.get(plug);
        entry.owners.push([plug, ownersWord(found)]);
        return found;
      },
    },
    ...(machines !== undefined && {
      machines: {
        nodeOf: (name) => {
          const found = machines.nodeOf(name);
          entry.machines.push([name, found]);
          return found;
        },
      },
    }),
    ...(secretKeys !== undefined && {
      secretKeys: (name) => {
        const found = secretKeys(name);
        entry.secrets.push([name, keysWord(found)]);
        return found;
      },
    }),
  });
  return { ...entry, plan, facts, groups: matchingGroups(configuration, node) };
}
