import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../../../domain/node-fence.ts';
import { OUT_OF_SERVICE_TAINT } from '../../../domain/advance.ts';
import { planOf } from '../../../domain/testing/model.ts';
import type { Node, VolumeAttachment } from '../../../ports/objects.ts';
import type { NodeFence, NodeFenceStop } from '../../../ports/resources.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { OUT_OF_SERVICE_OWNER } from '../ownership.ts';
import { FenceHarness, nodeOf, provenStatus } from '../testing/harness.ts';
import { OrphanTaints } from './orphan-taint.ts';

function tainted(ready: 'True' | 'Unknown' = 'True'): Node {
  const node = nodeOf({ ready, taints: [OUT_OF_SERVICE_TAINT] });
  return { ...node, metadata: { ...node.metadata, annotations: { [OUT_OF_SERVICE_OWNER]: 'node-fence-a/gone/1' } } };
}

function fenceWith(status: Partial<NodeFenceStatus>): NodeFence {
  return { metadata: { name: 'node-fence-a' }, spec: { node: 'a' }, status: { ...provenStatus(planOf()), ...status } };
}

async function mended(fence: NodeFence | undefined, node = tainted(), options: Partial<FenceDependencies['options']> = {}): Promise<boolean> {
  const harness = new FenceHarness(new ManualClock(), options);
  harness.cluster.node = node;
  const orphans = new OrphanTaints(harness.dependencies);
  if (orphans.sees(node, fence)) await orphans.mend(node);
  return harness.cluster.node.spec.taints?.length === 0;
}

const STOP: NodeFenceStop = { metadata: { name: 'halt' }, spec: { all: true, reason: 'look' } };
const ATTACHED: VolumeAttachment = { metadata: { name: 'csi-1' }, spec: { attacher: 'x', nodeName: 'a', source: {} } };

function standing() {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  const node = tainted();
  harness.cluster.node = node;
  const told: string[] = [];
  harness.dependencies.queue = { ...harness.dependencies.queue, add: (name, delayMs) => void told.push(`again ${name} in ${delayMs}`) };
  harness.dependencies.recorder = { event: (_about, _type, reason) => void told.push(reason) };
  return { clock, harness, node, told, orphans: new OrphanTaints(harness.dependencies) };
}

describe('our taint without our fence', () => {
  it('is taken back from a Ready node', async () => {
    expect(await mended(undefined)).toBe(true);
    expect(await mended(fenceWith({ state: 'final' }))).toBe(true);
    expect(await mended(fenceWith({}))).toBe(true);
  });

  it('is left to the fence that knows of it, to the fence that is to come, and in observe mode', async () => {
    const taints = [OUT_OF_SERVICE_TAINT];
    expect(await mended(fenceWith({ restore: { taints: [...taints] } }))).toBe(false);
    expect(await mended(undefined, tainted('Unknown'))).toBe(false);
    expect(await mended(undefined, tainted(), { mode: 'observe' })).toBe(false);
    expect(await mended(undefined, nodeOf({ ready: 'True', taints }))).toBe(false);
  });

  it('waits for volumes, and no longer than release_timeout', async () => {
    const clock = new ManualClock();
    const harness = new FenceHarness(clock);
    const node = tainted();
    harness.cluster.node = node;
    harness.volumeAttachments.items = [{ metadata: { name: 'csi-1' }, spec: { attacher: 'x', nodeName: 'a', source: {} } }];
    const orphans = new OrphanTaints(harness.dependencies);
    await orphans.mend(node);
    expect(harness.cluster.writes).toEqual([]);
    await clock.advance(60_000);
    expect(orphans.sees(node, undefined), 'seeing it anew begins nothing anew').toBe(true);
    await orphans.mend(node);
    expect(harness.cluster.writes).toHaveLength(1);
  });

  it('is not taken back against a stop, nor without a lease that covers it, which is asked when it is sent', async () => {
    const { harness, orphans, node } = standing();
    harness.stops.items = [STOP];
    expect(orphans.sees(node, undefined), 'a stop stands').toBe(false);
    await expect(orphans.mend(node), 'it came a moment later').rejects.toMatchObject({
      kind: 'NotSent',
      message: expect.stringContaining('NodeFenceStop halt is active') as string,
    });
    harness.stops.items = [];
    harness.dependencies.leadership = { ...harness.dependencies.leadership, mayBegin: () => false };
    await expect(orphans.mend(node)).rejects.toMatchObject({
      kind: 'NotSent',
      message: expect.stringContaining('the leader lease does not cover it') as string,
    });
    expect(harness.cluster.writes).toEqual([]);
  });

  it('is left to a fence that the API server has, and our watch does not show yet', async () => {
    const { harness, orphans, node, told } = standing();
    harness.cluster.fence = fenceWith({ restore: { taints: [OUT_OF_SERVICE_TAINT] } });
    expect(orphans.sees(node, undefined)).toBe(true);
    await orphans.mend(node);
    expect([harness.cluster.writes, told]).toEqual([[], []]);
    harness.cluster.fence = undefined;
    await orphans.mend(node);
    expect(told).toEqual(['OrphanedTaintRemoved']);
  });

  it('is left to the fence that is to come where the node only seems Ready: its daemon is silent', () => {
    const { harness, orphans, node } = standing();
    expect(orphans.sees(node, undefined)).toBe(true);
    Object.assign(harness.dependencies, { fastDetection: { failureOf: () => ({ message: 'silent' }) } });
    expect(orphans.sees(node, undefined)).toBe(false);
  });

  it('is looked at again as long as volumes keep it, and told when it is gone', async () => {
    const { harness, orphans, node, clock, told } = standing();
    harness.volumeAttachments.items = [ATTACHED];
    await orphans.mend(node);
    expect(told).toEqual(['again a in 5000']);
    harness.volumeAttachments.items = [];
    await clock.advance(5_000);
    await orphans.mend(node);
    expect(told).toEqual(['again a in 5000', 'OrphanedTaintRemoved']);
    expect(harness.cluster.node?.spec.taints).toEqual([]);
  });

  it.each([
    ['was no orphan meanwhile', (orphans: OrphanTaints) => void orphans.sees(nodeOf({ ready: 'True' }), undefined)],
    ['had a Node that is gone', (orphans: OrphanTaints) => orphans.forget('a')],
  ])('waits anew for what %s', async (_what, meanwhile) => {
    const { harness, orphans, node, clock } = standing();
    harness.volumeAttachments.items = [ATTACHED];
    expect(orphans.sees(node, undefined)).toBe(true);
    await orphans.mend(node);
    meanwhile(orphans);
    await clock.advance(60_000);
    await orphans.mend(node);
    expect(harness.cluster.writes).toEqual([]);
  });
});
