import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Job } from '../../ports/jobs.ts';
import type { NodeFence, NodeFenceAcknowledgement } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FINALIZER } from '../shared/ownership.ts';
import { FenceController } from './controller.ts';
import { FenceHarness, nodeOf, provenStatus } from './testing/harness.ts';

const AT_ONCE = planOf({ timing: { ...DEFAULT_TIMING, isolationDelayMs: 0, powerManagementDelayMs: 0, lifeWaitMs: 0 }, isolation: [] });
const FORBIDDEN = new ApiStatusError(403, 'Forbidden', 'a webhook says no');
/** Of last year, and long settled: it is to be removed. */
const WORD: NodeFenceAcknowledgement = {
  metadata: { name: 'word', uid: 'uid-w', creationTimestamp: '2025-01-01T00:00:00Z' },
  spec: { node: 'a', nodeFenceUID: 'another', incident: 1, reason: 'I looked' },
  status: { state: 'refused', message: 'no', at: '2025-01-01T00:00:00Z' },
};

/** One pass for node a, which has failed, and its fence; the API server refuses what is in `refuses`. */
async function passed(metadata: Partial<NodeFence['metadata']>, refuses: ('delete' | 'report')[], status?: NodeFence['status']) {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  harness.plan = AT_ONCE;
  harness.nodes.items = [nodeOf()];
  harness.cluster.node = nodeOf();
  await clock.advance(1_000);
  harness.nodes.freshAtMs = clock.monotonicMs();
  harness.acknowledgements.items = [WORD];
  harness.reports.items = [{ metadata: { name: 'a', uid: 'r', resourceVersion: '1' }, status: {} }];
  let stored: NodeFence = {
    metadata: { name: 'node-fence-a', uid: 'f', resourceVersion: '9', finalizers: [FINALIZER], ...metadata },
    spec: { node: 'a' },
    ...(status && { status }),
  };
  harness.fences.items = [stored];
  const sent: string[] = [];
  const cluster = {
    ...harness.dependencies.cluster,
    get: (resource: { kind: string }) => Promise.resolve(resource.kind === 'NodeFence' ? stored : resource.kind === 'Node' ? nodeOf() : undefined),
    remove: () => (refuses.includes('delete') ? Promise.reject(FORBIDDEN) : Promise.resolve(true)),
    mergePatch: (_resource: unknown, _name: string, patch: Partial<NodeFence>) => {
      stored = { ...stored, metadata: { ...stored.metadata, ...patch.metadata, resourceVersion: '10' } };
      return Promise.resolve(stored);
    },
    replaceStatus: (resource: { kind: string }, object: NodeFence) => {
      if (resource.kind !== 'NodeFence') return refuses.includes('report') ? Promise.reject(FORBIDDEN) : Promise.resolve(object);
      stored = { ...object, metadata: { ...object.metadata, resourceVersion: '11' } };
      return Promise.resolve(stored);
    },
  } as unknown as Cluster;
  const run = async (job: Job): Promise<never> => {
    await job.ask();
    sent.push(job.entry.action);
    return Promise.withResolvers<never>().promise;
  };
  const again: number[] = [];
  const queue = { add: (_node: string, delayMs = 0) => void again.push(delayMs), addFirst: () => undefined };
  Object.assign(harness.dependencies, { cluster, queue, runner: { ...harness.dependencies.runner, run } });
  const ended = await new FenceController(harness.dependencies).reconcile('a').then(() => 'done', String);
  await clock.settle();
  return { ended, sent, again, finalizers: stored.metadata.finalizers };
}

describe('what is beside a fence, and is refused for ever', () => {
  it('is told and tried again, and keeps nobody from the off: a word that was settled long ago', async () => {
    expect(await passed({}, [])).toMatchObject({ ended: 'done', sent: ['off'] });
    expect(await passed({}, ['delete'])).toMatchObject({ ended: expect.stringContaining('a webhook says no') as string, sent: ['off'] });
  });

  it('does not keep a fence from looking again when it is due: the statistics of its node', async () => {
    const off = { id: 'off-1', action: 'off', step: 'power-management', level: 1, restart: 0, operation: 'off:off', method: 'off', agent: 'redfish' };
    const failed = { ...off, device: 'bmc', plug: '', attempt: 1, epoch: 3, runner: 'in-process', result: 'unreachable' };
    const journal = [{ ...failed, startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:01Z', deadlineMs: 18_000 }];
    const status = { ...provenStatus(AT_ONCE), fenceUID: 'f', evidence: [], journal } as unknown as NonNullable<NodeFence['status']>;
    const told = await passed({}, ['report'], status);
    expect(told).toMatchObject({ ended: expect.stringContaining('a webhook says no') as string });
    expect(told.again).toContain(AT_ONCE.timing.settleMs);
  });
});

describe('a NodeFence at work whose finalizer was taken away', () => {
  const status = { ...provenStatus(AT_ONCE), fenceUID: 'f', evidence: [] };

  it('has it back before it does anything more, but where it is being deleted, or over', async () => {
    expect((await passed({ finalizers: ['other'] }, [], status)).finalizers).toEqual(['other', FINALIZER]);
    expect((await passed({ finalizers: ['other'], deletionTimestamp: '2026-01-01T00:00:00Z' }, [], status)).finalizers).toEqual(['other']);
    expect((await passed({ finalizers: ['other'] }, [], { ...status, state: 'final', outcome: 'failed' })).finalizers).toEqual(['other']);
  });
});
