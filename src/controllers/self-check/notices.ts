import { timestamp } from '../../ports/clock.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Lease } from '../../ports/objects.ts';
import type { Logger } from '../../ports/recorder.ts';
import { LEASES } from '../../ports/resources.ts';
import { annotateLease } from '../shared/annotated-lease.ts';

export interface NoticesOptions {
  cluster: Pick<Cluster, 'get' | 'create' | 'mergePatch'>;
  clock: Clock;
  log: Logger;
  namespace: string;
  /** Name of the Lease that every replica may write. */
  lease: string;
  /** Of this process. */
  id: string;
}

/** One replica's words, as others read them. */
export interface Notice {
  at: string;
  words: readonly string[];
}

const PREFIX = 'problem.nodefence.ha.k8s.io/';
/** What stands is said again so often, and believed for so long. */
const AGAIN_MS = 300_000;
const BELIEVED_MS = 3 * AGAIN_MS;
const RETRY_MS = 30_000;
/** Whoever has said nothing for so long, by whichever clock, ended without taking it back. */
const LEFT_MS = 3_600_000;
const WORDS_MAX = 5;
const LENGTH_MAX = 600;
/** Whoever else can write the Lease: no more than this is read. */
const NOTICES_MAX = 32;

/** What keeps this replica from its work, said where `nodefence status` reads it: nothing is written while nothing is wrong. */
export class Notices {
  readonly #options: NoticesOptions;
  readonly #standing = new Map<string, readonly string[]>();
  #isSaid = false;
  #writing: Promise<void> = Promise.resolve();
  #isQueued = false;
  #cancel: () => void = () => undefined;
  #isClosed = false;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  /** These words, and no others, stand for this topic now. */
  say(topic: string, words: readonly string[]): void {
    if (JSON.stringify(this.#standing.get(topic) ?? []) === JSON.stringify(words)) return;
    if (words.length === 0) this.#standing.delete(topic);
    else this.#standing.set(topic, words);
    this.#enqueue();
  }

  /** Takes back what was said. Never rejects. */
  async close(): Promise<void> {
    this.#standing.clear();
    this.#enqueue();
    this.#isClosed = true;
    this.#cancel();
    await this.#writing;
  }

  #enqueue(): void {
    if (this.#isClosed || this.#isQueued) return;
    this.#isQueued = true;
    this.#writing = this.#writing.then(() => this.#write());
  }

  async #write(): Promise<void> {
    const { cluster, clock, id, lease, log, namespace } = this.#options;
    this.#isQueued = false;
    this.#cancel();
    const words = [...this.#standing.values()].flat().slice(0, WORDS_MAX).map(short);
    if (words.length === 0 && !this.#isSaid) return;
    const notice: Notice = { at: timestamp(clock), words };
    const own = PREFIX + id;
    try {
      const left = words.length === 0 ? {} : await this.#leftBehind(own);
      await annotateLease(cluster, { namespace, name: lease }, { ...left, [own]: words.length === 0 ? null : JSON.stringify(notice) });
      this.#isSaid = words.length > 0;
      if (this.#isSaid) this.#later(AGAIN_MS);
    } catch (error) {
      log.debug('self-check report not written; retried later', { error: String(error) });
      this.#later(RETRY_MS);
    }
  }

  /** What processes that were killed have said, each by a name of its own: it would fill the Lease, and hide what is said now. */
  async #leftBehind(own: string): Promise<Record<string, null>> {
    const { cluster, clock, lease, log, namespace } = this.#options;
    try {
      const entries = noticesOn(await cluster.get(LEASES, lease, namespace));
      const isLeft = (notice: Notice | undefined): boolean => !(clock.wallMs() - Date.parse(notice?.at ?? '') <= LEFT_MS);
      return Object.fromEntries(entries.filter(({ key, notice }) => key !== own && isLeft(notice)).map(({ key }) => [key, null]));
    } catch (error) {
      log.debug('notices of others not read', { error: String(error) });
      return {};
    }
  }

  #later(afterMs: number): void {
    if (!this.#isClosed) this.#cancel = this.#options.clock.after(afterMs, () => this.#enqueue());
  }
}

/** What replicas say now; what makes no sense, or was not said again for long, is left out. */
export function noticesIn(lease: Lease | undefined, nowMs: number): string[] {
  const believed = noticesOn(lease).flatMap(({ notice }) =>
    notice !== undefined && nowMs - Date.parse(notice.at) <= BELIEVED_MS ? [notice.words] : [],
  );
  return [...new Set(believed.slice(0, NOTICES_MAX).flat())];
}

function noticesOn(lease: Lease | undefined): { key: string; notice: Notice | undefined }[] {
  const entries = Object.entries(lease?.metadata.annotations ?? {}).filter(([key]) => key.startsWith(PREFIX));
  return entries.map(([key, text]) => ({ key, notice: read(text) }));
}

function read(text: string): Notice | undefined {
  try {
    const { at, words } = JSON.parse(text) as { at?: unknown; words?: unknown };
    if (typeof at !== 'string' || !Array.isArray(words)) return undefined;
    return {
      at,
      words: words
        .filter((word): word is string => typeof word === 'string')
        .slice(0, WORDS_MAX)
        .map(short),
    };
  } catch {
    return undefined;
  }
}

function short(message: string): string {
  return message.length <= LENGTH_MAX ? message : `${message.slice(0, LENGTH_MAX - 1)}…`;
}
