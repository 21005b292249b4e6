import { describe, expect, it } from 'vitest';
import { scenarioOf } from './draws.ts';
import { failing } from './scenario.ts';

const scenarios = Array.from({ length: 2000 }, (_unused, index) => scenarioOf(index + 1));

/** What tells kinds of disturbances apart. */
const DETAILS = ['how', 'kind', 'scope', 'mark', 'word', 'fault', 'guard'] as const;
const ALL_KINDS = [
  ...['pause stop', 'pause suspend', 'terminate', 'clock'],
  ...['break cut', 'break deaf', 'break mute', 'break refused', 'restart', 'throttle', 'expire'],
  ...[
    'burst conflict',
    'burst too-many-requests',
    'burst server-error',
    'burst plain-404',
    'burst retry-after',
    'burst webhook',
    'burst status-refused',
  ],
  ...['restore', 'delete-lease'],
  ...['preserve isolate-and-hold', 'preserve never-fence', 'preserve unknown'],
  ...['device cut', 'device mute', 'hardware', 'swap', 'late', 'power-on'],
  ...['fail panic', 'fail hang', 'fail partition', 'fail unplugged', 'switch'],
  ...[
    'stop',
    'stop node',
    'edit address',
    'edit agent',
    'edit deleted',
    'edit rotated',
    'edit cluster',
    'edit policy',
    'delete-fence',
    'delete-node',
  ],
  ...['mark taint', 'mark cordon', 'mark annotation'],
  ...['acknowledge true', 'acknowledge false', 'acknowledge wrong-boot', 'acknowledge wrong-incident', 'acknowledge wrong-uid'],
];

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

  it('disturb processes, the API server, devices, nodes and what people do, alone and together', () => {
    const disturbances = scenarios.flatMap((scenario) => scenario.disturbances);
    const kinds = counted(
      disturbances.map((one) => [one.what, ...DETAILS.flatMap((key) => (key in one ? [String(one[key as never])] : []))].join(' ')),
    );
    expect(Object.keys(kinds).sort()).toEqual([...ALL_KINDS].sort());
    expect(Math.min(...Object.values(kinds))).toBeGreaterThan(4);
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

  it('never expect a release where nothing can switch the machine off, and nobody does', () => {
    const hopeless = scenarios.filter(
      ({ device, feed, disturbances }) =>
        ['lies', 'dead', 'unknown', 'refuses'].includes(device) &&
        (feed === undefined || feed.kind === 'supplies') &&
        !disturbances.some((one) => one.what === 'hardware' || one.what === 'delete-node' || (one.what === 'acknowledge' && one.word === 'true')),
    );
    expect(hopeless.length).toBeGreaterThan(200);
    expect(new Set(hopeless.map((scenario) => scenario.expected.release))).toEqual(new Set(['never']));
  });

  it('play storms of up to eight nodes, under every set of policies, and machines with several supplies and levels', () => {
    const storms = scenarios.filter(({ disturbances }) => disturbances.some(({ what }) => what === 'fail' || what === 'switch'));
    expect(storms.length).toBeGreaterThan(0.15 * scenarios.length);
    expect(Math.max(...storms.map((scenario) => failing(scenario).size))).toBe(8);
    expect(Object.keys(counted(storms.map(({ configuration }) => configuration.policies)))).toHaveLength(4);
    const feeds = scenarios.flatMap(({ feed }) => (feed === undefined ? [] : [`${feed.kind} ${feed.restore}`]));
    expect(Object.keys(counted(feeds))).toHaveLength(4 * 3);
  });

  it('let no person lie where no device could contradict', () => {
    const lies = scenarios.filter(({ disturbances }) => disturbances.some((one) => one.what === 'acknowledge' && one.word === 'false'));
    expect(lies.length).toBeGreaterThan(5);
    for (const { device, isMisconfigured } of lies) {
      expect(isMisconfigured).toBe(false);
      expect(['honest', 'slow', 'lies', 'refuses']).toContain(device);
    }
  });
});
