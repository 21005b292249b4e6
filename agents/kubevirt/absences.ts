import type { Clock } from '../../src/ports/clock.ts';

/** More machines without a pod than this are seen anew. */
const MACHINES_MAX = 4_096;

/** Since when a machine has had no launcher pod, with all else as it is now. Begins anew in each process: what was not seen may have been otherwise. */
export class Absences {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #seen = new Map<string, { world: string; sinceMs: number }>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** `world`: whatever a pod that came and went in between would have changed. Returns for how many milliseconds it has been so. */
  forMs(machine: string, world: string): number {
    const nowMs = this.#clock.monotonicMs();
    const seen = this.#seen.get(machine);
    if (seen?.world === world) return nowMs - seen.sinceMs;
    if (this.#seen.size >= MACHINES_MAX) this.#seen.clear();
    this.#seen.set(machine, { world, sinceMs: nowMs });
    return 0;
  }

  /** A pod is there. */
  end(machine: string): void {
    this.#seen.delete(machine);
  }
}
