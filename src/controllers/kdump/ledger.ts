import { LEASE_STALE_MS, stateOf } from '../../domain/kdump/dump.ts';
import type { HeardDump } from '../../domain/kdump/dump.ts';
import { bootMark, DUMPS_MAX } from '../../domain/kdump/record.ts';
import type { DumpRecord } from '../../domain/kdump/record.ts';

/** What this replica heard itself. */
interface OwnDump extends HeardDump {
  /** Of the last message. */
  lastWallMs: number;
  /** As in its record. */
  boot: string | undefined;
}

/** What one replica said of one node, on our own clock. */
interface Sight {
  record: DumpRecord;
  /** When it said that more had come. */
  seenMs: number;
  firstMs: number;
  lastMs: number;
  /** It stood there before we looked, and nobody has written it since. */
  isFound: boolean;
  /** It was said while we look, and the clock on the wall makes it older: that clock, or the other one, was set, and how old it is can not be told. */
  isClockSet: boolean;
}

/** What is heard is written so late at most: for a kubelet to be silent, and then for the next write. */
const WRITTEN_WITHIN_MS = 22_000;

export interface LedgerParts {
  /** When a sign of life of the node's kubelet was last received here. */
  lifeAtMs: (node: string) => number | undefined;
  /** When the node's kubelet renewed its lease last, by its own clock. */
  renewedAtMs: (node: string) => number | undefined;
  finishedTimeoutMs: (node: string) => number;
  /** The boot that the Node shows now. */
  bootID: (node: string) => string | undefined;
  /** The host on which this replica runs. */
  host: string;
}

