import { describe, expect, it } from 'vitest';
import { Model, planOf, method } from '../../domain/testing/model.ts';
import { operationOf } from '../../domain/operation-of.ts';
import { SCALE_DOWN_DISABLED } from '../../domain/node-fence.ts';
import type { JournalEntry, NodeFenceStatus } from '../../domain/node-fence.ts';
import type { Plan } from '../../domain/plan.ts';
import type { JobReport } from '../../domain/snapshot.ts';
import type { Node } from '../../ports/objects.ts';
import type { Job, Runner } from '../../ports/jobs.ts';
import type { NodeGuard } from '../../ports/preservation.ts';
import type { NodeFence, NodeFenceReport } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { preservedAgainst } from './guard.ts';
import { NodeObservation } from './observation.ts';
import { Runs } from './runs.ts';
import { FenceHarness, leaseOf, nodeOf } from './testing/harness.ts';

const CLOSING = planOf({
  isolation: [{ level: 1, methods: [method('close', 'fc-switch', 'off', { kind: 'fabric', device: 'switch', storage: 'san' })] }],
});

const DELETING = planOf({ powerManagement: [{ level: 1, methods: [method('end', 'aws', 'delete')] }] });

/** A fence whose run of this operation is about to begin. */
function due(operation: string, plan: Plan = planOf()): { status: NodeFenceStatus; entry: JournalEntry } {
  const model = new Model(plan);
  model.fail();
  for (let count = 0; count < 20; count += 1) {
    model.runUntil(() => model.inFlight.size > 0);
    const entry = model.dispatched.at(-1)?.entry;
    if (entry?.operation === operation) return { status: model.status, entry };
    if (entry?.action === 'release') model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    model.finish('succeeded');
  }
  throw new Error(`${operation} never began`);
}

interface Played {
  reports: readonly JobReport[];
  sets: string[];
  looked: string[];
}

function guardedBy(guard: () => NodeGuard['guard'] | undefined): {
  guardOf: () => NodeGuard | undefined;
  isPreserved: () => boolean;
  onChange: () => () => void;
} {
  return {
    guardOf: () => {
      const kind = guard();
      return kind === undefined ? undefined : { node: 'a', guard: kind, cause: 'user' };
    },
    isPreserved: () => false,
    onChange: () => () => undefined,
  };
}

/** Runs it while this guard stands; the agent asks for leave before it sets. */
async function played(
  operation: string,
  guard: NodeGuard['guard'] | undefined,
  plan: Plan = planOf(),
  report?: NodeFenceReport,
  metadata: Partial<Node['metadata']> = {},
): Promise<Played> {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  const sets: string[] = [];
  const looked: string[] = [];
  const run: Runner['run'] = async (job) => {
    const refusal = await job.ask().then(() => undefined, String);
    if (refusal !== undefined) return { id: job.entry.id, finishedAt: 'now', result: 'not-sent', message: refusal };
    job.mayBegin(1_000);
    sets.push(`${job.entry.action}:${job.method.name}`);
    return { id: job.entry.id, finishedAt: 'now', result: 'succeeded', message: 'done' };
  };
  const diagnostics = (job: Job): Promise<[]> => {
    looked.push(job.method.name);
    return Promise.resolve([]);
  };
  const { status, entry } = due(operation, plan);
  const fence: NodeFence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
  harness.fences.items = [fence];
  harness.nodes.items = [nodeOf()];
  harness.cluster.node = { ...nodeOf(), metadata: { ...nodeOf().metadata, ...metadata } };
  harness.cluster.lease = leaseOf('2026-01-01T00:00:00Z');
  if (report !== undefined) harness.reports.items = [report];
  const runner = { ...harness.dependencies.runner, run, failureDiagnostics: diagnostics };
  const dependencies = { ...harness.dependencies, runner, preservation: guardedBy(() => guard) };
  const runs = new Runs(dependencies, new Acknowledgements(dependencies), (_node, ran) => preservedAgainst(dependencies, fence, ran));
  const lastHeardMs = clock.monotonicMs() - 60_000;
  const observation = new NodeObservation(lastHeardMs);
  observation.seeLease(leaseOf('2026-01-01T00:00:00Z'), lastHeardMs);
  observation.seeNode(nodeOf(), lastHeardMs);
  void runs.start(
    { node: 'a', fence, status, entry, operation: operationOf(entry, status), kind: 'run', intentAtMs: clock.monotonicMs() },
    observation,
  );
  await clock.settle();
  runs.abort(new Error('over'));
  await runs.settled();
  return { reports: runs.of('a').reports, sets, looked };
}

