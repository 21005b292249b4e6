import { describe, expect, it } from 'vitest';

import { DAEMON_TIME_KEYS } from '../domain/node-daemon/times.ts';
import { POLICY_NAMES } from '../domain/policies/policy.ts';
import { clusterProblems } from './cluster-checks.ts';
import { configurationOf } from './configuration.ts';
import type { Setting } from './configuration.ts';
import { timesOfCluster } from './daemon-times.ts';
import { DORMANT_KEYS } from './dormant-keys.ts';
import { CLUSTER_DURATION_KEYS, DURATION_KEYS, LEVELS_MAX, OTHER_KEYS, POLICIES_KEY, STEP_KEYS } from './node-keys.ts';
import { clusterLayer } from './node-groups.ts';
import { resolvePolicies } from './policies.ts';
import { COMMON_POLICY_KEYS, POLICY_KEYS } from './policies-keys.ts';
import { commonSettings, makePolicy, PolicyValues } from './policies-read.ts';
import { Problems } from './problems.ts';
import { plan, seedWith, SEED } from './testing/plans.ts';
import { fakeRegistry } from './testing/fake-agents.ts';

/** A value of each key that is not its default. */
const OTHER_VALUES: Readonly<Record<string, string>> = {
  fence: 'never',
  node_name: 'another',
  node_selector: 'rack=r9',
  profile: 'fast',
  step_retries: '7',
  max_restarts: '9',
  max_fences_per_day: '2',
  trigger: 'no-such-trigger',
  release: 'evict',
  preserved: 'ignore',
  pods_per_minute: '10',
  priority_order: 'low high',
  minimum_evidence: 'ack',
  identity: 'unverified',
  supplies: '2',
  probe_interval: '20m',
  fast_detection: 'yes',
  heartbeat_timeout: 'never',
  kdump_enabled: 'yes',
  kdump: 'maybe',
  kdump_start_timeout: '11m',
  kdump_finished_timeout: '19s',
  kdump_max_duration: '30s',
};

const unread = (properties: string, more: Readonly<Record<string, string>> = {}): string => JSON.stringify(plan(seedWith(properties, more)));
const without = JSON.stringify(plan(SEED));

