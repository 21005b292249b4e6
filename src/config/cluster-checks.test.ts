import { describe, expect, it } from 'vitest';
import { clusterProblems, isRemedies } from './cluster-checks.ts';
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
    ['kdump_enabled=yes', []],
    [
      'node_selector=rack=r1',
      [
        'error fence-cluster-config, line 1: node_selector= selects nothing here: fence-cluster-config is of every node; write it into a fence-config-<group>, or into a policy',
      ],
    ],
    ['node_name=a', ['warning fence-cluster-config, line 1: node_name= means nothing here: fence-cluster-config is of every node']],
    ['heartbeat_interval=2s', [`warning fence-cluster-config, line 1: heartbeat_interval: ${NOT_YET}`]],
    ['heartbeat_interval=', []],
    [
      'heartbeat_interval=soon',
      [
        'error fence-cluster-config, line 1: heartbeat_interval=soon must be a duration such as 5s, 3m or 1h30m',
        `warning fence-cluster-config, line 1: heartbeat_interval: ${NOT_YET}`,
      ],
    ],
    ['preserved=power-off', []],
    ['probe_interval=1m', []],
    ['policies=', ['warning fence-cluster-config, line 1: policies= is empty: no storm policy is on; remove the key for the defaults']],
    ['roles=', []],
    ['roles=max-unhealthy', []],
    ['policies=max-unhealthy, rate', []],
    [
      'policies=max-unhelthy',
      [
        'error fence-cluster-config, line 1: policy max-unhelthy does not exist: did you mean max-unhealthy?; until then the default policies stay active too',
      ],
    ],
  ])('%s', (properties, expected) => {
    expect(told(cluster(properties))).toEqual(expected);
  });

  it('are not told again for every node, but what spoils a plan is told there too', () => {
    const result = plan({ ...seedWith(''), ...cluster('colour=blue\nheartbeat_interval=maybe\npower_timeout=soon') });
    expect(result.problems.map(({ step, message }) => [step, message])).toEqual([
      ['power-management', expect.stringContaining('power_timeout=soon')],
    ]);
  });
});

describe('policies', () => {
  const STANDS_IN = 'error fence-policy-storm: policy storm cannot be used as written: until it is corrected, its defaults apply to all nodes';
  it.each<[what: string, properties: string, expected: string[]]>([
    ['the original', 'policy_name=max-unhealthy\nprecentage=40', []],
    ['the original by a name of its own', 'policy_name=mine\nprecentage=40', []],
    ...[
      ['max-unhealthy', 'percentage=140', 'a percentage from 0 to 100'],
      ['max-unhealthy', 'max=-1', 'a whole number from 0 to 1000000'],
      ['max-concurrent', 'max=0', 'a whole number from 1 to 1000000'],
      ['rate', 'window=often', 'a duration such as 5s, 3m or 1h30m, at least 1s and at most 366d'],
      ['max-unhealthy', 'node_selector=a b', 'a selector such as rack=r1'],
      ['failure-domain', 'topology_key=a=b', 'names of labels, such as topology.kubernetes.io/zone'],
      ['maintenance', 'annotation==x', 'annotation or annotation=value'],
      ['alerts', 'url=prometheus:9090\nurl=prometheus:9090', 'an address such as http://prometheus.monitoring:9090'],
      ['alerts', 'when_unreachable=fence', 'one of hold, ignore'],
      ['storage-reachable', 'when=never', 'of host-unreachable, storage-unreachable, lease-alive'],
    ].map(([name = '', written = '', rule = '']): [string, string, string[]] => {
      const [first = '', second] = written.split('\n');
      const at = second === undefined ? 2 : 3;
      const expected = [`error fence-policy-storm, line ${at}: ${first} must be ${rule}`];
      if (second !== undefined) expected.push('warning fence-policy-storm, line 3: duplicate key url: replaces line 2');
      if (name === 'alerts' && second === undefined) expected.push('error fence-policy-storm: has no url: nothing can be asked which alerts fire');
      const standIns: Readonly<Record<string, string>> = { alerts: 'it counts as unanswered', maintenance: 'all nodes are held' };
      expected.push(STANDS_IN.replace('its defaults apply to all nodes', standIns[name] ?? 'its defaults apply to all nodes'));
      return [`${name} with ${first}`, `policy_name=${name}\n${written}`, expected];
    }),
    [
      'a window that is none',
      'policy_name=windows\ndeny=0 22 * * 8h',
      [
        'error fence-policy-storm, line 2: deny=0 22 * * 8h must be windows such as 0 22 * * mon-fri 8h, joined by semicolons: minute, hour, day, month, weekday, and 1m to 31d',
        'error fence-policy-storm: policy storm cannot be used as written: until it is corrected, all nodes are held',
      ],
    ],
    ['windows without a window', 'policy_name=windows', ['warning fence-policy-storm: has neither allow nor deny: it holds no node']],
    [
      'more targets to reach than there are',
      'policy_name=controller-isolated\ntargets=192.0.2.1 192.0.2.2\nmin_reachable=3',
      ['error fence-policy-storm, line 3: min_reachable=3 is more than the 2 targets', STANDS_IN],
    ],
    [
      'more targets than are asked, of which the last would never answer',
      `policy_name=controller-isolated\ntargets=${Array.from({ length: 65 }, (_unused, index) => `192.0.2.${index}`).join(' ')}`,
      ['error fence-policy-storm, line 2: targets= names 65: at most 64 are asked', STANDS_IN],
    ],
    [
      'an unknown name',
      'policy_name=max-unhelthy',
      ['error fence-policy-storm, line 1: policy_name max-unhelthy is unknown: did you mean max-unhealthy?'],
    ],
    ['a key of no policy', 'policy_name=max-unhealthy\nmaxx=1', ['warning fence-policy-storm, line 2: unknown key maxx: did you mean max?']],
    ['a line that is none', 'policy_name=rate\nmax', [expect.stringContaining('line 2: is not key=value'), STANDS_IN]],
    ['what is switched off is not told to stand in', 'policy_name=rate\nmax=x\nenabled=no', [expect.stringContaining('max=x')]],
  ])('%s', (_what, properties, expected) => {
    expect(told(policy(properties))).toEqual(expect.arrayContaining(expected));
    expect(told(policy(properties))).toHaveLength(expected.length);
  });

  it('without the key nobody can read them, and they stand with their defaults', () => {
    expect(told({ 'fence-policy-rate': { 'rate.properties': 'max=1' } })).toEqual([
      'error fence-policy-rate: has no key config.properties: put the policy under that key',
      'error fence-policy-rate: policy rate cannot be used as written: until it is corrected, its defaults apply to all nodes',
    ]);
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

  it('remedies are known by their name or their label, and are no configuration of a node', () => {
    expect(told({ 'fence-remedies': { 'a.yaml': '' } })).toEqual([]);
    expect(isRemedies({ name: 'mine', labels: { 'nodefence/remedies': '' } })).toBe(true);
    expect(isRemedies({ name: 'fence-config-a' })).toBe(false);
    const labelled = configurationOf([{ name: 'fence-config-b', data: {}, labels: { 'nodefence/remedies': '' } }], fakeRegistry());
    expect(clusterProblems(labelled)).toEqual([]);
  });
});
