import { CORDON_MARK, fenceName } from '../../../domain/node-fence.ts';
import type { MaintenanceMark, StorageView, StormFence, StormNode } from '../../../domain/policies/view.ts';
import { NodeSet } from '../../../domain/policies/node-set.ts';
import type { FastDetection } from '../../../ports/fast-detection.ts';
import type { Node, Pod } from '../../../ports/objects.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { CORDON_BY_REMEDY } from '../../../ports/remedies.ts';
import { BY_NODE } from '../dependencies.ts';
import { readyOf } from '../observation.ts';
import { releasablePods } from '../workload.ts';
import { DueQueue } from './due-queue.ts';
import { isControlPlane } from './etcd-members.ts';
import { isBegun, stormFenceOf } from './fence-facts.ts';
import { conditionalMarks, isConditional, presentMarks } from './marks.ts';

/** A pod that is terminating for so long after its grace hangs: whoever deletes its node does not get it away. */
const HANGING_MS = 60_000;
const DEFAULT_GRACE_SECONDS = 30;
/** A kubelet may write its first Lease at any time. */
const RESYNC_MS = 5_000;
/** In a storm thousands are silent, and thousands ask: so often all of them are looked at, and not at each question. */
const SWEEP_MS = 100;
const NO_LABELS = {};
/** Of nearly every node. */
const NO_MARKS: readonly MaintenanceMark[] = [];

/** When a node that is heard of is to be looked at: a heartbeat since makes that too early, never too late. */
interface Look {
  readonly entry: Entry;
  readonly dueMs: number;
}

/** Of the NodeFence of a node. */
interface OfFence {
  readonly fence: StormFence | undefined;
  readonly isBegun: boolean;
  readonly isCordonOurs: boolean;
}

const NO_FENCE: OfFence = { fence: undefined, isBegun: false, isCordonOurs: false };

interface Entry {
  readonly name: string;
  node: Node;
  standing: readonly MaintenanceMark[];
  ofFence: OfFence;
  isReserved: boolean;
  /** As configured; read when it is needed, and again under another configuration. */
  lifeWaitMs: number | undefined;
  lifeWaitOf: number;
  /** The one that counts; those before it are dropped when they are due. */
  look: Look | undefined;
}

export interface RosterSources extends Pick<FenceDependencies, 'clock' | 'listers' | 'planner'> {
  /** When a heartbeat of the node was last received. */
  lifeAtMs(node: string): number | undefined;
  /** Its machine failed and is kept for a look. */
  isPreserved(node: string): boolean;
  /** By fast detection, though its Node is Ready. Absent: none is. */
  isTakenForFailed?(node: string): boolean;
  /** What is known of its storage. Absent: nobody looks. */
  storageOf?(node: string): StorageView | undefined;
  /** When the deletion of a pod came to be known. Absent: when it is first seen here. */
  terminatingSinceMs?(pod: Pod): number | undefined;
  /** Marks that stand elsewhere than on the Node. */
  foreignMarks(node: string): readonly MaintenanceMark[];
}

/**
 * What storm policies read of each node, kept from change to change: a heartbeat touches nothing here, and who fell silent is found when somebody asks,
 * at the earliest when somebody can have.
 */
export class NodeRoster {
  /** The view's own map: entries are replaced, never changed. */
  readonly nodes = new NodeSet();
  readonly #sources: RosterSources;
  readonly #onChange: () => void;
  readonly #entries = new Map<string, Entry>();
  /** By node, also where its Node is not seen yet or was deleted: the watches bring both in any order, and a Node may be made anew under its fence. */
  readonly #fences = new Map<string, OfFence>();
  readonly #silent = new Map<string, Entry>();
  readonly #looks = new DueQueue<Look>();
  readonly #conditional = new Set<string>();
  /** First sight of the deletion of each terminating pod, by node. */
  readonly #terminating = new Map<string, Map<string, number>>();
  /** Counted. */
  #configurations = 0;
  #sweptAtMs = Number.NEGATIVE_INFINITY;

  constructor(sources: RosterSources, onChange: () => void) {
    this.#sources = sources;
    this.#onChange = onChange;
    for (const node of sources.listers.nodes.all()) this.seeNode(node.metadata.name, node);
  }

