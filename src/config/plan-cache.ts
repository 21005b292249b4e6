import { EqualLists, sameItems } from '../domain/equal-lists.ts';
import { EqualParts } from '../domain/equal-parts.ts';
import type { Plan, PlanProblem } from '../domain/plan.ts';
import type { Configuration, ConfigText, NodeFacts } from './configuration.ts';
import { holds, LookBook } from './looks.ts';
import type { Looks } from './looks.ts';
import type { MachineIndex } from './machine-index.ts';
import { matchingGroups } from './node-groups.ts';
import type { OwnedPlugs } from './owned-plugs.ts';
import type { SecretKeys } from './plan-method.ts';
import type { PlugOwners } from './plug-owners.ts';
import { resolvePlan } from './resolve-plan.ts';
import type { PlanInput } from './resolve-plan.ts';
import { NodeSight } from './seen-node.ts';
import type { SeenNode } from './seen-node.ts';

/** All that a plan can be made of, as it stands now. */
export interface Sources {
  configuration: Configuration;
  owners: PlugOwners & Partial<Pick<OwnedPlugs, 'soleOwner'>>;
  machines: MachineIndex | undefined;
  secretKeys: SecretKeys | undefined;
  /** Another one whenever a ConfigMap or a Secret may have changed. Absent: that is not known. */
  version?: number;
}

/** What one plan was made of: it is the same plan as long as every look finds the same. */
interface Entry {
  plan: Plan;
  node: SeenNode;
  groups: readonly ConfigText[];
  configMaps: Looks;
  secrets: Looks;
  owners: Looks;
  machines: Looks;
  /** It was the same plan under this version of the sources. */
  version: number | undefined;
}

/** Nodes of one group have the same times and the same steps, but for their devices. */
const PARTS_MAX = 1_000;
const LISTS_MAX = 16;
const NO_PROBLEMS: readonly PlanProblem[] = [];

/** Plans of nodes, made anew only when something that went into them has changed: a cluster has thousands, an edit concerns few. */
export class PlanCache {
  readonly #entries = new Map<string, Entry>();
  readonly #parts = new EqualParts(PARTS_MAX);
  readonly #groups = new EqualLists<ConfigText>(LISTS_MAX);
  readonly #looks = new EqualLists<unknown>(LISTS_MAX);
  readonly #sight = new NodeSight();
  #resolutions = 0;

  /** Plans that were made, for measuring. */
  get resolutions(): number {
    return this.#resolutions;
  }

  planFor(node: NodeFacts, sources: Sources): Plan {
    const known = this.#entries.get(node.name);
    if (known !== undefined && known.node.isSameIn(node) && isCurrent(node, known, sources)) {
      known.version = sources.version;
      return known.plan;
    }
    this.#resolutions += 1;
    const { entry, isOfAll } = this.#resolve(node, sources);
    // It depends on names that were searched for among all.
    if (isOfAll) this.#entries.delete(node.name);
    else this.#entries.set(node.name, entry);
    return entry.plan;
  }

  forget(node: string): void {
    this.#entries.delete(node);
  }

