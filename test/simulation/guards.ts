import { fenceName } from '../../src/domain/node-fence.ts';
import type { DeviceEvent } from '../../src/laws/trace.ts';
import type { NodeGuard, Preservation } from '../../src/ports/preservation.ts';
import type { FenceWatch } from './fence-watch.ts';
import type { SimulatedProcess } from '../../src/testbed/simulation/simulated-process.ts';

/** What preservation says of a node; `unknown`: that it does not know. */
export type Guard = NodeGuard['guard'] | 'unknown';

/** A set that was on its way when the guard came is no fault: its deadline, and how long a request may be on its way. */
const UNDER_WAY_MS = 12_000;

/** What is to become of the machines besides, as the outer world has it; each controller process hears of it. */
export class Guards {
  readonly #fence: FenceWatch;
  readonly #guards = new Map<string, { guard: Guard; sinceMs: number }>();
  readonly #listeners = new Set<(node: string) => void>();
  /** The incident in which an off was first sent to a device of a node and not refused, or it read off: from then on nobody can tell that there is anything left to keep. */
  readonly #switched = new Map<string, number>();

  constructor(fence: FenceWatch) {
    this.#fence = fence;
  }

  set(node: string, guard: Guard | undefined, nowMs: number): void {
    if (guard === undefined) this.#guards.delete(node);
    else this.#guards.set(node, { guard, sinceMs: nowMs });
    for (const listener of this.#listeners) listener(node);
  }

  /** As one process sees it. */
  for(process: SimulatedProcess): Preservation {
    return {
      guardOf: (node) => {
        const known = this.#guards.get(node)?.guard;
        return known === undefined || known === 'unknown' ? known : { node, guard: known, cause: 'user' };
      },
      isPreserved: (node) => this.#guards.has(node),
      onChange: (listener) => {
        const heard = (node: string): void => {
          process.deliverAfter(0, () => {
            listener([node]);
          });
        };
        this.#listeners.add(heard);
        return () => this.#listeners.delete(heard);
      },
    };
  }

  /** What is broken by this request of a device, in words. */
  asked({ node, device, action, want, answer, shown, storage }: DeviceEvent, nowMs: number): string | undefined {
    // A machine that is kept may be isolated.
    if (storage !== undefined) return undefined;
    const incident = this.#fence.of(fenceName(node))?.incident ?? 0;
    if (action === 'read' && shown === 'off') this.#switched.set(node, incident);
    // Of one that was lost only we know it.
    if (action !== 'set' || (answer !== '204' && answer !== 'lost')) return undefined;
    const standing = this.#guards.get(node);
    const stoodMs = standing === undefined ? 0 : nowMs - standing.sinceMs;
    if (want === 'on')
      return standing?.guard === 'drop' && stoodMs > UNDER_WAY_MS ? `${device} was set on although its machine was being deleted` : undefined;
    const isFirst = this.#switched.get(node) !== incident;
    this.#switched.set(node, incident);
    const isKept = standing !== undefined && standing.guard !== 'drop' && stoodMs > UNDER_WAY_MS;
    return isFirst && isKept
      ? `P6: ${device} was set off although its machine had been kept (${standing.guard}) for ${(stoodMs / 1000).toFixed(0)} s`
      : undefined;
  }
}
