import type { Clock } from '../../ports/clock.ts';

interface Observation {
  node: string;
  sinceMs?: number;
  isRefused?: boolean;
}

/** What became of the out-of-service taint on the Node of each Machine, as this process has seen it: who takes it away does not lengthen the wait. */
export class OutOfServiceObservations {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** By the uid of the Machine; of one Node each. */
  readonly #observations = new Map<string, Observation>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** The Node of a Machine, as it is. */
  see(machine: string, node: string, isTainted: boolean): Observation {
    const known = this.#observations.get(machine);
    const observation = known?.node === node ? known : { node };
    if (isTainted) observation.sinceMs ??= this.#clock.monotonicMs();
    this.#observations.set(machine, observation);
    return observation;
  }

  /** It could not be set. `isRefused`: it never will be, and nothing is to be waited for. */
  failed(machine: string, isRefused: boolean): void {
    const observation = this.#observations.get(machine);
    if (observation === undefined) return;
    observation.sinceMs ??= this.#clock.monotonicMs();
    if (isRefused) observation.isRefused = true;
  }

  forget(machine: string): void {
    this.#observations.delete(machine);
  }
}
