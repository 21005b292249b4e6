import type { Clock } from '../../ports/clock.ts';
import type { EventMetrics } from '../../ports/metrics.ts';
import type { Logger } from '../../ports/recorder.ts';
import { IMPORTANCES } from './importance.ts';
import type { Importance } from './importance.ts';

/** To tell of lost Events must not lose others. */
const TOLD_AGAIN_MS = 600_000;

const WORDS: Readonly<Record<Importance, string>> = {
  person: 'that a person should see',
  outcome: 'on what became of nodes',
  progress: 'on single steps',
};

/** Events that were not written, until they are told of. */
export class LostEvents {
  readonly #options: { clock: Clock; logger: Logger; metrics: EventMetrics };
  readonly #counts = new Map<Importance, number>();
  #toldAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: { clock: Clock; logger: Logger; metrics: EventMetrics }) {
    this.#options = options;
  }

  add(result: 'rate-limited' | 'queue-full' | 'failed', importance: Importance): void {
    this.#options.metrics.event(result, importance);
    this.#counts.set(importance, (this.#counts.get(importance) ?? 0) + 1);
  }

  /** What was lost since this last said something, if that is long enough ago; else it waits. */
  tell(): string | undefined {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#counts.size === 0 || nowMs - this.#toldAtMs < TOLD_AGAIN_MS) return undefined;
    const parts = IMPORTANCES.flatMap((importance) => {
      const count = this.#counts.get(importance);
      return count === undefined ? [] : [`${count} ${WORDS[importance]}`];
    });
    const message = `Events were lost, for there were too many or the API server did not take them: ${parts.join(', ')}. nodefence status and nodefence history tell what was done.`;
    this.#options.logger.warn('Events were lost', { problem: message });
    this.#counts.clear();
    this.#toldAtMs = nowMs;
    return message;
  }
}
