import type { Clock } from '../../ports/clock.ts';

/** What is dated in an object, by name: another mark is another state, or the same one anew. */
export type Marks = ReadonlyMap<string, string>;

/** Wall time of our own since when this has stood so. Where it stood so before anybody looked: as it is dated, and no later than that look. */
export type Sight = (what: string, datedMs: number) => number;

/** Of what nobody looks at. */
export const asDated: Sight = (_what, datedMs) => datedMs;

/**
 * When this process saw what dates in objects tell of: by its own clock, whatever clock the dates are of. `F`: what is read of one version of an object; nothing is
 * kept of a version that nobody holds any more.
 */
export class Sights<F extends object> {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
  readonly #marksOf: (facts: F) => Marks;
  readonly #seen = new WeakMap<F, ReadonlyMap<string, number>>();
  /** When we began to look at what had stood before. */
  readonly #foundMs = new WeakMap<F, number>();

  constructor(clock: Pick<Clock, 'monotonicMs' | 'wallMs'>, marksOf: (facts: F) => Marks) {
    this.#clock = clock;
    this.#marksOf = marksOf;
  }

  /** To be told of every change. `before`: `unseen` is one that was there when we began to look, `none` one that has just been made. */
  saw(before: F | 'none' | 'unseen', after: F): void {
    const nowMs = this.#clock.monotonicMs();
    if (before !== 'none') this.#foundMs.set(after, (before === 'unseen' ? undefined : this.#foundMs.get(before)) ?? nowMs);
    if (before === 'unseen') return;
    const [known, marks] = before === 'none' ? [undefined, undefined] : [this.#seen.get(before), this.#marksOf(before)];
    const seen = new Map<string, number>();
    for (const [what, mark] of this.#marksOf(after)) {
      const atMs = marks?.get(what) === mark ? known?.get(what) : nowMs;
      if (atMs !== undefined) seen.set(what, atMs);
    }
    if (seen.size > 0) this.#seen.set(after, seen);
  }

  /** As the wall clock is now: whoever sets it moves all of them. */
  of(facts: F): Sight {
    const seen = this.#seen.get(facts);
    const nowMs = this.#clock.monotonicMs();
    const aheadMs = this.#clock.wallMs() - nowMs;
    const foundMs = this.#foundMs.get(facts) ?? nowMs;
    this.#foundMs.set(facts, foundMs);
    return (what, datedMs) => {
      const atMs = seen?.get(what);
      return atMs === undefined ? Math.min(datedMs, aheadMs + foundMs) : aheadMs + atMs;
    };
  }
}
