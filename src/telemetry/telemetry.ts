import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Metrics } from '../ports/metrics.ts';
import { Exposition } from './exposition.ts';
import { deviceMetrics, fenceMetrics } from './fence-metrics.ts';
import { eventMetrics, leaseMetrics, selfCheckMetrics, watchMetrics, workqueueMetrics } from './kube-metrics.ts';
import { secondaryControllerMetrics } from './secondary-controller-metrics.ts';

/** How old each watched collection is, asked for at every scrape. */
export interface Freshness {
  resource: string;
  isSynced: boolean;
  /** Infinity before the first sync. */
  ageMs: number;
}

/** One metric, as docs/metrics.md has it. */
export interface CatalogueEntry {
  name: string;
  type: string;
  labels: readonly string[];
  help: string;
}

export interface TelemetryOptions {
  version: string;
  freshness: () => Iterable<Freshness>;
}

/** All metrics of one process, in a registry of their own. */
export class Telemetry {
  readonly metrics: Metrics;
  readonly #registry = new Registry();
  readonly #exposition = new Exposition(this.#registry);
  readonly #lag: ReturnType<typeof monitorEventLoopDelay>;

  constructor(options: TelemetryOptions) {
    const registry = this.#registry;
    this.metrics = {
      fence: fenceMetrics(registry),
      device: deviceMetrics(registry),
      watch: watchMetrics(registry),
      workqueue: workqueueMetrics(registry),
      lease: leaseMetrics(registry),
      event: eventMetrics(registry),
      selfCheck: selfCheckMetrics(registry),
      ...secondaryControllerMetrics(registry),
    };
    collectDefaultMetrics({ register: registry });
    this.#lag = monitorEventLoopDelay({ resolution: 20 });
    this.#lag.enable();
    this.#addEventLoopLag();
    this.#addBuildInfo(options.version);
    this.#addFreshness(options.freshness);
  }

  /** In the text format of Prometheus. */
  async scrape(): Promise<{ contentType: string; body: string }> {
    return { contentType: this.#registry.contentType, body: await this.#exposition.render() };
  }

  /** Every metric of our own, by name. */
  catalogue(): CatalogueEntry[] {
    const own = this.#registry.getMetricsAsArray().filter(({ name }) => name.startsWith('nodefence_'));
    return own
      .map((metric) => ({ name: metric.name, type: String(metric.type), labels: labelsOf(metric), help: metric.help }))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  close(): void {
    this.#lag.disable();
    this.#registry.clear();
  }

  #addEventLoopLag(): void {
    const lag = this.#lag;
    new Gauge({
      name: 'nodefence_event_loop_lag_seconds',
      help: 'Delay of the event loop since the last scrape, by quantile.',
      labelNames: ['quantile'] as const,
      registers: [this.#registry],
      collect() {
        for (const quantile of [0.5, 0.99, 1]) {
          this.set({ quantile: String(quantile) }, lag.count === 0 ? 0 : lag.percentile(quantile * 100) / 1e9);
        }
        lag.reset();
      },
    });
  }

  #addBuildInfo(version: string): void {
    const info = new Gauge({
      name: 'nodefence_build_info',
      help: 'Always 1; the labels say what runs.',
      labelNames: ['version', 'runtime'] as const,
      registers: [this.#registry],
    });
    info.set({ version, runtime: process.version }, 1);
  }

  #addFreshness(freshness: () => Iterable<Freshness>): void {
    new Gauge({
      name: 'nodefence_watch_synced',
      help: '1 once the first list of a watched collection was read.',
      labelNames: ['resource'] as const,
      registers: [this.#registry],
      collect() {
        // Some are watched for a time only.
        this.reset();
        for (const { resource, isSynced } of freshness()) {
          this.set({ resource }, isSynced ? 1 : 0);
        }
      },
    });
    new Gauge({
      name: 'nodefence_watch_age_seconds',
      help: 'Time since a watch was last known to be live.',
      labelNames: ['resource'] as const,
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const { resource, ageMs } of freshness()) {
          this.set({ resource }, ageMs / 1000);
        }
      },
    });
  }
}

function labelsOf(metric: object): readonly string[] {
  return 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [];
}
