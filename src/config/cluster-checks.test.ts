import { describe, expect, it } from 'vitest';
import { clusterProblems } from './cluster-checks.ts';
import { configurationOf } from './configuration.ts';
import { fakeRegistry } from './testing/fake-agents.ts';
import { errors, plan, seedWith } from './testing/plans.ts';
import type { ConfigMaps } from './testing/plans.ts';

/** `severity where: message`, without `ConfigMap` and the usual key. */
function told(configMaps: ConfigMaps): string[] {
  const configuration = configurationOf(
    Object.entries(configMaps).map(([name, data]) => ({ name, data })),
    fakeRegistry(),
  );
  return clusterProblems(configuration).map(
    ({ severity, where, message }) => `${severity} ${where.replace('ConfigMap ', '').replace(', key config.properties', '')}: ${message}`,
  );
}

const cluster = (properties: string): ConfigMaps => ({ 'fence-cluster-config': { 'config.properties': properties } });
const policy = (properties: string, name = 'storm'): ConfigMaps => ({ [`fence-policy-${name}`]: { 'config.properties': properties } });
const NOT_YET = 'recognised, not acted on by this version';

describe('keys of the whole cluster', () => {
  it.each<[properties: string, expected: string[]]>([
    ['settle=20s\nnode_grace=4s\nredfish.ssl_insecure=yes\nfence_redfish.ipaddr=x', []],
    ['power_timout=60s', ['warning fence-cluster-config, line 1: unknown key power_timout: did you mean power_timeout?']],
    ['node_grce=4s', ['warning fence-cluster-config, line 1: unknown key node_grce: did you mean node_grace?']],
    ['colour=blue', ['warning fence-cluster-config, line 1: unknown key colour: it is ignored']],
    ['kdump_enabled=yes', [`warning fence-cluster-config, line 1: kdump_enabled: ${NOT_YET}`]],
    ['kdump_enabled=no', []],
    [
      'kdump_enabled=maybe',
      [
        'error fence-cluster-config, line 1: kdump_enabled=maybe must be yes or no',
        `warning fence-cluster-config, line 1: kdump_enabled: ${NOT_YET}`,
      ],
    ],
    [
      'preserved=hold',
      [
        'error fence-cluster-config, line 1: preserved=hold must be one of isolate-and-hold, power-off, ignore',
        `warning fence-cluster-config, line 1: preserved: ${NOT_YET}`,
      ],
    ],
    [
      'probe_interval=1s',
      [
        'error fence-cluster-config, line 1: probe_interval=1s must be a duration such as 5s, 3m or 1h30m, at least 10s',
        `warning fence-cluster-config, line 1: probe_interval: ${NOT_YET}`,
      ],
    ],
    [
      'pods_per_minute=0',
      [
        'error fence-cluster-config, line 1: pods_per_minute=0 must be a whole number from 1 to 1000000',
        `warning fence-cluster-config, line 1: pods_per_minute: ${NOT_YET}`,
      ],
    ],
    ['policies=', []],
    ['roles=max-unhealthy', [`warning fence-cluster-config, line 1: policies: ${NOT_YET}`]],
    [
      'policies=max-unhelthy',
      [
        'error fence-cluster-config, line 1: policy max-unhelthy does not exist: did you mean max-unhealthy?',
        `warning fence-cluster-config, line 1: policies: ${NOT_YET}`,
      ],
    ],
  ])('%s', (properties, expected) => {
    expect(told(cluster(properties))).toEqual(expected);
  });

  it('are not told again for every node, but what spoils a plan is told there too', () => {
    const result = plan({ ...seedWith(''), ...cluster('colour=blue\npreserved=hold\npower_timeout=soon') });
    expect(result.problems.map(({ step, message }) => [step, message])).toEqual([
      ['power-management', expect.stringContaining('power_timeout=soon')],
    ]);
  });
});

describe('policies', () => {
  const POLICY = `warning fence-policy-storm: policy max-unhealthy: ${NOT_YET}`;
  it.each<[what: string, properties: string, expected: string[]]>([
    ['the original', 'policy_name=max-unhealthy\nprecentage=40', [POLICY]],
    [
      'a percentage above 100',
      'policy_name=max-unhealthy\npercentage=140',
      ['error fence-policy-storm, line 2: percentage=140 must be a percentage from 0 to 100', POLICY],
    ],
    [
      'a window that is none',
      'policy_name=rate\nwindow=often',
      [
        'error fence-policy-storm, line 2: window=often must be a duration such as 5s, 3m or 1h30m',
        `warning fence-policy-storm: policy rate: ${NOT_YET}`,
      ],
    ],
    [
      'a selector that is none',
      'policy_name=max-unhealthy\nnode_selector=a b',
      ['error fence-policy-storm, line 2: node_selector=a b is no selector', POLICY],
    ],
    [
      'a word of the wrong list',
      'policy_name=storage-reachable\nwhen=never',
      [
        'error fence-policy-storm, line 2: when=never must be of host-unreachable, storage-unreachable, lease-alive',
        `warning fence-policy-storm: policy storage-reachable: ${NOT_YET}`,
      ],
    ],
    [
      'an unknown name',
      'policy_name=max-unhelthy',
      [
        'error fence-policy-storm, line 1: policy_name max-unhelthy is unknown: did you mean max-unhealthy?',
        `warning fence-policy-storm: policy max-unhelthy: ${NOT_YET}`,
      ],
    ],
    ['a key of no policy', 'policy_name=max-unhealthy\nmaxx=1', ['warning fence-policy-storm, line 2: unknown key maxx: did you mean max?', POLICY]],
  ])('%s', (_what, properties, expected) => {
    expect(told(policy(properties)).toSorted()).toEqual(expected.toSorted());
  });

  it('never spoil a fence', () => {
    expect(errors(plan({ ...seedWith(''), ...policy('percentage=never') }))).toEqual([]);
  });
});

describe('groups and remedies', () => {
  it('a selector that nobody can read is an error: its nodes would silently go without it', () => {
    expect(told({ 'fence-config-g': { 'config.properties': 'node_selector=rack in r1' } })).toEqual([
      expect.stringMatching(/^error fence-config-g, line 1: node_selector=rack in r1 is no selector, so it selects no node: write label=value/),
    ]);
  });

  it('remedies are known by their name or their label', () => {
    expect(told({ 'fence-remedies': { 'a.yaml': '' } })).toEqual([`warning fence-remedies: remedies: ${NOT_YET}`]);
    const labelled = configurationOf([{ name: 'mine', data: {}, labels: { 'nodefence/remedies': '' } }], fakeRegistry());
    expect(clusterProblems(labelled)).toHaveLength(1);
  });
});
