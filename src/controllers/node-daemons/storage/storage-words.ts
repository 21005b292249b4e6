import { SIGNS } from '../../../domain/node-daemon/datagram.ts';
import { peersReach, reachOf } from '../../../domain/node-daemon/storage-reach.ts';
import type { ReachCounts } from '../../../domain/node-daemon/storage-reach.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { AttestedNode, AttestedNodes } from '../attested-nodes.ts';
import type { Heartbeats } from '../heartbeats.ts';

export interface StorageWordsParts {
  clock: Pick<Clock, 'monotonicMs'>;
  nodes: Pick<AttestedNodes, 'get' | 'all'>;
  heartbeats: Pick<Heartbeats, 'isHeard' | 'last'>;
}

interface Counted {
  atMs: number;
  all: ReachCounts;
  byLease: ReadonlyMap<string, ReachCounts>;
}

/** Asked about many failed nodes at a time, all are counted once. */
const COUNTED_FOR_MS = 500;

/** What daemons say of their storage: a reason to hold a fence, and never a proof. Peers are those of the same storage lease; of a node without one, all. */
export class StorageWords {
  readonly #parts: StorageWordsParts;
  #counted: Counted | undefined;

  constructor(parts: StorageWordsParts) {
    this.#parts = parts;
  }

  of(node: string): { hostReaches: boolean | undefined; peersReach: boolean | undefined } {
    const nowMs = this.#parts.clock.monotonicMs();
    const attested = this.#parts.nodes.get(node);
    const own = attested === undefined ? undefined : this.#reachOf(attested, nowMs);
    const { all, byLease } = this.#counts(nowMs);
    const lease = attested?.attestation.storageLease?.id;
    const counts = lease === undefined ? all : (byLease.get(lease) ?? { reach: 0, lost: 0 });
    return { hostReaches: own, peersReach: peersReach(counts, own) };
  }

  #reachOf({ node, attestation: { bootID, storage } }: AttestedNode, nowMs: number): boolean | undefined {
    const { heartbeats } = this.#parts;
    const heard = heartbeats.last(node);
    const isHeard = heard?.bootID === bootID && heartbeats.isHeard(node, nowMs);
    return reachOf({ isHeard, isLostNow: ((heard?.signs ?? 0) & SIGNS.storageLost) !== 0, attested: storage });
  }

  #counts(nowMs: number): Counted {
    if (this.#counted !== undefined && nowMs - this.#counted.atMs < COUNTED_FOR_MS) return this.#counted;
    const all: ReachCounts = { reach: 0, lost: 0 };
    const byLease = new Map<string, ReachCounts>();
    for (const attested of this.#parts.nodes.all()) {
      const reaches = this.#reachOf(attested, nowMs);
      if (reaches === undefined) continue;
      const lease = attested.attestation.storageLease?.id ?? '';
      const ofLease = byLease.get(lease) ?? { reach: 0, lost: 0 };
      byLease.set(lease, ofLease);
      for (const counts of [all, ofLease]) counts[reaches ? 'reach' : 'lost'] += 1;
    }
    this.#counted = { atMs: nowMs, all, byLease };
    return this.#counted;
  }
}
