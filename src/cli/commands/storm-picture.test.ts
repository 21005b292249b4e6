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
import { ManualClock } from '../../runtime/manual-clock.ts';
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
