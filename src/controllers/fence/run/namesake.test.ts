import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../domain/node-fence.ts';
import { operationOf } from '../../../domain/operation-of.ts';
import type { JobReport } from '../../../domain/snapshot.ts';
import { planOf } from '../../../domain/testing/model.ts';
import type { Job, Runner } from '../../../ports/jobs.ts';
import type { Node, Pod, Taint } from '../../../ports/objects.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { Acknowledgements } from '../acknowledgements.ts';
import { NodeObservation } from '../observation.ts';
import { OUT_OF_SERVICE_OWNER } from '../ownership.ts';
import { endRelease } from '../release/end.ts';
import { release } from '../release/release.ts';
import { Runs } from '../runs.ts';
import { FenceHarness, leaseOf, nodeOf, provenStatus } from '../testing/harness.ts';
import { offDue } from '../testing/off-due.ts';
import { releaseOrder } from '../testing/release-order.ts';

const RENEWED = '2026-01-01T00:00:00.000000Z';
const TAINT: Taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
const SAME = nodeOf();

/** Deleted and made anew, with all that stood on it, as `kubectl replace --force` does: our watch does not show it yet. */
function anew(node: Node = SAME): Node {
  return { ...node, metadata: { ...node.metadata, uid: 'uid-b', resourceVersion: '9' } };
}

function marked(): Node {
  const node = nodeOf({ taints: [TAINT] });
  return { ...node, metadata: { ...node.metadata, annotations: { [OUT_OF_SERVICE_OWNER]: 'node-fence-a/fence-1/1' } } };
}

/** What a run of the recovery comes to where the API server holds `standing`. */
async function ran(...asked: Parameters<typeof reported>): Promise<string | undefined> {
  return (await reported(...asked))?.result;
}

async function reported(
  standing: Node | undefined,
  change: Partial<JournalEntry>,
  told: (job: Job) => void = () => undefined,
): Promise<JobReport | undefined> {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  harness.nodes.items = [SAME];
  harness.cluster.node = standing;
  harness.cluster.lease = leaseOf('t1');
  const run: Runner['run'] = async (job) => {
    told(job);
    await job.ask();
    job.mayBegin(1_000);
    return { id: job.entry.id, result: 'succeeded', message: 'sent', finishedAt: '' };
  };
  const dependencies = { ...harness.dependencies, runner: { ...harness.dependencies.runner, run } };
  const { status: before, entry: due } = offDue();
  const entry: JournalEntry = { ...due, step: 'recovery', ...change };
  const status = { ...before, step: 'recovery' as const, journal: before.journal.map((one) => (one.id === due.id ? entry : one)) };
  const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
  const runs = new Runs(dependencies, new Acknowledgements(dependencies));
  const observation = new NodeObservation(clock.monotonicMs());
  void runs.start(
    { node: 'a', fence, status, entry, operation: operationOf(due, status), kind: 'run', intentAtMs: clock.monotonicMs() },
    observation,
  );
  await clock.settle();
  return runs.of('a').reports[0];
}

function harnessWith(node: Node): FenceHarness {
  const harness = new FenceHarness(new ManualClock());
  harness.cluster.node = node;
  harness.cluster.lease = leaseOf(RENEWED);
  return harness;
}

describe('a Node that was made anew under the name of the one that was proven off, before our watch shows it', () => {
  it('is not switched on by that fence, nor is one that is gone', async () => {
    expect(await ran(SAME, { action: 'on' })).toBe('succeeded');
    expect(await ran(anew(), { action: 'on' })).toBe('not-sent');
    expect(await ran(undefined, { action: 'on' })).toBe('not-sent');
  });

  it('is none that an agent may change: it is told of which Node the fence is', async () => {
    const told: unknown[] = [];
    await ran(SAME, { action: 'run' }, (job) => told.push(job.identity.nodeUID));
    expect(told).toEqual([SAME.metadata.uid]);
  });

  it('keeps the taint that was copied to it until its own fence, or nobody, has it', async () => {
    const harness = harnessWith(anew(marked()));
    const end = endRelease(harness.dependencies, 'a', provenStatus(planOf()), () => undefined);
    await expect(end).rejects.toThrow('another Node has its name');
    expect(harness.cluster.writes).toEqual([]);
    const same = harnessWith(marked());
    await endRelease(same.dependencies, 'a', provenStatus(planOf()), () => undefined).catch(() => undefined);
    expect(same.cluster.writes).toHaveLength(1);
  });

  it('loses no pod behind the taint, nor between two handfuls of pods', async () => {
    const pods = Array.from({ length: 45 }, (_pod, index): Pod => {
      const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'x', uid: 'x', controller: true };
      const metadata = { name: `web-${index}`, namespace: 'web', uid: `uid-${index}`, ownerReferences: [owner] };
      return { metadata, spec: { nodeName: 'a' }, status: {} };
    });
    const harness = harnessWith(SAME);
    harness.pods.items = pods;
    let asked = 0;
    harness.cluster.beforeLease = () => {
      asked += 1;
      // Node and Lease are read together: the next read finds the other Node.
      if (asked === 2) harness.cluster.node = anew();
    };
    const report = await release(harness.dependencies, releaseOrder(provenStatus(planOf({ release: 'delete-pods' })), { renewTime: RENEWED }));
    expect(report.result).toBe('voided');
    expect(harness.cluster.writes.length).toBeGreaterThan(0);
    expect(harness.cluster.writes.length).toBeLessThan(pods.length);
  });
});

describe('a NodeFence that was taken away by force, before our watch shows it', () => {
  const order = () => releaseOrder(provenStatus(planOf()), { renewTime: RENEWED });

  it.each([
    ['is gone', undefined],
    ['was made anew', { metadata: { name: 'node-fence-a', uid: 'fence-2' } }],
  ])('and %s lets nothing go on what was proven for it', async (_how, fence) => {
    const harness = harnessWith(SAME);
    harness.cluster.fence = fence;
    await expect(release(harness.dependencies, order())).rejects.toThrow('its NodeFence is gone, or another has its name');
    expect(harness.cluster.writes).toEqual([]);
    const sound = harnessWith(SAME);
    expect((await release(sound.dependencies, order())).result).toBe('succeeded');
    expect(sound.cluster.writes).toHaveLength(1);
  });
});

describe('our taint that no NodeFence knows of', () => {
  it('keeps its node from an on, and is on record from then on', async () => {
    expect(await reported(marked(), { action: 'on' })).toMatchObject({ result: 'not-sent', taintFound: TAINT });
    expect((await reported(nodeOf({ taints: [TAINT] }), { action: 'on' }))?.taintFound).toBeUndefined();
    expect((await reported(SAME, { action: 'on' }))?.taintFound).toBeUndefined();
  });
});
