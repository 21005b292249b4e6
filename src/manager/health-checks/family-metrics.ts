import type { HealthCheckMetrics } from '../../ports/metrics.ts';

type Checks = Parameters<HealthCheckMetrics['checks']>[0];
type Machines = Parameters<HealthCheckMetrics['machines']>[0];

interface Shown {
  checks: Checks;
  machines: Machines;
  problems: number;
}

const NOTHING: Shown = { checks: {}, machines: {}, problems: 0 };

/** Two groups may be served at once: what is shown is their sum. */
export class FamilyMetrics {
  readonly #metrics: HealthCheckMetrics;
  readonly #shown = new Map<string, Shown>();

  constructor(metrics: HealthCheckMetrics) {
    this.#metrics = metrics;
  }

  of(group: string): HealthCheckMetrics {
    const show = (part: Partial<Shown>): void => {
      this.#shown.set(group, { ...(this.#shown.get(group) ?? NOTHING), ...part });
      this.#sum();
    };
    return {
      acted: (kind, result) => {
        this.#metrics.acted(kind, result);
      },
      checks: (checks) => {
        show({ checks });
      },
      machines: (machines) => {
        show({ machines });
      },
      problems: (problems) => {
        show({ problems });
      },
    };
  }

  /** They are not ours any more. */
  end(group: string): void {
    this.#shown.delete(group);
    this.#sum();
  }

  #sum(): void {
    const all = [...this.#shown.values()];
    this.#metrics.checks(added(all.map(({ checks }) => checks)));
    this.#metrics.machines(added(all.map(({ machines }) => machines)));
    this.#metrics.problems(all.reduce((sum, { problems }) => sum + problems, 0));
  }
}

function added<K extends string>(counts: readonly Readonly<Partial<Record<K, number>>>[]): Partial<Record<K, number>> {
  const sums: Partial<Record<K, number>> = {};
  for (const each of counts) for (const [name, count] of Object.entries(each) as [K, number][]) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}
