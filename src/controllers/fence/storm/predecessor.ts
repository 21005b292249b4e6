import type { Clock } from '../../../ports/clock.ts';
import type { Lister } from '../../../ports/cluster.ts';
import type { Lease } from '../../../ports/objects.ts';

/** A leader that was alive so lately makes a new one a take-over and no start; policy `startup-grace` is for a start. */
const RECENT_MS = 60_000;

/**
 * Was there a leader right before this process led? Only what this process itself saw counts: a record that changed while another held it. A stamp in a
 * Lease says nothing of our clock; when unsure it is a start.
 */
export class Predecessor {
  #seenAtMs = Number.NEGATIVE_INFINITY;
  #wasSeen = false;

  constructor(leader: Pick<Lister<Lease>, 'onChange'>, clock: Clock, identity: () => string) {
    leader.onChange((before, after) => {
      const was = before?.spec.holderIdentity ?? '';
      const is = after?.spec.holderIdentity ?? '';
      if (before === undefined || was === '' || was === identity() || is === identity()) return;
      this.#seenAtMs = clock.monotonicMs();
    });
    this.#clock = clock;
  }

  readonly #clock: Clock;

  /** This process leads from now on. */
  acquired(): void {
    this.#wasSeen = this.#clock.monotonicMs() - this.#seenAtMs <= RECENT_MS;
  }

  get tookOver(): boolean {
    return this.#wasSeen;
  }
}
