import type { Clock } from '../../ports/clock.ts';
import { SILENT_AFTER_MS } from '../shared/write-gate.ts';
import type { Listed, PreservationCache } from './cache.ts';
import { Waiting } from './waiting.ts';

/** Of the cache. */
type Source = Pick<PreservationCache, 'listed' | 'unlistedKinds' | 'areNodesListed' | 'freshAtMs'>;

/** Longer than one list that nobody answers: 30 s, and its second try soon after. */
const FRESH_WITHIN_MS = 45_000;

/** Whether what is decided from is all there is. Where it is not, nothing is written. */
export class Freshness {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #cache: Source;
  /** See PreservationOptions. */
  readonly #freshWithinMs: () => number | undefined;
  readonly #waiting: Waiting;
  /** As of the last decision; undefined: there was none. */
  #decidedFrom: Listed | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>, cache: Source, freshWithinMs: () => number | undefined) {
    this.#clock = clock;
    this.#cache = cache;
    this.#freshWithinMs = freshWithinMs;
    this.#waiting = new Waiting(clock);
  }

  start(isLeading: boolean): void {
    this.#waiting.start(isLeading);
  }

  /** Leadership is here. */
  leads(): void {
    this.#waiting.leads();
  }

  /** It is decided from what is listed now. */
  decided(): void {
    this.#decidedFrom = this.#cache.listed;
  }

  get isComplete(): boolean {
    return this.#decidedFrom === 'all';
  }

  /** Is a Node of which nothing is known to be told apart from one that is not preserved? For a bounded time only. */
  get isUnknown(): boolean {
    const withinMs = this.#freshWithinMs() ?? FRESH_WITHIN_MS;
    const waitedMs = this.#waiting.forMs;
    if (!this.isComplete) return waitedMs < withinMs;
    const silentMs = this.#silentForMs('machines') - SILENT_AFTER_MS;
    return silentMs > 0 && Math.min(silentMs, waitedMs) < withinMs;
  }

  /** Why nothing is written, one sentence each. */
  problems(): string[] {
    return [...this.#stale(), ...this.#unlisted()];
  }

  #stale(): string[] {
    if (!this.#cache.areNodesListed) return [];
    const sides = this.isComplete ? (['nodes', 'machines'] as const) : (['nodes'] as const);
    return sides
      .filter((side) => this.#silentForMs(side) > SILENT_AFTER_MS)
      .map((side) => `the watches of the cluster of the ${side} are stale: preservation writes nothing until they deliver again`);
  }

  /** Told as soon as what is not listed counts as not there. */
  #unlisted(): string[] {
    if (this.#decidedFrom === undefined || this.isComplete || this.isUnknown) return [];
    const counts =
      this.#decidedFrom === 'nodes'
        ? 'the annotations of Nodes count'
        : 'the annotations of Machines and Nodes count, and no hibernation or rolling update is seen';
    const kinds = this.#cache.unlistedKinds.join(', ');
    return [
      `since the start the API server has not listed ${kinds}: ${counts}, and preservation writes nothing until it has; the log of the watch says why`,
    ];
  }

  #silentForMs(side: 'nodes' | 'machines'): number {
    return this.#clock.monotonicMs() - this.#cache.freshAtMs(side);
  }
}
