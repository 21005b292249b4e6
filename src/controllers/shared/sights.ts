import type { Clock } from '../../ports/clock.ts';

/** What is dated in an object, by name: another mark is another state, or the same one anew. */
export type Marks = ReadonlyMap<string, string>;

/** Wall time of our own since when this has stood so; undefined: it stood so before anybody looked. */
export type Sight = (what: string) => number | undefined;

/**
 * When this process saw what dates in objects tell of: by its own clock, whatever clock the dates are of. `F`: what is read of one version of an object; nothing is
 * kept of a version that nobody holds any more.
 */
export class Sights<F extends object> {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
  readonly #marksOf: (facts: F) => Marks;
  readonly #seen = new WeakMap<F, ReadonlyMap<string, number>>();

  constructor(clock: Pick<Clock, 'monotonicMs' | 'wallMs'>, marksOf: (facts: F) => Marks) {
    this.#clock = clock;
    this.#marksOf = marksOf;
  }

  /** To be told of every change. `before`: `unseen` is one that was there when we began to look, `none` one that has just been made. */
  saw(before: F | 'none' | 'unseen', after: F): void {
    if (before === 'unseen') return;
    const nowMs = this.#clock.monotonicMs();
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
    const aheadMs = this.#clock.wallMs() - this.#clock.monotonicMs();
    return (what) => {
      const atMs = seen?.get(what);
      return atMs === undefined ? undefined : aheadMs + atMs;
    };
  }
}
