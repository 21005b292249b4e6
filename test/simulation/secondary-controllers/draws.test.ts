import { describe, expect, it } from 'vitest';
import { scenarioOf } from '../draws.ts';
import type { Scenario } from '../scenario.ts';
import { scenarioWith } from './draws.ts';
import type { Composed, Deed, RequestDeed } from './secondary-controllers.ts';

const seeds = Array.from({ length: 1000 }, (_unused, index) => index + 1);
const scenarios = seeds.map((seed) => scenarioWith(seed, 'all'));
/** Where a kernel dumps, or the BMC is not the only way, the fault or the release is another one. */
const plain = scenarios.filter(({ dumps, ways }) => dumps === undefined && ways === undefined);
const requestsOf = (deeds: readonly Deed[]): RequestDeed[] => deeds.flatMap((deed) => (deed.what === 'request' ? [deed] : []));
const secondaries = scenarios.flatMap((scenario) => scenario.secondaries ?? []);

describe('the controllers beside', () => {
  it('take no draw away from what a seed plays without them', () => {
    expect(plain.length).toBeGreaterThan(0.65 * scenarios.length);
    for (const { secondaries: _secondaries, expected: _expected, ...rest } of plain) {
      const { expected, ...alone } = scenarioOf(rest.seed);
      expect(rest).toEqual(alone);
      expect(scenarioWith(rest.seed, 'fence')).toEqual({ ...alone, expected });
    }
  });

  it('are composed in most worlds, and each is missing in some', () => {
    expect(secondaries.length).toBeGreaterThan(0.85 * seeds.length);
    for (const name of ['remediation', 'healthChecks', 'preservation'] as const satisfies readonly (keyof Composed)[]) {
      const share = secondaries.filter(({ composed }) => composed[name]).length / seeds.length;
      expect([name, share > 0.6 && share < 0.9]).toEqual([name, true]);
    }
  });

  it('leave what is expected of the failed node as it is where that is not theirs', () => {
    const others = plain.filter((scenario) => scenario.secondaries?.nodes.includes(scenario.victim) === false);
    expect(others.length).toBeGreaterThan(0.2 * plain.length);
    // Whoever is switched off by an operator is down, and may hold what is decided by how many are.
    const unhosted = others.filter((scenario) => scenario.secondaries?.hosts === undefined);
    const mayCount = ({ configuration, secondaries }: Scenario): boolean =>
      configuration.policies !== 'off' && secondaries?.composed.remediation === true;
    for (const { seed, expected } of unhosted.filter((scenario) => !mayCount(scenario)))
      expect(expected).toEqual({ ...scenarioOf(seed).expected, withinMs: expected.withinMs });
    // A node whose fence is asked for counts as unhealthy: a policy may hold the release of the failed one for it, and says so.
    const counted = unhosted.filter(mayCount);
    expect(counted.length).toBeGreaterThan(0);
    for (const { seed, expected } of counted) {
      const alone = scenarioOf(seed).expected;
      const states = [...new Set([...alone.states, 'held'])];
      const release = alone.release === 'must' ? 'unless-held' : alone.release;
      expect(expected).toEqual({ states, release, withinMs: expected.withinMs });
    }
  });

  it('are asked for nothing on nodes that are not theirs, and nothing by a controller that is not there', () => {
    for (const { composed, nodes, check, deeds } of secondaries) {
      expect(nodes).toEqual(expect.arrayContaining(deeds.map(({ node }) => node)));
      expect(composed.remediation || requestsOf(deeds).length === 0).toBe(true);
      expect(composed.healthChecks || deeds.every(({ what }) => what !== 'illness')).toBe(true);
      expect(composed.healthChecks).toBe(check !== undefined);
    }
  });

  it('have machines that an operator switches, to which nothing else happens, and hosts that nobody minds', () => {
    const hosted = scenarios.filter(({ secondaries: of }) => of?.hosts !== undefined);
    const served = hosted.filter(({ secondaries: of }) => of?.hosts?.isServed === true);
    expect(hosted.length).toBeGreaterThan(0.3 * seeds.length);
    expect([served.length > 0.15 * seeds.length, hosted.length - served.length > 0.1 * seeds.length]).toEqual([true, true]);
    for (const { secondaries: of, victim, disturbances } of served) {
      const touched = [victim, ...(of?.nodes ?? []), ...disturbances.flatMap((one) => ('node' in one ? [one.node] : []))];
      expect(of?.hosts?.nodes.filter((node) => touched.includes(node))).toEqual([]);
    }
    for (const { secondaries: of } of hosted.filter((scenario) => !served.includes(scenario)))
      expect(of?.nodes).toEqual(expect.arrayContaining([...(of?.hosts?.nodes ?? [])]));
    const kinds = new Set(secondaries.flatMap(({ hosts }) => hosts?.deeds.map(({ what }) => what) ?? []));
    expect([...kinds].toSorted()).toEqual(['ask', 'bmc', 'fail', 'host', 'operator']);
  });

  it('are asked for everything that a request may say', () => {
    const requests = secondaries.flatMap(({ deeds }) => requestsOf(deeds));
    for (const field of ['strategy', 'nodeRemoval', 'onExhaustion'] as const)
      expect([field, new Set(requests.map(({ spec }) => spec[field])).size]).toEqual([field, 3]);
    expect(requests.some(({ timesOutMs }) => timesOutMs !== undefined)).toBe(true);
    expect(requests.some(({ hasLease }) => hasLease)).toBe(true);
  });
});
