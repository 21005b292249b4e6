import { isAddress } from '../../domain/node-daemon/controllers.ts';
import type { Lease } from '../../ports/objects.ts';

/** One annotation for each replica that receives heartbeats, on the Lease on which candidates announce themselves. */
const PREFIX = 'daemons.nodefence.ha.k8s.io/';
export const ANNOUNCE_MS = 30_000;
/** Three announcements missed: it is gone. */
const ALIVE_MS = 3 * ANNOUNCE_MS;
/** After this its annotation is removed by whoever announces himself next. */
const FORGOTTEN_MS = 600_000;
/** Nodes are told of no more, beside our own. */
const TOLD_MAX = 15;
/** A process that ends without a word leaves its annotation behind, each under another name. */
const SIGHTS_MAX = 256;

/** Where the other replicas are, by what they say and when it last changed, on our own clock. */
export class ReplicaAddresses {
  readonly #ownKey: string;
  readonly #ownAddress: string;
  readonly #sights = new Map<string, { value: string; sinceMs: number }>();
  #count = 0;

  constructor(own: { id: string; address: string }) {
    this.#ownKey = PREFIX + own.id;
    this.#ownAddress = own.address;
  }

  see(lease: Lease | undefined, nowMs: number): void {
    const others = Object.entries(lease?.metadata.annotations ?? {}).filter(([key]) => key.startsWith(PREFIX) && key !== this.#ownKey);
    const known = new Map(others.slice(0, SIGHTS_MAX));
    for (const key of [...this.#sights.keys()]) if (!known.has(key)) this.#sights.delete(key);
    for (const [key, value] of known) if (this.#sights.get(key)?.value !== value) this.#sights.set(key, { value, sinceMs: nowMs });
  }

  /** Our own first: nobody but us has to say it. */
  at(nowMs: number): string[] {
    const alive = [...this.#sights.values()].filter(({ sinceMs }) => nowMs - sinceMs <= ALIVE_MS).sort((one, other) => other.sinceMs - one.sinceMs);
    const others = alive.map(({ value }) => value.split(' ')[0] ?? '').filter((address) => isAddress(address));
    return [...new Set([this.#ownAddress, ...[...new Set(others)].slice(0, TOLD_MAX).sort()])];
  }

  /** The annotations of our next announcement, with `null` for whoever is long gone. */
  announcement(nowMs: number): Record<string, string | null> {
    this.#count += 1;
    const gone = [...this.#sights].filter(([, { sinceMs }]) => nowMs - sinceMs > FORGOTTEN_MS).map(([key]) => [key, null] as const);
    return { ...Object.fromEntries(gone), [this.#ownKey]: `${this.#ownAddress} ${this.#count}` };
  }

  /** Takes our own announcement back. */
  farewell(): Record<string, null> {
    return { [this.#ownKey]: null };
  }
}
