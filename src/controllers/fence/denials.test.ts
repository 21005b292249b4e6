import { describe, expect, it } from 'vitest';
import { operationOf } from '../../domain/operation-of.ts';
import { isFailure } from '../../domain/program.ts';
import type { JobReport } from '../../domain/snapshot.ts';
import { Model } from '../../domain/testing/model.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { NodeObservation } from './observation.ts';
import { Runs } from './runs.ts';
import { FenceHarness } from './testing/harness.ts';

/** A fence whose cordon is due, and an API server that answers each read of stops as `answer` says. */
class Scene {
  readonly clock = new ManualClock();
  readonly #runs: Runs;
  readonly #model = new Model();
  answer: () => Promise<never> = () => Promise.resolve([] as never);
  #count = 0;

  constructor() {
    const harness = new FenceHarness(this.clock);
    const run = (job: { entry: { id: string } }): Promise<JobReport> =>
      Promise.resolve({ id: job.entry.id, result: 'succeeded', message: '', finishedAt: '' });
    const cluster = { ...harness.dependencies.cluster, list: () => this.answer() };
    const dependencies = { ...harness.dependencies, cluster, runner: { ...harness.dependencies.runner, run } };
    this.#runs = new Runs(dependencies, new Acknowledgements(dependencies));
    this.#model.fail();
    this.#model.next();
  }

  denies(status: number): void {
    this.answer = () => Promise.reject(new ApiStatusError(status, 'Forbidden', 'list nodefencestops: nodefencestops is forbidden'));
  }

  async run(operation?: string): Promise<JobReport | undefined> {
    const { status } = this.#model;
    const [first] = this.#model.dispatched;
    if (first === undefined) throw new Error('a run was expected');
    const entry = { ...first.entry, id: `run-${String((this.#count += 1))}`, ...(operation === undefined ? {} : { operation }) };
    const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
    const intentAtMs = this.clock.monotonicMs();
    void this.#runs.start(
      { node: 'a', fence, status, entry, operation: operationOf(entry, status), kind: 'run', intentAtMs },
      new NodeObservation(intentAtMs),
    );
    await this.clock.settle();
    return this.#runs.of('a').reports.find(({ id }) => id === entry.id);
  }
}

const counts = (report: JobReport | undefined): boolean => report !== undefined && isFailure({ action: 'off', result: report.result });

describe('an API server that denies what a fence asks', () => {
  it.each([401, 403])('with %i is asked again for 30 s, in case it is coming up; after that it counts, and says for how long', async (status) => {
    const scene = new Scene();
    scene.denies(status);
    for (const waitMs of [0, 10_000, 19_000]) {
      await scene.clock.advance(waitMs);
      const report = await scene.run();
      expect(report).toMatchObject({ result: 'interrupted', message: expect.stringContaining('in case the API server is coming up') as string });
      expect(counts(report)).toBe(false);
      expect(report).not.toHaveProperty('isDenied');
    }
    await scene.clock.advance(2_000);
    const lasting = await scene.run();
    expect(lasting).toMatchObject({ result: 'failed', message: expect.stringContaining('for 31 s now: API server: list nodefencestops') as string });
    expect(counts(lasting)).toBe(true);
    // Another operation was not denied before.
    expect(await scene.run('another')).toMatchObject({ result: 'interrupted' });
  });

  it('begins anew once it has answered', async () => {
    const scene = new Scene();
    scene.denies(403);
    await scene.run();
    await scene.clock.advance(29_000);
    const { answer } = scene;
    scene.answer = () => Promise.resolve([] as never);
    await scene.run();
    scene.answer = answer;
    await scene.clock.advance(29_000);
    expect(await scene.run()).toMatchObject({ result: 'interrupted' });
  });

  it('counts at once with any other no', async () => {
    const scene = new Scene();
    scene.denies(422);
    expect(await scene.run()).toMatchObject({ result: 'failed' });
  });
});
