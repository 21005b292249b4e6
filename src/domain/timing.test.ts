import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from './plan.ts';
import type { Timing } from './plan.ts';
import { checkLeadership, checkTiming, safeAfterOff } from './timing.ts';
import { DEFAULT_CLUSTER_TIMING } from './timing-cluster.ts';
import type { PlanDemands } from './timing.ts';
import { DEFAULT_DAEMON_TIMING, selfFenceMs, watchdogProvesAfterMs } from './timing-daemon.ts';
import type { DaemonTiming } from './timing-daemon.ts';

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
  ])('rule %s refuses %s, with the numbers', (rule, _what, change, words) => {
    const problems = broken(change);
    expect(problems.map((problem) => [problem.rule, problem.severity])).toEqual([[rule, 'error']]);
    expect(problems[0]?.message).toContain(words);
  });

  it.each<[string, Partial<Timing>, string, Partial<Timing>]>([
    ['health judged on one renewal', { healthyDelayMs: 19_999 }, 'healthy_delay 19.999 s must be at least', { healthyDelayMs: 30_000 }],
    ['probation within the pause', { probationMs: 12_000 }, 'probation 12 s must be longer than settle 12 s', { probationMs: 600_000 }],
  ])('rule 7 warns of %s, which keeps nobody from being fenced, and the default applies', (_what, change, words, safe) => {
    const problems = broken(change);
    expect(problems.map(({ rule, severity }) => [rule, severity])).toEqual([[7, 'warning']]);
    expect(problems[0]?.message).toContain(words);
    expect(problems[0]?.message).toMatch(/the default applies$/);
    const timing = safeAfterOff({ ...DEFAULT_TIMING, ...change });
    expect(timing).toMatchObject(safe);
    expect(broken(timing)).toEqual([]);
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

interface Sample {
  timing?: Partial<Timing>;
  demands?: Partial<PlanDemands>;
  daemon?: Partial<DaemonTiming>;
}

function found({ timing = {}, demands = {}, daemon = {} }: Sample, isUsed = true): { rule: number; severity: string; message: string }[] {
  const use = { admitsWatchdog: isUsed, waitsForKdump: isUsed, fastDetection: isUsed };
  return checkTiming({ ...DEFAULT_TIMING, ...timing }, { ...DEMANDS, ...demands }, DEFAULT_CLUSTER_TIMING, {
    timing: { ...DEFAULT_DAEMON_TIMING, ...daemon },
    use,
  });
}

describe('each inequality on both sides of its bound', () => {
  it.each<[number, 'error' | 'warning', string, Sample, Sample, string]>([
    [1, 'error', 'call', { timing: { setDeadlineMs: 8_000 } }, { timing: { setDeadlineMs: 8_001 } }, '10.001 s must be at most'],
    [2, 'error', 'settle', { timing: { settleMs: 10_100 } }, { timing: { settleMs: 10_099 } }, 'must be at least 1.01'],
    [2, 'error', 'latency', { timing: { powerTimeoutMs: 30_000 } }, { timing: { powerTimeoutMs: 29_999 } }, 'latency 30 s'],
    [3, 'error', 'life', { timing: { lifeWaitMs: 12_500 } }, { timing: { lifeWaitMs: 12_499 } }, '= 12.5 s: raise life_wait'],
    [4, 'warning', 'self-fence', { daemon: { isolationTimeoutMs: 588_000 } }, { daemon: { isolationTimeoutMs: 589_000 } }, 'isolation_timeout 589 s'],
    [5, 'error', 'feed', { daemon: { watchdogMs: 9_000 } }, { daemon: { watchdogMs: 8_999 } }, 'feed interval 3 s must be at most a third'],
    [5, 'error', 'fail-over', { daemon: { isolationTimeoutMs: 30_000 } }, { daemon: { isolationTimeoutMs: 29_999 } }, '= 30 s, else a fail-over'],
    [6, 'error', 'attestation', { daemon: { attestationIntervalMs: 30_000 } }, { daemon: { attestationIntervalMs: 30_001 } }, 'interval of 30.001 s'],
    [7, 'warning', 'healthy', { timing: { healthyDelayMs: 20_000 } }, { timing: { healthyDelayMs: 19_999 } }, 'healthy_delay 19.999 s'],
    [7, 'warning', 'probation', { timing: { probationMs: 12_001 } }, { timing: { probationMs: 12_000 } }, 'probation 12 s must be longer'],
    [7, 'warning', 'start', { demands: { slowestStartMs: 599_999 } }, { demands: { slowestStartMs: 600_000 } }, 'the slowest start of this node'],
    [
      8,
      'warning',
      'Kubernetes',
      { timing: { powerManagementDelayMs: 582_999 } },
      { timing: { powerManagementDelayMs: 583_000 } },
      '= 660 s should be under',
    ],
    [
      9,
      'error',
      'blocklist',
      { demands: { blocklistExpiryMs: 440_001 } },
      { demands: { blocklistExpiryMs: 440_000 } },
      'longest fence 437 s + margin 3 s',
    ],
    [9, 'error', 'dump', { daemon: { kdumpMaxDurationMs: 90_001 } }, { daemon: { kdumpMaxDurationMs: 90_000 } }, 'counts from the first message'],
    [10, 'error', 'suspicion', { daemon: { heartbeatTimeoutMs: 3_000 } }, { daemon: { heartbeatTimeoutMs: 3_001 } }, 'at most 3 s'],
    [
      10,
      'error',
      'heartbeats',
      { daemon: { heartbeatTimeoutMs: 2_001 } },
      { daemon: { heartbeatTimeoutMs: 2_000 } },
      'more than two heartbeats of 1 s',
    ],
  ])('rule %s (%s, %s)', (rule, severity, _what, sound, broken, words) => {
    expect(found(sound)).toEqual([]);
    const problems = found(broken);
    expect(problems.map((problem) => [problem.rule, problem.severity])).toEqual([[rule, severity]]);
    expect(problems[0]?.message).toContain(words);
  });

  it('has a lease that is stale by receipt behind every fast detection', () => {
    const fast = (lifeWaitMs: number): number[] => found({ timing: { lifeWaitMs } }).map(({ rule }) => rule);
    expect([fast(10_000), fast(12_500)]).toEqual([[3, 10], []]);
  });

  it('only warns of the node daemon and of crash dumps while nothing rests on them, and asks nothing of fast detection that is off', () => {
    const all: Sample = {
      daemon: { watchdogMs: 1_000, isolationTimeoutMs: 1_000, attestationIntervalMs: 60_000, kdumpMaxDurationMs: 1_000, heartbeatTimeoutMs: 9_000 },
    };
    expect(found(all, false).map(({ rule, severity }) => `${rule} ${severity}`)).toEqual(['5 warning', '5 warning', '6 warning', '9 warning']);
    expect(found(all).map(({ rule, severity }) => `${rule} ${severity}`)).toEqual(['5 error', '5 error', '6 error', '9 error', '10 error']);
  });

  it('counts a self-fence from the last possible grant: G + isolation_timeout + pod_stop_max + WD, and its proof with reset, drift of both clocks, and margin', () => {
    expect(selfFenceMs(DEFAULT_DAEMON_TIMING)).toBe(85_000);
    expect(watchdogProvesAfterMs(DEFAULT_DAEMON_TIMING, 3_000)).toBeCloseTo(99_919.19, 2);
  });

  it.each([40_000, 1_000_000])(
    'proves nothing before a node is down whose clock is as slow as ours is fast, with an isolation_timeout of %i ms',
    (isolationTimeoutMs) => {
      const daemon = { ...DEFAULT_DAEMON_TIMING, isolationTimeoutMs };
      const downAfterMs = (5_000 + isolationTimeoutMs + 30_000 + 10_000) / 0.99 + daemon.resetTimeMs;
      expect(watchdogProvesAfterMs(daemon, 0) / 1.01).toBeGreaterThanOrEqual(downAfterMs);
    },
  );
});

describe('the times of the election itself', () => {
  const rules = (leaseMs: number, renewDeadlineMs: number, retryMs: number): number => checkLeadership({ leaseMs, renewDeadlineMs, retryMs }).length;

  it.each<[string, [number, number, number], [number, number, number]]>([
    ['the deadline ends 1 s before the lease', [15_000, 14_000, 2_000], [15_000, 14_001, 2_000]],
    ['the deadline leaves room for a retry', [15_000, 2_401, 2_000], [15_000, 2_400, 2_000]],
    ['a retry takes time', [15_000, 10_000, 1], [15_000, 10_000, 0]],
    ['a call fits into the lease', [7_001, 5_000, 2_000], [7_000, 5_000, 2_000]],
  ])('hold when %s', (_what, sound, broken) => {
    expect(rules(...sound)).toBe(0);
    expect(rules(...broken)).toBe(1);
  });
});
