import { fenceName } from '../../../domain/node-fence.ts';
import { ApiStatusError } from '../../../ports/api-transport.ts';
import { microTimestamp } from '../../../ports/clock.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Cluster, Lister } from '../../../ports/cluster.ts';
import type { Lease, Node } from '../../../ports/objects.ts';
import type { Logger } from '../../../ports/recorder.ts';
import { LEASES } from '../../../ports/resources.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import { gatedWrites, notSentUnless } from '../gated-cluster.ts';
import type { LeasePlace } from './lease-place.ts';
import {
  isRequesters,
  leaseHold,
  nodeLeaseName,
  nodeLeaseState,
  NODE_LEASE_DURATION_MS,
  NODE_LEASE_HOLDER,
  nodeOfLease,
  seeNodeLease,
  takenSpec,
} from './node-lease.ts';
import type { LeaseObservation, NodeLeaseState } from './node-lease.ts';

export interface NodeLeaseDependencies {
  cluster: Cluster;
  clock: Clock;
  log: Logger;
  /** Whether there is `namespace`, and whether we may read it. */
  place: Pick<LeasePlace, 'state' | 'refusal' | 'look' | 'onChange'>;
  /** Leases of `namespace`; empty where there is none, or where we may not read it. */
  leases: Lister<Lease>;
  nodes: Lister<Node>;
  fences: Lister<NodeFence>;
  leadership: { readonly isLeading: boolean };
  namespace: string;
  /** Asks for another look at a node: its lease has changed, or ended by time alone. */
  wake: (node: string) => void;
}

/** What a fence must know of another's lease. */
export interface LeaseHold {
  policy: 'medik8s-lease';
  reason: 'node-lease';
  message: string;
}

const SWEEP_MS = 30_000;
const RENEW_MS = NODE_LEASE_DURATION_MS / 3;
/** A namespace that was not there, or in which we may not write, is tried again after this. */
const UNUSABLE_MS = 600_000;
const TRIES_MAX = 3;

/**
 * Honours and takes the node leases of medik8s. The record at the API is the only truth: what is kept here is when each was first seen. Writes are bounded: one
 * to take, one for each third of the duration while a fence is open, one to give back.
 */
export class NodeLeases {
  readonly #dependencies: NodeLeaseDependencies;
  readonly #observations = new Map<string, LeaseObservation>();
  /** One timer for each foreign lease: when it is over nobody else would look. */
  readonly #timers = new Map<string, () => void>();
  #unusableUntilMs = Number.NEGATIVE_INFINITY;
  #cancelSweep: (() => void) | undefined;
  #isClosed = false;

