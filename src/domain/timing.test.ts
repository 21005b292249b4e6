import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from './plan.ts';
import type { Timing } from './plan.ts';
import { checkTiming, DEFAULT_CLUSTER_TIMING } from './timing.ts';

const DEMANDS = { powerLevels: 1, deviceMaxLatencyMs: 30_000 };

function broken(change: Partial<Timing>, demands = DEMANDS): { rule: number; severity: string; message: string }[] {
  return checkTiming({ ...DEFAULT_TIMING, ...change }, demands);
}

describe('the timing rules', () => {
  it('hold for the defaults', () => {
    expect(broken({})).toEqual([]);
  });

  it.each<[number, string, Partial<Timing>, string]>([
    [1, 'a set that outlives the lease', { setDeadlineMs: 8_001, settleMs: 60_000 }, '8.001 s + 2 s for the intent = 10.001 s must be at most'],
    [2, 'a pause shorter than a late set', { settleMs: 10_099 }, 'settle 10.099 s must be at least'],
    [2, 'giving up before the slowest device', { powerTimeoutMs: 29_999 }, "the slowest device's latency 30 s"],
    [3, 'silence shorter than a kubelet', { lifeWaitMs: 12_499 }, 'life_wait 12.499 s'],
    [7, 'health judged on one renewal', { healthyDelayMs: 19_999 }, 'healthy_delay 19.999 s'],
    [7, 'probation within the pause', { probationMs: 12_000 }, 'probation 12 s must be longer than settle 12 s'],
  ])('rule %s refuses %s, with the numbers', (rule, _what, change, words) => {
    const problems = broken(change);
    expect(problems.map((problem) => [problem.rule, problem.severity])).toEqual([[rule, 'error']]);
    expect(problems[0]?.message).toContain(words);
  });

  it('rule 8 warns when Kubernetes would act first', () => {
    const problems = broken({ powerManagementDelayMs: 583_000 });
    expect(problems.map((problem) => [problem.rule, problem.severity])).toEqual([[8, 'warning']]);
    expect(broken({ powerManagementDelayMs: 583_000 }, { ...DEMANDS, powerLevels: 0 })).toEqual([]);
  });

  it('scale with a faster cluster', () => {
    const fast = { ...DEFAULT_CLUSTER_TIMING, kubeletRenewalMs: 500, readLatencyMs: 500, callOverheadMs: 500 };
    const timing = { ...DEFAULT_TIMING, setDeadlineMs: 1_000, settleMs: 1_600, healthyDelayMs: 2_000, lifeWaitMs: 1_000 };
    expect(checkTiming(timing, DEMANDS, fast)).toEqual([]);
    expect(checkTiming(timing, DEMANDS).map(({ rule }) => rule)).toEqual([2, 3, 7]);
  });

  it('never refuse what is longer than what they admit', () => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.nat(100_000), (settle, wait) => {
        const timing = { ...DEFAULT_TIMING, settleMs: DEFAULT_TIMING.settleMs + settle, lifeWaitMs: DEFAULT_TIMING.lifeWaitMs + wait };
        expect(checkTiming(timing, DEMANDS).filter(({ severity }) => severity === 'error')).toEqual([]);
      }),
    );
  });
});
