import type { FenceState } from '../../domain/node-fence.ts';
import type { FenceMetrics } from '../../ports/metrics.ts';
import type { NodeFence } from '../../ports/resources.ts';

interface Counted {
  state: FenceState;
  /** Why it waits; absent: nothing holds it. */
  heldBy?: string;
}

/** How many NodeFences there are now, by state and by what holds them. */
export class FenceCounts {
  readonly #metrics: Pick<FenceMetrics, 'fences' | 'held'>;
  readonly #isLeading: () => boolean;
  /** By the name of the NodeFence. */
  readonly #fences = new Map<string, Counted>();

  /** Who does not lead follows them too, and says nothing: several replicas would be counted together. */
  constructor(metrics: Pick<FenceMetrics, 'fences' | 'held'>, isLeading: () => boolean) {
    this.#metrics = metrics;
    this.#isLeading = isLeading;
  }

  /** `undefined`: it is gone. */
  see(name: string, fence: NodeFence | undefined): void {
    const before = this.#fences.get(name);
    const now = fence === undefined ? undefined : countedOf(fence);
    if (now === undefined) this.#fences.delete(name);
    else this.#fences.set(name, now);
    if (before?.state !== now?.state || before?.heldBy !== now?.heldBy) this.tell();
  }

  tell(): void {
    if (!this.#isLeading()) return;
    const states: Partial<Record<FenceState, number>> = {};
    const reasons: Record<string, number> = {};
    for (const { state, heldBy } of this.#fences.values()) {
      states[state] = (states[state] ?? 0) + 1;
      if (heldBy !== undefined) reasons[heldBy] = (reasons[heldBy] ?? 0) + 1;
    }
    this.#metrics.fences(states);
    this.#metrics.held(reasons);
  }
}

/** The schema's defaults give a new object a status: what has no plan yet has not begun. */
function countedOf({ status }: NodeFence): Counted {
  if (status?.frozen === undefined) return { state: 'new' };
  const { state, hold } = status;
  return { state, ...(hold !== undefined && state !== 'final' && { heldBy: hold.reason }) };
}
