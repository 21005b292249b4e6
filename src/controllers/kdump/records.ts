import { isRecordKey, readRecords, recordKey, REPLICAS_MAX, writeRecords } from '../../domain/kdump/record.ts';
import type { DumpRecord } from '../../domain/kdump/record.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Lease } from '../../ports/objects.ts';
import { annotateLease } from '../shared/annotated-lease.ts';

/** More messages of a dump that is known already are written no more often than this. */
const REFRESH_MS = 10_000;
/** And nothing more often than this, whatever comes. */
const REST_MS = 2_000;
/** What a replica wrote that is gone: nothing waits for it any more. */
const FORGOTTEN_MS = 7_200_000;
/** And sooner where there are more of them than are read: a replica that starts again and again leaves one each time. */
const CROWDED_MS = 120_000;
const NOTHING = '{}';

export interface RecordParts {
  clock: Pick<Clock, 'monotonicMs'>;
  cluster: Pick<Cluster, 'create' | 'mergePatch'>;
  namespace: string;
  name: string;
  replica: string;
}

/** One annotation for each replica on one Lease: a merge patch of the own one never meets that of another. */
export class DumpRecords {
  readonly #parts: RecordParts;
  readonly #key: string;
  readonly #sights = new Map<string, { text: string; sinceMs: number }>();
  #written = NOTHING;
  #writtenWords = '';
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> | undefined;
  /** Nodes of which there was no room to tell. */
  #left = 0;
  #failure: string | undefined;

  constructor(parts: RecordParts) {
    this.#parts = parts;
    this.#key = recordKey(parts.replica);
  }

  /** Why the others do not know what is heard here. */
  get problem(): string | undefined {
    return this.#failure ?? (this.#left === 0 ? undefined : `there is no room for ${this.#left} of its nodes in the Lease ${this.#parts.name}`);
  }

  read(lease: Lease | undefined): ReturnType<typeof readRecords> {
    const annotations = lease?.metadata.annotations ?? {};
    const nowMs = this.#parts.clock.monotonicMs();
    for (const key of [...this.#sights.keys()]) if (annotations[key] === undefined) this.#sights.delete(key);
    for (const [key, text] of Object.entries(annotations)) {
      if (isRecordKey(key) && key !== this.#key && this.#sights.get(key)?.text !== text) this.#sights.set(key, { text, sinceMs: nowMs });
    }
    return readRecords(annotations, this.#key);
  }

  /** Writes what differs: at once where a node or a state is another, later where only messages came. */
  offer(records: ReadonlyMap<string, DumpRecord>): void {
    const nowMs = this.#parts.clock.monotonicMs();
    const { text, left } = writeRecords(records);
    this.#left = left;
    const words = [...records].map(([node, { first, state }]) => `${node} ${first} ${state}`).join();
    const restMs = words === this.#writtenWords ? REFRESH_MS : REST_MS;
    if (this.#writing !== undefined || text === this.#written || nowMs - this.#writtenAtMs < restMs) return;
    this.#writtenAtMs = nowMs;
    const { cluster, namespace, name } = this.#parts;
    const annotations = { ...this.#forgotten(nowMs), [this.#key]: text === NOTHING ? null : text };
    this.#writing = annotateLease(cluster, { namespace, name }, annotations).then(
      () => {
        this.#written = text;
        this.#writtenWords = words;
        this.#failure = undefined;
        this.#writing = undefined;
      },
      (error: unknown) => {
        this.#failure = error instanceof Error ? error.message : String(error);
        this.#writing = undefined;
      },
    );
  }

  /** What stands stays: the dump goes on when this process ends. */
  async close(): Promise<void> {
    await this.#writing;
  }

  #forgotten(nowMs: number): Record<string, null> {
    // The newest first: those that are read.
    const byAge = [...this.#sights].toSorted(([, one], [, other]) => other.sinceMs - one.sinceMs);
    const gone = byAge.filter(([, { sinceMs }], index) => nowMs - sinceMs > (index < REPLICAS_MAX - 1 ? FORGOTTEN_MS : CROWDED_MS));
    return Object.fromEntries(gone.map(([key]) => [key, null]));
  }
}
