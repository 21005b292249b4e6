import type { KubeObject, Node } from '../../ports/objects.ts';
import type { Machine, MachineDeployment, MachineSet } from '../../ports/machines.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { fenceName } from '../../domain/node-fence.ts';
import type { ObjectRef } from './actions.ts';
import type { MachineSide, NodeSide } from './dependencies.ts';
import { fenceProof, provenFor } from './fence-proof.ts';
import type { FenceProof } from './fence-proof.ts';
import { machineDeploymentFacts, machineFacts, machineSetFacts } from './machine-facts.ts';
import { nodeFacts } from './node-facts.ts';
import type { BareNodeFacts } from './node-facts.ts';
import { linksOf, loneLink, Partition } from './partition.ts';
import type { Placed } from './partition.ts';
import type { DrainFacts, MachineDeploymentFacts, MachineFacts, MachineSetFacts, NodeFacts, PoolSettings, Snapshot } from './snapshot.ts';
import { keyOf, WatchedFacts } from './watched-facts.ts';
import type { Known } from './watched-facts.ts';

/** Objects that concern each other; their keys in the listers. */
export interface Part {
  machines: string[];
  nodes: string[];
  machineSets: string[];
  machineDeployments: string[];
  pools: Map<string, PoolSettings>;
}

/** Who of them was heard: all, the Machines without all that owns them, or the Nodes alone. */
export type Sight = 'all' | 'machines' | 'nodes';

export type Settings = Omit<Snapshot, 'nowMs' | 'heardSinceMs' | 'machines' | 'nodes' | 'machineSets' | 'machineDeployments' | 'pools'>;

interface Watched {
  nodes: WatchedFacts<Node, BareNodeFacts>;
  fences: WatchedFacts<NodeFence, FenceProof>;
  machines: WatchedFacts<Machine, MachineFacts> | undefined;
  machineSets: WatchedFacts<MachineSet, MachineSetFacts> | undefined;
  machineDeployments: WatchedFacts<MachineDeployment, MachineDeploymentFacts> | undefined;
}

type Watch = Pick<WatchedFacts<KubeObject, unknown>, 'start' | 'close' | 'isSynced' | 'freshAtMs'>;

interface Joined {
  bare: BareNodeFacts;
  proof: FenceProof | undefined;
  drain: DrainFacts | undefined;
  facts: NodeFacts;
}

/** Everything that preservation reads, kept in parts that do not concern each other, so that one event costs the decision of one part. */
export class Picture {
  readonly #watched: Watched;
  readonly #drainOf: (uid: string) => DrainFacts | undefined;
  readonly #woken: () => void;
  readonly #joined = new Map<string, Joined>();
  #partition = new Partition();
  #parts = new Map<number, Part>();
  #isMoved = true;
  /** Links of what has changed since the last `changedParts`. */
  #touched = new Set<string>();
  #pools: ReadonlyMap<string, PoolSettings> = new Map();

