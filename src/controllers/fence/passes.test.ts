import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { Job } from '../../ports/jobs.ts';
import type { KubeObject, Lease, Node } from '../../ports/objects.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FINALIZER } from '../shared/ownership.ts';
import { FenceController } from './controller.ts';
import type { NodeObservation } from './observation.ts';
import { FenceHarness, leaseOf, nodeOf } from './testing/harness.ts';
import type { FakeLister } from './testing/harness.ts';

const AT_ONCE = planOf({ timing: { ...DEFAULT_TIMING, isolationDelayMs: 0, powerManagementDelayMs: 0, lifeWaitMs: 0 } });

/** Lets a test say what the watch brings, in the order of the real one: first the cache changes, then its listeners are told. */
function told<T extends KubeObject>(lister: FakeLister<T>): (object: T | undefined) => void {
  const listeners: Parameters<Lister<T>['onChange']>[0][] = [];
  Object.assign(lister, {
    onChange: (listener: Parameters<Lister<T>['onChange']>[0]) => {
      listeners.push(listener);
      return () => undefined;
    },
  });
  return (object) => {
    const before = lister.items[0];
    lister.items = object === undefined ? [] : [object];
    for (const listener of listeners) listener(before, object);
  };
}

interface World {
  controller: FenceController;
  /** How often the node was queued since it was last looked at here. */
  queued: () => number;
  shows: { fence: (fence: NodeFence | undefined) => void; node: (node: Node) => void; lease: (lease: Lease) => void };
  /** As it was written last. */
  stored: () => NodeFence;
  endRun: () => void;
  /** The next write is answered when what this returns is called; with an error, by that. */
  holdAnswer: () => (error?: Error) => void;
}

function world(): World {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  const shows = { fence: told(harness.fences), node: told(harness.nodes), lease: told(harness.leases) };
  harness.plan = AT_ONCE;
  harness.nodes.items = [nodeOf()];
  harness.nodes.freshAtMs = clock.monotonicMs();
  let stored: NodeFence = { metadata: { name: 'node-fence-a', uid: 'f', resourceVersion: '9', finalizers: [FINALIZER] }, spec: { node: 'a' } };
  harness.fences.items = [stored];
  let answered: Promise<void> = Promise.resolve();
  const cluster: Cluster = {
    ...harness.dependencies.cluster,
    create: (_resource, object) => Promise.resolve(object as never),
    replaceStatus: async (resource, object) => {
      if (resource.kind !== 'NodeFence') return object;
      await answered;
      const written = { ...object, metadata: { ...object.metadata, resourceVersion: String(Number(object.metadata.resourceVersion) + 1) } };
      stored = written as unknown as NodeFence;
      return written;
    },
  };
  const ended = Promise.withResolvers<undefined>();
  const run = async ({ entry }: Job): Promise<never> => {
    await ended.promise;
    return { id: entry.id, result: 'succeeded', message: 'done', finishedAt: '2026-01-01T00:00:00Z' } as never;
  };
  let queued = 0;
  Object.assign(harness.dependencies, {
    cluster,
    queue: { add: () => (queued += 1), addFirst: () => (queued += 1) },
    runner: { ...harness.dependencies.runner, run },
  });
  return {
    controller: new FenceController(harness.dependencies),
    queued: () => {
      const since = queued;
      queued = 0;
      return since;
    },
    shows,
    stored: () => stored,
    endRun: () => ended.resolve(undefined),
    holdAnswer: () => {
      const held = Promise.withResolvers<undefined>();
      answered = held.promise;
      return (error) => (error === undefined ? held.resolve(undefined) : held.reject(error));
    },
  };
}

async function turns(): Promise<void> {
  for (let count = 0; count < 30; count += 1) await Promise.resolve();
}

describe('a pass for a node', () => {
  it('is not asked for by what nobody can act upon: our own write as the watch brings it, and signs of a node whose run is under way', async () => {
    const { controller, queued, shows, stored } = world();
    await controller.reconcile('a');
    await turns();
    expect(stored().status?.journal).toMatchObject([{ action: 'run' }]);
    queued();
    shows.fence(stored());
    shows.node(nodeOf({ heartbeat: '2026-01-01T00:00:10Z' }));
    shows.lease(leaseOf('2026-01-01T00:00:10Z'));
    expect(queued()).toBe(0);
  });

  it('is not asked for while the intent of a run is being written: its end asks', async () => {
    const { controller, queued, shows, stored, holdAnswer } = world();
    const answer = holdAnswer();
    const pass = controller.reconcile('a');
    await turns();
    shows.node(nodeOf({ heartbeat: '2026-01-01T00:00:10Z' }));
    shows.lease(leaseOf('2026-01-01T00:00:10Z'));
    expect(queued()).toBe(0);
    answer();
    await pass;
    expect(stored().status?.journal).toMatchObject([{ action: 'run' }]);
    shows.node(nodeOf({ heartbeat: '2026-01-01T00:00:20Z' }));
    expect(queued()).toBe(0);
  });

  it('is asked for again by what changes once that write has failed', async () => {
    const { controller, queued, shows, holdAnswer } = world();
    const answer = holdAnswer();
    const pass = controller.reconcile('a');
    await turns();
    answer(new Error('no answer'));
    await expect(pass).rejects.toThrow('no answer');
    queued();
    shows.node(nodeOf({ heartbeat: '2026-01-01T00:00:10Z' }));
    expect(queued()).toBe(1);
  });

  it('is asked for by the end of the run', async () => {
    const { controller, queued, shows, stored, endRun } = world();
    await controller.reconcile('a');
    await turns();
    shows.fence(stored());
    queued();
    endRun();
    await turns();
    expect(queued()).toBe(1);
    shows.lease(leaseOf('2026-01-01T00:00:20Z'));
    shows.node(nodeOf({ heartbeat: '2026-01-01T00:00:20Z' }));
    expect(queued()).toBe(2);
  });

  it('is asked for by what somebody else wrote into the NodeFence, whatever is under way', async () => {
    const { controller, queued, shows, stored } = world();
    await controller.reconcile('a');
    await turns();
    queued();
    const { metadata, ...rest } = stored();
    shows.fence({ ...rest, metadata: { ...metadata, resourceVersion: '11' } });
    expect(queued()).toBe(1);
  });
});

describe('what was seen of a fence', () => {
  it('is forgotten when its NodeFence is gone, and kept until then', async () => {
    const { controller, shows, stored, endRun } = world();
    await controller.reconcile('a');
    await turns();
    shows.fence(stored());
    endRun();
    await turns();
    await controller.reconcile('a');
    await turns();
    const { status } = stored();
    const seen = controller.lifeOf('a') as NodeObservation;
    expect(Object.keys(seen.since(status))).toEqual(expect.arrayContaining(['position', 'journal', 'action']));
    shows.fence(stored());
    shows.node(nodeOf({ ready: 'True' }));
    await controller.reconcile('a');
    expect(Object.keys(seen.since(status))).toContain('position');
    shows.fence(undefined);
    await controller.reconcile('a');
    expect(seen.since(status)).toEqual({});
  });

  it('is kept while a run of it is under way, which rests on it', async () => {
    const { controller, shows, stored } = world();
    await controller.reconcile('a');
    await turns();
    const seen = controller.lifeOf('a') as NodeObservation;
    const before = seen.since(stored().status);
    expect(Object.keys(before)).toContain('position');
    shows.node(nodeOf({ ready: 'True' }));
    shows.fence(undefined);
    await controller.reconcile('a');
    expect(seen.since(stored().status)).toMatchObject({ position: before.position });
  });
});
