import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../../../domain/node-fence.ts';
import type { Operation } from '../../../domain/program.ts';
import { method } from '../../../domain/testing/model.ts';
import type { Runner } from '../../../ports/jobs.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { Acknowledgements } from '../acknowledgements.ts';
import { NodeObservation } from '../observation.ts';
import { Runs } from '../runs.ts';
import { FenceHarness, leaseOf, nodeOf } from '../testing/harness.ts';
import { offDue } from '../testing/off-due.ts';

const OFF = method('off', 'redfish', 'off', { device: 'bmc' });
const PATH = method('path', 'fc-switch', 'off', { kind: 'fabric', storage: 'san' });
const LAST_OFF: Operation = { key: 'off:off', phase: 'off', action: 'off', method: OFF, together: [], isLastOff: true };
const FIRST_OF_TWO: Operation = { key: 'off:off', phase: 'off', action: 'off', method: OFF, together: [] };
const REVOKING: Operation = { key: 'run:path', phase: 'run', action: 'run', method: PATH, together: [], revokes: ['san'] };

/** How long ago dispatch is told that the node gave its last sign of life, for a run in the midst of which it renews its Lease, and its daemon is heard 3 s later. */
async function toldOf(operation: Operation, status: Partial<NodeFenceStatus> = {}): Promise<(number | undefined)[]> {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  harness.nodes.items = [nodeOf()];
  harness.cluster.node = nodeOf();
  harness.cluster.lease = leaseOf('t1');
  const observation = new NodeObservation(clock.monotonicMs());
  observation.seeNode(nodeOf(), clock.monotonicMs());
  observation.seeLease(leaseOf('t1'), clock.monotonicMs());
  await clock.advance(700_000);
  let daemonAtMs: number | undefined;
  const told: (number | undefined)[] = [];
  const tell = (job: Parameters<Runner['run']>[0]): void => {
    const atMs = job.lastSignMs?.();
    told.push(atMs === undefined ? undefined : clock.monotonicMs() - atMs);
  };
  const run: Runner['run'] = async (job) => {
    await job.ask();
    tell(job);
    observation.seeLease(leaseOf('t2'), clock.monotonicMs());
    await clock.advance(3_000);
    tell(job);
    daemonAtMs = clock.monotonicMs();
    tell(job);
    return { id: job.entry.id, result: 'timeout', message: 'sent', finishedAt: '' };
  };
  const fastDetection = { failureOf: () => undefined, heardAtMs: () => daemonAtMs };
  const dependencies = { ...harness.dependencies, fastDetection, runner: { ...harness.dependencies.runner, run } };
  const due = offDue();
  const whole = { ...due.status, ...status };
  const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status: whole };
  const runs = new Runs(dependencies, new Acknowledgements(dependencies));
  void runs.start({ node: 'a', fence, status: whole, entry: due.entry, operation, kind: 'run', intentAtMs: clock.monotonicMs() }, observation);
  await clock.advance(10_000);
  return told;
}

describe('what a run that proves something is told of signs of life', () => {
  it('is a renewal of the Lease, and a heartbeat of the daemon, at once', async () => {
    expect(await toldOf(LAST_OFF)).toEqual([700_000, 3_000, 0]);
  });

  it('is nothing for one supply of two: the machine lives on by the other', async () => {
    expect(await toldOf(FIRST_OF_TWO)).toEqual([undefined, undefined, undefined]);
  });

  it('is what the kubelet says, where storage is revoked: the daemon may live', async () => {
    expect(await toldOf(REVOKING)).toEqual([700_000, 3_000, 3_000]);
  });

  it('is nothing where the node is to live, without its storage', async () => {
    expect(await toldOf(REVOKING, { lastStep: 'isolation' })).toEqual([Infinity, Infinity, Infinity]);
  });
});
