import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Job } from '../../ports/jobs.ts';
import type { Node } from '../../ports/objects.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FINALIZER } from '../shared/ownership.ts';
import { FenceController } from './controller.ts';
import { concernedBy } from './misnamed.ts';
import { FenceHarness, nodeOf, provenStatus } from './testing/harness.ts';

const AT_ONCE = planOf({ timing: { ...DEFAULT_TIMING, isolationDelayMs: 0, powerManagementDelayMs: 0, lifeWaitMs: 0 }, isolation: [] });
const WELL = nodeOf({ ready: 'True' });

/** Somebody asks for the fence of this node by an object that bears the name of node a's. */
function askedFor(node: string, more: Partial<NodeFence> = {}): NodeFence {
  const metadata = { name: 'node-fence-a', uid: 'f', resourceVersion: '9', finalizers: [FINALIZER] };
  return { metadata, spec: { node, requestedBy: { apiVersion: 'v1', kind: 'Person', name: 'somebody', uid: 'request-1' } }, ...more };
}

/** What is sent to the device of node a, asked of the API server about NodeFences, and told about the Node, in four passes. */
async function passed(fence: NodeFence, node: Node = WELL) {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  harness.plan = AT_ONCE;
  harness.nodes.items = [node];
  harness.cluster.node = node;
  harness.fences.items = [fence];
  harness.reports.items = [{ metadata: { name: 'a', resourceVersion: '1' }, status: {} }];
  const [sent, asked, told]: [string[], string[], string[]] = [[], [], []];
  let stored = fence;
  const next = (): string => String(Number(stored.metadata.resourceVersion) + 1);
  const cluster = {
    ...harness.dependencies.cluster,
    get: (resource: { kind: string }) => Promise.resolve(resource.kind === 'NodeFence' ? stored : resource.kind === 'Node' ? node : undefined),
    create: () => {
      asked.push('create');
      return Promise.reject(new ApiStatusError(409, 'AlreadyExists', 'it is there'));
    },
    mergePatch: (_resource: unknown, _name: string, { metadata }: Partial<NodeFence>) => {
      asked.push(`patch ${JSON.stringify(metadata?.finalizers ?? [])}`);
      stored = { ...stored, metadata: { ...stored.metadata, ...metadata, resourceVersion: next() } };
      return Promise.resolve(stored);
    },
    replaceStatus: (resource: { kind: string }, object: NodeFence) => {
      if (resource.kind !== 'NodeFence') return Promise.resolve(object);
      stored = { ...object, spec: fence.spec, metadata: { ...stored.metadata, resourceVersion: next() } };
      return Promise.resolve(stored);
    },
  } as unknown as Cluster;
  const run = async (job: Job): Promise<never> => {
    await job.ask();
    job.mayBegin(1_000);
    sent.push(job.entry.action);
    return Promise.withResolvers<never>().promise;
  };
  Object.assign(harness.dependencies, {
    cluster,
    runner: { ...harness.dependencies.runner, run },
    recorder: { event: ({ kind }: { kind: string }, _type: string, reason: string) => void (kind === 'Node' && told.push(reason)) },
  });
  const controller = new FenceController(harness.dependencies);
  for (let count = 0; count < 4; count += 1) {
    await clock.advance(1_000);
    harness.nodes.freshAtMs = clock.monotonicMs();
    await controller.reconcile('a');
    await clock.settle();
  }
  return { sent, asked, told };
}

describe('a NodeFence that bears the name of the one of node a', () => {
  it('and asks for the fence of node a, is carried out', async () => {
    expect((await passed(askedFor('a'))).sent).toEqual(['off']);
  });

  it('and says another node, fences neither of them, whatever it asks for: that is told once', async () => {
    expect(await passed(askedFor('b'))).toEqual({ sent: [], asked: [], told: ['MisnamedFence'] });
  });

  it('and says another node, keeps a failed node a from its own fence: nobody asks for that again and again', async () => {
    expect(await passed(askedFor('b'), nodeOf())).toEqual({ sent: [], asked: [], told: ['MisnamedFence'] });
  });

  it('and was turned to another node while it was at work, does nothing more', async () => {
    const status = { ...provenStatus(AT_ONCE), fenceUID: 'f', evidence: [] };
    expect((await passed(askedFor('a', { status }), nodeOf())).sent).toEqual(['off']);
    expect(await passed(askedFor('b', { status }), nodeOf())).toEqual({ sent: [], asked: [], told: ['MisnamedFence'] });
  });

  it('and says another node, is let go where it is deleted', async () => {
    const { metadata } = askedFor('b');
    const status = { ...provenStatus(AT_ONCE), fenceUID: 'f', evidence: [] };
    const { sent, asked } = await passed(askedFor('b', { status, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }), nodeOf());
    expect([sent, asked[0]]).toEqual([[], 'patch []']);
  });

  it('concerns both of them', () => {
    expect([askedFor('a'), askedFor('b')].map(concernedBy)).toEqual([['a'], ['b', 'a']]);
    const { metadata } = askedFor('b');
    expect(concernedBy(askedFor('b', { metadata: { ...metadata, name: 'mine' } }))).toEqual(['b']);
  });
});
