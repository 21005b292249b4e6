import { describe, expect, it } from 'vitest';
import { DEFAULT_ISOLATION } from '../../domain/policies/controller-isolated.ts';
import { maintenance } from '../../domain/policies/maintenance.ts';
import { maxUnhealthy } from '../../domain/policies/max-unhealthy.ts';
import { startupGrace } from '../../domain/policies/startup-grace.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import { FenceHarness, nodeOf, provenStatus } from '../../controllers/fence/testing/harness.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node, Pod } from '../../ports/objects.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { BY_NODE } from '../../controllers/fence/dependencies.ts';
import { listed } from './listed-cluster.ts';
import { stormHolds } from './storm-picture.ts';

const NOW_MS = Date.parse('2026-01-01T12:00:00Z');
const FRESH = '2026-01-01T11:59:55Z';
const HOLD = { reason: 'startup-grace', policy: 'startup-grace', message: 'started 20 s ago', since: FRESH };

function judged(failed: number, hold: NodeFenceStatus['hold'], mayRead = true, node = 'a'): ReturnType<typeof stormHolds> {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const nodes = names.map((name, index) => {
    const node = nodeOf({ ready: index < failed ? 'Unknown' : 'True' });
    return { ...node, metadata: { ...node.metadata, name } };
  });
  const leases = names.map((name) => ({ metadata: { name, namespace: 'kube-node-lease' }, spec: { renewTime: FRESH } }));
  const nodemaintenances = [{ metadata: { name: 'disk-swap' }, spec: { nodeName: 'e' } }];
  const answers: Readonly<Record<string, unknown>> = { nodes, leases, nodefences: [], pods: [], nodemaintenances };
  const list = ({ plural }: { plural: string }): Promise<never> =>
    mayRead ? Promise.resolve(answers[plural] as never) : Promise.reject(new ApiStatusError(403, 'Forbidden', 'not yours'));
  const get = (): Promise<undefined> => Promise.resolve(undefined);
  const { dependencies } = new FenceHarness(new ManualClock());
  const policies = [
    maxUnhealthy({ name: 'max-unhealthy', isolation: DEFAULT_ISOLATION }),
    maintenance({ name: 'maintenance', windows: [], offsetMs: () => 0 }),
    startupGrace({ name: 'startup-grace', durationMs: 300_000 }),
  ];
  const status = { ...provenStatus(planOf({ timing: DEFAULT_TIMING })), ...(hold === undefined ? {} : { hold }) };
  return stormHolds({
    access: { cluster: { list, get } as unknown as Cluster },
    node,
    status,
    nowMs: NOW_MS,
    dependencies: { ...dependencies, planner: { ...dependencies.planner, stormPolicies: () => policies } },
  });
}

/** What holds node `a`, which an admin cordoned or an autoscaler deletes, where this pod is on it. */
async function heldWith(spec: Node['spec'], pod?: Partial<Pod['metadata']>): Promise<string[]> {
  const node = { ...nodeOf({ ready: 'Unknown' }), spec };
  const lists: Readonly<Record<string, unknown>> = { nodes: [node] };
  const cluster = {
    list: ({ plural }: { plural: string }) => Promise.resolve(lists[plural] ?? []),
    get: () => Promise.resolve(undefined),
  } as unknown as Cluster;
  const pods = pod === undefined ? [] : [{ metadata: { name: 'db-0', namespace: 'apps', uid: 'p', ...pod }, spec: { nodeName: 'a' }, status: {} }];
  const { dependencies } = new FenceHarness(new ManualClock());
  const stormPolicies = () => [maintenance({ name: 'maintenance', windows: [], offsetMs: () => 0 })];
  const listers = { ...dependencies.listers, pods: listed<Pod>(pods, { [BY_NODE]: ({ spec: { nodeName = '' } }) => [nodeName] }) };
  const planner = { ...dependencies.planner, stormPolicies };
  const holds = await stormHolds({
    ...{ access: { cluster }, node: 'a', status: undefined, nowMs: NOW_MS },
    dependencies: { ...dependencies, listers, planner },
  });
  return holds.map(({ policy }) => policy);
}

describe('a node that somebody takes away, as explain shows it', () => {
  const deleted: Node['spec'] = { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] };
  const terminating = (deletionTimestamp: string) => ({ deletionTimestamp, deletionGracePeriodSeconds: 30 });

  it('is held by an admin’s cordon only where no pod is left to release', async () => {
    expect(await heldWith({ unschedulable: true })).toEqual(['maintenance']);
    expect(await heldWith({ unschedulable: true }, {})).toEqual([]);
  });

  it('is not held by a deletion mark any more when a pod of it hangs, counted from its deletion', async () => {
    expect(await heldWith(deleted, {})).toEqual(['maintenance']);
    expect(await heldWith(deleted, terminating('2026-01-01T11:59:30Z'))).toEqual(['maintenance']);
    expect(await heldWith(deleted, terminating('2026-01-01T11:58:59Z'))).toEqual([]);
  });
});

describe('what storm policies say, as explain shows it', () => {
  it('is judged from the whole cluster, with its numbers', async () => {
    const [first, ...others] = await judged(3, undefined);
    expect(first?.message).toContain('3 of 5 nodes are unhealthy');
    expect(others).toEqual([]);
    expect(await judged(2, undefined)).toEqual([]);
  });

  it('is a NodeMaintenance too, which stands beside the Node', async () => {
    expect((await judged(1, undefined, true, 'e')).map(({ message }) => message)).toEqual([expect.stringContaining('NodeMaintenance disk-swap')]);
    expect(await judged(1, undefined, true, 'b')).toEqual([]);
  });

  it('is what the fence records where it rests on what only the leader knows', async () => {
    expect((await judged(1, HOLD)).map(({ policy }) => policy)).toEqual(['startup-grace']);
    expect(await judged(1, undefined)).toEqual([]);
  });

  it('is what stands beside the recorded hold too: mode observe comes first there', async () => {
    const observed = { ...HOLD, policy: 'observe', reason: 'observe', besides: [{ ...HOLD, until: '2026-01-01T12:02:00Z' }] };
    const [grace, ...others] = await judged(1, observed);
    expect([grace?.policy, grace?.untilMs, others]).toEqual(['startup-grace', NOW_MS + 120_000, []]);
  });

  it('is nothing that is over, though the leader has not looked since', async () => {
    expect(await judged(1, { ...HOLD, until: '2026-01-01T11:59:59Z' })).toEqual([]);
  });

  it('is not what the fence still records when the API shows otherwise', async () => {
    expect(await judged(1, { ...HOLD, policy: 'max-unhealthy' })).toEqual([]);
  });

  it('is what the fence records where the cluster may not be read', async () => {
    expect((await judged(3, HOLD, false)).map(({ policy }) => policy)).toEqual(['startup-grace']);
  });
});
