import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../ports/cluster.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FINALIZER } from '../shared/ownership.ts';
import { FenceController } from './controller.ts';
import { FenceHarness, nodeOf, provenStatus } from './testing/harness.ts';

interface Waking {
  controller: FenceController;
  /** The delays after which node `a` was put into the queue. */
  delays: (number | undefined)[];
}

/** A leader whose watches were last heard `silentMs` ago, and the running fence of node `a`. */
async function silentFor(silentMs: number): Promise<Waking> {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  harness.nodes.items = [nodeOf()];
  const metadata = { name: 'node-fence-a', uid: 'f', resourceVersion: '9', finalizers: [FINALIZER] };
  harness.fences.items = [{ metadata, spec: { node: 'a' }, status: provenStatus(harness.plan) }];
  harness.nodes.freshAtMs = clock.monotonicMs();
  await clock.advance(silentMs);
  const delays: (number | undefined)[] = [];
  const cluster: Cluster = {
    ...harness.dependencies.cluster,
    create: (_resource, object) => Promise.resolve(object),
    replaceStatus: (_resource, object) => Promise.resolve(object),
  };
  Object.assign(harness.dependencies, {
    cluster,
    queue: { ...harness.dependencies.queue, add: (_node: string, delayMs?: number) => void delays.push(delayMs) },
  });
  return { controller: new FenceController(harness.dependencies), delays };
}

describe('a fence that a silent API server holds', () => {
  it('is decided about again after five seconds: its dead node changes nothing that would wake it', async () => {
    const { controller, delays } = await silentFor(10_001);
    await controller.reconcile('a');
    expect(delays).toContain(5_000);
  });

  it('is not looked at again for that while the API server is heard', async () => {
    const { controller, delays } = await silentFor(10_000);
    await controller.reconcile('a');
    expect(delays).not.toContain(5_000);
  });
});
