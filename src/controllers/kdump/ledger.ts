import { stateOf } from '../../domain/kdump/dump.ts';
import type { HeardDump } from '../../domain/kdump/dump.ts';
import { DUMPS_MAX } from '../../domain/kdump/record.ts';
import type { DumpRecord } from '../../domain/kdump/record.ts';

/** What one replica said of one node, and when that was seen here, on our own clock. */
interface Sight {
  record: DumpRecord;
  firstSeenMs: number;
  lastSeenMs: number;
  /** Of its last message, which is older than our sight of it. */
  lastMs: number;
}

/** What is heard is written so late at most: for a kubelet to be silent, and then for the next write. */
const WRITTEN_WITHIN_MS = 22_000;

/** When a sign of life of the node's kubelet was last received here. */
export type LifeAt = (node: string) => number | undefined;

/** When the node's kubelet renewed its lease last, by its own clock. */
export type RenewedAt = (node: string) => number | undefined;

/** What this replica hears itself, and what it reads of the others. Bounded: whoever can forge many sources fills no memory. */
export class DumpLedger {
  readonly #lifeAtMs: LifeAt;
  readonly #renewedAtMs: RenewedAt;
  readonly #own = new Map<string, HeardDump>();
  readonly #others = new Map<string, Map<string, Sight>>();

  constructor(lifeAtMs: LifeAt, renewedAtMs: RenewedAt) {
    this.#lifeAtMs = lifeAtMs;
    this.#renewedAtMs = renewedAtMs;
  }

  /** One message. A kubelet that was heard after the messages so far dumped nothing then: they count no more. `undefined`: there is no room. */
  hear(node: string, source: string, nowMs: number, wallMs: number): HeardDump | undefined {
    const known = this.#own.get(node);
    const isSame = known !== undefined && (this.#lifeAtMs(node) ?? Number.NEGATIVE_INFINITY) <= known.lastMs;
    if (known === undefined && this.#own.size >= DUMPS_MAX && !this.#makeRoom()) return undefined;
    const heard = isSame
      ? { ...known, source, lastMs: nowMs, count: Math.min(known.count + 1, Number.MAX_SAFE_INTEGER) }
      : { source, firstMs: nowMs, lastMs: nowMs, count: 1, first: new Date(wallMs).toISOString() };
    this.#own.set(node, heard);
    return heard;
  }

  /** What the Lease says of the others now. */
  see(records: ReadonlyMap<string, ReadonlyMap<string, DumpRecord>>, nowMs: number, wallMs: number): void {
    for (const replica of [...this.#others.keys()]) if (!records.has(replica)) this.#others.delete(replica);
    for (const [replica, said] of records) {
      const before = this.#others.get(replica);
      const sights = new Map<string, Sight>();
      for (const [node, record] of said) {
        const known = before?.get(node);
        const isSame = known?.record.first === record.first;
        const isMore = !isSame || record.count > known.record.count;
        const ageMs = Math.min(Math.max(0, wallMs - Date.parse(record.last)), WRITTEN_WITHIN_MS);
        sights.set(node, {
          record,
          firstSeenMs: isSame ? known.firstSeenMs : nowMs,
          lastSeenMs: isMore ? nowMs : known.lastSeenMs,
          lastMs: isMore ? nowMs - ageMs : known.lastMs,
        });
      }
      this.#others.set(replica, sights);
    }
  }

  /** Of all replicas together. `wallMs`: another replica's first message may be older than our sight of it, which extends no limit. */
  heardOf(node: string, nowMs: number, wallMs: number): HeardDump | undefined {
    const lifeAtMs = this.#lifeAtMs(node) ?? Number.NEGATIVE_INFINITY;
    const own = this.#own.get(node);
    const all = [...(own === undefined || own.lastMs < lifeAtMs ? [] : [own]), ...this.#sightsOf(node, lifeAtMs, nowMs, wallMs)];
    const [first, ...others] = all;
    return first === undefined ? undefined : others.reduce(joined, first);
  }

  /** All nodes that something was heard of, here or elsewhere. */
  nodes(): Set<string> {
    return new Set([...this.#own.keys(), ...[...this.#others.values()].flatMap((sights) => [...sights.keys()])]);
  }

  /** What is to stand in the API of what was heard here. A node whose kubelet lives is forged for: its messages are counted, and cost no write. */
  records(isWritten: (node: string) => boolean, finishedTimeoutMs: (node: string) => number, nowMs: number, wallMs: number): Map<string, DumpRecord> {
    const records = new Map<string, DumpRecord>();
    for (const [node, heard] of this.#own) {
      if (!isWritten(node) || (this.#lifeAtMs(node) ?? Number.NEGATIVE_INFINITY) > heard.lastMs) continue;
      const last = new Date(wallMs - (nowMs - heard.lastMs)).toISOString();
      const state = stateOf(heard, { finishedTimeoutMs: finishedTimeoutMs(node) }, nowMs);
      records.set(node, { source: heard.source, first: heard.first, last, count: heard.count, state });
    }
    return records;
  }

  /** Of nodes that live again, or are gone: nobody asks any more. */
  forget(isOver: (node: string, heard: HeardDump) => boolean): void {
    for (const [node, heard] of [...this.#own]) if (isOver(node, heard)) this.#own.delete(node);
  }

  #makeRoom(): boolean {
    const idle = [...this.#own].find(([node, { lastMs }]) => (this.#lifeAtMs(node) ?? Number.NEGATIVE_INFINITY) > lastMs);
    return idle !== undefined && this.#own.delete(idle[0]);
  }

  #sightsOf(node: string, lifeAtMs: number, nowMs: number, wallMs: number): HeardDump[] {
    return [...this.#others.values()].flatMap((sights) => {
      const sight = sights.get(node);
      // Of a dump before the node's last life, by a replica that is gone since.
      if (sight === undefined || (this.#renewedAtMs(node) ?? Number.NEGATIVE_INFINITY) > Date.parse(sight.record.last)) return [];
      const { record, firstSeenMs, lastSeenMs, lastMs } = sight;
      if (lastSeenMs < lifeAtMs) return [];
      const ageMs = wallMs - Date.parse(record.first);
      const firstMs = Math.min(firstSeenMs, ageMs > 0 ? nowMs - ageMs : firstSeenMs);
      return [{ source: record.source, firstMs, lastMs, count: record.count, first: record.first }];
    });
  }
}

/** The same dump as two replicas heard it: each was sent the same messages. */
function joined(one: HeardDump, other: HeardDump): HeardDump {
  const earlier = other.firstMs < one.firstMs ? other : one;
  const newest = other.lastMs > one.lastMs ? other : one;
  const { firstMs, first } = earlier;
  return { source: newest.source, firstMs, first, lastMs: newest.lastMs, count: Math.max(one.count, other.count) };
}
