import { describe, expect, it } from 'vitest';
import { strangerMessage } from '../../domain/first-trust.ts';
import type { Lease } from '../../ports/objects.ts';
import type { NodeFence, NodeFenceReport } from '../../ports/resources.ts';
import { fenceOf, fleetOf } from './fleet.ts';
import { listed } from './listed-cluster.ts';
import { leaderOf, describeLeader } from './leader.ts';
import { fleetPage } from './pages/fleet-page.ts';
import { PLAIN } from './terminal/ink.ts';
import { ago, fence, node, NOW_MS } from './testing/pictured-cluster.ts';

function lease(annotations: Record<string, string>, renewedSeconds = 2): Lease {
  const spec = { holderIdentity: 'pod-1', leaseDurationSeconds: 15, renewTime: ago(renewedSeconds), acquireTime: ago(60), leaseTransitions: 4 };
  return { metadata: { name: 'nodefence-controller', annotations }, spec };
}

const said = (mode: string, where = ''): Record<string, string> => ({ 'nodefence.ha.k8s.io/mode': mode, 'nodefence.ha.k8s.io/node': where });
const heading = (leaderLease: Lease, hold?: string): string => {
  const held = hold === undefined ? {} : { hold: { reason: hold, policy: hold, message: '', since: ago(5) } };
  const picture = { nodes: [node('a', 'Unknown', 60)], fences: [fence('a', held)], stops: [], reports: [] };
  const status = fleetOf(picture, leaderOf(leaderLease, NOW_MS));
  return fleetPage(status, { server: 's', wide: false, all: false }, { ink: PLAIN, width: 200, nowMs: NOW_MS }).split('\n')[0] ?? '';
};

describe('a NodeFence that bears another name than that of its node', () => {
  const made = (name: string, of: string): NodeFence => ({ metadata: { name }, spec: { node: of } });

  it('is a problem, and hides neither the fence of the node nor that there is none', () => {
    const fences = [made('aa', 'a'), fence('a', {}), made('look', 'a'), made('look-b', 'b'), made('gone', 'c')];
    const status = fleetOf({ nodes: [node('a', 'Unknown', 60), node('b', 'True', 60)], fences, stops: [], reports: [] }, leaderOf(undefined, NOW_MS));
    expect(status.nodes.map((row) => [row.node, row.state])).toEqual([
      ['a', 'running'],
      ['b', undefined],
    ]);
    const page = fleetPage(status, { server: 's', wide: false, all: false }, { ink: PLAIN, width: 300, nowMs: NOW_MS });
    expect(page).toContain(
      'PROBLEM NodeFence look of node a is ignored: only one that is called node-fence-a is a fence of it. Delete it: kubectl delete nodefence look',
    );
    expect(status.problems).toHaveLength(4);
  });
});

describe('a NodeFence that bears the name of one node and says another', () => {
  const fences: NodeFence[] = [{ metadata: { name: 'node-fence-a' }, spec: { node: 'b' } }];
  const told =
    'NodeFence node-fence-a says node b: it is no fence of either, nothing is done for it, and node a cannot be fenced while it stands. Correct its spec.node, or delete it: kubectl delete nodefence node-fence-a';

  it('is a problem of the node that cannot be fenced for it, and no fence of that', () => {
    const picture = { nodes: [node('a', 'Unknown', 60), node('b', 'True', 60)], fences, stops: [], reports: [] };
    const { nodes } = fleetOf(picture, leaderOf(undefined, NOW_MS));
    expect(nodes.map((row) => [row.node, row.state, row.problems])).toEqual([
      ['a', undefined, [told]],
      ['b', undefined, []],
    ]);
    expect(['a', 'b'].map((name) => fenceOf(listed(fences), name))).toEqual([undefined, undefined]);
  });
});

