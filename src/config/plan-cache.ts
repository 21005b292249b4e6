import { sameContent } from '../domain/canonical.ts';
import { EqualParts } from '../domain/equal-parts.ts';
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

/** Look-ups that were made, each once, and a word for what it found: name, word, name, ... There are several for each of thousands of nodes. */
class Looks {
  readonly #flat: unknown[] = [];

  add(name: string, found: unknown): void {
    if (!this.#flat.some((known, index) => index % 2 === 0 && known === name)) this.#flat.push(name, found);
  }

  /** Does every look find the same again? */
  holds(find: (name: string) => unknown): boolean {
    return this.#flat.every((name, index) => index % 2 === 1 || find(name as string) === this.#flat[index + 1]);
  }
}

/** What one plan was made of: it is the same plan as long as every look finds the same. */
interface Entry {
  plan: Plan;
  node: NodeFacts;
  groups: readonly ConfigText[];
  configMaps: Looks;
  secrets: Looks;
  owners: Looks;
  machines: Looks;
  /** It depends on names that were searched for among all. */
  isOfAll: boolean;
}

/** Nodes of one group have the same times and the same steps, but for their devices. */
const PARTS_MAX = 1_000;

/** Plans of nodes, made anew only when something that went into them has changed: a cluster has thousands, an edit concerns few. */
export class PlanCache {
  readonly #entries = new Map<string, Entry>();
  readonly #parts = new EqualParts(PARTS_MAX);
  #resolutions = 0;

  /** Plans that were made, for measuring. */
  get resolutions(): number {
    return this.#resolutions;
  }

  planFor(node: NodeFacts, sources: Sources): Plan {
    const known = this.#entries.get(node.name);
    if (known !== undefined && sameContent(known.node, node) && isCurrent(known, node, sources)) return known.plan;
    this.#resolutions += 1;
    const entry = resolve(node, sources, this.#parts);
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
    entry.configMaps.holds((name) => configuration.configMaps.get(name)) &&
    entry.secrets.holds((name) => keysWord(secretKeys?.(name))) &&
    entry.owners.holds((plug) => ownersWord(owners.get(plug))) &&
    entry.machines.holds((name) => machines?.nodeOf(name))
  );
}

function keysWord(keys: readonly string[]): string;
function keysWord(keys: readonly string[] | undefined): string | undefined;
function keysWord(keys: readonly string[] | undefined): string | undefined {
  return keys?.join('\n');
}

/** Two owners say whether there is another one; a third changes nothing that `shared=` does not name. */
function ownersWord(owners: ReadonlyMap<string, string> | undefined): string {
  const first = [...(owners ?? [])].slice(0, 3);
  return JSON.stringify([owners?.size ?? 0, first]);
}

function resolve(node: NodeFacts, { configuration, owners, machines, secretKeys }: Sources, parts: EqualParts): Entry {
  const entry = { configMaps: new Looks(), secrets: new Looks(), owners: new Looks(), machines: new Looks(), isOfAll: false };
  const { configMaps } = configuration;
  const all = (): typeof configMaps => {
    entry.isOfAll = true;
    return configMaps;
  };
  const seen = (name: string): ConfigText | undefined => {
    const found = configMaps.get(name);
    entry.configMaps.add(name, found);
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
        entry.owners.add(plug, ownersWord(found));
        return found;
      },
    },
    ...(machines !== undefined && {
      machines: {
        nodeOf: (name) => {
          const found = machines.nodeOf(name);
          entry.machines.add(name, found);
          return found;
        },
      },
    }),
    ...(secretKeys !== undefined && {
      secretKeys: (name) => {
        const found = secretKeys(name);
        entry.secrets.add(name, found === undefined ? undefined : parts.of(keysWord(found)));
        return found;
      },
    }),
  });
  return { ...entry, plan: sharing(plan, parts), node, groups: matchingGroups(configuration, node) };
}

/** What other nodes' plans have too is held once. */
function sharing(plan: Plan, parts: EqualParts): Plan {
  const { isolation, recovery, timing, minimumEvidence } = plan;
  return {
    ...plan,
    isolation: parts.of(isolation),
    recovery: parts.of(recovery),
    timing: parts.of(timing),
    minimumEvidence: parts.of(minimumEvidence),
  };
}
