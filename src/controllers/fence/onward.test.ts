import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Job } from '../../ports/jobs.ts';
import type { JobReport } from '../../domain/snapshot.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FINALIZER } from '../shared/ownership.ts';
import { FenceController } from './controller.ts';
import { FenceHarness, nodeOf, provenStatus } from './testing/harness.ts';

const AT_ONCE = planOf({ timing: { ...DEFAULT_TIMING, isolationDelayMs: 0, powerManagementDelayMs: 0, lifeWaitMs: 0 } });

interface World {
  harness: FenceHarness;
  controller: FenceController;
  /** Statuses that were written, and calls of devices, in their order. */
  seen: string[];
  events: string[];
  /** Questions for stops, Events and writes of the report, as they leave. */
  sent: string[];
  /** After which the node is looked at again. */
  delays: (number | undefined)[];
}

function worldOf(fence: NodeFence, { plan = AT_ONCE, isRefused = false, isReportRefused = false } = {}): World {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  const seen: string[] = [];
  const events: string[] = [];
  const sent: string[] = [];
  const delays: (number | undefined)[] = [];
  harness.plan = plan;
  harness.nodes.items = [nodeOf()];
  harness.cluster.node = nodeOf();
  harness.nodes.freshAtMs = clock.monotonicMs();
  harness.fences.items = [fence];
  const cluster: Cluster = {
    ...harness.dependencies.cluster,
    create: (_resource, object) => Promise.resolve(object),
    mergePatch: () => Promise.resolve({ ...fence, metadata: { ...fence.metadata, finalizers: [FINALIZER] } } as never),
    list: () => {
      sent.push('stops');
      return Promise.resolve([]);
    },
    replaceStatus: (_resource, object) => {
      if (object.metadata.name !== 'node-fence-a') {
        sent.push('report');
        return isReportRefused ? Promise.reject(new ApiStatusError(503, 'ServiceUnavailable', 'busy')) : Promise.resolve(object);
      }
      const { state, step, journal } = (object as unknown as NodeFence).status ?? provenStatus(plan);
      seen.push(`${state}/${step} ${journal.map(({ action, result = 'open' }) => `${action} ${result}`).join()}`);
      return isRefused ? Promise.reject(new ApiStatusError(409, 'Conflict', 'it has changed')) : Promise.resolve(object);
    },
  };
  const run = async (job: Job): Promise<JobReport> => {
    seen.push(`device ${job.entry.action}`);
    await job.ask();
    return new Promise(() => undefined);
  };
  Object.assign(harness.dependencies, {
    cluster,
    queue: { ...harness.dependencies.queue, add: (_node: string, delayMs?: number) => void delays.push(delayMs) },
    runner: { ...harness.dependencies.runner, run },
    recorder: {
      event: (object: { kind?: string }, _type: string, reason: string) => {
        if (object.kind === 'Node') events.push(reason);
        sent.push('event');
      },
    },
  });
  return { harness, controller: new FenceController(harness.dependencies), seen, events, sent, delays };
}

function fenceOf(more: Partial<NodeFence> = {}, finalizers: string[] = [FINALIZER]): NodeFence {
  return { metadata: { name: 'node-fence-a', uid: 'f', resourceVersion: '9', finalizers }, spec: { node: 'a' }, ...more };
}

/** One pass, and whatever it started. */
async function pass({ controller }: World): Promise<void> {
  await controller.reconcile('a');
  for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
}

const ISOLATED = fenceOf({
  status: {
    ...provenStatus(AT_ONCE),
    evidence: [],
    state: 'new',
    step: 'isolation',
    journal: [
      {
        ...{
          id: 'run-1',
          step: 'isolation',
          level: 1,
          method: 'cordon',
          agent: 'cordon',
          device: '',
          plug: '',
          action: 'run',
          operation: 'run:cordon',
        },
        ...{ startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:01Z', result: 'succeeded', deadlineMs: 1_000, restart: 0, attempt: 1 },
      } as never,
    ],
  },
});

describe('rows that follow each other in one moment', () => {
  it('are written at once: the frozen plan with the first intent, before anything is called', async () => {
    const world = worldOf(fenceOf());
    await pass(world);
    expect(world.seen).toEqual(['new/isolation run open', 'device run']);
    expect(world.events).toEqual(['FencingStarted']);
  });

  it('are written at once where a step ends and the next one begins', async () => {
    const world = worldOf(ISOLATED);
    await pass(world);
    expect(world.seen).toEqual(['running/power-management run succeeded,off open', 'device off']);
    expect(world.events).toEqual(['NodeIsolated']);
  });

  it('send the question for stops first: neither an Event nor the statistics keep a run waiting', async () => {
    const world = worldOf(ISOLATED);
    world.harness.reports.items = [{ metadata: { name: 'a' }, status: {} }];
    await pass(world);
    expect(world.sent).toEqual(['stops', 'event', 'event', 'report']);
    expect(world.delays).toEqual([]);
  });

  it('are looked at again where the statistics could not be written', async () => {
    const world = worldOf(ISOLATED, { isReportRefused: true });
    world.harness.reports.items = [{ metadata: { name: 'a' }, status: {} }];
    await pass(world);
    expect(world.sent).toContain('report');
    expect(world.delays).toEqual([undefined]);
  });

  it('let what the device is called with be read while the intent is written, and nothing be called before it is', async () => {
    const world = worldOf(ISOLATED);
    const { planner, cluster } = world.harness.dependencies;
    const read: string[] = [];
    Object.assign(planner, {
      parametersFor: () => {
        read.push(`parameters after ${world.seen.length} writes`);
        return Promise.resolve({});
      },
    });
    const stored = Promise.withResolvers<never>();
    Object.assign(cluster, { replaceStatus: () => stored.promise });
    const passing = world.controller.reconcile('a');
    for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
    expect(read).toEqual(['parameters after 0 writes']);
    expect(world.seen).toEqual([]);
    stored.reject(new ApiStatusError(409, 'Conflict', 'it has changed'));
    await passing;
    expect(world.seen).toEqual([]);
  });

  it('end where a delay begins, and are looked at when it is over', async () => {
    const world = worldOf(fenceOf(), { plan: planOf({ timing: { ...AT_ONCE.timing, isolationDelayMs: 5_000 } }) });
    await pass(world);
    expect(world.seen).toEqual(['new/isolation ']);
    expect(world.delays).toEqual([5_000]);
  });

  it('call nothing when the write of them is refused', async () => {
    const world = worldOf(fenceOf(), { isRefused: true });
    await pass(world);
    expect(world.seen).toEqual(['new/isolation run open']);
    expect(world.events).toEqual([]);
  });

  it('are each looked at anew on a NodeFence that is not claimed yet', async () => {
    const world = worldOf(fenceOf({}, []));
    await pass(world);
    expect(world.seen).toEqual(['new/isolation ']);
  });
});
