import { describe, expect, it } from 'vitest';
import { operationOf } from '../../domain/operation-of.ts';
import type { Runner } from '../../ports/jobs.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { NodeObservation } from './observation.ts';
import { Runs } from './runs.ts';
import { FenceHarness, nodeOf } from './testing/harness.ts';
import { offDue } from './testing/off-due.ts';

describe('a graceful stop while it is read what came of a run that a crash left open', () => {
  it('leaves the intent open: nobody knows whether it was sent, and the successor reads it', async () => {
    const clock = new ManualClock();
    const harness = new FenceHarness(clock);
    harness.nodes.items = [nodeOf()];
    harness.cluster.node = nodeOf();
    const recover: Runner['recover'] = (job) =>
      new Promise((_resolve, reject) => {
        job.signal.addEventListener('abort', () => reject(job.signal.reason as Error), { once: true });
      });
    const dependencies = { ...harness.dependencies, runner: { ...harness.dependencies.runner, recover } };
    const runs = new Runs(dependencies, new Acknowledgements(dependencies));
    const { status, entry } = offDue();
    const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
    const nowMs = clock.monotonicMs();
    const run = { node: 'a', fence, status, entry, operation: operationOf(entry, status), kind: 'recover', intentAtMs: nowMs } as const;
    void runs.start(run, new NodeObservation(nowMs));
    await clock.settle();
    runs.abort(new Error('the controller stops'));
    expect(await runs.settled()).toEqual([]);
    expect(runs.of('a').reports).toEqual([]);
  });
});
