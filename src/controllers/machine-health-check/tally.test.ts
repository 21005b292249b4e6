import { expect, it } from 'vitest';
import type { HealthCheckView } from './actions.ts';
import { showTally } from './tally.ts';

const VIEW: HealthCheckView = {
  ...{ namespace: 'default', name: 'check', expectedMachines: 3, currentHealthy: 2, failed: 1, remediationsAllowed: 1, inFlight: 0 },
  ...{ isPaused: false, waiting: [] },
};

it('counts every check once, by what it may do, and the machines of all', () => {
  const shown: Record<string, unknown> = {};
  const metrics = {
    acted: () => undefined,
    problems: () => undefined,
    checks: (counts: object) => void (shown['checks'] = counts),
    machines: (counts: object) => void (shown['machines'] = counts),
  };
  showTally(metrics, [
    VIEW,
    { ...VIEW, isPaused: true, problem: 'cluster missing' },
    { ...VIEW, problem: 'no template' },
    { ...VIEW, blocked: 'too many', waiting: [{ machine: 'a', why: 'b' }] },
    { ...VIEW, inFlight: 1 },
  ]);
  expect(shown).toEqual({
    checks: { allowed: 2, paused: 1, faulty: 1, 'short-circuited': 1 },
    machines: { expected: 15, healthy: 10, failed: 5, 'in-remediation': 1, waiting: 1 },
  });
});
