import { describe, expect, it } from 'vitest';
import { operationOf } from '../../domain/operation-of.ts';
import type { JobReport } from '../../domain/snapshot.ts';
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

describe('an off that a crash left open, and whose Secret cannot be read', () => {
  const UNREADABLE: JobReport = {
    id: 'j1',
    result: 'interrupted',
    message: 'API server: no answer',
    finishedAt: '2026-01-01T00:00:00Z',
    edge: 'off',
  };

  /** The API server answers `answer` until `fromMs`, and then that the device reads on. */
  async function recoveredAfter(answer: JobReport, fromMs: number, forMs: number): Promise<{ runs: Runs; asked: number; isUnderWay: boolean }> {
    const clock = new ManualClock();
    const harness = new FenceHarness(clock);
    harness.nodes.items = [nodeOf()];
    harness.cluster.node = nodeOf();
    const beganAtMs = clock.monotonicMs();
    let asked = 0;
    const recover: Runner['recover'] = ({ entry }) => {
      asked += 1;
      const isReadable = clock.monotonicMs() - beganAtMs >= fromMs;
      return Promise.resolve(
        isReadable ? { id: entry.id, result: 'found-not-done', message: 'reads on', finishedAt: '' } : { ...answer, id: entry.id },
      );
    };
    const dependencies = { ...harness.dependencies, runner: { ...harness.dependencies.runner, recover } };
    const runs = new Runs(dependencies, new Acknowledgements(dependencies));
    const { status, entry } = offDue();
    const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
    const run = { node: 'a', fence, status, entry, operation: operationOf(entry, status), kind: 'recover', intentAtMs: beganAtMs } as const;
    void runs.start(run, new NodeObservation(beganAtMs));
    await clock.advance(forMs);
    return { runs, asked, isUnderWay: runs.isUnderWay('a') };
  }

  it.each([
    ['is not answered', UNREADABLE],
    ['is denied by an API server that comes up', { ...UNREADABLE, result: 'failed', isDenied: true } satisfies JobReport],
  ])('is asked for again: what its device shows decides, where the question %s', async (_how, answer) => {
    const { runs } = await recoveredAfter(answer, 20_000, 30_000);
    expect(runs.of('a').reports).toMatchObject([{ result: 'found-not-done' }]);
  });

  it('stays open meanwhile, and is asked once a second', async () => {
    const { runs, asked, isUnderWay } = await recoveredAfter(UNREADABLE, 60_000, 10_000);
    expect([isUnderWay, runs.of('a').reports]).toEqual([true, []]);
    expect(asked).toBeLessThanOrEqual(11);
  });

  it('is on record as one that may have been sent when that does not end', async () => {
    const { runs } = await recoveredAfter(UNREADABLE, Infinity, 121_000);
    expect(runs.of('a').reports).toMatchObject([{ result: 'interrupted', edge: 'off' }]);
  });
});
