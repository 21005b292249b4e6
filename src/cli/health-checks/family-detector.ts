import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/recorder.ts';
import { detectFamily, signsOfOther } from './mode.ts';
import type { FamilyFacts, HealthCheckChoice, ServedFamily } from './mode.ts';

export interface FamilyDetectorOptions {
  clock: Clock;
  log: Logger;
  choice: HealthCheckChoice;
  read: () => Promise<ReadonlyMap<string, FamilyFacts>>;
  /** All that are ours now; called when that differs from before. */
  onOwn: (families: readonly ServedFamily[]) => void;
}

/** Another controller renews its Lease every few seconds; while its part is ours, it must be seen before it does much. */
const OWN_LOOK_MS = 10_000;
const LOOK_MS = 60_000;
/** After a look that told nothing. */
const AGAIN_MS = 5_000;

/** Looks again and again whose part health checks are: another controller that appears later ends ours. */
export class FamilyDetector {
  readonly #options: FamilyDetectorOptions;
  readonly #closing = new AbortController();
  readonly #leases = new Map<string, number | undefined>();
  /** By group; monotonic. */
  readonly #signAtMs = new Map<string, number>();
  readonly #told = new Map<string, string>();
  #own = '[]';
  #failure = '';
  #running: Promise<void> = Promise.resolve();

  constructor(options: FamilyDetectorOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the detection of health checks is closed'));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const restMs = await this.#look();
      await clock.sleep(restMs, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }

  /** Returns when to look again. */
  async #look(): Promise<number> {
    const { log, read } = this.#options;
    try {
      const found = await read();
      this.#failure = '';
      return this.#closing.signal.aborted ? AGAIN_MS : this.#judge(found);
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      if (words !== this.#failure) log.warn('whose part health checks are could not be looked at', { error: words });
      this.#failure = words;
      return AGAIN_MS;
    }
  }

  #judge(found: ReadonlyMap<string, FamilyFacts>): number {
    const { choice, log, onOwn } = this.#options;
    const own: ServedFamily[] = [];
    let isUnsure = false;
    for (const [group, facts] of found) {
      const remembered = this.#remembered(group, facts);
      const { isOwn, reason } = detectFamily(choice, remembered);
      if (isOwn && facts.served !== undefined) own.push(facts.served);
      isUnsure ||= !isOwn && remembered.leases.some(({ hasMoved }) => hasMoved === undefined);
      const words = `${isOwn ? 'own' : 'off'}: ${reason}`;
      // Nobody wants to read of what is not there.
      if (this.#told.get(group) !== words && (facts.served !== undefined || this.#told.has(group))) {
        this.#told.set(group, words);
        log.info('health checks of machines', { group, mode: words });
      }
    }
    const text = JSON.stringify(own);
    if (text !== this.#own) {
      this.#own = text;
      onOwn(own);
    }
    return own.length > 0 || isUnsure ? OWN_LOOK_MS : LOOK_MS;
  }

  /** With what only several looks show: renewals, and how long it has been quiet. */
  #remembered(group: string, facts: FamilyFacts): FamilyFacts {
    const nowMs = this.#options.clock.monotonicMs();
    const leases = facts.leases.map((lease) => {
      const key = `${group} ${lease.namespace}/${lease.name} ${lease.holder}`;
      const hasMoved = this.#leases.has(key) ? this.#leases.get(key) !== lease.renewedMs : undefined;
      this.#leases.set(key, lease.renewedMs);
      return { ...lease, hasMoved };
    });
    const seen = { ...facts, leases };
    if (signsOfOther(seen).length > 0) this.#signAtMs.set(group, nowMs);
    const signAtMs = this.#signAtMs.get(group);
    return { ...seen, ...(signAtMs !== undefined && { quietForMs: nowMs - signAtMs }) };
  }
}
