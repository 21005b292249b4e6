import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../domain/node-fence.ts';
import { RELEASE } from '../../../domain/program.ts';
import type { JobReport } from '../../../domain/snapshot.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { Acknowledgements } from '../acknowledgements.ts';
import { NodeObservation } from '../observation.ts';
import { Runs } from '../runs.ts';
import { FenceHarness, nodeOf, provenStatus } from '../testing/harness.ts';

const RELEASING: JournalEntry = {
  id: 'release-1',
  step: 'power-management',
  level: 1,
  operation: 'release',
  method: 'release',
  agent: 'kubernetes',
  device: '',
  plug: '',
  action: 'release',
  attempt: 1,
  restart: 0,
  runner: 'in-process',
  epoch: 3,
  startedAt: '2026-01-01T00:00:10Z',
  deadlineMs: 18_000,
};

/** A release of node `a` that comes to its writes so long after the last off read. */
async function releasedAfter(ms: number): Promise<{ report: JobReport | undefined; writes: number }> {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  harness.nodes.items = [nodeOf()];
  harness.cluster.node = nodeOf();
  harness.pods.items = [{ metadata: { name: 'db-0', namespace: 'web', uid: 'uid-db-0' }, spec: { nodeName: 'a' } }];
  const observation = new NodeObservation(clock.monotonicMs());
  observation.seeNode(nodeOf(), clock.monotonicMs());
  observation.proven('off-1', clock.monotonicMs());
  await clock.advance(ms);
  const runs = new Runs(harness.dependencies, new Acknowledgements(harness.dependencies));
  const status = provenStatus(harness.plan);
  const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
  void runs.start({ node: 'a', fence, status, entry: RELEASING, operation: RELEASE, kind: 'run', intentAtMs: clock.monotonicMs() }, observation);
  await clock.settle();
  return { report: runs.of('a').reports[0], writes: harness.cluster.writes.length };
}

describe('a write of a release', () => {
  it('leaves within four seconds of the last off read', async () => {
    const { report, writes } = await releasedAfter(4_000);
    expect(report).toMatchObject({ result: 'succeeded' });
    expect(writes).toBeGreaterThan(0);
  });

  it('is not sent later: the power may be back', async () => {
    const { report, writes } = await releasedAfter(4_001);
    expect(report).toMatchObject({ result: 'not-sent', message: expect.stringContaining('the last off read is too old') as string });
    expect(writes).toBe(0);
  });
});
