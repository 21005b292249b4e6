import type { ObjectRef } from './actions.ts';
import type { Listed, PreservationCache } from './cache.ts';
import { LINKS, loneLink, poolLink } from './links.ts';
import type { Linked } from './links.ts';
import { Partition } from './partition.ts';
import type { PoolSettings } from './snapshot.ts';

/** A pool and all that belongs to it, by the keys of the listers: what is decided together. */
export interface Pool {
  members: Readonly<Record<ObjectRef['kind'], string[]>>;
  settings: Map<string, PoolSettings>;
}

/** What is to be decided anew. Pools have numbers, which say nothing any more when all is. */
export interface ToDecide {
  pools: ReadonlyMap<number, Pool>;
  changed: ReadonlySet<number>;
  isAll: boolean;
}

/** Which pools there are, and which of them a change concerns, so that they alone are decided anew. */
export class Changes {
  readonly #links = new Set<string>();
  #partition = new Partition();
  #pools: ReadonlyMap<number, Pool> = new Map();
  /** Something belongs elsewhere than before. */
  #isMoved = true;
  #settings: ReadonlyMap<string, PoolSettings> = new Map();
  #listed: Listed | undefined;
  #resumedAtMs: number | undefined;

  /** What is read of an object: its links before and after. */
  add(before: Linked | undefined, after: Linked | undefined): void {
    const isSame = before?.length === after?.length && before?.every((link, index) => link === after?.[index]) === true;
    if (!isSame) this.#isMoved = true;
    const [link] = after ?? before ?? [];
    if (link !== undefined) this.#links.add(link);
  }

  /** Each change is told once. What was decided while less was listed, or in an outage, which it took for silence of the machines, counts no more. */
  take(cache: PreservationCache, settings: ReadonlyMap<string, PoolSettings>): ToDecide {
    const { listed, nodesResumedAtMs } = cache;
    const isMoved = this.#isMoved || settings !== this.#settings;
    const isAll = isMoved || listed !== this.#listed || nodesResumedAtMs !== this.#resumedAtMs;
    if (isMoved) this.#assign(cache, settings);
    const changed = isAll ? [...this.#pools.keys()] : [...this.#links].map((link) => this.#partition.poolOf(link));
    [this.#isMoved, this.#settings, this.#listed, this.#resumedAtMs] = [false, settings, listed, nodesResumedAtMs];
    this.#links.clear();
    return { pools: this.#pools, changed: new Set(changed.filter((pool) => pool !== undefined)), isAll };
  }

  /** Puts every object into its pool. */
  #assign({ kinds }: PreservationCache, settings: ReadonlyMap<string, PoolSettings>): void {
    const partition = new Partition();
    const placed: { kind: ObjectRef['kind']; key: string; link: string }[] = [];
    const place = (kind: ObjectRef['kind'], key: string, links: Linked): void => {
      const [link] = links;
      partition.join(kind === 'Node' && links.length === 1 && partition.poolOf(link) === undefined ? [...links, loneLink(key)] : links);
      placed.push({ kind, key, link });
    };
    for (const name of settings.keys()) partition.join(poolLink(name));
    for (const [key, { facts }] of kinds.MachineDeployment?.entries() ?? []) place('MachineDeployment', key, LINKS.MachineDeployment(facts));
    for (const [key, { facts }] of kinds.MachineSet?.entries() ?? []) place('MachineSet', key, LINKS.MachineSet(facts));
    for (const [key, { facts }] of kinds.Machine?.entries() ?? []) place('Machine', key, LINKS.Machine(facts));
    for (const [key, { facts }] of kinds.Node.entries()) place('Node', key, LINKS.Node(facts));
    const pools = new Map<number, Pool>();
    const poolBehind = (link: string): Pool => {
      const number = partition.poolOf(link) ?? -1;
      const pool = pools.get(number) ?? { members: { Node: [], Machine: [], MachineSet: [], MachineDeployment: [] }, settings: new Map() };
      pools.set(number, pool);
      return pool;
    };
    for (const { kind, key, link } of placed) poolBehind(link).members[kind].push(key);
    for (const [name, each] of settings) for (const link of poolLink(name)) poolBehind(link).settings.set(name, each);
    this.#partition = partition;
    this.#pools = pools;
  }
}
