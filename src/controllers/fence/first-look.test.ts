import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import type { Reading } from '../../ports/agents.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Job, Runner } from '../../ports/jobs.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FINALIZER } from '../shared/ownership.ts';
import { FenceController } from './controller.ts';
import { FenceHarness, nodeOf } from './testing/harness.ts';

const AT_ONCE = { ...DEFAULT_TIMING, isolationDelayMs: 0, powerManagementDelayMs: 0, lifeWaitMs: 0 };
const ON: Reading<'on'> = { state: 'on', detail: 'PowerState=On', identity: 'verified' };

/** A fence of a node that has failed: what was asked of devices and written, one after the other, and what the off began with. */
async function fenced(powerManagementDelayMs: number): Promise<{ said: string[]; begunWith: Reading | undefined }> {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  harness.plan = planOf({ timing: { ...AT_ONCE, powerManagementDelayMs } });
  harness.nodes.items = [nodeOf()];
  harness.nodes.freshAtMs = clock.monotonicMs();
  const fence: NodeFence = { metadata: { name: 'node-fence-a', uid: 'f', resourceVersion: '9', finalizers: [FINALIZER] }, spec: { node: 'a' } };
  harness.fences.items = [fence];
  const said: string[] = [];
  let begunWith: Reading | undefined;
  const replaceStatus: Cluster['replaceStatus'] = async <T extends KubeObject>(resource: { kind: string }, object: T): Promise<T> => {
    if (resource.kind !== 'NodeFence') return object;
    const { journal = [] } = (object as unknown as NodeFence).status ?? {};
    said.push(`intent of ${journal.at(-1)?.method ?? 'nothing'}`);
    await clock.sleep(10);
    const written = { ...object, metadata: { ...object.metadata, resourceVersion: String(Number(object.metadata.resourceVersion) + 1) } };
    harness.fences.items = [written as unknown as NodeFence];
    return written;
  };
  const run = async (job: Job): Promise<never> => {
    said.push(`run of ${job.method.name}`);
    if (job.entry.action === 'off') begunWith = await job.firstRead?.(job.identity);
    return { id: job.entry.id, result: 'succeeded', message: 'done', finishedAt: '2026-01-01T00:00:00Z' } as never;
  };
  const look: Runner['look'] = ({ method }) => {
    said.push(`look at ${method.device}`);
    return Promise.resolve(ON);
  };
  Object.assign(harness.dependencies, {
    cluster: { ...harness.dependencies.cluster, create: (_resource: unknown, object: unknown) => Promise.resolve(object as never), replaceStatus },
    runner: { ...harness.dependencies.runner, run, look },
  });
  const controller = new FenceController(harness.dependencies);
  for (let looks = 0; looks < 1_000 && !said.includes('run of off'); looks += 1) {
    void controller.reconcile('a').catch((error: unknown) => void said.push(String(error)));
    await clock.advance(10);
  }
  return { said, begunWith };
}

describe('the device of an off that follows isolation at once', () => {
  it('is read while the plan and the intent of the isolation are written, and the off begins with that', async () => {
    const { said, begunWith } = await fenced(0);
    expect(said).toEqual(['intent of cordon', 'look at bmc', 'run of cordon', 'intent of off', 'run of off']);
    expect(begunWith).toBe(ON);
  });

  it('is left alone where a delay comes before the off, which reads it then', async () => {
    const { said, begunWith } = await fenced(5_000);
    expect(said.filter((line) => line.startsWith('look'))).toEqual([]);
    expect(said.at(-1)).toBe('run of off');
    expect(begunWith).toBeUndefined();
  });
});
