import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import type { Plan } from '../../domain/plan.ts';
import type { JobReport } from '../../domain/snapshot.ts';
import { method, planOf } from '../../domain/testing/model.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { Runner } from '../../ports/jobs.ts';
import type { NodeFence, NodeFenceReport } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FINALIZER } from '../shared/ownership.ts';
import { FenceController } from './controller.ts';
import { FenceHarness, nodeOf } from './testing/harness.ts';

const OFF_AT_ONCE = planOf({ timing: { ...DEFAULT_TIMING, isolationDelayMs: 0, powerManagementDelayMs: 0, lifeWaitMs: 0 }, isolation: [] });
const OFF: Partial<JobReport> = { result: 'succeeded', edge: 'off', offSent: true };

function fenceOf(uid: string, resourceVersion: string, more: Partial<NodeFence> = {}): NodeFence {
  return { metadata: { name: 'node-fence-a', uid, resourceVersion, finalizers: [FINALIZER] }, spec: { node: 'a' }, ...more };
}

/** A controller whose first off is on its way; what the API server has of the NodeFence is changed by `becomes`, and heard of at once or later. */
function world(plan: Plan = OFF_AT_ONCE) {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  harness.plan = plan;
  harness.reports.items = [{ metadata: { name: 'a', resourceVersion: '1' }, status: {} }];
  harness.nodes.items = [nodeOf()];
  harness.cluster.node = nodeOf();
  harness.nodes.freshAtMs = clock.monotonicMs();
  let stored: NodeFence | undefined = fenceOf('old', '9');
  harness.fences.items = [stored];
  const listeners: Parameters<Lister<NodeFence>['onChange']>[0][] = [];
  Object.assign(harness.fences, { onChange: (listener: (typeof listeners)[0]) => listeners.push(listener) });
  const heard = (): void => {
    const before = harness.fences.items[0];
    harness.fences.items = stored === undefined ? [] : [stored];
    for (const listener of listeners) listener(before, stored);
  };
  const told: string[] = [];
  const problems: string[] = [];
  const sent: string[] = [];
  let beforeSend: () => void = () => undefined;
  let end = Promise.withResolvers<Partial<JobReport>>();
  const run: Runner['run'] = async (job) => {
    await job.ask();
    beforeSend();
    job.mayBegin(1_000);
    sent.push(`${job.entry.action} for ${job.incident}`);
    const report = await end.promise;
    return { id: job.entry.id, message: '', finishedAt: '2026-01-01T00:00:00Z', result: 'timeout', ...report };
  };
  const replaceStatus = async (resource: { kind: string }, object: unknown): Promise<unknown> => {
    const { metadata, ...rest } = object as NodeFence;
    if (resource.kind === 'NodeFenceReport') harness.reports.items = [object as NodeFenceReport];
    if (resource.kind !== 'NodeFence') return object;
    if (stored?.metadata.uid !== metadata.uid) throw new ApiStatusError(stored === undefined ? 404 : 409, 'Conflict', 'another object');
    stored = { ...rest, metadata: { ...metadata, resourceVersion: String(Number(metadata.resourceVersion) + 1) } };
    return stored;
  };
  const cluster = {
    ...harness.dependencies.cluster,
    replaceStatus,
    create: (resource: { kind: string }, object: NodeFence) => {
      if (resource.kind !== 'NodeFence') return Promise.resolve(object);
      stored = { ...object, metadata: { ...object.metadata, uid: 'ours', resourceVersion: '60' } };
      return Promise.resolve(stored);
    },
    get: (resource: { kind: string }) =>
      Promise.resolve(resource.kind === 'NodeFence' ? stored : resource.kind === 'Node' ? harness.cluster.node : undefined),
  } as unknown as Cluster;
  let count = 0;
  Object.assign(harness.dependencies, {
    cluster,
    random: { next: () => 0.5, uuid: () => `uuid-${(count += 1)}` },
    recorder: {
      event: (_about: unknown, _type: unknown, reason: string, message: string) => void (reason === 'FenceRemovedByForce' && told.push(message)),
    },
    runner: { ...harness.dependencies.runner, run },
    metrics: { ...harness.dependencies.metrics, problem: (reason: string) => void problems.push(reason) },
  });
  const controller = new FenceController(harness.dependencies);
  return {
    told,
    problems,
    sent,
    heard,
    harness,
    becomes: (fence: NodeFence | undefined) => (stored = fence),
    stored: () => stored,
    beforeSend: (deed: () => void) => (beforeSend = deed),
    ends: async (report: Partial<JobReport>) => {
      end.resolve(report);
      end = Promise.withResolvers();
      await clock.settle();
    },
    pass: async (afterMs = 0) => {
      await clock.advance(afterMs);
      harness.nodes.freshAtMs = clock.monotonicMs();
      await controller.reconcile('a');
      await clock.settle();
    },
  };
}

