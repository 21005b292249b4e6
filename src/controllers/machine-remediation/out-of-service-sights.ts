import type { Clock } from '../../ports/clock.ts';

interface Sight {
  node: string;
  sinceMs?: number;
  isRefused?: boolean;
}

/** What became of the out-of-service taint on the Node of each Machine, as this process has seen it: who takes it away does not lengthen the wait. */
export class OutOfServiceSights {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** By the uid of the Machine; of one Node each. */
  readonly #sights = new Map<string, Sight>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** The Node of a Machine, as it is. */
  see(machine: string, node: string, isTainted: boolean): Sight {
    const known = this.#sights.get(machine);
    const sight = known?.node === node ? known : { node };
    if (isTainted) sight.sinceMs ??= this.#clock.monotonicMs();
    this.#sights.set(machine, sight);
    return sight;
  }

  /** It could not be set. `isRefused`: it never will be, and nothing is to be waited for. */
  failed(machine: string, isRefused: boolean): void {
    const sight = this.#sights.get(machine);
    if (sight === undefined) return;
    sight.sinceMs ??= this.#clock.monotonicMs();
    if (isRefused) sight.isRefused = true;
  }

  forget(machine: string): void {
    this.#sights.delete(machine);
  }
}
