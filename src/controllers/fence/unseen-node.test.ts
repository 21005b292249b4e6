import { expect, it } from 'vitest';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FenceController } from './controller.ts';
import { FenceHarness, nodeOf } from './testing/harness.ts';

/** What becomes of a NodeFence that somebody made for a Node that the watch does not show. */
async function begun(isThere: boolean): Promise<{ writes: string[]; delays: (number | undefined)[] }> {
  const harness = new FenceHarness(new ManualClock());
  harness.nodes.items = [];
  harness.cluster.node = isThere ? nodeOf() : undefined;
  harness.fences.items = [{ metadata: { name: 'node-fence-a', uid: 'f', resourceVersion: '9', finalizers: ['nodefence'] }, spec: { node: 'a' } }];
  const delays: (number | undefined)[] = [];
  Object.assign(harness.dependencies, {
    queue: { ...harness.dependencies.queue, add: (_node: string, delayMs?: number) => void delays.push(delayMs) },
  });
  await new FenceController(harness.dependencies).reconcile('a').catch(() => undefined);
  return { writes: harness.cluster.writes.map(({ verb, name }) => `${verb} ${name}`), delays };
}

it('a NodeFence of a Node that the watch alone does not show stays, and is looked at again', async () => {
  const { writes, delays } = await begun(true);
  expect([writes, delays]).toEqual([[], [5_000]]);
});

it('a NodeFence of a Node that is not there goes', async () => {
  const { writes } = await begun(false);
  expect(writes.join()).toContain('node-fence-a');
});
