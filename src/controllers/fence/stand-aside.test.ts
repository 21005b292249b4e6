import { describe, expect, it } from 'vitest';
import { NO_METRICS } from '../../ports/metrics.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FenceController } from './controller.ts';
import { FenceHarness, nodeOf, provenStatus } from './testing/harness.ts';

/** A leader of epoch 3 and the fence of node `a`, last written under another epoch. */
function harnessAt(epoch: number): { controller: FenceController; harness: FenceHarness; found: number[]; problems: string[]; told: string[] } {
  const [found, problems, told]: [number[], string[], string[]] = [[], [], []];
  const harness = new FenceHarness(new ManualClock());
  harness.nodes.items = [nodeOf()];
  const status = { ...provenStatus(harness.plan), epoch };
  harness.fences.items = [{ metadata: { name: 'node-fence-a', uid: 'f', resourceVersion: '9' }, spec: { node: 'a' }, status }];
  Object.assign(harness.dependencies, {
    stepDown: (of: { epoch: number }) => void found.push(of.epoch),
    metrics: { ...NO_METRICS.fence, problem: (reason: string) => void problems.push(reason) },
    recorder: { event: (_object: object, _type: string, reason: string) => void told.push(reason) },
  });
  return { controller: new FenceController(harness.dependencies), harness, found, problems, told };
}

describe('a leader that finds the epoch of a newer one', () => {
  it('gives up its Lease, once, counts the problem and writes nothing', async () => {
    const { controller, harness, found, problems, told } = harnessAt(7);
    await controller.reconcile('a');
    await controller.reconcile('a');
    expect(found).toEqual([7]);
    expect(problems).toEqual(['NewerLeaderFound']);
    expect(told).toContain('NewerLeaderFound');
    expect(harness.cluster.writes).toEqual([]);
  });

  it('leads on beside what it wrote itself', async () => {
    const { controller, found, problems } = harnessAt(3);
    await controller.reconcile('a').catch(() => undefined);
    expect(found).toEqual([]);
    expect(problems).not.toContain('NewerLeaderFound');
  });
});