  seeNode(name: string, node: Node | undefined): void {
    if (node === undefined) {
      for (const kept of [this.#entries, this.#silent, this.#conditional, this.#terminating]) kept.delete(name);
      if (this.nodes.delete(name)) this.#onChange();
      return;
    }
    const known = this.#entries.get(name);
    const entry: Entry = known ?? {
      name,
      node,
      standing: NO_MARKS,
      ofFence: this.#fences.get(name) ?? NO_FENCE,
      isReserved: false,
      lifeWaitMs: undefined,
      lifeWaitOf: 0,
      look: undefined,
    };
    entry.node = node;
    entry.standing = together(presentMarks(node));
    if (known === undefined) this.#entries.set(name, entry);
    if (isConditional(node)) this.#conditional.add(name);
    else this.#conditional.delete(name);
    this.#update(entry);
  }

  seeFence(name: string, fence: NodeFence | undefined): void {
    const ofFence = fence === undefined ? NO_FENCE : readFence(fence);
    if (fence === undefined) this.#fences.delete(name);
    else this.#fences.set(name, ofFence);
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    entry.ofFence = ofFence;
    this.#update(entry);
  }

  /** A slot is taken before its intent is acknowledged, so that nobody else gets the same one. */
  reserve(name: string, isReserved: boolean): void {
    const entry = this.#entries.get(name);
    if (entry === undefined || entry.isReserved === isReserved) return;
    entry.isReserved = isReserved;
    this.#update(entry);
  }

  /** Configuration may have changed. */
  forgetPlans(): void {
    this.#configurations += 1;
    this.#looks.clear();
    for (const entry of this.#entries.values()) this.#lookAt(entry, Number.NEGATIVE_INFINITY);
  }

  /** Something else than the Node has changed of these, which may be all. Who was heard stays so: who has fallen silent is found when somebody asks. */
  refreshNodes(names: readonly string[]): void {
    for (const name of names) {
      const entry = this.#entries.get(name);
      if (entry === undefined) continue;
      const isHealthy = this.nodes.get(name)?.health === 'healthy' && !this.#isFailed(entry);
      this.#update(entry, isHealthy ? 'healthy' : undefined);
    }
  }

  /**
   * What time alone changes. The node that is `asked` for is as it is now: whether its pods hang, whether it still lives on its storage. Of the others policies
   * count the health only, and who is heard again may count as silent a moment longer: that holds, and never permits.
   */
  refresh(nowMs: number, asked: string): void {
    this.#refreshOne(asked);
    if (nowMs - this.#sweptAtMs >= SWEEP_MS) this.#sweep(nowMs);
    for (let look = this.#looks.take(nowMs); look !== undefined; look = this.#looks.take(nowMs)) {
      const { entry } = look;
      if (entry.look === look && this.#entries.get(entry.name) === entry) this.#lookForSilence(entry, nowMs);
    }
  }

  #lookForSilence(entry: Entry, nowMs: number): void {
    const dueMs = this.#silentFromMs(entry);
    if (dueMs === undefined || dueMs > nowMs) this.#lookAt(entry, dueMs ?? nowMs + RESYNC_MS);
    else this.#update(entry);
  }

  #lookAt(entry: Entry, dueMs: number): void {
    entry.look = { entry, dueMs };
    this.#looks.push(entry.look);
  }

  #sweep(nowMs: number): void {
    this.#sweptAtMs = nowMs;
    for (const entry of this.#silent.values()) if (this.#healthOf(entry, nowMs) !== 'silent') this.#update(entry);
  }

  #refreshOne(name: string): void {
    const entry = this.#entries.get(name);
    if (entry !== undefined) this.#update(entry);
  }

  #update(entry: Entry, known?: StormNode['health']): void {
    const { name, node } = entry;
    const before = this.nodes.get(name);
    const nowMs = this.#sources.clock.monotonicMs();
    const health = known ?? this.#healthOf(entry, nowMs);
    if (health === 'silent') this.#silent.set(name, entry);
    else this.#silent.delete(name);
    if (health === 'healthy' && before?.health !== 'healthy') this.#lookAt(entry, this.#silentFromMs(entry) ?? nowMs + RESYNC_MS);
    const { fence: written } = entry.ofFence;
    const fence = entry.isReserved ? { isRequested: false, state: 'new' as const, ...written, holdsSlot: true } : written;
    const marks = together(entry.standing, this.#circumstantial(entry, nowMs), this.#sources.foreignMarks(name));
    const after: StormNode = {
      name,
      labels: node.metadata.labels ?? NO_LABELS,
      annotations: node.metadata.annotations ?? NO_LABELS,
      isControlPlane: isControlPlane(node),
      health,
      ...(this.#sources.isPreserved(name) && { isPreserved: true }),
      healthSinceMs: before?.health === health ? before.healthSinceMs : nowMs,
      fence,
      marks,
      storage: health === 'failed' ? this.#sources.storageOf?.(name) : undefined,
    };
    if (before !== undefined && isSame(before, after)) return;
    this.nodes.set(name, after);
    this.#onChange();
  }

  #isFailed(entry: Entry): boolean {
    return (
      readyOf(entry.node)?.status !== 'True' || entry.ofFence.isBegun || entry.isReserved || this.#sources.isTakenForFailed?.(entry.name) === true
    );
  }

  #healthOf(entry: Entry, nowMs: number): StormNode['health'] {
    if (this.#isFailed(entry)) return 'failed';
    const dueMs = this.#silentFromMs(entry);
    return dueMs !== undefined && nowMs >= dueMs ? 'silent' : 'healthy';
  }

  /** `undefined`: nothing was heard that could fall silent; a kubelet without Lease says nothing for minutes. */
  #silentFromMs(entry: Entry): number | undefined {
    const { listers, planner } = this.#sources;
    const lifeAtMs = this.#sources.lifeAtMs(entry.name);
    if (lifeAtMs === undefined || listers.leases.get(`kube-node-lease/${entry.name}`) === undefined) return undefined;
    if (entry.lifeWaitOf !== this.#configurations) entry.lifeWaitMs = undefined;
    entry.lifeWaitOf = this.#configurations;
    entry.lifeWaitMs ??= planner.planFor(entry.node).timing.lifeWaitMs;
    return Math.max(lifeAtMs, listers.leases.freshSinceMs ?? lifeAtMs) + entry.lifeWaitMs;
  }

  #circumstantial(entry: Entry, nowMs: number): readonly MaintenanceMark[] {
    const { name, node } = entry;
    if (!this.#conditional.has(name)) return NO_MARKS;
    const { listers } = this.#sources;
    const annotations: Readonly<Record<string, string>> = node.metadata.annotations ?? NO_LABELS;
    const circumstances = {
      // What an earlier fence of this node left behind carries our mark as well, and what a remedy set.
      isCordonOurs: entry.ofFence.isCordonOurs || annotations[CORDON_MARK] === fenceName(name) || annotations[CORDON_BY_REMEDY] !== undefined,
      isEmpty: releasablePods(listers, name).length === 0,
      isHanging: this.#isHanging(name, nowMs),
    };
    return conditionalMarks(node, circumstances);
  }

  /** Counted from our own first sight of each pod's deletion. */
  #isHanging(name: string, nowMs: number): boolean {
    const before = this.#terminating.get(name);
    const seen = new Map<string, number>();
    let isHanging = false;
    const { listers } = this.#sources;
    for (const pod of listers.pods.byIndex(BY_NODE, name)) {
      const { metadata } = pod;
      if (metadata.deletionTimestamp === undefined) continue;
      const key = metadata.uid ?? metadata.name;
      const atMs = before?.get(key) ?? this.#sources.terminatingSinceMs?.(pod) ?? nowMs;
      seen.set(key, atMs);
      isHanging ||= nowMs >= atMs + (metadata.deletionGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1_000 + HANGING_MS;
    }
    // A node that was cordoned once is not known for ever.
    if (seen.size === 0) this.#terminating.delete(name);
    else this.#terminating.set(name, seen);
    return isHanging;
  }
}

function readFence(fence: NodeFence): OfFence {
  const { status } = fence;
  return {
    fence: stormFenceOf(fence),
    isBegun: status?.frozen !== undefined && isBegun(status),
    isCordonOurs: status?.restore?.cordoned === true,
  };
}

function together(...marks: readonly (readonly MaintenanceMark[])[]): readonly MaintenanceMark[] {
  return marks.every(({ length }) => length === 0) ? NO_MARKS : marks.flat();
}

/** Undefined: its daemon and those of its peers say nothing. */
export function storageViewOf(daemons: Pick<FastDetection, 'renewsLease' | 'reachesStorage'> | undefined, node: string): StorageView | undefined {
  const renewsLease = daemons?.renewsLease?.(node);
  const { hostReaches, peersReach } = daemons?.reachesStorage?.(node) ?? {};
  const isSaid = [renewsLease, hostReaches, peersReach].some((word) => word !== undefined);
  return isSaid ? { hostReaches, peersReach, renewsLease } : undefined;
}

function isSame(before: StormNode, after: StormNode): boolean {
  const { fence: was } = before;
  const { fence: is } = after;
  return (
    before.health === after.health &&
    before.isPreserved === after.isPreserved &&
    before.isControlPlane === after.isControlPlane &&
    before.storage?.renewsLease === after.storage?.renewsLease &&
    before.storage?.hostReaches === after.storage?.hostReaches &&
    before.storage?.peersReach === after.storage?.peersReach &&
    was?.holdsSlot === is?.holdsSlot &&
    was?.isSwitchedOff === is?.isSwitchedOff &&
    was?.isKept === is?.isKept &&
    was?.isRequested === is?.isRequested &&
    was?.state === is?.state &&
    areSame(before.labels, after.labels) &&
    areSame(before.annotations ?? NO_LABELS, after.annotations ?? NO_LABELS) &&
    before.marks.length === after.marks.length &&
    before.marks.every((mark, index) => mark.where === after.marks[index]?.where)
  );
}

function areSame(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): boolean {
  if (before === after) return true;
  const keys = Object.keys(before);
  return keys.length === Object.keys(after).length && keys.every((key) => before[key] === after[key]);
}
