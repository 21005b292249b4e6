import type { Clock } from '../../ports/clock.ts';
import type { Lease } from '../../ports/objects.ts';

interface Observation {
  renewTime: string | undefined;
  /** When it was first read so. */
  sinceMs: number;
  /** When it was last read as another than before; undefined: it never was. */
  lastLifeMs: number | undefined;
}

/**
 * Signs of life of one Node, by reads of its Lease: it may be in a cluster that is not watched from here. A renewal counts as received when it is read, which
 * is later than it was (P2): whoever compares it with a sight of the host must read the Lease before the host.
 */
export class LifeReads {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #observation: Observation | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  seeLease({ spec: { renewTime } }: Lease): void {
    const known = this.#observation;
    if (known !== undefined && known.renewTime === renewTime) return;
    const nowMs = this.#clock.monotonicMs();
    this.#observation = { renewTime, sinceMs: nowMs, lastLifeMs: known === undefined ? undefined : nowMs };
  }

  lastLifeMs(): number | undefined {
    return this.#observation?.lastLifeMs;
  }

  /** For how long it has been read as it is. */
  silentForMs(): number {
    return this.#observation === undefined ? 0 : this.#clock.monotonicMs() - this.#observation.sinceMs;
  }
}
