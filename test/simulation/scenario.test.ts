import { describe, expect, it } from 'vitest';
import { scenarioOf } from './scenario.ts';

const scenarios = Array.from({ length: 2000 }, (_unused, index) => scenarioOf(index + 1));

function counted(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) {
    counts[value] = (counts[value] ?? 0) + 1;
  }
  return counts;
}

describe('the scenarios', () => {
  it('are the same for the same seed', () => {
    expect(scenarioOf(42)).toEqual(scenarioOf(42));
    expect(scenarioOf(42)).not.toEqual({ ...scenarioOf(43), seed: 42 });
  });

  it('play every fault with every device, with and without a crash', () => {
    const pairs = counted(scenarios.map((scenario) => `${scenario.fault} ${scenario.device} ${scenario.crash === undefined ? 'calm' : 'crash'}`));
    expect(Object.keys(pairs)).toHaveLength(4 * 8 * 2);
  });

  it('crash the controller at every kind of call, before and after the effect, and stop it there', () => {
    const crashes = scenarios.flatMap((scenario) => (scenario.crash === undefined ? [] : [scenario.crash]));
    expect(Object.keys(counted(crashes.map((crash) => crash.tag)))).toHaveLength(7);
    expect(Object.keys(counted(crashes.map((crash) => crash.moment)))).toHaveLength(3);
  });

  it('meet the inequalities of the timing page', () => {
    for (const { configuration, deviceEffectMs } of scenarios) {
      expect(configuration.powerTimeoutMs).toBeGreaterThan(deviceEffectMs[1]);
      expect(configuration.settleMs).toBeGreaterThanOrEqual(1.01 * 10_000);
      expect(configuration.healthyDelayMs).toBeGreaterThanOrEqual(2 * 10_000);
      expect(configuration.probationMs).toBeGreaterThan(configuration.settleMs);
    }
  });

  it('never expect a release from a device that cannot switch off', () => {
    const hopeless = scenarios.filter((scenario) => ['lies', 'dead', 'unknown', 'refuses'].includes(scenario.device));
    expect(new Set(hopeless.map((scenario) => scenario.expected.release))).toEqual(new Set(['never']));
  });
});