describe('every key that is accepted is read', () => {
  it.each(Object.keys(DURATION_KEYS))('of a node: %s', (key) => {
    expect(unread(`${key}=77s\n`)).not.toBe(without);
  });

  it.each([...OTHER_KEYS])('of a node: %s', (key) => {
    const value = OTHER_VALUES[key];
    if (value === undefined) throw new Error(`say here what else ${key} may be`);
    // A selector makes a group of it, which no node of that name has.
    expect(unread(`${key}=${value}\n`)).not.toBe(without);
  });

  it.each(STEP_KEYS.flatMap((step) => Array.from({ length: LEVELS_MAX }, (_, index) => [step, index + 1] as const)))(
    'of a node: %s, level %i',
    (step, level) => {
      const levels = Array.from({ length: level }, (_, index) => `${step}.${index + 1}=${index + 1 === level ? 'last' : `step-${index + 1}`}\n`);
      const methods = Object.fromEntries(
        Array.from({ length: level }, (_, index) => [`fence-method-step-${index + 1}`, 'agent_name=cordon']),
      ) as Record<string, string>;
      methods['fence-method-last'] = 'agent_name=uncordon';
      const { isolation, powerManagement, recovery } = plan(seedWith(levels.join(''), methods));
      const read = { isolation, power_management: powerManagement, recovery }[step]?.find((one) => one.level === level);
      expect(read?.methods.map(({ agent }) => agent)).toEqual(['uncordon']);
    },
  );

  it('power_management.1 is level 1, however it is spelt', () => {
    const text = 'isolation.1=mark-unschedulable\npower-managment.1=bmc-off bmc-on\nrecover=mark-schedulable\n';
    const seed = SEED['fence-config-node-a'] ?? {};
    const { problems: _, ...read } = plan({ ...SEED, 'fence-config-node-a': { ...seed, 'config.properties': text } });
    const { problems: __, ...bare } = plan(SEED);
    expect(read).toEqual(bare);
  });

  it.each(['power_management.0', 'power_management.9', 'power_management.02', 'power_management.10', 'isolation.x', 'recovery.'])(
    '%s is no level, which is an error and no silence',
    (key) => {
      expect(plan(seedWith(`${key}=bmc-off\n`)).problems).toContainEqual(
        expect.objectContaining({ severity: 'error', message: expect.stringMatching(/is no level: write .*\.2 to .*\.8/) as string }),
      );
    },
  );

  it.each(Object.keys(DORMANT_KEYS))('of a node, or told to be acted on by nobody: %s', (key) => {
    const value = DORMANT_KEYS[key]?.kind === 'boolean' ? 'yes' : '35s';
    expect(unread(`${key}=${value}\n`)).toContain('recognised, not acted on by this version');
  });

  it.each(Object.keys(DAEMON_TIME_KEYS))('of the cluster, for its node daemons, and of no node: %s', (key) => {
    expect(Object.keys(timesOfCluster(`${key}=35s\n`))).toHaveLength(1);
    expect(unread(`${key}=35s\n`)).toContain('is read in fence-cluster-config only');
    const told = (value: string): unknown =>
      clusterProblems(configurationOf([{ name: 'fence-cluster-config', data: { 'config.properties': `${key}=${value}\n` } }], fakeRegistry()));
    expect(told('35s')).toEqual([]);
    expect(told('2h')).toEqual([expect.objectContaining({ severity: 'error', message: expect.stringContaining('and at most') as string })]);
  });

  it.each(Object.keys(CLUSTER_DURATION_KEYS))('of the cluster: %s', (key) => {
    const planOf = (text: string): string => JSON.stringify(plan({ ...SEED, 'fence-cluster-config': { 'config.properties': text } }));
    // How long a silence is no failure is asked by the policies.
    const asked = new Asked();
    resolvePolicies(configurationOf([], fakeRegistry()), asked, new Problems());
    expect(asked.keysAsked.has(key) || planOf(`${key}=9h\n`) !== planOf('')).toBe(true);
  });

  it('of the cluster: policies', () => {
    expect(readPolicies(`${POLICIES_KEY}=rate\n`).length).toBeLessThan(readPolicies('').length);
  });

  it('of the cluster: the default of an agent', () => {
    const withDefault = plan({ ...SEED, 'fence-cluster-config': { 'config.properties': 'redfish.systems_uri=/8443\n' } });
    expect(withDefault.powerManagement[0]?.methods[0]?.parameters['systems_uri']).toBe('/8443');
  });

  it.each(POLICY_NAMES.flatMap((policy) => Object.keys(POLICY_KEYS[policy]).map((key) => [policy, key] as const)))(
    'of policy %s: %s',
    (policy, key) => {
      const asked = new Asked();
      makePolicy(policy, commonSettings(policy, new PolicyValues(asked)), new PolicyValues(asked), { isolation: ISOLATION });
      expect([...asked.keysAsked]).toContain(key);
    },
  );

  it.each(['node_selector', 'alarm_after'])('of every policy: %s', (key) => {
    const asked = new Asked();
    commonSettings('rate', new PolicyValues(asked));
    expect([...asked.keysAsked]).toContain(key);
  });

  it('of every policy: policy_name and enabled', () => {
    expect(Object.keys(COMMON_POLICY_KEYS).sort()).toEqual(['alarm_after', 'enabled', 'node_selector', 'policy_name']);
    const named = (text: string): string[] => readPolicies('', { 'fence-policy-mine': { 'config.properties': text } });
    expect(named('policy_name=windows\ndeny=0 0 * * * 1h\n')).toContain('mine windows');
    expect(named('policy_name=windows\nenabled=no\ndeny=0 0 * * * 1h\n')).not.toContain('mine windows');
  });
});

const ISOLATION = { targets: [], staleAfterMs: 1, graceMs: 1 };

/** Says of each setting whether anybody asked for it. */
class Asked extends Map<string, Setting> {
  readonly keysAsked = new Set<string>();

  override get(key: string): Setting | undefined {
    this.keysAsked.add(key);
    return super.get(key);
  }
}

function readPolicies(cluster: string, more: Readonly<Record<string, Readonly<Record<string, string>>>> = {}): string[] {
  const maps = { 'fence-cluster-config': { 'config.properties': cluster }, ...more };
  const configuration = configurationOf(
    Object.entries(maps).map(([name, data]) => ({ name, data })),
    fakeRegistry(),
  );
  const problems = new Problems();
  const policies = resolvePolicies(configuration, clusterLayer(configuration, problems)?.settings, problems);
  expect(clusterProblems(configuration).filter(({ message }) => message.startsWith('unknown key'))).toEqual([]);
  return policies.map(({ name, policy }) => `${name} ${policy}`);
}
