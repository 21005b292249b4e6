import { POOL_LABELS, ZONE_LABEL } from './names.ts';
import type { MachineDeploymentFacts, MachineFacts, MachineSetFacts, Marks, NodeFacts, Snapshot } from './snapshot.ts';
import type { Place } from './subject.ts';
import type { Override } from './preserve-decision.ts';

/** The first zones get what does not divide. Source: Gardener DistributeOverZones. */
export function distribute(max: number, zones: number): number[] {
  return Array.from({ length: zones }, (_, zone) => Math.floor(max / zones) + (zone < max % zones ? 1 : 0));
}

/** The pool that these labels name, the first that do. */
export function poolOf(...marks: (Marks | undefined)[]): string | undefined {
  for (const labels of marks) {
    const found = POOL_LABELS.map((label) => labels?.[label]).find((value) => value !== undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;

/** Which machines belong together, how many of them may be preserved automatically, and what is stronger than preservation. */
export class Pools {
  readonly problems: string[] = [];
  readonly #snapshot: Snapshot;
  readonly #sets: ReadonlyMap<string, MachineSetFacts>;
  readonly #deployments: ReadonlyMap<string, MachineDeploymentFacts>;
  readonly #overrides = new Map<string, Override>();
  readonly #shares = new Map<string, number>();
  /** Pools that have MachineDeployments. */
  readonly #deployed = new Set<string>();
  #isShared = false;
  /** Groups of each configured pool: its MachineDeployments, or the zones of its plain Nodes. */
  readonly #groups = new Map<string, Set<string>>();

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
    this.#sets = new Map(snapshot.machineSets.map((set) => [keyOf(set.namespace, set.name), set]));
    this.#deployments = new Map(snapshot.machineDeployments.map((each) => [keyOf(each.namespace, each.name), each]));
    for (const deployment of this.#deployments.values()) {
      const group = `deployment ${keyOf(deployment.namespace, deployment.name)}`;
      const pool = poolOf(deployment.labels);
      if (pool !== undefined) this.#deployed.add(pool);
      if (pool !== undefined && snapshot.pools.has(pool)) this.#join(pool, group);
      else this.#shares.set(group, deployment.autoPreserveMax ?? 0);
    }
    this.#findOverrides();
  }

  #join(pool: string, group: string): void {
    const groups = this.#groups.get(pool) ?? new Set();
    this.#groups.set(pool, groups.add(group));
  }

  /** Two sets with machines are a rolling update; a set of none, or the annotation, is hibernation. */
  #findOverrides(): void {
    const filled = new Map<string, Set<string>>();
    for (const machine of this.#snapshot.machines) {
      const set = this.#setOf(machine);
      if (set?.deployment === undefined || machine.isDeleting || machine.phase === 'Terminating') continue;
      const key = keyOf(set.namespace, set.deployment);
      filled.set(key, (filled.get(key) ?? new Set()).add(set.name));
    }
    for (const [key, sets] of filled) if (sets.size > 1) this.#overrides.set(key, 'rolling');
    for (const [key, { isHibernated }] of this.#deployments) if (isHibernated) this.#overrides.set(key, 'hibernated');
  }

  #setOf(machine: MachineFacts): MachineSetFacts | undefined {
    return machine.machineSet === undefined ? undefined : this.#sets.get(keyOf(machine.namespace, machine.machineSet));
  }

  overrideOf(machine: MachineFacts | undefined): Override | undefined {
    const set = machine === undefined ? undefined : this.#setOf(machine);
    if (set === undefined) return undefined;
    if (set.replicas === 0) return 'hibernated';
    return set.deployment === undefined ? undefined : this.#overrides.get(keyOf(set.namespace, set.deployment));
  }

  /** Groups become known by asking for their members: ask for all before `shares`. */
  placeOf(machine: MachineFacts | undefined, node: NodeFacts | undefined): Place {
    const set = machine === undefined ? undefined : this.#setOf(machine);
    const deployment = set?.deployment === undefined ? undefined : this.#deployments.get(keyOf(set.namespace, set.deployment));
    const pool = poolOf(deployment?.labels, machine?.labels, node?.labels);
    if (deployment !== undefined) return { group: `deployment ${keyOf(deployment.namespace, deployment.name)}`, pool };
    if (set !== undefined) {
      const group = `set ${keyOf(set.namespace, set.name)}`;
      this.#shares.set(group, set.autoPreserveMax ?? 0);
      return { group, pool };
    }
    if (pool === undefined || !this.#snapshot.pools.has(pool)) return { group: undefined, pool };
    // A Node whose Machine is gone, or has not named it yet, takes no share from the deployments of its pool; nor does a Machine that none of them has.
    if (this.#deployed.has(pool)) return { group: undefined, pool };
    const group = `zone ${pool}/${node?.labels[ZONE_LABEL] ?? ''}`;
    this.#join(pool, group);
    return { group, pool };
  }

  /** How many of each group may be preserved automatically; tells of what does not divide. Settled by the first call. */
  shares(): ReadonlyMap<string, number> {
    if (this.#isShared) return this.#shares;
    this.#isShared = true;
    for (const [pool, { autoPreserveMax }] of this.#snapshot.pools) {
      const groups = [...(this.#groups.get(pool) ?? [])].sort();
      const shares = distribute(autoPreserveMax, groups.length);
      groups.forEach((group, index) => this.#shares.set(group, shares[index] ?? 0));
      if (groups.length === 0) this.problems.push(`pool ${pool}: no MachineDeployment and no Node has this pool's label`);
      else if (autoPreserveMax % groups.length !== 0) this.problems.push(uneven(pool, autoPreserveMax, shares));
    }
    return this.#shares;
  }
}

function uneven(pool: string, max: number, shares: readonly number[]): string {
  const without = shares.includes(0) ? '; failures in the zones with 0 are never preserved automatically' : '';
  return `pool ${pool}: a maximum of ${max} does not divide over ${shares.length} zones, they get ${shares.join(', ')}${without}`;
}
