import { fenceName } from '../../domain/node-fence.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { Machine, MachineDeployment, MachineSet } from '../../ports/machines.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KubeObject, Node } from '../../ports/objects.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { Sights } from '../shared/sights.ts';
import type { ObjectRef } from './actions.ts';
import type { MachineSide, NodeSide } from './dependencies.ts';
import { fenceProof, provenFor } from './fence-proof.ts';
import type { FenceProof } from './fence-proof.ts';
import { LINKS } from './links.ts';
import type { Linked } from './links.ts';
import { machineDeploymentFacts, machineFacts, machineSetFacts } from './machine-facts.ts';
import { nodeFacts } from './node-facts.ts';
import type { BareNodeFacts } from './node-facts.ts';
import type { DrainFacts, MachineDeploymentFacts, MachineFacts, MachineSetFacts, NodeFacts } from './snapshot.ts';
import { keyOf, WatchedFacts } from './watched-facts.ts';

/** What has been listed: all, the Machines without all that owns them, or the Nodes alone. `all` also where no Machines are watched. */
export type Listed = 'all' | 'machines' | 'nodes';

/** What is read of an object is other than before: its links then and now. */
export type Changed = (before: Linked | undefined, after: Linked | undefined) => void;

interface Kinds {
  Node: WatchedFacts<Node, BareNodeFacts>;
  Machine?: WatchedFacts<Machine, MachineFacts>;
  MachineSet?: WatchedFacts<MachineSet, MachineSetFacts>;
  MachineDeployment?: WatchedFacts<MachineDeployment, MachineDeploymentFacts>;
}

/** Of any kind, as far as its type does not matter. */
type Watched = Pick<WatchedFacts<KubeObject, unknown>, 'start' | 'close' | 'synced' | 'freshAtMs' | 'get' | 'wrote'>;

/** What is dated of a Machine, and of a Node. */
const PHASE = 'phase';
const READY = 'Ready';

interface Joined {
  proof: FenceProof | undefined;
  drain: DrainFacts | undefined;
  facts: NodeFacts;
}

/** The cluster as the watches and the answers to our own writes show it, each version read once. */
export class PreservationCache {
  readonly kinds: Readonly<Kinds>;
  readonly #fences: WatchedFacts<NodeFence, FenceProof>;
  readonly #machineWatches: readonly Watched[];
  readonly #joined = new WeakMap<BareNodeFacts, Joined>();
  readonly #machineSights: Sights<MachineFacts>;
  readonly #nodeSights: Sights<BareNodeFacts>;

