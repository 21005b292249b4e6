import { expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Runner } from '../../ports/jobs.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FINALIZER } from '../shared/ownership.ts';
import { FenceController } from './controller.ts';
import { FenceHarness, nodeOf } from './testing/harness.ts';

it.each([
  ['a NodeFence that stands', undefined, ['off']],
  ['one that a person deletes while the device is asked', '2026-01-01T00:00:00Z', []],
])('the off of %s: %s', async (_what, deletionTimestamp, sets) => {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  harness.plan = planOf({ isolation: [], timing: { ...DEFAULT_TIMING, isolationDelayMs: 0, powerManagementDelayMs: 0, lifeWaitMs: 0 } });
  harness.nodes.items = [nodeOf()];
  harness.cluster.node = nodeOf();
  harness.nodes.freshAtMs = clock.monotonicMs();
  let stored: NodeFence = { metadata: { name: 'node-fence-a', uid: 'f', resourceVersion: '9', finalizers: [FINALIZER] }, spec: { node: 'a' } };
  harness.fences.items = [stored];
  const replaceStatus = (_resource: unknown, object: unknown): Promise<NodeFence> => {
    const { metadata, ...rest } = object as NodeFence;
    stored = { metadata: { ...metadata, resourceVersion: String(Number(metadata.resourceVersion) + 1) }, ...rest };
    return Promise.resolve(stored);
  };
  const sent: string[] = [];
  const run: Runner['run'] = async (job) => {
    await job.ask();
    harness.fences.items = [{ ...stored, metadata: { ...stored.metadata, resourceVersion: '99', ...(deletionTimestamp && { deletionTimestamp }) } }];
    job.mayBegin(1_000);
    sent.push(job.entry.action);
    return { id: job.entry.id, result: 'timeout', message: '', finishedAt: '' };
  };
  const cluster = { ...harness.dependencies.cluster, replaceStatus } as Cluster;
  Object.assign(harness.dependencies, { cluster, runner: { ...harness.dependencies.runner, run } });
  await new FenceController(harness.dependencies).reconcile('a');
  await clock.settle();
  expect(stored.status?.journal).toMatchObject([{ action: 'off' }]);
  expect(sent).toEqual(sets);
});
