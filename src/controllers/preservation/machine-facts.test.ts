import { expect, it } from 'vitest';
import { machineFacts } from './machine-facts.ts';

it.each([
  ['72h0m0s', 259_200_000],
  ['1.5h', 5_400_000],
  // 570,000 years: a date of it cannot be written, and whoever tried would decide about no machine of its pool.
  ['4999999999h', undefined],
  [`${'9'.repeat(30)}h`, undefined],
  ['soon', undefined],
])('a machinePreserveTimeout of %s is %s ms', (machinePreserveTimeout, ms) => {
  expect(machineFacts({ metadata: { name: 'm', namespace: 'ns' }, spec: { machinePreserveTimeout } }).preserveTimeoutMs).toBe(ms);
});
