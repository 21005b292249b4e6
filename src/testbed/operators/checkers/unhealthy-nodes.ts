import type { Clock } from '../../../ports/clock.ts';
import type { Node } from '../../../ports/objects.ts';

/** A condition of a Node that makes it unhealthy once it has stood for longer than this. */
export interface UnhealthyWhen {
  type: string;
  status: string;
  durationMs: number;
}

export type Health = { isHealthy: boolean } | { dueMs: number };

/** Which Nodes are unhealthy: since when each has been so is counted on the clock of this process. */
export class UnhealthyNodes {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #when: readonly UnhealthyWhen[];
  /** By node and condition. */
  readonly #since = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonicMs'>, when: readonly UnhealthyWhen[]) {
    this.#clock = clock;
    this.#when = when;
  }

  /** `dueMs`: it may be unhealthy in so many milliseconds; neither healthy nor remediated until then. */
  of({ metadata, status }: Node): Health {
    const nowMs = this.#clock.monotonicMs();
    let dueMs = Infinity;
    for (const when of this.#when) {
      const key = `${metadata.name} ${when.type}`;
      const stands = status.conditions?.some(({ type, status: value }) => type === when.type && value === when.status) === true;
      if (!stands) {
        this.#since.delete(key);
        continue;
      }
      const sinceMs = this.#since.get(key) ?? nowMs;
      this.#since.set(key, sinceMs);
      dueMs = Math.min(dueMs, sinceMs + when.durationMs - nowMs);
    }
    if (dueMs <= 0) return { isHealthy: false };
    const isReady = status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
    return dueMs === Infinity && isReady ? { isHealthy: true } : { dueMs };
  }
}