  constructor(
    clock: Pick<Clock, 'monotonicMs' | 'wallMs'>,
    { listers: { nodes, fences } }: NodeSide,
    machines: MachineSide | undefined,
    changed: Changed,
  ) {
    this.#machineSights = new Sights(clock, ({ phase, phaseSinceMs }) => new Map([[PHASE, `${phase} ${phaseSinceMs ?? ''}`]]));
    this.#nodeSights = new Sights(clock, ({ ready = '', readySinceMs }) => new Map([[READY, `${ready} ${readySinceMs ?? ''}`]]));
    const watch = <T extends KubeObject, F extends object>(
      lister: Lister<T>,
      read: (object: T) => F,
      links: (facts: F) => Linked,
      sights?: Sights<F>,
    ): WatchedFacts<T, F> =>
      new WatchedFacts(lister, read, (_key, before, after) => {
        if (after !== undefined) sights?.saw(before ?? (lister.synced ? 'none' : 'unseen'), after);
        changed(before && links(before), after && links(after));
      });
    const owners = machines && {
      Machine: watch(machines.listers.machines, machineFacts, LINKS.Machine, this.#machineSights),
      MachineSet: watch(machines.listers.machineSets, machineSetFacts, LINKS.MachineSet),
      MachineDeployment: watch(machines.listers.machineDeployments, machineDeploymentFacts, LINKS.MachineDeployment),
    };
    this.kinds = { Node: watch(nodes, nodeFacts, LINKS.Node, this.#nodeSights), ...owners };
    this.#machineWatches = owners === undefined ? [] : [owners.Machine, owners.MachineSet, owners.MachineDeployment];
    this.#fences = new WatchedFacts(fences, fenceProof, (_key, before, after) => {
      // A fence moves nothing: it belongs to its Node, whether it is there or not.
      const links: Linked = LINKS.Node({ name: (after ?? before)?.node ?? '', labels: {} });
      changed(links, links);
    });
  }

  start(): void {
    for (const watched of this.watches) watched.start();
  }

  close(): void {
    for (const watched of this.watches) watched.close();
  }

  get watches(): readonly Watched[] {
    return [this.kinds.Node, this.#fences, ...this.#machineWatches];
  }

  /** Without them nothing is decided. */
  get areNodesListed(): boolean {
    return this.kinds.Node.synced && this.#fences.synced;
  }

  get listed(): Listed {
    if (this.#machineWatches.every(({ synced }) => synced)) return 'all';
    return this.kinds.Machine?.synced === true ? 'machines' : 'nodes';
  }

  get unlistedKinds(): string[] {
    return Object.entries<Watched>(this.kinds).flatMap(([kind, { synced }]) => (synced ? [] : [kind]));
  }

  /** Monotonic time at which the watch of these that is silent longest was last heard; Infinity where there are none. */
  freshAtMs(side: 'nodes' | 'machines'): number {
    const watches = side === 'nodes' ? [this.kinds.Node, this.#fences] : this.#machineWatches;
    return Math.min(...watches.map(({ freshAtMs }) => freshAtMs));
  }

  /** Monotonic time since which the Nodes are heard again, or at all; undefined: nobody can tell. */
  get nodesResumedAtMs(): number | undefined {
    const { resumedAtMs } = this.kinds.Node;
    return resumedAtMs !== undefined && Number.isFinite(resumedAtMs) ? resumedAtMs : undefined;
  }

  /** The newest version that is known; undefined when it is gone, or another one has its name. */
  objectOf(target: ObjectRef): KubeObject | undefined {
    const found = this.#kindOf(target)?.get(keyOf(target))?.object;
    return found?.metadata.uid === target.uid ? found : undefined;
  }

  /** What is read of it; the same value for as long as that stays as it is. A Node's drain is left out: it is ours. */
  factsOf(target: ObjectRef): unknown {
    return this.#kindOf(target)?.get(keyOf(target))?.facts;
  }

  proofOf(node: string): FenceProof | undefined {
    return this.#fences.get(fenceName(node))?.facts;
  }

  machine(key: string): MachineFacts | undefined {
    return this.kinds.Machine?.get(key)?.facts;
  }

  /** With its fence and its drain; the same value for as long as all three stay as they are. */
  node(key: string, drainOf: (uid: string) => DrainFacts | undefined): NodeFacts | undefined {
    const bare = this.kinds.Node.get(key)?.facts;
    if (bare === undefined) return undefined;
    const [proof, drain] = [this.proofOf(key), drainOf(bare.uid)];
    const known = this.#joined.get(bare);
    if (known !== undefined && known.proof === proof && known.drain === drain) return known.facts;
    const fence = proof === undefined ? {} : { fence: provenFor(proof, bare.bootID) };
    const facts: NodeFacts = { ...bare, ...fence, ...(drain !== undefined && { drain }) };
    this.#joined.set(bare, { proof, drain, facts });
    return facts;
  }

  /** With our own sight of the phase, where time is to pass in it. */
  withSight(machine: MachineFacts): MachineFacts {
    const { phase, phaseSinceMs } = machine;
    if (phase !== 'Unknown' || phaseSinceMs === undefined) return machine;
    return { ...machine, phaseSeenMs: this.#machineSights.of(machine)(PHASE, phaseSinceMs) };
  }

  /** As `node`, with our own sight of one that is not Ready. */
  seenNode(key: string, drainOf: (uid: string) => DrainFacts | undefined): NodeFacts | undefined {
    const facts = this.node(key, drainOf);
    const bare = this.kinds.Node.get(key)?.facts;
    if (facts === undefined || bare?.readySinceMs === undefined || bare.ready === 'True') return facts;
    return { ...facts, readySeenMs: this.#nodeSights.of(bare)(READY, bare.readySinceMs) };
  }

  /** The answer to a write of ours. */
  wrote(target: ObjectRef, answer: KubeObject): void {
    this.#kindOf(target)?.wrote(answer);
  }

  #kindOf({ kind }: ObjectRef): Watched | undefined {
    return this.kinds[kind];
  }
}
