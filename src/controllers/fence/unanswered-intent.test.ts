import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Job } from '../../ports/jobs.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FINALIZER } from '../shared/ownership.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { FenceController } from './controller.ts';
import { Runs } from './runs.ts';
import { FenceHarness, nodeOf } from './testing/harness.ts';
import { offDue } from './testing/off-due.ts';

const OFF_AT_ONCE = planOf({ timing: { ...DEFAULT_TIMING, isolationDelayMs: 0, powerManagementDelayMs: 0, lifeWaitMs: 0 }, isolation: [] });
const UNANSWERED = new TransportError('timeout', 'no answer within 5000 ms');
const CONFLICT = new ApiStatusError(409, 'Conflict', 'the object has been modified');

/** The first write of a status stands, and is answered with this error. What the API server is asked for, and what begins, is told in `seen`. */
function world(error: Error): { pass: (afterMs?: number) => Promise<void>; seen: string[]; journal: () => NodeFenceStatus['journal'] } {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  harness.plan = OFF_AT_ONCE;
  harness.nodes.items = [nodeOf()];
  harness.nodes.freshAtMs = clock.monotonicMs();
  let stored: NodeFence = { metadata: { name: 'node-fence-a', uid: 'f', resourceVersion: '9', finalizers: [FINALIZER] }, spec: { node: 'a' } };
  harness.fences.items = [stored];
  const seen: string[] = [];
  let answer: Error | undefined = error;
  const cluster: Cluster = {
    ...harness.dependencies.cluster,
    create: (_resource, object) => Promise.resolve(object),
    get: (resource, name) => {
      if (resource.kind === 'Node') seen.push(`Node ${name} read`);
      return Promise.resolve((resource.kind === 'Node' ? nodeOf() : resource.kind === 'NodeFence' ? stored : undefined) as never);
    },
    replaceStatus: (resource, object) => {
      if (resource.kind !== 'NodeFence') return Promise.resolve(object);
      stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(Number(object.metadata.resourceVersion) + 1) } } as never;
      const failure = answer;
      answer = undefined;
      return failure === undefined ? Promise.resolve(stored as never) : Promise.reject(failure);
    },
  };
  const run = async (job: Job): Promise<never> => {
    await job.ask();
    seen.push(`${job.entry.action} begun`);
    return Promise.withResolvers<never>().promise;
  };
  const recover = (): Promise<never> => {
    seen.push('its device read for what became of it');
    return Promise.withResolvers<never>().promise;
  };
  let count = 0;
  const random = { next: () => 0.5, uuid: () => `uuid-${(count += 1)}` };
  Object.assign(harness.dependencies, { cluster, random, runner: { ...harness.dependencies.runner, run, recover } });
  const controller = new FenceController(harness.dependencies);
  const pass = async (afterMs = 0): Promise<void> => {
    await clock.advance(afterMs);
    harness.nodes.freshAtMs = clock.monotonicMs();
    await controller.reconcile('a').catch((failure: unknown) => seen.push(String(failure)));
    await clock.settle();
  };
  return { pass, seen, journal: () => stored.status?.journal ?? [] };
}

describe('an intent whose write was not acknowledged, and that stands all the same', () => {
  it.each([
    ['no answer', UNANSWERED, ['TransportError: no answer within 5000 ms']],
    ['a conflict', CONFLICT, []],
  ])(
    'is over at once after %s: nothing of it was sent, and before the next off the Node is read as before a first one',
    async (_how, error, told) => {
      const { pass, seen, journal } = world(error);
      await pass();
      expect(journal()).toMatchObject([{ action: 'off', attempt: 1 }]);
      expect(journal()[0]?.finishedAt).toBeUndefined();
      await pass();
      expect(journal()).toMatchObject([{ result: 'not-sent' }]);
      await pass(1_000);
      await pass(1_000);
      expect(journal()).toMatchObject([{ result: 'not-sent' }, { action: 'off', epoch: 3 }]);
      expect(seen).toEqual([...told, 'Node a read', 'off begun']);
    },
  );
});

describe('what is known of a run that never began', () => {
  const refused = async (kind: 'run' | 'recover' = 'run'): Promise<{ runs: Runs; status: NodeFenceStatus; id: string }> => {
    const { dependencies } = new FenceHarness(new ManualClock());
    const runs = new Runs(dependencies, new Acknowledgements(dependencies));
    const { status, entry } = offDue();
    await runs.intend({ node: 'a', kind, entry }, Promise.reject(UNANSWERED)).catch(() => undefined);
    return { runs, status, id: entry.id };
  };

  it('is kept for as long as its intent may arrive, and until the journal says what came of it', async () => {
    const { runs, status, id } = await refused();
    runs.forget('a', { ...status, journal: [] });
    runs.forget('a', { ...status, journal: status.journal.map(({ finishedAt: _open, ...entry }) => entry) });
    expect(runs.of('a').reports).toMatchObject([{ id, result: 'not-sent' }]);
    runs.forget('a', { ...status, journal: status.journal.map((entry) => ({ ...entry, finishedAt: 'then' })) });
    expect(runs.of('a').reports).toEqual([]);
  });

  it('ends with the NodeFence', async () => {
    const { runs } = await refused();
    runs.forget('a', undefined);
    expect(runs.of('a').reports).toEqual([]);
  });

  it('is nothing where a run of before was to be looked for: that one may have begun', async () => {
    expect((await refused('recover')).runs.of('a').reports).toEqual([]);
  });

  it('is of the newest intents', async () => {
    const { dependencies } = new FenceHarness(new ManualClock());
    const runs = new Runs(dependencies, new Acknowledgements(dependencies));
    const { entry } = offDue();
    for (let count = 1; count <= 20; count += 1)
      await runs.intend({ node: 'a', kind: 'run', entry: { ...entry, id: `off-${count}` } }, Promise.resolve(undefined));
    expect(runs.of('a').reports.map(({ id }) => id)).toEqual(['off-13', 'off-14', 'off-15', 'off-16', 'off-17', 'off-18', 'off-19', 'off-20']);
  });
});
