import type { Clock } from '../../../ports/clock.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import type { Logger } from '../../../ports/recorder.ts';
import { annotateLease } from '../../shared/annotated-lease.ts';
import { ANNOUNCE_MS, CANDIDATES_LEASE } from './candidates.ts';
import type { Candidates } from './candidates.ts';

export interface AnnouncerOptions {
  cluster: Pick<Cluster, 'create' | 'mergePatch'>;
  clock: Clock;
  log: Logger;
  namespace: string;
  ownNode: string | undefined;
  mode: 'observe' | 'enforce';
  candidates: Candidates;
  /** This replica does not lead, and who does, or will, may have to hand over. */
  isNeeded: () => boolean;
}

/** Whoever leads within this time needs no announcement. */
const FIRST_MS = 5_000;

/** Says of this replica, while it does not lead, that it could: one small write every half minute. */
export class Announcer {
  readonly #options: AnnouncerOptions;
  #count = 0;
  #hasSpoken = false;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(options: AnnouncerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#next(FIRST_MS);
  }

  /** Nobody shall hand over to a process that ends. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    if (this.#hasSpoken) await this.#write(this.#options.candidates.farewell());
  }

  #next(delayMs: number): void {
    this.#cancel = this.#options.clock.after(delayMs, () => void this.#announce());
  }

  async #announce(): Promise<void> {
    const { ownNode: node, mode, candidates, clock, isNeeded } = this.#options;
    if (isNeeded()) {
      this.#count += 1;
      this.#hasSpoken = true;
      await this.#write(candidates.announcement({ node, mode, count: this.#count }, clock.monotonicMs()));
    }
    if (!this.#isClosed) this.#next(ANNOUNCE_MS);
  }

  async #write(annotations: Record<string, string | null>): Promise<void> {
    const { cluster, namespace, log } = this.#options;
    try {
      await annotateLease(cluster, { namespace, name: CANDIDATES_LEASE }, annotations);
    } catch (error) {
      log.debug('candidacy not announced; retried later', { error: String(error) });
    }
  }
}