describe('the leader, as status shows it', () => {
  it('says where it runs and whether it touches anything, also while nothing is fenced', () => {
    expect(heading(lease(said('enforce', 'b')))).toBe('s: leader pod-1 on node b, renewed 2s ago, leads for 1m; mode enforce');
    expect(heading(lease(said('observe')))).toBe('s: leader pod-1, renewed 2s ago, leads for 1m; mode observe: nothing is changed');
  });

  it('was looked for in the namespace that was named: nobody there is nobody of another one', () => {
    const fleet = fleetOf({ nodes: [], fences: [], stops: [], reports: [] }, leaderOf(undefined, NOW_MS));
    const head = (namespace?: string): string =>
      fleetPage(fleet, { server: 's', wide: false, all: false, namespace }, { ink: PLAIN, width: 200, nowMs: NOW_MS }).split('\n')[0] ?? '';
    expect(head('fencing')).toBe('s: no controller leads in namespace fencing: nothing is fenced from there');
    expect(head('nodefence-system')).toBe('s: no controller leads: nothing is fenced');
    expect(head()).toBe('s: no controller leads: nothing is fenced');
  });

  it('is believed over what an earlier leader held fences by', () => {
    expect(heading(lease(said('enforce')), 'observe')).toContain('mode enforce');
    expect(heading(lease({}), 'observe')).toContain('mode observe');
    expect(heading(lease({}))).not.toContain('mode');
  });

  it.each([
    ['it is over: nobody leads', lease(said('enforce', 'b'), 600), {}],
    ['it makes no sense', lease(said('root')), {}],
    [
      'it would paint the terminal',
      lease(said('enforce', 'b\u001B[31m')),
      { mode: 'enforce', node: expect.not.stringContaining('\u001B') as string },
    ],
  ])('says nothing by its annotations where %s', (_what, given, expected) => {
    const { mode, node: where } = leaderOf(given, NOW_MS);
    expect({ ...(mode === undefined ? {} : { mode }), ...(where === undefined ? {} : { node: where }) }).toEqual(expected);
  });

  it('is said to be below a NodeFence that it decides nothing about', () => {
    const picture = { nodes: [node('a', 'Unknown', 60)], fences: [fence('a', { epoch: 41 })], stops: [], reports: [] };
    const page = fleetPage(
      fleetOf(picture, leaderOf(lease({}), NOW_MS)),
      { server: 's', wide: false, all: false },
      { ink: PLAIN, width: 300, nowMs: NOW_MS },
    );
    expect(page).toContain('a could not be fenced as it should: its NodeFence was last written under epoch 41, and the leader leads under 4');
    const over = fleetOf(picture, leaderOf(lease({}, 600), NOW_MS));
    expect(over.nodes[0]?.problems).toEqual([]);
  });

  it('names devices that a fence could not use, and what to do where one shows another certificate', () => {
    const message = strangerMessage({ kind: 'stranger', recorded: { device: 'd', shown: 'one', since: 'then' } }, 'two');
    const broken = {
      agent: 'redfish',
      device: '10.0.0.7:443',
      plug: '2',
      methods: ['bmc-off', 'bmc-on'],
      path: 'broken' as const,
      message,
      since: ago(5),
    };
    const report = { metadata: { name: 'a' }, spec: {}, status: { devices: [broken, { ...broken, plug: '3', path: 'working' as const }] } };
    const picture = { nodes: [node('a', 'True', 60)], fences: [], stops: [], reports: [report as unknown as NodeFenceReport] };
    const status = fleetOf(picture, leaderOf(lease({}), NOW_MS));
    expect(status.nodes[0]?.problems).toEqual([
      expect.stringContaining('redfish 10.0.0.7:443 plug 2 (bmc-off, bmc-on): its certificate or key has changed'),
    ]);
    const page = fleetPage(status, { server: 's', wide: false, all: false }, { ink: PLAIN, width: 400, nowMs: NOW_MS });
    expect(page).toContain('write accept_fingerprint=two into its method or template');
  });

  it('has words without a node too', () => {
    expect(describeLeader(leaderOf(lease({}), NOW_MS), NOW_MS)).toBe('leader pod-1, renewed 2s ago, leads for 1m');
  });
});
