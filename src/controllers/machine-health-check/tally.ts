import type { HealthCheckMetrics } from '../../ports/metrics.ts';
import type { HealthCheckView } from './actions.ts';

type States<M extends (counts: never) => void> = { -readonly [K in keyof Parameters<M>[0]]: number };

/** Shows in the metrics how all checks and their machines stand now. */
export function showTally(metrics: HealthCheckMetrics, views: readonly HealthCheckView[]): void {
  const checks: States<HealthCheckMetrics['checks']> = {};
  const machines: States<HealthCheckMetrics['machines']> = {};
  for (const view of views) {
    const state = stateOf(view);
    checks[state] = (checks[state] ?? 0) + 1;
    const { expectedMachines, currentHealthy, failed, inFlight, waiting } = view;
    const added = { expected: expectedMachines, healthy: currentHealthy, failed, 'in-remediation': inFlight, waiting: waiting.length };
    for (const [name, count] of Object.entries(added) as [keyof typeof added, number][]) machines[name] = (machines[name] ?? 0) + count;
  }
  metrics.checks(checks);
  metrics.machines(machines);
}

function stateOf({ isPaused, problem, blocked }: HealthCheckView): 'paused' | 'faulty' | 'short-circuited' | 'allowed' {
  if (isPaused) return 'paused';
  if (problem !== undefined) return 'faulty';
  return blocked === undefined ? 'allowed' : 'short-circuited';
}
