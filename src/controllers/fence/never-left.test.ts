import { describe, expect, it } from 'vitest';
import { operationOf } from '../../domain/operation-of.ts';
import type { JobReport } from '../../domain/snapshot.ts';
import type { Job, Runner } from '../../ports/jobs.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { NodeObservation } from './observation.ts';
import { Runs } from './runs.ts';
import { FenceHarness, nodeOf } from './testing/harness.ts';
import { offDue } from './testing/off-due.ts';

describe('an off that its device never let begin', () => {
  const ended = async (work: (job: Job) => void, action: 'off' | 'run' = 'off'): Promise<JobReport | undefined> => {
    const clock = new ManualClock();
    const harness = new FenceHarness(clock);
    harness.nodes.items = [nodeOf()];
    harness.cluster.node = nodeOf();
    const sinceMs = clock.monotonicMs() - 60_000;
    const observation = new NodeObservation(sinceMs);
    observation.seeNode(nodeOf(), sinceMs);
    const run: Runner['run'] = async (job) => {
      await job.ask();
      work(job);
      return { id: job.entry.id, result: 'timeout', message: 'no answer', finishedAt: '' };
    };
    const dependencies = { ...harness.dependencies, runner: { ...harness.dependencies.runner, run } };
    const runs = new Runs(dependencies, new Acknowledgements(dependencies));
    const { status, entry: due } = offDue();
    const entry = { ...due, action };
    const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
    void runs.start(
      { node: 'a', fence, status, entry, operation: operationOf(due, status), kind: 'run', intentAtMs: clock.monotonicMs() },
      observation,
    );
    await clock.settle();
    return runs.of('a').reports[0];
  };

  it('is recorded as one of which nothing has left, and no other is', async () => {
    expect(await ended(() => undefined)).toMatchObject({ result: 'timeout', offSent: false });
    expect((await ended((job) => job.mayBegin(1_000)))?.offSent).toBeUndefined();
    expect(await ended(() => undefined, 'run')).toMatchObject({ result: 'timeout', offSent: false });
  });
});
