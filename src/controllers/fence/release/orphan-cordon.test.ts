import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../../../domain/node-fence.ts';
import { AUTOSCALER_MARK, CORDON_MARK, SCALE_DOWN_DISABLED } from '../../../domain/node-fence.ts';
import { method, planOf } from '../../../domain/testing/model.ts';
import { ApiStatusError } from '../../../ports/api-transport.ts';
import type { Node } from '../../../ports/objects.ts';
import type { NodeFence, NodeFenceStop } from '../../../ports/resources.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { FenceHarness, nodeOf, provenStatus } from '../testing/harness.ts';
import { OrphanCordons } from './orphan-cordon.ts';

const MARKS = { [CORDON_MARK]: 'node-fence-a', [AUTOSCALER_MARK]: 'node-fence-a', [SCALE_DOWN_DISABLED]: 'true' };
const STOP: NodeFenceStop = { metadata: { name: 'halt' }, spec: { all: true, reason: 'look' } };

function cordoned(ready: 'True' | 'Unknown' = 'True', annotations: Record<string, string> = MARKS): Node {
  const node = nodeOf({ ready });
  return { ...node, spec: { ...node.spec, unschedulable: true }, metadata: { ...node.metadata, annotations } };
}

function fenceWith(status: Partial<NodeFenceStatus>, metadata: Partial<NodeFence['metadata']> = {}): NodeFence {
  return { metadata: { name: 'node-fence-a', uid: 'f', ...metadata }, spec: { node: 'a' }, status: { ...provenStatus(planOf()), ...status } };
}

const BEGUN = fenceWith({ journal: [{ id: 'cordon-1' } as NodeFenceStatus['journal'][0]] });

interface World {
  known?: NodeFence;
  stored?: NodeFence;
  node?: Node;
  /** As the API server has it. */
  standing?: Node;
  options?: Partial<FenceDependencies['options']>;
  stop?: NodeFenceStop;
  isLeading?: boolean;
  closes?: boolean;
}

/** What became of the Node, and what was told, after a look or two. */
async function looked({ known, stored = known, node = cordoned(), standing = node, options = {}, stop, isLeading = true, closes }: World, looks = 1) {
  const harness = new FenceHarness(new ManualClock(), options);
  harness.cluster.node = standing;
  harness.cluster.fence = stored;
  if (stop !== undefined) harness.stops.items = [stop];
  if (closes === true) harness.plan = planOf({ isolation: [{ level: 1, methods: [method('close', 'fc-switch', 'off', { kind: 'fabric' })] }] });
  const told: string[] = [];
  harness.dependencies.recorder = { event: (_about, _type, reason) => void told.push(reason) };
  harness.dependencies.leadership = { ...harness.dependencies.leadership, mayBegin: () => isLeading };
  const orphans = new OrphanCordons(harness.dependencies);
  for (let look = 0; look < looks; look += 1) if (orphans.sees(node, known)) await orphans.mend(node);
  return { body: harness.cluster.writes[0]?.body, told, orphans, harness };
}

describe('our cordon without our fence', () => {
  it('is taken back from a Ready node, with all that came with it', async () => {
    const { body, told } = await looked({});
    expect(body).toEqual({
      metadata: { resourceVersion: '7', annotations: { [CORDON_MARK]: null, [AUTOSCALER_MARK]: null, [SCALE_DOWN_DISABLED]: null } },
      spec: { unschedulable: null },
    });
    expect(told).toEqual(['OrphanedCordonRemoved']);
  });

  it.each<[string, World]>([
    ['a fence that has done nothing yet', { known: fenceWith({}) }],
    ['one that has not begun', { known: { metadata: { name: 'node-fence-a' }, spec: { node: 'a' } } }],
    ['one that is over and was left with none', { known: fenceWith({ ...BEGUN.status, state: 'final' }) }],
  ])('is none of %s', async (_what, world) => {
    expect((await looked(world)).told).toEqual(['OrphanedCordonRemoved']);
  });

  it.each<[string, World]>([
    ['of a fence that goes on', { known: BEGUN }],
    ['of one that was left with it', { known: fenceWith({ state: 'final', restore: { cordoned: true } }) }],
    ['of one that is being deleted', { known: fenceWith({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }) }],
    ['of one that our watch does not show yet', { stored: BEGUN }],
    ['of a node that has failed', { node: cordoned('Unknown') }],
    ['of somebody else', { node: cordoned('True', {}) }],
    ['of another fence', { node: cordoned('True', { [CORDON_MARK]: 'node-fence-b' }) }],
    ['that is gone by now', { standing: nodeOf({ ready: 'True' }) }],
    ['of a Node that was made anew', { standing: { ...cordoned(), metadata: { ...cordoned().metadata, uid: 'uid-b' } } }],
    ['in mode observe', { options: { mode: 'observe' } }],
    ['under a stop', { stop: STOP }],
  ])('%s stays, and nothing is told', async (_what, world) => {
    const { body, told } = await looked(world);
    expect([body, told]).toEqual([undefined, []]);
  });

  it('stays without a lease that covers the write', async () => {
    await expect(looked({ isLeading: false })).rejects.toThrow('the leader lease does not cover it');
  });

  it('stays where the fence may have closed storage to the node, which a person is told once', async () => {
    const { body, told, orphans } = await looked({ closes: true }, 2);
    expect([body, told]).toEqual([undefined, ['OrphanedCordon']]);
    orphans.forget('a');
    await orphans.mend(cordoned());
    expect(told).toHaveLength(2);
    expect(orphans.sees(nodeOf({ ready: 'True' }), undefined)).toBe(false);
    await orphans.mend(cordoned());
    expect(told).toHaveLength(3);
  });

  it('is looked at again where somebody changed the Node meanwhile', async () => {
    const harness = new FenceHarness(new ManualClock());
    harness.cluster.node = cordoned();
    harness.cluster.fence = undefined;
    const refusals = [new ApiStatusError(409, 'Conflict', 'changed'), new ApiStatusError(500, 'InternalError', 'broken')];
    harness.cluster.beforePatch = () => {
      const refusal = refusals.shift();
      if (refusal !== undefined) throw refusal;
    };
    const orphans = new OrphanCordons(harness.dependencies);
    await orphans.mend(cordoned());
    await expect(orphans.mend(cordoned())).rejects.toThrow('broken');
    expect(harness.cluster.writes).toEqual([]);
    await orphans.mend(cordoned());
    expect(harness.cluster.writes).toHaveLength(1);
  });
});