  constructor(dependencies: NodeLeaseDependencies) {
    const gate = gatedWrites(notSentUnless(() => dependencies.leadership.isLeading && !this.#isClosed));
    this.#dependencies = { ...dependencies, cluster: gate(dependencies.cluster) };
    dependencies.leases.onChange((before, after) => {
      const node = nodeOfLease((after ?? before) as Lease);
      if (node === undefined) return;
      if (after === undefined) this.#forget(node);
      else this.#see(node, after);
      dependencies.wake(node);
    });
    dependencies.place.onChange(() => {
      for (const { spec } of dependencies.fences.all()) dependencies.wake(spec.node);
    });
    dependencies.fences.onChange((before, after) => {
      const fence = after ?? before;
      if (fence !== undefined && !isOpen(after) && this.stateOf(fence.spec.node).kind === 'ours') void this.#tend(fence.spec.node);
    });
  }

  /** Looks after what we hold from now on; a successor adopts the leases of its predecessor so. */
  start(): void {
    this.#cancelSweep = this.#dependencies.clock.after(SWEEP_MS, () => void this.#sweep());
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelSweep?.();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  stateOf(node: string): NodeLeaseState {
    return nodeLeaseState(this.#observations.get(node), this.#dependencies.clock.monotonicMs());
  }

  /** Somebody else has this node: nothing isolating, no off and no release may begin. */
  holdOn(node: string, requestedBy: { kind: string } | undefined): LeaseHold | undefined {
    const unread = this.#dependencies.place.refusal;
    if (unread !== undefined) return { policy: 'medik8s-lease', reason: 'node-lease', message: unread };
    const state = this.stateOf(node);
    if (state.kind !== 'foreign' || isRequesters(state.holder, requestedBy)) return undefined;
    const message = leaseHold(this.#dependencies.namespace, node, state.holder, state.durationMs);
    return { policy: 'medik8s-lease', reason: 'node-lease', message };
  }

  /**
   * Before the first isolating call: the lease is read consistently, and taken when it is free or over. Returns why nothing may begin; `undefined`: it is ours,
   * or there is no such namespace here. Rejects when the API server could not be asked.
   */
  async take(node: string, requestedBy: { kind: string } | undefined): Promise<string | undefined> {
    const { cluster, clock, namespace, place } = this.#dependencies;
    // Where there was no namespace, that is asked first: a Lease there may not be read, and each refusal would stand in the audit log.
    if (place.state === 'absent' && (await place.look()) === 'absent') return undefined;
    for (let tries = 1; ; tries += 1) {
      let lease: Lease | undefined;
      let isRead = false;
      try {
        lease = await cluster.get(LEASES, nodeLeaseName(node), namespace);
        isRead = true;
        // From now on the watch tells of it too.
        if (place.state !== 'readable') await place.look();
        if (lease === undefined) this.#forget(node);
        else this.#see(node, lease);
        const state = this.stateOf(node);
        if (state.kind === 'foreign') return this.holdOn(node, requestedBy)?.message;
        if (state.kind === 'free' && clock.monotonicMs() >= this.#unusableUntilMs) this.#see(node, await this.#write(node, lease));
        return undefined;
      } catch (error) {
        if (!(error instanceof ApiStatusError)) throw error;
        if (!isRead && error.status === 403) return this.#notReadable(node, requestedBy);
        const isOvertaken = error.status === 409 || (error.status === 404 && lease !== undefined);
        if (!isOvertaken && (error.status === 403 || error.status === 404)) return this.#notUsable(node, requestedBy, error);
        if (!isOvertaken || tries >= TRIES_MAX) throw error;
      }
    }
  }

  #write(node: string, existing: Lease | undefined): Promise<Lease> {
    const { cluster, clock, namespace, nodes } = this.#dependencies;
    const name = nodeLeaseName(node);
    const spec = takenSpec(existing, clock);
    if (existing !== undefined) {
      const { uid, resourceVersion } = existing.metadata;
      return cluster.mergePatch(LEASES, name, { metadata: { uid, resourceVersion }, spec }, { namespace });
    }
    const uid = nodes.get(node)?.metadata.uid;
    const owner = uid === undefined ? {} : { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node, uid }] };
    return cluster.create(LEASES, { metadata: { name, namespace, ...owner }, spec });
  }

  /** There is none, and then nobody has the node by one; or there is, and whose the node is cannot be known. Asked each time: it may be there a moment later. */
  async #notReadable(node: string, requestedBy: { kind: string } | undefined): Promise<string | undefined> {
    await this.#dependencies.place.look();
    return this.holdOn(node, requestedBy)?.message;
  }

  /** No namespace, or no right to write there: what can be read is honoured, nothing is taken. */
  #notUsable(node: string, requestedBy: { kind: string } | undefined, error: ApiStatusError): string | undefined {
    const { clock, log, namespace } = this.#dependencies;
    this.#unusableUntilMs = clock.monotonicMs() + UNUSABLE_MS;
    if (error.status === 403) log.warn('node lease not taken: no right to write it; apply config/medik8s', { node, namespace, error: error.message });
    return this.holdOn(node, requestedBy)?.message;
  }

  #see(node: string, lease: Lease): void {
    const { clock, wake } = this.#dependencies;
    const nowMs = clock.monotonicMs();
    this.#observations.set(node, seeNodeLease(this.#observations.get(node), lease, nowMs));
    this.#timers.get(node)?.();
    this.#timers.delete(node);
    const state = this.stateOf(node);
    if (state.kind !== 'foreign' || this.#isClosed) return;
    const overMs = state.untilMs - nowMs + 1;
    this.#timers.set(
      node,
      clock.after(overMs, () => {
        this.#timers.delete(node);
        wake(node);
      }),
    );
  }

  #forget(node: string): void {
    this.#observations.delete(node);
    this.#timers.get(node)?.();
    this.#timers.delete(node);
  }

  async #sweep(): Promise<void> {
    for (const lease of [...this.#dependencies.leases.all()]) {
      const node = nodeOfLease(lease);
      if (node !== undefined && lease.spec.holderIdentity === NODE_LEASE_HOLDER) await this.#tend(node);
    }
    if (!this.#isClosed) this.start();
  }

  /** Renews our lease while its fence is open, and gives it back when that is over. Only what is ours by its version is written. */
  async #tend(node: string): Promise<void> {
    const { cluster, clock, log, fences, leadership, namespace } = this.#dependencies;
    const observation = this.#observations.get(node);
    const state = this.stateOf(node);
    if (!leadership.isLeading || this.#isClosed || observation === undefined || state.kind !== 'ours') return;
    const { name, uid, resourceVersion } = observation.lease.metadata;
    if (uid === undefined || resourceVersion === undefined) return;
    try {
      if (!isOpen(fences.get(fenceName(node)))) {
        await cluster.remove(LEASES, name, { namespace, uid, resourceVersion });
        this.#forget(node);
      } else if (clock.monotonicMs() - state.sinceMs >= RENEW_MS) {
        const patch = { metadata: { uid, resourceVersion }, spec: { renewTime: microTimestamp(clock) } };
        this.#see(node, await cluster.mergePatch(LEASES, name, patch, { namespace }));
      }
    } catch (error) {
      // Somebody else wrote it, or the API server is away: the watch and the next sweep see to it.
      log.warn('node lease not renewed; retried later', { node, error: String(error) });
    }
  }
}

/** Something of this fence is still to be done by us. */
function isOpen(fence: NodeFence | undefined): boolean {
  const status = fence?.status;
  if (fence === undefined || status === undefined) return false;
  return status.state !== 'final' && !(status.state === 'error' && status.outcome === 'failed' && fence.metadata.deletionTimestamp === undefined);
}
