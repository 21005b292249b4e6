import type { DeviceMetrics } from '../../ports/metrics.ts';
import type { Path } from './path.ts';

interface Sum {
  reachable: number;
  unreachable: number;
  strangers: number;
  oldestMs: number;
  expiryMs: number;
}

/** Paths by agent, as gauges; an agent that is configured no more counts nothing. */
export class PathMetrics {
  readonly #metrics: DeviceMetrics;
  readonly #shown = new Set<string>();

  constructor(metrics: DeviceMetrics) {
    this.#metrics = metrics;
  }

  show(paths: Iterable<Path>, nowMs: number, wallMs: number): void {
    const sums = new Map<string, Sum>();
    for (const { method, isBroken, isRead, isStranger = false, readAtMs, expiresAtMs = Number.POSITIVE_INFINITY } of paths) {
      const sum = sums.get(method.agent) ?? { reachable: 0, unreachable: 0, strangers: 0, oldestMs: 0, expiryMs: Number.POSITIVE_INFINITY };
      if (isRead) sum[isBroken ? 'unreachable' : 'reachable'] += 1;
      if (isStranger) sum.strangers += 1;
      sum.oldestMs = Math.max(sum.oldestMs, nowMs - readAtMs);
      sum.expiryMs = Math.min(sum.expiryMs, expiresAtMs - wallMs);
      sums.set(method.agent, sum);
    }
    for (const agent of this.#shown) if (!sums.has(agent)) this.#nothing(agent);
    for (const [agent, { reachable, unreachable, strangers, oldestMs, expiryMs }] of sums) {
      this.#shown.add(agent);
      this.#metrics.devices(agent, { reachable, unreachable });
      this.#metrics.strangers(agent, strangers);
      this.#metrics.oldestProbe(agent, oldestMs);
      this.#metrics.credentialExpiry(agent, Number.isFinite(expiryMs) ? expiryMs : undefined);
    }
  }

  /** Another replica leads: it shows what it reads. */
  forget(): void {
    for (const agent of this.#shown) this.#nothing(agent);
    this.#shown.clear();
  }

  #nothing(agent: string): void {
    this.#metrics.devices(agent, { reachable: 0, unreachable: 0 });
    this.#metrics.strangers(agent, 0);
    this.#metrics.oldestProbe(agent, undefined);
    this.#metrics.credentialExpiry(agent, undefined);
  }
}
