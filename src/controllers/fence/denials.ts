import { bounded } from '../../domain/node-fence.ts';
import type { JournalEntry } from '../../domain/node-fence.ts';
import type { JobReport } from '../../domain/snapshot.ts';
import type { Clock } from '../../ports/clock.ts';

/** An API server that comes up denies everybody until its authentication and RBAC are loaded; one that denies for longer means it. */
const BEARABLE_MS = 30_000;
/** After that nothing of a denial is remembered: a later one begins anew. */
const FORGET_MS = 300_000;

interface Denied {
  sinceMs: number;
  lastMs: number;
}

/**
 * Since when an API server has denied (401, 403) an operation of a fence. For 30 s that is no failure of its step: it is done again, after the pause of
 * whatever the API server did not answer. In memory only: a successor bears it for as long again.
 */
export class Denials {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #denied = new Map<string, Denied>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** What the report of a run comes to. */
  weighed({ node, entry }: { node: string; entry: JournalEntry }, { isDenied, ...report }: JobReport): JobReport {
    const key = `${node} ${entry.step} ${entry.level} ${entry.operation}`;
    if (isDenied !== true) {
      if (report.result === 'succeeded' || report.result === 'found-done') this.#denied.delete(key);
      return report;
    }
    const forMs = this.#forMs(key);
    const isBorne = forMs < BEARABLE_MS;
    const message = isBorne
      ? `asked again for ${BEARABLE_MS / 1_000} s, in case the API server is coming up`
      : `for ${Math.round(forMs / 1_000)} s now`;
    return { ...report, message: bounded(`${message}: ${report.message}`), ...(isBorne ? { result: 'interrupted' as const } : {}) };
  }

  #forMs(key: string): number {
    const nowMs = this.#clock.monotonicMs();
    for (const [other, { lastMs }] of this.#denied) if (nowMs - lastMs > FORGET_MS) this.#denied.delete(other);
    const sinceMs = this.#denied.get(key)?.sinceMs ?? nowMs;
    this.#denied.set(key, { sinceMs, lastMs: nowMs });
    return nowMs - sinceMs;
  }
}