/** And what is sent once the off that was on its way is over. */
const TAKEN_AWAY: [string, (stored: NodeFence) => NodeFence | undefined, string[]][] = [
  ['is gone', () => undefined, ['off for ours/2']],
  ['was made anew', () => fenceOf('new', '50'), ['off for new/2']],
  [
    'was made anew with the status of the old one',
    ({ status }) => fenceOf('new', '50', { ...(status && { status: { ...status, journal: [] } }) }),
    [],
  ],
  ['was taken back to before', ({ metadata, spec }) => ({ metadata: { ...metadata, resourceVersion: '50' }, spec }), ['off for old/2']],
];

describe('an off whose NodeFence', () => {
  it.each(TAKEN_AWAY)('%s before it has left is not sent', async (_how, change) => {
    const { sent, pass, beforeSend, becomes, stored, heard } = world();
    beforeSend(() => {
      becomes(change(stored() as NodeFence));
      heard();
    });
    await pass();
    expect(sent).toEqual([]);
  });

  it('stands is sent', async () => {
    const { sent, pass } = world();
    await pass();
    expect(sent).toEqual(['off for old/1']);
  });
});

async function toldOnceItsOffStands({ told, pass, becomes, stored, heard, ends }: ReturnType<typeof world>): Promise<void> {
  await ends(OFF);
  await pass(1_000);
  expect(stored()?.status?.restore?.edges).toMatchObject([{ method: 'off', state: 'off' }]);
  becomes(undefined);
  heard();
  await pass(1_000);
  expect(told).toHaveLength(1);
}

describe('while an off is on its way, its NodeFence', () => {
  it.each(TAKEN_AWAY)('%s: nothing is begun beside it, and what it did is told once', async (how, change, next) => {
    const { sent, told, pass, becomes, stored, heard, ends } = world();
    await pass();
    becomes(change(stored() as NodeFence));
    heard();
    await pass(1_000);
    await pass(1_000);
    await pass(1_000);
    expect(sent).toEqual(['off for old/1']);
    expect(stored()?.status?.journal ?? []).toEqual([]);
    expect(told).toEqual([]);
    await ends(OFF);
    for (let count = 0; count < 4; count += 1) await pass(1_000);
    // Of the same object nothing was removed: who restores etcd is told otherwise.
    expect(told).toEqual(how === 'was taken back to before' ? [] : [expect.stringContaining('LeftOff: off (redfish bmc) is off')]);
    // A status that is not its own is removed before anything is begun.
    expect(sent.slice(1)).toEqual(next);
    expect(stored()?.status?.evidence ?? []).toEqual([]);
  });

  it('is gone, which is heard only when its result cannot be written', async () => {
    const { sent, told, pass, becomes, heard, ends } = world();
    await pass();
    becomes(undefined);
    await ends(OFF);
    await pass(1_000);
    expect([sent.length, told]).toEqual([1, []]);
    heard();
    await pass(1_000);
    expect(told).toHaveLength(1);
  });

  it('is gone once its result stands, and nothing is written of it any more', async () => {
    const played = world();
    await played.pass();
    await toldOnceItsOffStands(played);
  });

  it('is gone, and its Node too: where there is nothing to tell it on, metric and log have it', async () => {
    const { told, problems, pass, becomes, heard, ends, harness } = world();
    await pass();
    becomes(undefined);
    heard();
    harness.nodes.items = [];
    await pass(1_000);
    expect(problems).toEqual([]);
    await ends(OFF);
    await pass(1_000);
    await pass(1_000);
    expect([problems, told]).toEqual([['FenceRemovedByForce'], []]);
  });

  it('is gone, and the off never left: there is nothing to tell', async () => {
    const { told, pass, becomes, heard, ends } = world();
    await pass();
    becomes(undefined);
    heard();
    await ends({ result: 'refused' });
    await pass(1_000);
    expect(told).toEqual([]);
  });
});

