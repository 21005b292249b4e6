import type { OtherFacts, SeenLease } from '../../config/other-controller.ts';
import type { Clock } from '../../ports/clock.ts';

/** No look is so long after the one before while the API server answers. */
const OUTAGE_MS = 90_000;

/** What only several looks at another controller show: whether its Leases are renewed, and how long it has been quiet. */
export class SignMemory<F extends OtherFacts> {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #signsOf: (facts: F) => readonly string[];
  /** When each Lease that was there at the last look was renewed. */
  #renewals: ReadonlyMap<string, number | undefined> = new Map();
  /** Monotonic. */
  #signAtMs: number | undefined;
  #lookedAtMs: number | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>, signsOf: (facts: F) => readonly string[]) {
    this.#clock = clock;
    this.#signsOf = signsOf;
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
    const isBehindOutage = this.#lookedAtMs !== undefined && nowMs - this.#lookedAtMs > OUTAGE_MS && this.#signAtMs !== undefined;
    if (isBehindOutage || this.#signsOf(facts).length > 0) this.#signAtMs = nowMs;
    this.#lookedAtMs = nowMs;
    return { ...facts, ...(this.#signAtMs !== undefined && { quietForMs: nowMs - this.#signAtMs }) };
  }
}

function keyOf({ namespace, name, holder }: SeenLease): string {
  return `${namespace}/${name} ${holder}`;
}