  constructor(nodes: NodeSide, machines: MachineSide | undefined, drainOf: (uid: string) => DrainFacts | undefined, woken: () => void) {
    this.#drainOf = drainOf;
    this.#woken = woken;
    this.#watched = {
      nodes: new WatchedFacts(nodes.listers.nodes, nodeFacts, (key, before, after) => {
        if (after === undefined) this.#joined.delete(key);
        this.#moved(before && { kind: 'Node', facts: before }, after && { kind: 'Node', facts: after });
      }),
      fences: new WatchedFacts(nodes.listers.fences, fenceProof, (_key, before, after) => {
        this.touch(`node ${(after ?? before)?.node ?? ''}`);
      }),
      machines:
        machines &&
        new WatchedFacts(machines.listers.machines, machineFacts, (_key, before, after) => {
          this.#moved(before && { kind: 'Machine', facts: before }, after && { kind: 'Machine', facts: after });
        }),
      machineSets:
        machines &&
        new WatchedFacts(machines.listers.machineSets, machineSetFacts, (_key, before, after) => {
          this.#moved(before && { kind: 'MachineSet', facts: before }, after && { kind: 'MachineSet', facts: after });
        }),
      machineDeployments:
        machines &&
        new WatchedFacts(machines.listers.machineDeployments, machineDeploymentFacts, (_key, before, after) => {
          this.#moved(before && { kind: 'MachineDeployment', facts: before }, after && { kind: 'MachineDeployment', facts: after });
        }),
    };
  }

  start(): void {
    for (const watched of this.#all()) watched.start();
  }

  close(): void {
    for (const watched of this.#all()) watched.close();
  }

  get areNodesSynced(): boolean {
    return this.#watched.nodes.isSynced && this.#watched.fences.isSynced;
  }

  /** `all` also where there are no Machines to be heard. */
  get sight(): Sight {
    if (this.#machinesWatched().every(({ isSynced }) => isSynced)) return 'all';
    return this.#watched.machines?.isSynced === true ? 'machines' : 'nodes';
  }

  /** All of them, as far as it matters whether they are heard. */
  watches(): { synced: boolean; freshAtMs: number }[] {
    return this.#all().map(({ isSynced, freshAtMs }) => ({ synced: isSynced, freshAtMs }));
  }

  /** Monotonic time at which the side that is silent longest was last heard. */
  freshAtMs(side: 'nodes' | 'machines'): number {
    const watched = side === 'nodes' ? [this.#watched.nodes, this.#watched.fences] : this.#machinesWatched();
    return Math.min(...watched.map(({ freshAtMs }) => freshAtMs));
  }

  /** Monotonic time since which the Nodes are heard again, or at all; undefined: nobody can tell. */
  get nodesResumedAtMs(): number | undefined {
    const { resumedAtMs } = this.#watched.nodes;
    return resumedAtMs !== undefined && Number.isFinite(resumedAtMs) ? resumedAtMs : undefined;
  }

  nodeNames(): Iterable<string> {
    return this.#watched.nodes.keys();
  }

  /** Something about what stands behind this link has changed beside the watches. */
  touch(link: string): void {
    this.#touched.add(link);
    this.#woken();
  }

  /** Which parts are to be looked at again: all of them when anything belongs elsewhere than before. Asked, they count as looked at. */
  changedParts(pools: ReadonlyMap<string, PoolSettings>): { parts: ReadonlyMap<number, Part>; changed: ReadonlySet<number>; isMoved: boolean } {
    const isMoved = this.#isMoved || pools !== this.#pools;
    if (isMoved) this.#rebuild(pools);
    const touched = isMoved ? [...this.#parts.keys()] : [...this.#touched].map((link) => this.#partition.partOf(link));
    this.#touched = new Set();
    return { parts: this.#parts, changed: new Set(touched.filter((part) => part !== undefined)), isMoved };
  }

  /** `heardSinceMs`: see Snapshot. */
  snapshotOf(part: Part, settings: Settings, nowMs: number, heardSinceMs?: number): Snapshot {
    const { machines, machineSets, machineDeployments } = this.#watched;
    return {
      ...settings,
      nowMs,
      ...(heardSinceMs === undefined ? {} : { heardSinceMs }),
      machines: factsOf(machines, part.machines),
      nodes: part.nodes.map((key) => this.#nodeOf(key)).filter((facts) => facts !== undefined),
      machineSets: factsOf(machineSets, part.machineSets),
      machineDeployments: factsOf(machineDeployments, part.machineDeployments),
      pools: part.pools,
    };
  }

  /** The newest version that is known; undefined when it is gone, or another stands under its name. */
  objectOf(target: ObjectRef): KubeObject | undefined {
    const found = this.#knownOf(target)?.object;
    return found?.metadata.uid === target.uid ? found : undefined;
  }

  /** What is read of it; the same value for as long as that stays as it is. A Node's drain is left out: it is ours. */
  factsOf(target: ObjectRef): unknown {
    return this.#knownOf(target)?.facts;
  }

  proofOf(node: string): FenceProof | undefined {
    return this.#watched.fences.get(fenceName(node))?.facts;
  }

  machine(key: string): MachineFacts | undefined {
    return this.#watched.machines?.get(key)?.facts;
  }

  /** The answer to a write of ours. */
  wrote(target: ObjectRef, answer: KubeObject): void {
    const { nodes, machines, machineSets, machineDeployments } = this.#watched;
    switch (target.kind) {
      case 'Node':
        nodes.wrote(answer as Node);
        return;
      case 'Machine':
        machines?.wrote(answer);
        return;
      case 'MachineSet':
        machineSets?.wrote(answer);
        return;
      case 'MachineDeployment':
        machineDeployments?.wrote(answer);
        return;
    }
  }

  #knownOf(target: ObjectRef): Known<KubeObject, unknown> | undefined {
    const key = keyOf(target);
    const { nodes, machines, machineSets, machineDeployments } = this.#watched;
    switch (target.kind) {
      case 'Node':
        return nodes.get(key);
      case 'Machine':
        return machines?.get(key);
      case 'MachineSet':
        return machineSets?.get(key);
      case 'MachineDeployment':
        return machineDeployments?.get(key);
    }
  }

  #nodeOf(key: string): NodeFacts | undefined {
    const bare = this.#watched.nodes.get(key)?.facts;
    if (bare === undefined) return undefined;
    const proof = this.proofOf(key);
    const drain = this.#drainOf(bare.uid);
    const known = this.#joined.get(key);
    if (known?.bare === bare && known.proof === proof && known.drain === drain) return known.facts;
    const fence = proof === undefined ? {} : { fence: provenFor(proof, bare.bootID) };
    const facts: NodeFacts = { ...bare, ...fence, ...(drain !== undefined && { drain }) };
    this.#joined.set(key, { bare, proof, drain, facts });
    return facts;
  }

  #machinesWatched(): Watch[] {
    const { machines, machineSets, machineDeployments } = this.#watched;
    return [machines, machineSets, machineDeployments].filter((watched) => watched !== undefined);
  }

  #all(): Watch[] {
    return [this.#watched.nodes, this.#watched.fences, ...this.#machinesWatched()];
  }

  #moved(before: Placed | undefined, after: Placed | undefined): void {
    const [old, now] = [before, after].map((placed) => (placed === undefined ? [] : linksOf(placed)));
    if (old?.length !== now?.length || old?.some((link, index) => link !== now?.[index]) === true) this.#isMoved = true;
    this.touch((now?.[0] ?? old?.[0]) as string);
  }

  #rebuild(pools: ReadonlyMap<string, PoolSettings>): void {
    this.#isMoved = false;
    this.#pools = pools;
    const partition = new Partition();
    const placed: { key: string; link: string; list: keyof Omit<Part, 'pools'> }[] = [];
    const { machines, machineSets, machineDeployments, nodes } = this.#watched;
    const place = (key: string, each: Placed, list: keyof Omit<Part, 'pools'>): void => {
      const links = linksOf(each);
      const isLone = each.kind === 'Node' && links.length === 1 && partition.partOf(links[0]) === undefined;
      partition.join(isLone ? [...links, loneLink(each.facts.name)] : links);
      placed.push({ key, link: links[0], list });
    };
    for (const name of pools.keys()) partition.join([`pool ${name}`]);
    for (const [key, { facts }] of machineDeployments?.entries() ?? []) place(key, { kind: 'MachineDeployment', facts }, 'machineDeployments');
    for (const [key, { facts }] of machineSets?.entries() ?? []) place(key, { kind: 'MachineSet', facts }, 'machineSets');
    for (const [key, { facts }] of machines?.entries() ?? []) place(key, { kind: 'Machine', facts }, 'machines');
    for (const [key, { facts }] of nodes.entries()) place(key, { kind: 'Node', facts }, 'nodes');
    const parts = new Map<number, Part>();
    const partBehind = (link: string): Part => {
      const number = partition.partOf(link) ?? -1;
      const part = parts.get(number) ?? { machines: [], nodes: [], machineSets: [], machineDeployments: [], pools: new Map<string, PoolSettings>() };
      parts.set(number, part);
      return part;
    };
    for (const { key, link, list } of placed) partBehind(link)[list].push(key);
    for (const [name, pool] of pools) partBehind(`pool ${name}`).pools.set(name, pool);
    this.#partition = partition;
    this.#parts = parts;
  }
}

function factsOf<T extends KubeObject, F>(watched: WatchedFacts<T, F> | undefined, keys: readonly string[]): F[] {
  return keys.map((key) => watched?.get(key)?.facts).filter((facts) => facts !== undefined);
}