describe('storage that is closed to a boot, and whose pods are let go', () => {
  const CLOSE = method('close', 'fc-switch', 'off', { kind: 'fabric', device: 'switch', plug: '1', storage: 'san' });
  const REVOKING = { ...OFF_AT_ONCE, isolation: [{ level: 1, methods: [CLOSE, method('cordon', 'cordon', 'run')] }] };
  const REVOKED: Partial<JobReport> = {
    result: 'succeeded',
    edge: 'closed',
    offSent: true,
    evidence: {
      kind: 'storage-revoked',
      grade: 'read-back',
      detail: 'closed',
      observedAt: '2026-01-01T00:00:00Z',
      storages: ['san'],
      bootID: 'boot-1',
    },
    evidenceAtMs: 0,
  };

  it('stands in the report of its node from when the release begins, and the next NodeFence knows of it', async () => {
    const { pass, ends, becomes, heard, stored, harness } = world(REVOKING);
    const revoked = (): unknown => harness.reports.items[0]?.status?.incidents?.[0]?.revoked;
    await pass();
    expect(revoked()).toBeUndefined();
    await ends({ ...REVOKED, evidenceAtMs: harness.dependencies.clock.monotonicMs() });
    await pass();
    expect(revoked()).toBeUndefined();
    await ends({ result: 'succeeded' });
    await pass();
    expect(stored()?.status?.journal.at(-1)).toMatchObject({ action: 'release', step: 'isolation' });
    expect(stored()?.status?.state).toBe('new');
    expect(revoked()).toEqual({ bootID: 'boot-1', storages: ['san'] });
    becomes(undefined);
    heard();
    await ends({ result: 'succeeded' });
    for (let count = 0; count < 4; count += 1) await pass(1_000);
    expect(stored()).toMatchObject({ metadata: { uid: 'ours' }, status: { storageRelease: { bootID: 'boot-1', storages: ['san'], pods: 0 } } });
  });
});

describe('a NodeFence that was to be let go, which was refused', () => {
  it('is told of when it is at work again and is removed by force', async () => {
    const played = world();
    const { pass, ends, becomes, stored, heard, harness } = played;
    await pass();
    await ends(OFF);
    await pass(1_000);
    const worked = stored() as NodeFence;
    becomes({ ...worked, status: { ...worked.status!, state: 'final', outcome: 'recovered', restore: {} } });
    heard();
    harness.nodes.items = [nodeOf({ ready: 'True' })];
    await pass();
    const refused: string[] = [];
    const mergePatch = (): Promise<never> => {
      refused.push('let go');
      return Promise.reject(new ApiStatusError(409, 'Conflict', 'written meanwhile'));
    };
    Object.assign(harness.dependencies.cluster, { mergePatch });
    await pass(OFF_AT_ONCE.timing.historyTtlMs + 1).catch(() => undefined);
    expect(refused).toEqual(['let go']);
    harness.nodes.items = [nodeOf()];
    for (let count = 0; count < 3; count += 1) await pass(1_000);
    await toldOnceItsOffStands(played);
  });
});
