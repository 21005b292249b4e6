import { expect, it } from 'vitest';
import type { HealthCheckMetrics } from '../../ports/metrics.ts';
import { FamilyMetrics } from './family-metrics.ts';

it('shows the sum of all groups that are ours, and nothing of one that is ours no more', () => {
  const shown: Record<string, unknown> = {};
  const target: HealthCheckMetrics = {
    acted: () => undefined,
    checks: (counts) => void (shown['checks'] = counts),
    machines: (counts) => void (shown['machines'] = counts),
    problems: (count) => void (shown['problems'] = count),
  };
  const metrics = new FamilyMetrics(target);
  const [one, other] = [metrics.of('cluster.x-k8s.io'), metrics.of('machine.openshift.io')];
  one.checks({ allowed: 2 });
  one.machines({ expected: 10, failed: 1 });
  one.problems(1);
  other.checks({ allowed: 1, paused: 1 });
  other.machines({ expected: 5 });
  other.problems(2);
  one.checks({ allowed: 1, faulty: 1 });
  expect(shown).toEqual({ checks: { allowed: 2, faulty: 1, paused: 1 }, machines: { expected: 15, failed: 1 }, problems: 3 });
  metrics.end('cluster.x-k8s.io');
  expect(shown).toEqual({ checks: { allowed: 1, paused: 1 }, machines: { expected: 5 }, problems: 2 });
});
