import type { Clock } from '../../ports/clock.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { Lease } from '../../ports/objects.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ownerOf } from '../shared/claims/claim.ts';
import { describeLease, nodeLeaseState, nodeOfLease, seeNodeLease } from '../shared/claims/node-lease.ts';
import type { LeaseObservation } from '../shared/claims/node-lease.ts';

export interface ClaimSources {
  clock: Pick<Clock, 'monotonicMs'>;
  fences: Lister<NodeFence>;
  /** Of medik8s: by these NodeMaintenance, NodeHealthCheck and remediators without a fence have a node. Absent: nobody's. */
  nodeLeases?: Lister<Lease>;
}

/**
 * Which Nodes of this cluster somebody has in hand: an open fence is the lock between the controllers of this program, a node lease that between them, those
 * that work without a fence, and others.
 */
export class Claims {
  readonly #sources: ClaimSources;
  #holders: ReadonlyMap<string, string> = new Map();
  /** By node. */
  #observations: ReadonlyMap<string, LeaseObservation> = new Map();
  #isStale = true;
  /** Monotonic: then the first of the leases is over by time alone. */
  #overMs = Infinity;

  constructor(sources: ClaimSources) {
    this.#sources = sources;
  }

  holderOf(node: string): string | undefined {
    return this.#holders.get(node);
  }

  /** Fences or node leases have changed. */
  invalidate(): void {
    this.#isStale = true;
  }

  /** Nodes whose holder is another than the last time. */
  renew(): string[] {
    const nowMs = this.#sources.clock.monotonicMs();
    if (!this.#isStale && nowMs <= this.#overMs) return [];
    this.#isStale = false;
    const before = this.#holders;
    const holders = new Map([...this.#leased(nowMs), ...this.#fenced()]);
    this.#holders = holders;
    return [...new Set([...before.keys(), ...holders.keys()])].filter((node) => before.get(node) !== holders.get(node));
  }

  #fenced(): [node: string, holder: string][] {
    return [...this.#sources.fences.all()].flatMap((fence) => {
      const holder = ownerOf(fence);
      return holder === undefined ? [] : [[fence.spec.node, holder]];
    });
  }

  #leased(nowMs: number): [node: string, holder: string][] {
    const observations = new Map<string, LeaseObservation>();
    const leased: [string, string][] = [];
    this.#overMs = Infinity;
    for (const lease of this.#sources.nodeLeases?.all() ?? []) {
      const node = nodeOfLease(lease);
      if (node === undefined) continue;
      const observation = seeNodeLease(this.#observations.get(node), lease, nowMs);
      observations.set(node, observation);
      const state = nodeLeaseState(observation, nowMs);
      if (state.kind !== 'foreign') continue;
      this.#overMs = Math.min(this.#overMs, state.untilMs);
      leased.push([node, describeLease(lease.metadata.namespace ?? '', node, state.holder)]);
    }
    this.#observations = observations;
    return leased;
  }
}