describe('a guard that comes between the decision and the call', () => {
  it.each<[operation: string, guard: NodeGuard['guard'] | undefined, sets: string[]]>([
    ['off:off', undefined, ['off:off']],
    ['off:off', 'isolate-and-hold', []],
    ['off:off', 'never-fence', []],
    ['off:off', 'drop', ['off:off']],
    ['on:on', undefined, ['on:on']],
    ['on:on', 'isolate-and-hold', ['on:on']],
    ['on:on', 'drop', []],
  ])('before %s: %s', async (operation, guard, expected) => {
    const { sets, reports } = await played(operation, guard);
    expect(sets).toEqual(expected);
    expect(reports).toMatchObject([{ result: expected.length === 0 ? 'not-sent' : 'succeeded' }]);
  });

  it.each<[guard: NodeGuard['guard'] | undefined, sets: string[]]>([
    [undefined, ['delete:end']],
    ['isolate-and-hold', []],
    ['never-fence', []],
    ['drop', []],
  ])('to a deletion comes in time until it is sent: %s', async (guard, expected) => {
    const { sets, reports } = await played('delete:end', guard, DELETING);
    expect(sets).toEqual(expected);
    expect(reports).toMatchObject([{ result: expected.length === 0 ? 'not-sent' : 'succeeded' }]);
  });

  it.each<[string, Partial<Node['metadata']>, string]>([
    ['that another Node has taken over', { uid: 'uid-b' }, 'not-sent'],
    ['that belongs to a Machine', { annotations: { 'cluster.x-k8s.io/machine': 'm' } }, 'refused'],
    ['that somebody keeps from the autoscaler', { annotations: { [SCALE_DOWN_DISABLED]: 'true' } }, 'refused'],
  ])('a name %s saves its machine: the Node is read from the API server right before', async (_what, metadata, result) => {
    const { sets, reports } = await played('delete:end', undefined, DELETING, undefined, metadata);
    expect(sets).toEqual([]);
    expect(reports).toMatchObject([{ result }]);
  });

  it('lets a preserved machine be isolated, and a healthy one not', async () => {
    expect((await played('off:close', 'isolate-and-hold', CLOSING)).sets).toEqual(['off:close']);
    expect((await played('off:close', 'never-fence', CLOSING)).sets).toEqual([]);
  });
});

describe('what a preserved machine shows', () => {
  it('is kept before its ways to storage are closed', async () => {
    expect((await played('off:close', 'isolate-and-hold', CLOSING)).looked).toEqual(['off']);
  });

  it('of any other is looked at before its first off only', async () => {
    expect((await played('off:close', undefined, CLOSING)).looked).toEqual([]);
    expect((await played('off:off', undefined)).looked).toEqual(['off']);
  });

  it('is not read again by a new leader: what was kept first shows the failure', async () => {
    const kept = { incident: 1, takenAt: 'then', agent: 'redfish', device: 'bmc', name: 'sel', mediaType: 'text/plain', bytes: 4 };
    const report: NodeFenceReport = { metadata: { name: 'a' }, status: { exhibits: [kept] } };
    expect((await played('off:close', 'isolate-and-hold', CLOSING, report)).looked).toEqual([]);
  });
});
