import type { Clock } from '../../ports/clock.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { Lease } from '../../ports/objects.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ownerOf } from '../shared/claims/claim.ts';
import { leaseWords, nodeLeaseState, nodeOfLease, seeNodeLease } from '../shared/claims/node-lease.ts';
import type { LeaseSight } from '../shared/claims/node-lease.ts';

export interface ClaimSources {
  clock: Pick<Clock, 'monotonicMs'>;
  fences: Lister<NodeFence>;
  /** Of medik8s: by these NodeMaintenance, NodeHealthCheck and remediators without a fence have a node. Absent: nobody's. */
  nodeLeases?: Lister<Lease>;
}

/**
 * Which Machines have a node that somebody has in hand: an open fence is the lock between the controllers of this program, a node lease that between them, those
 * that work without a fence, and others.
 */
export class Claims {
  readonly #sources: ClaimSources;
  readonly #tell: (machineUID: string, holder: string | undefined) => void;
  #holders: ReadonlyMap<string, string> = new Map();
  /** By node. */
  #sights: ReadonlyMap<string, LeaseSight> = new Map();
  #isStale = true;
  /** Monotonic: then the first of the leases is over by time alone. */
  #overMs = Infinity;

  constructor(sources: ClaimSources, tell: (machineUID: string, holder: string | undefined) => void) {
    this.#sources = sources;
    this.#tell = tell;
  }

  /** Fences, node leases, Machines or their places have changed. */
  stir(): void {
    this.#isStale = true;
  }

  /** Tells what has changed since the last time. `machinesOn`: uids of the Machines on a Node of this cluster. */
  renew(machinesOn: (node: string) => Iterable<string>): void {
    const nowMs = this.#sources.clock.monotonicMs();
    if (!this.#isStale && nowMs <= this.#overMs) return;
    this.#isStale = false;
    const holders = new Map<string, string>();
    for (const [node, holder] of [...this.#leased(nowMs), ...this.#fenced()]) for (const uid of machinesOn(node)) holders.set(uid, holder);
    for (const uid of this.#holders.keys()) if (!holders.has(uid)) this.#tell(uid, undefined);
    for (const [uid, holder] of holders) if (this.#holders.get(uid) !== holder) this.#tell(uid, holder);
    this.#holders = holders;
  }

  #fenced(): [node: string, holder: string][] {
    return [...this.#sources.fences.all()].flatMap((fence) => {
      const holder = ownerOf(fence);
      return holder === undefined ? [] : [[fence.spec.node, holder]];
    });
  }

  #leased(nowMs: number): [node: string, holder: string][] {
    const sights = new Map<string, LeaseSight>();
    const leased: [string, string][] = [];
    this.#overMs = Infinity;
    for (const lease of this.#sources.nodeLeases?.all() ?? []) {
      const node = nodeOfLease(lease);
      if (node === undefined) continue;
      const sight = seeNodeLease(this.#sights.get(node), lease, nowMs);
      sights.set(node, sight);
      const state = nodeLeaseState(sight, nowMs);
      if (state.kind !== 'foreign') continue;
      this.#overMs = Math.min(this.#overMs, state.untilMs);
      leased.push([node, leaseWords(lease.metadata.namespace ?? '', node, state.holder)]);
    }
    this.#sights = sights;
    return leased;
  }
}
