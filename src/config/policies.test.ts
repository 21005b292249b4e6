import { describe, expect, it } from 'vitest';
import { judgeStorm } from '../domain/policies/judge.ts';
import { POLICY_NAMES } from '../domain/policies/policy.ts';
import type { StormPolicy } from '../domain/policies/policy.ts';
import { node, nodes, NOW_MS, SATURDAY_NOON_MS, SLOT, view } from '../domain/policies/testing/views.ts';
import type { StormView } from '../domain/policies/view.ts';
import { configurationOf } from './configuration.ts';
import { clusterLayer } from './node-groups.ts';
import { DEFAULT_POLICIES, resolvePolicies } from './policies.ts';
import { Problems } from './problems.ts';
import { fakeRegistry } from './testing/fake-agents.ts';

/** `cluster`: text of fence-cluster-config; every other key the text of fence-policy-<key>. */
type Texts = Readonly<Record<string, string>>;

function resolved(texts: Texts): readonly StormPolicy[] {
  const configMaps = Object.entries(texts).map(([key, text]) => ({
    name: key === 'cluster' ? 'fence-cluster-config' : `fence-policy-${key}`,
    data: { 'config.properties': text },
  }));
  const configuration = configurationOf(configMaps, fakeRegistry());
  return resolvePolicies(configuration, clusterLayer(configuration, new Problems())?.settings, new Problems());
}

const names = (texts: Texts): string[] => resolved(texts).map(({ name }) => name);
const standing = (...replaced: string[]): string[] => DEFAULT_POLICIES.filter((name) => !replaced.includes(name));
const ofKind = (texts: Texts, policy: string): StormPolicy[] => resolved(texts).filter((one) => one.policy === policy);

/** Names of the policies that hold the node. */
function holding(texts: Texts, seen: StormView, name = 'n0'): string[] {
  return judgeStorm(resolved(texts), seen)(name).map(({ policy }) => policy);
}

describe('which policies stand', () => {
  it.each<[what: string, texts: Texts, expected: string[]]>([
    ['the defaults without configuration', {}, standing()],
    ['the defaults with a cluster configuration that names none', { cluster: 'settle=20s' }, standing()],
    ['an empty roles= of the original says nothing against them', { cluster: 'roles=' }, standing()],
    ['policies= without a name: none', { cluster: 'policies=' }, []],
    ['exactly what is named, by default or as configured', { cluster: 'policies=rate cooldown', rate: 'max=2' }, ['rate', 'cooldown']],
    ['what is configured but not named is off', { cluster: 'policies=rate', cooldown: '' }, ['rate']],
    ['a kind stands for all its ConfigMaps', { cluster: 'policies=rate', a: 'policy_name=rate', b: 'policy_name=rate' }, ['a', 'b']],
    ['a misspelt name leaves the defaults standing', { cluster: 'policies=failure-domain max-unhelthy' }, [...standing(), 'failure-domain']],
    ['a named one that is switched off stays off', { cluster: 'policies=rate cooldown', rate: 'enabled=no' }, ['cooldown']],
    ['a ConfigMap adds its policy', { 'failure-domain': '' }, [...standing(), 'failure-domain']],
    [
      'a ConfigMap of the kind takes the place of the default',
      { mine: 'policy_name=startup-grace' },
      standing('startup-grace').toSpliced(5, 0, 'mine'),
    ],
    ['one for some nodes leaves the default to the others', { zz: 'policy_name=maintenance\nnode_selector=a=b' }, [...standing(), 'zz']],
    ['one of the same name replaces it whatever its nodes', { maintenance: 'node_selector=a=b' }, standing()],
    ['enabled=no of the same name switches the default off', { maintenance: 'enabled=no' }, standing('maintenance')],
    ['enabled=no of another name does not', { zz: 'policy_name=maintenance\nenabled=no' }, standing()],
    ['an unreadable selector means all nodes', { zz: 'policy_name=maintenance\nnode_selector=a b' }, standing('maintenance').concat('zz')],
    [
      'one of the wrong kind leaves the default under another name',
      { maintenance: 'policy_name=failure-domain' },
      [...standing('maintenance'), 'maintenance-default', 'maintenance'],
    ],
    ['an unknown kind adds nothing and takes nothing away', { mine: 'policy_name=max-unhelthy' }, standing()],
  ])('%s', (_what, texts, expected) => {
    expect(names(texts).toSorted()).toEqual(expected.toSorted());
  });

  it.each(['cooldown', 'startup-grace'])('%s that would never be over stands with its default, and is told', (policy) => {
    const problems = new Problems();
    const text = { 'config.properties': 'duration=99999999999h' };
    const configuration = configurationOf([{ name: `fence-policy-${policy}`, data: text }], fakeRegistry());
    const standing = resolvePolicies(configuration, undefined, problems).map(({ name }) => name);
    expect(standing).toContain(policy);
    expect(problems.all().map(({ message }) => message)).toContainEqual(
      expect.stringContaining('duration=99999999999h must be a duration') as string,
    );
  });

  it('in the order of their kinds, then of their names', () => {
    const found = resolved({ b: 'policy_name=rate', a: 'policy_name=rate', windows: 'deny=0 0 * * * 1h', cooldown: '' });
    expect(found.map(({ policy }) => POLICY_NAMES.indexOf(policy))).toEqual(
      found.map(({ policy }) => POLICY_NAMES.indexOf(policy)).toSorted((one, other) => one - other),
    );
    expect(found.filter(({ policy }) => policy === 'rate').map(({ name }) => name)).toEqual(['a', 'b']);
  });
});

