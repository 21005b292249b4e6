import { openEntries } from '../../domain/journal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { ProbeAnswer, Prober, ProbeRequest, ShownTrust, WarmRequest } from '../../ports/probes.ts';
import type { NodeFence } from '../../ports/resources.ts';

export interface ProberBehindCallsParts {
  clock: Pick<Clock, 'monotonicMs'>;
  prober: Prober;
  fences: Pick<Lister<NodeFence>, 'all'>;
  leadership: Pick<Leadership, 'epoch'>;
}

/**
 * P5: a call of a former leader may still arrive until its deadline. Until then its device is not even read: one that has a single session would refuse the call.
 * Our own calls need no wait, as each queue makes its reads give way.
 */
export class ProberBehindCalls implements Prober {
  readonly #parts: ProberBehindCallsParts;
  /** When each call that a former leader left open was first seen. */
  #seenAtMs: ReadonlyMap<string, number> = new Map();

  constructor(parts: ProberBehindCallsParts) {
    this.#parts = parts;
  }

  async probe(request: ProbeRequest): Promise<ProbeAnswer | undefined> {
    return this.#isAwaited(request) ? undefined : this.#parts.prober.probe(request);
  }

  async warm(request: WarmRequest): Promise<void> {
    if (!this.#isAwaited(request)) await this.#parts.prober.warm?.(request);
  }

  async trustShown(request: ProbeRequest): Promise<ShownTrust> {
    if (this.#isAwaited(request)) return { kind: 'busy' };
    return (await this.#parts.prober.trustShown?.(request)) ?? { kind: 'not-asked' };
  }

  /** By our own clock, from when the call was first seen here: its start is told by the clock of another machine. */
  #isAwaited({ method: { device } }: ProbeRequest): boolean {
    const { clock, fences, leadership } = this.#parts;
    const nowMs = clock.monotonicMs();
    const seenAtMs = new Map<string, number>();
    let isAwaited = false;
    for (const { metadata, status } of fences.all()) {
      if (status === undefined || status.state === 'final') continue;
      for (const entry of openEntries(status)) {
        if (entry.epoch >= leadership.epoch) continue;
        const key = `${metadata.uid ?? ''} ${entry.id}`;
        const sinceMs = this.#seenAtMs.get(key) ?? nowMs;
        seenAtMs.set(key, sinceMs);
        if (entry.device === device && nowMs < sinceMs + entry.deadlineMs) isAwaited = true;
      }
    }
    this.#seenAtMs = seenAtMs;
    return isAwaited;
  }
}
