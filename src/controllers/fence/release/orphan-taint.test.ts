import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../../../domain/node-fence.ts';
import { OUT_OF_SERVICE_TAINT } from '../../../domain/advance.ts';
import { planOf } from '../../../domain/testing/model.ts';
import type { Node } from '../../../ports/objects.ts';
import type { NodeFence } from '../../../ports/resources.ts';
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

describe('our taint without our fence', () => {
  it('is taken back from a Ready node', async () => {
    expect(await mended(undefined)).toBe(true);
    expect(await mended(fenceWith({ state: 'final' }))).toBe(true);
    expect(await mended(fenceWith({}))).toBe(true);
  });

  it('is left to the fence that knows of it, to the fence that is to come, to a person who stopped us, and in observe mode', async () => {
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
    await orphans.mend(node);
    expect(harness.cluster.writes).toHaveLength(1);
  });
});