/** What this replica hears itself, and what it reads of the others. Bounded: whoever can forge many sources fills no memory. */
export class DumpLedger {
  readonly #parts: LedgerParts;
  readonly #own = new Map<string, OwnDump>();
  readonly #others = new Map<string, Map<string, Sight>>();
  #hasRead = false;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
  }

  /** One message. A kubelet that was heard after the messages so far dumped nothing then: they count no more. `false`: there is no room. */
  hear(node: string, source: string, nowMs: number, wallMs: number): boolean {
    const known = this.#own.get(node);
    const isSame = known !== undefined && this.#lifeAtMs(node) <= known.lastMs;
    if (known === undefined && this.#own.size >= DUMPS_MAX && !this.#makeRoom(nowMs)) return false;
    this.#own.set(
      node,
      isSame
        ? { ...known, source, lastWallMs: wallMs, lastMs: nowMs, count: Math.min(known.count + 1, Number.MAX_SAFE_INTEGER) }
        : {
            source,
            firstMs: nowMs,
            lastMs: nowMs,
            count: 1,
            first: new Date(wallMs).toISOString(),
            lastWallMs: wallMs,
            boot: bootMark(this.#parts.bootID(node)),
          },
    );
    return true;
  }

  /** What the Lease says of the others now. */
  see(records: ReadonlyMap<string, ReadonlyMap<string, DumpRecord>>, nowMs: number, wallMs: number): void {
    for (const replica of [...this.#others.keys()]) if (!records.has(replica)) this.#others.delete(replica);
    for (const [replica, said] of records) {
      const before = this.#others.get(replica);
      this.#others.set(replica, new Map([...said].map(([node, record]) => [node, this.#sight(node, record, before?.get(node), { nowMs, wallMs })])));
    }
    this.#hasRead = true;
  }

  /** Of all replicas together. */
  heardOf(node: string): HeardDump | undefined {
    const lifeAtMs = this.#lifeAtMs(node);
    const own = this.#own.get(node);
    const heard = own === undefined || own.lastMs < lifeAtMs ? [] : [own];
    // Whoever hears them himself needs nobody's guess of when they began, and ends no limit sooner for it.
    const all = [...heard, ...this.#sightsOf(node, lifeAtMs, { isGuessed: heard.length === 0 })];
    const [first, ...others] = all;
    if (first === undefined) return undefined;
    const { source, firstMs, lastMs, count, first: firstAt } = others.reduce(joined, first);
    return { source, firstMs, lastMs, count, first: firstAt };
  }

  /** All nodes that something was heard of, here or elsewhere. */
  nodes(): Set<string> {
    return new Set([...this.#own.keys(), ...[...this.#others.values()].flatMap((sights) => [...sights.keys()])]);
  }

  /**
   * What is to stand in the API of what was heard here. A node whose kubelet lives is forged for: its messages are counted, and cost no write. The first message
   * is that which a replica wrote that is gone: so the limit outlives it. Of those that live only they tell: estimates of each other's would grow older and older.
   */
  records(isWritten: (node: string) => boolean, nowMs: number): Map<string, DumpRecord> {
    const records = new Map<string, DumpRecord>();
    for (const [node, own] of this.#own) {
      if (!isWritten(node) || this.#lifeAtMs(node) > own.lastMs) continue;
      const { firstMs, first } = this.#sightsOf(node, this.#lifeAtMs(node), { isGone: true }).reduce(joined, own);
      const state = stateOf(own, { finishedTimeoutMs: this.#parts.finishedTimeoutMs(node) }, nowMs);
      const heardForMs = Math.max(0, Math.round(own.lastMs - firstMs));
      records.set(node, {
        source: own.source,
        first,
        last: new Date(own.lastWallMs).toISOString(),
        heardForMs,
        count: own.count,
        state,
        by: this.#parts.host,
        ...(own.boot !== undefined && { boot: own.boot }),
      });
    }
    return records;
  }

  /** Of nodes that live again, or are gone: nobody asks any more. */
  forget(isOver: (node: string, heard: HeardDump) => boolean): void {
    for (const [node, heard] of [...this.#own]) if (isOver(node, heard)) this.#own.delete(node);
  }

  #lifeAtMs(node: string): number {
    return this.#parts.lifeAtMs(node) ?? Number.NEGATIVE_INFINITY;
  }

  /**
   * What goes is of a node that has spoken since, or whose kubelet is not silent: whoever forges for many healthy nodes keeps no dump out. Where there is none,
   * the dump that is over for longest goes: machines that crashed and stay off keep out none that crashes now.
   */
  #makeRoom(nowMs: number): boolean {
    const idle = [...this.#own].find(([node, { lastMs }]) => {
      const lifeAtMs = this.#lifeAtMs(node);
      return lifeAtMs > lastMs || nowMs < lifeAtMs + LEASE_STALE_MS;
    });
    const [leaving] = idle ?? this.#longestOver(nowMs) ?? [];
    return leaving !== undefined && this.#own.delete(leaving);
  }

  #longestOver(nowMs: number): [string, OwnDump] | undefined {
    const over = [...this.#own].filter(
      ([node, own]) => stateOf(own, { finishedTimeoutMs: this.#parts.finishedTimeoutMs(node) }, nowMs) === 'FINISHED',
    );
    return over.sort(([, one], [, other]) => one.lastMs - other.lastMs)[0];
  }

  /**
   * How old its messages are. No two clocks on the wall need agree: how long it lasted is told by one clock, and what is said while we look was written just now.
   * Only of what stood there before we looked nothing but the clock on the wall tells the age, and then the older of both counts: no restart extends a limit.
   */
  #sight(node: string, record: DumpRecord, known: Sight | undefined, { nowMs, wallMs }: { nowMs: number; wallMs: number }): Sight {
    const isMore =
      known === undefined || record.count !== known.record.count || (record.first !== known.record.first && record.last !== known.record.last);
    // Whoever says that it is over has waited that long, by one clock.
    const silentMs = record.state === 'FINISHED' ? this.#parts.finishedTimeoutMs(node) : 0;
    if (!isMore) {
      const olderByMs = Math.max(0, known.lastMs - (nowMs - silentMs));
      const isOverNow = silentMs > 0 && known.record.state !== 'FINISHED';
      return isOverNow ? { ...known, record, firstMs: known.firstMs - olderByMs, lastMs: known.lastMs - olderByMs } : { ...known, record };
    }
    const ageMs = Math.max(0, wallMs - Date.parse(record.last));
    const isFound = known === undefined && !this.#hasRead;
    const sinceMs = Math.max(0, ageMs - silentMs);
    const lastMs = nowMs - silentMs - (isFound && silentMs > 0 ? sinceMs : Math.min(sinceMs, WRITTEN_WITHIN_MS));
    const heardForMs = record.heardForMs ?? Math.max(0, Date.parse(record.last) - Date.parse(record.first));
    const lastedFromMs = lastMs - heardForMs;
    const onTheWallMs = nowMs - Math.max(0, wallMs - Date.parse(record.first));
    return {
      record,
      isFound,
      seenMs: nowMs,
      lastMs,
      firstMs: isFound ? Math.min(lastedFromMs, onTheWallMs) : lastedFromMs,
      isClockSet: !isFound && sinceMs > WRITTEN_WITHIN_MS,
    };
  }

  /** The node has booted anew behind it, whatever the clocks of two replicas and a node say. */
  #isOfOtherBoot(node: string, { boot }: DumpRecord): boolean {
    const now = bootMark(this.#parts.bootID(node));
    return boot !== undefined && now !== undefined && boot !== now;
  }

  #sightsOf(node: string, lifeAtMs: number, { isGone = false, isGuessed = true } = {}): HeardDump[] {
    return [...this.#others.values()].flatMap((sights) => {
      const sight = sights.get(node);
      // Of a dump before the node's last life, by a replica that is gone since.
      if (sight === undefined || (this.#parts.renewedAtMs(node) ?? Number.NEGATIVE_INFINITY) > Date.parse(sight.record.last)) return [];
      if (this.#isOfOtherBoot(node, sight.record)) return [];
      const { record, seenMs, lastMs, isFound, isClockSet } = sight;
      if (seenMs < lifeAtMs || (isGone && !isFound)) return [];
      const firstMs = isClockSet && !isGuessed ? sight.firstMs + (seenMs - lastMs) : sight.firstMs;
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
