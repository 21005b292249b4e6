import { FENCEABLE, fenceableOf } from '../../domain/plan-problems.ts';
import type { Fenceable, Judged } from '../../domain/plan-problems.ts';
import type { FenceMetrics } from '../../ports/metrics.ts';

/** How many nodes could be fenced as they are configured, before any of them fails. */
export class FenceableNodes {
  readonly #metrics: Pick<FenceMetrics, 'fenceable'>;
  readonly #nodes = new Map<string, Fenceable>();
  readonly #counts = Object.fromEntries(FENCEABLE.map((reason) => [reason, 0])) as Record<Fenceable, number>;

  constructor(metrics: Pick<FenceMetrics, 'fenceable'>) {
    this.#metrics = metrics;
  }

  /** `undefined`: there is no such Node any more. */
  see(node: string, plan: Judged | undefined): void {
    const before = this.#nodes.get(node);
    const now = plan === undefined ? undefined : fenceableOf(plan);
    if (before === now) return;
    if (before !== undefined) this.#counts[before] -= 1;
    if (now === undefined) this.#nodes.delete(node);
    else {
      this.#nodes.set(node, now);
      this.#counts[now] += 1;
    }
    this.#metrics.fenceable({ ...this.#counts });
  }
}
