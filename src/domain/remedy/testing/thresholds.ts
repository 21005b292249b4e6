import type { RemedyUse, Threshold } from '../configuration.ts';

/** One remedy of an admin's, as small as it can be. */
export function aUse(name: string, change: Partial<RemedyUse> = {}): RemedyUse {
  return { name, remedy: { kind: 'fenceMethods', methods: [name] }, periodMs: 60_000, cleansResources: false, ...change };
}

/** KernelDeadlock for 10 s: one remedy, then another one a minute later, and a recovery. */
export function aThreshold(change: Partial<Threshold> = {}): Threshold {
  return {
    id: 'KernelDeadlock=True',
    where: 'ConfigMap fence-remedies, key a.yaml, line 3',
    conditionType: 'KernelDeadlock',
    trigger: { kind: 'status', statuses: ['True'] },
    periodMs: 10_000,
    clearPeriodMs: 10_000,
    heartbeatPeriodMs: 300_000,
    isLatched: false,
    remedies: [aUse('first'), aUse('second')],
    recovery: aUse('recovery'),
    maxAttempts: 2,
    cooldownMs: 600_000,
    ...change,
  };
}
