import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { configurationOf } from '../../config/configuration.ts';
import { clusterLayer } from '../../config/node-groups.ts';
import { resolvePolicies } from '../../config/policies.ts';
import { Problems } from '../../config/problems.ts';
import { fakeRegistry } from '../../config/testing/fake-agents.ts';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import type { StormPolicy } from '../../domain/policies/policy.ts';
import { startupGrace } from '../../domain/policies/startup-grace.ts';
import { planOf } from '../../domain/testing/model.ts';
import { timeToOff, describeTimeToOff } from './time-to-off.ts';

const README = readFileSync(fileURLToPath(new URL('../../../README.md', import.meta.url)), 'utf8');
const POLICIES = policiesOf('');

/** What stands by default, under this text of fence-cluster-config. */
function policiesOf(text: string): readonly StormPolicy[] {
  const configMaps = [{ name: 'fence-cluster-config', data: { 'config.properties': text } }];
  const configuration = configurationOf(configMaps, fakeRegistry());
  return resolvePolicies(configuration, clusterLayer(configuration, new Problems())?.settings, new Problems());
}

function words(timing: Partial<typeof DEFAULT_TIMING> = {}, policies = POLICIES): string {
  const time = timeToOff(planOf({ timing: { ...DEFAULT_TIMING, ...timing } }), policies);
  return time === undefined ? '' : describeTimeToOff(time);
}

describe('the time from a failure to the off', () => {
  it('is added up from the defaults, and the README says the same words', () => {
    expect(words()).toBe(
      'switched off about 10 min after the failure if the controller has just started (startup-grace holds new fences for 5m), later about 6 min (Ready=Unknown after 40s, isolation_delay 5s, power_management_delay 5m, off and proof 4.5s); power_management_delay, and duration of fence-policy-startup-grace, shorten it',
    );
    expect(README).toContain(words().split(';')[0]);
  });

  it('follows the two settings that shorten it', () => {
    expect(words({ powerManagementDelayMs: 10_000 })).toMatch(/^switched off about 5 min after the failure if .*later about 60 s \(/u);
    const grace = startupGrace({ name: 'startup-grace', durationMs: 60_000 });
    expect(words({}, [grace])).toMatch(/^switched off about 6 min after the failure if .* for 1m\), later about 6 min/u);
    expect(words({ powerManagementDelayMs: 10_000, isolationDelayMs: 0 }, [])).toBe(
      'switched off about 55 s after the failure (Ready=Unknown after 40s, isolation_delay 0s, power_management_delay 10s, off and proof 4.5s); power_management_delay shortens it',
    );
  });

  it('follows node_grace of the cluster', () => {
    expect(words({}, policiesOf('node_grace=100s'))).toContain('Ready=Unknown after 1m40s');
  });

  it('is not told of a plan that proves no off', () => {
    expect(timeToOff(planOf({ powerManagement: [] }), POLICIES)).toBeUndefined();
  });
});