  #resolve(node: NodeFacts, sources: Sources): { entry: Entry; isOfAll: boolean } {
    const { plan, seen, found, isOfAll } = resolve(node, sources, { parts: this.#parts, sight: this.#sight });
    const list = (book: LookBook): Looks => this.#looks.of(book.looks);
    const looks = {
      configMaps: list(found.configMaps),
      secrets: list(found.secrets),
      owners: found.owners.looks,
      machines: list(found.machines),
    };
    const groups = this.#groups.of(matchingGroups(sources.configuration, node));
    return { entry: { plan: sharing(plan, this.#parts), node: seen, groups, ...looks, version: sources.version }, isOfAll };
  }
}

function isCurrent(
  node: NodeFacts,
  { groups, version, ...looks }: Entry,
  { configuration, owners, machines, secretKeys, version: now }: Sources,
): boolean {
  const isUnchanged = now !== undefined && version === now;
  return (
    (isUnchanged || sameItems(groups, matchingGroups(configuration, node))) &&
    (isUnchanged || holds(looks.configMaps, node.name, (name) => configuration.configMaps.get(name))) &&
    (isUnchanged || holds(looks.secrets, node.name, (name) => keysWord(secretKeys?.(name)))) &&
    holds(looks.owners, node.name, (plug) => ownersWord(plug, node.name, owners)) &&
    holds(looks.machines, node.name, (name) => machines?.nodeOf(name))
  );
}

function keysWord(keys: readonly string[]): string;
function keysWord(keys: readonly string[] | undefined): string | undefined;
function keysWord(keys: readonly string[] | undefined): string | undefined {
  return keys?.join('\n');
}

/** Where the node alone has it, nothing else matters. Two owners say whether there is another one; a third changes nothing that `shared=` does not name. */
function ownersWord(plug: string, node: string, owners: Sources['owners']): string {
  if (owners.soleOwner?.(plug)?.node === node) return 'own';
  const found = owners.get(plug);
  return JSON.stringify([found?.size ?? 0, [...(found ?? [])].slice(0, 3)]);
}

type Found = Readonly<Record<'configMaps' | 'secrets' | 'owners' | 'machines', LookBook>>;

interface Resolution {
  plan: Plan;
  seen: SeenNode;
  found: Found;
  isOfAll: boolean;
}

function resolve(node: NodeFacts, sources: Sources, { parts, sight }: { parts: EqualParts; sight: NodeSight }): Resolution {
  const { configuration, owners, machines, secretKeys } = sources;
  const book = (): LookBook => new LookBook(node.name);
  const found: Found = { configMaps: book(), secrets: book(), owners: book(), machines: book() };
  let isOfAll = false;
  const { configMaps } = configuration;
  const all = (): typeof configMaps => {
    isOfAll = true;
    return configMaps;
  };
  const seen = (name: string): ConfigText | undefined => {
    const config = configMaps.get(name);
    found.configMaps.add(name, config);
    return config;
  };
  const inputOf = (noting: NodeFacts): PlanInput => ({
    node: noting,
    configuration: {
      ...configuration,
      configMaps: { get: seen, has: (name) => seen(name) !== undefined, keys: () => all().keys(), values: () => all().values() },
    },
    owners: {
      get: (plug) => {
        found.owners.add(owners.soleOwner?.(plug)?.plug ?? plug, ownersWord(plug, node.name, owners));
        return owners.get(plug);
      },
    },
    ...(machines !== undefined && {
      machines: {
        nodeOf: (name) => {
          const other = machines.nodeOf(name);
          found.machines.add(name, other);
          return other;
        },
        sharersOf: (name, own) => {
          // Whether it is the node's alone is all that a plan rests on.
          found.machines.add(name, machines.nodeOf(name));
          return machines.sharersOf(name, own);
        },
      },
    }),
    ...(secretKeys !== undefined && {
      secretKeys: (name) => {
        const keys = secretKeys(name);
        found.secrets.add(name, keys === undefined ? undefined : parts.of(keysWord(keys)));
        return keys;
      },
    }),
  });
  const { seen: looked, found: plan } = sight.through(node, (noting) => resolvePlan(inputOf(noting)));
  return { plan, seen: looked, found, isOfAll };
}

/** What other nodes' plans have too is held once. */
function sharing(plan: Plan, parts: EqualParts): Plan {
  const { isolation, recovery, timing, minimumEvidence, problems } = plan;
  return {
    ...plan,
    isolation: parts.of(isolation),
    recovery: parts.of(recovery),
    timing: parts.of(timing),
    minimumEvidence: parts.of(minimumEvidence),
    problems: problems.length === 0 ? NO_PROBLEMS : problems,
  };
}
