import { describe, expect, it } from 'vitest';
import { scenarioOf } from './draws.ts';

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
    const pairs = counted(scenarios.map((scenario) => `${scenario.fault} ${scenario.device} ${scenario.crashes.length === 0 ? 'calm' : 'crash'}`));
    expect(Object.keys(pairs)).toHaveLength(4 * 8 * 2);
  });

  it('crash the controller at every kind of call, before and after the effect, and pause or stop it there', () => {
    const crashes = scenarios.flatMap((scenario) => scenario.crashes);
    expect(Object.keys(counted(crashes.map((crash) => crash.tag)))).toHaveLength(8);
    expect(Object.keys(counted(crashes.map((crash) => crash.moment)))).toHaveLength(5);
  });

  it('pause, stop and cut off replicas, break the API server and devices, set clocks, edit and delete, alone and together', () => {
    const disturbances = scenarios.flatMap((scenario) => scenario.disturbances);
    const kinds = counted(
      disturbances.map((one) => ('how' in one ? `${one.what} ${one.how}` : 'kind' in one ? `${one.what} ${one.kind}` : one.what)),
    );
    expect(Object.keys(kinds).sort()).toEqual(
      ['break cut', 'break deaf', 'break mute', 'break refused', 'clock', 'delete-fence', 'device cut', 'device mute', 'edit address', 'edit agent']
        .concat(['edit deleted', 'edit rotated', 'pause stop', 'pause suspend', 'stop', 'terminate'])
        .sort(),
    );
    expect(Math.min(...Object.values(kinds))).toBeGreaterThan(10);
    expect(scenarios.filter((scenario) => scenario.controllers === 2).length).toBeGreaterThan(0.65 * scenarios.length);
    expect(scenarios.filter((scenario) => scenario.crashes.length > 1).length).toBeGreaterThan(0.2 * scenarios.length);
    expect(scenarios.filter((scenario) => scenario.disturbances.length > 1).length).toBeGreaterThan(0.2 * scenarios.length);
  });

  it('let clocks drift by one percent at most', () => {
    const rates = scenarios.flatMap(({ clockRates }) => [...clockRates.replicas, clockRates.kubelets]);
    expect(Math.min(...rates)).toBeGreaterThanOrEqual(0.99);
    expect(Math.max(...rates)).toBeLessThanOrEqual(1.01);
    expect(rates.filter((rate) => rate !== 1).length).toBeGreaterThan(100);
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