describe('what a policy was told, it does', () => {
  const labelled = (labels: Record<string, string>): StormView => view([node('n0', { labels, health: 'failed' }), ...nodes(10).slice(1)]);
  const busy = (labels: Record<string, string>): StormView => view([node('n0'), node('x', { fence: SLOT, labels })]);
  const lately = (agoMs: number): StormView => view(nodes(1), { starts: [{ node: 'x', atMs: NOW_MS - agoMs }] });
  const controller = (members: Partial<StormView['controller']>): StormView => ({
    ...view(nodes(10)),
    controller: { ...view([]).controller, ...members },
  });
  it.each<[policy: string, text: string, holds: StormView, passes: StormView]>([
    ['max-unhealthy', 'precentage=20%', view(nodes(10, 3)), view(nodes(10, 2))],
    ['max-unhealthy', 'max=1', view(nodes(10, 2)), view(nodes(10, 1))],
    ['max-unhealthy', '', view(nodes(10, 5)), view(nodes(10, 4))],
    ['max-concurrent', 'max=1', busy({ 'topology.kubernetes.io/zone': 'b' }), view(nodes(1))],
    ['max-concurrent', 'max=2\nmax_per_domain=2', view([node('n0'), node('x', { fence: SLOT }), node('y', { fence: SLOT })]), busy({})],
    ['max-concurrent', 'topology_key=rack', busy({}), busy({ rack: 'r2' })],
    ['rate', 'max=1\nwindow=1m', lately(59_999), lately(60_000)],
    ['controller-isolated', 'grace=10s', controller({ freshSinceMs: NOW_MS - 9_999 }), controller({ freshSinceMs: NOW_MS - 10_000 })],
    ['controller-isolated', 'stale_after=10s', controller({ freshAtMs: NOW_MS - 10_001 }), controller({ freshAtMs: NOW_MS - 10_000 })],
    [
      'controller-isolated',
      'targets=a b\nmin_reachable=2',
      controller({ targets: new Map([['a', true]]) }),
      controller({
        targets: new Map([
          ['a', true],
          ['b', true],
        ]),
      }),
    ],
    ['startup-grace', 'duration=1m', controller({ startedAtMs: NOW_MS - 59_999 }), controller({ startedAtMs: NOW_MS - 60_000 })],
    [
      'maintenance',
      'annotation=a/b = yes',
      view([node('n0', { annotations: { 'a/b': 'yes' } })]),
      view([node('n0', { annotations: { 'a/b': 'no' } })]),
    ],
    ['maintenance', 'label=tier=lab', labelled({ tier: 'lab' }), labelled({ tier: 'shop' })],
    ['maintenance', 'windows=0 12 * * sat 1h', view(nodes(1)), view(nodes(1), { wallMs: SATURDAY_NOON_MS + 3_600_000 })],
    ['maintenance', 'windows=0 13 * * sat 1h\ntimezone=Europe/Berlin', view(nodes(1)), view(nodes(1), { wallMs: SATURDAY_NOON_MS + 3_600_000 })],
    ['cooldown', 'duration=1m', view(nodes(1), { stormEndedAtMs: NOW_MS - 59_999 }), view(nodes(1), { stormEndedAtMs: NOW_MS - 60_000 })],
    ['windows', 'deny=0 12 * * * 1h', view(nodes(1)), view(nodes(1), { wallMs: SATURDAY_NOON_MS - 1 })],
    ['windows', 'allow=0 12 * * * 1h', view(nodes(1), { wallMs: SATURDAY_NOON_MS - 1 }), view(nodes(1))],
    ['windows', 'deny=often', view(nodes(1)), view([])],
    [
      'alerts',
      'url=http://p:9090\nalert=A, B',
      view(nodes(1), { alerts: new Map([['alerts', ['B']]]) }),
      view(nodes(1), { alerts: new Map([['alerts', ['C']]]) }),
    ],
    ['alerts', 'url=http://p:9090\nwhen_unreachable=hold', view(nodes(1)), view(nodes(1), { alerts: new Map([['alerts', []]]) })],
    ['alerts', 'when_unreachable=hold', view(nodes(1)), view(nodes(1), { alerts: new Map([['alerts', []]]) })],
    [
      'storage-reachable',
      'when=lease-alive',
      view([node('n0', { storage: { hostReaches: false, peersReach: false, renewsLease: true } })]),
      view([node('n0', { storage: { hostReaches: false, peersReach: false, renewsLease: false } })]),
    ],
    [
      'failure-domain',
      'topology_key=rack feed\nshare=100',
      view([...['n0', 'n1'].map((name) => node(name, { labels: { feed: 'f1' }, health: 'failed' })), node('x')]),
      view([
        ...['n0', 'n1'].map((name) => node(name, { labels: { feed: 'f1' }, health: 'failed' })),
        node('x', { labels: { feed: 'f1' } }),
        node('y'),
      ]),
    ],
  ])('%s with %j', (policy, text, holds, passes) => {
    const texts = { cluster: `policies=${policy}`, [policy]: text };
    expect(holding(texts, holds)).toEqual([policy]);
    expect(holding(texts, passes)).toEqual([]);
  });

  it('a wrong value leaves the defaults of that policy, for all nodes', () => {
    const texts = { cluster: 'policies=max-unhealthy', 'max-unhealthy': 'percentage=90\nmax=1x\nnode_selector=rack=r1' };
    expect(holding(texts, view(nodes(10, 5)))).toEqual(['max-unhealthy']);
    expect(holding(texts, view(nodes(10, 4)))).toEqual([]);
  });

  it('maintenance that cannot be used as written holds all nodes where it says what is under maintenance: nobody knows which are', () => {
    const held = (text: string): string[] => holding({ cluster: 'policies=maintenance', maintenance: text }, view(nodes(3)));
    for (const wrong of [
      'windows=0 3 * * tue 2',
      'annotation=hands off',
      'label=a b',
      'windows=0 3 * * tue 2h\ntimezone=Mars',
      'label=a=b\nnode_selector=a b',
    ])
      expect(held(wrong), wrong).toEqual(['maintenance']);
    expect(held('alarm_after=often'), 'the marks of others are known').toEqual([]);
    expect(held('windows=0 3 * * tue 2\nenabled=no')).toEqual([]);
  });

  it('who picks some nodes means them one at a time, and counts only them', () => {
    const texts = { cluster: 'policies=mine', mine: 'policy_name=max-concurrent\nnode_selector=rack=r1' };
    const zoned = (name: string, rack: string, zone: string, fence = false): ReturnType<typeof node> =>
      node(name, { labels: { rack, 'topology.kubernetes.io/zone': zone }, ...(fence && { fence: SLOT }) });
    expect(holding(texts, view([zoned('n0', 'r1', 'a'), zoned('x', 'r1', 'b', true)]))).toEqual(['mine']);
    expect(holding(texts, view([zoned('n0', 'r1', 'a'), zoned('x', 'r2', 'a', true)]))).toEqual([]);
    expect(holding(texts, view([zoned('n0', 'r2', 'a'), zoned('x', 'r1', 'b', true)]))).toEqual([]);
  });

  it('a cluster whose nodes are given longer gives a reconnected controller as long', () => {
    const reconnected = controller({ freshSinceMs: NOW_MS - 60_000 });
    expect(holding({}, reconnected)).toEqual([]);
    expect(holding({ cluster: 'node_grace=61s' }, reconnected)).toEqual(['controller-isolated']);
    const two = { ...reconnected, nodes: view(nodes(2, 1)).nodes };
    expect(holding({ cluster: 'policies=max-unhealthy controller-isolated', 'controller-isolated': 'grace=2m' }, two)).toEqual([
      'max-unhealthy',
      'controller-isolated',
    ]);
  });

  it('tells the shell what to ask, and when to raise an alarm', () => {
    expect(ofKind({ 'controller-isolated': 'targets=192.0.2.1 192.0.2.2\nalarm_after=1m' }, 'controller-isolated')).toMatchObject([
      { targets: ['192.0.2.1', '192.0.2.2'], alarmAfterMs: 60_000 },
    ]);
    expect(ofKind({ alerts: 'url=http://p:9090\nquery=ALERTS{a="b"}\nalert=A' }, 'alerts')).toMatchObject([
      { alertQuery: { url: 'http://p:9090', query: 'ALERTS{a="b"}', names: ['A'] } },
    ]);
    expect(ofKind({ alerts: 'url=p' }, 'alerts')[0]).not.toHaveProperty('alertQuery');
  });
});
