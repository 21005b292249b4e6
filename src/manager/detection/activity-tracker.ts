import type { ForeignControllerFacts, SeenLease } from '../../config/foreign-controller.ts';
import type { Clock } from '../../ports/clock.ts';

/** No check is so long after the one before while the API server answers. */
const OUTAGE_MS = 90_000;

/** What only several checks of another controller show: whether its Leases are renewed, and how long it has been quiet. */
export class ActivityTracker<F extends ForeignControllerFacts> {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #activityOf: (facts: F) => readonly string[];
  /** When each Lease that was there at the last look was renewed. */
  #renewals: ReadonlyMap<string, number | undefined> = new Map();
  /** Monotonic. */
  #activeAtMs: number | undefined;
  #lookedAtMs: number | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>, activityOf: (facts: F) => readonly string[]) {
    this.#clock = clock;
    this.#activityOf = activityOf;
  }

  /** The same with what was seen before; to be called once for each look. */
  recall(found: F): F {
    const leases = found.leases.map((lease): SeenLease => {
      const key = keyOf(lease);
      return { ...lease, hasMoved: this.#renewals.has(key) ? this.#renewals.get(key) !== lease.renewedMs : undefined };
    });
    this.#renewals = new Map(found.leases.map((lease) => [keyOf(lease), lease.renewedMs]));
    const facts = { ...found, leases };
    const nowMs = this.#clock.monotonicMs();
    // It could renew nothing either while the API server was away, and is given as long as ever to be seen again.
    const isBehindOutage = this.#lookedAtMs !== undefined && nowMs - this.#lookedAtMs > OUTAGE_MS && this.#activeAtMs !== undefined;
    if (isBehindOutage || this.#activityOf(facts).length > 0) this.#activeAtMs = nowMs;
    this.#lookedAtMs = nowMs;
    return { ...facts, ...(this.#activeAtMs !== undefined && { quietForMs: nowMs - this.#activeAtMs }) };
  }
}

function keyOf({ namespace, name, holder }: SeenLease): string {
  return `${namespace}/${name} ${holder}`;
}
