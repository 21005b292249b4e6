import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../domain/operation-of.ts';
import type { JournalEntry, NodeFenceStatus } from '../../../domain/node-fence.ts';
import type { JobReport, ActiveHold } from '../../../domain/snapshot.ts';
import type { Runner } from '../../../ports/jobs.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { Acknowledgements } from '../acknowledgements.ts';
import { NodeObservation } from '../observation.ts';
import { Runs } from '../runs.ts';
import { FenceHarness, nodeOf } from '../testing/harness.ts';
import { offDue } from '../testing/off-due.ts';

const STORM: ActiveHold = { reason: 'max-unhealthy', policy: 'max-unhealthy', message: '3 of 6 nodes are unhealthy' };

/** A fence whose off is about to be sent, or that run instead of it. */
function due(action: JournalEntry['action']): { status: NodeFenceStatus; entry: JournalEntry } {
  const { status, entry } = offDue();
  return { status, entry: { ...entry, action, ...(action === 'run' ? { step: 'isolation' } : {}) } };
}

/** Makes the run; the storm comes while the agent is at its device, before it sends. */
async function runInto(action: JournalEntry['action']): Promise<{ sent: boolean; report: JobReport | undefined }> {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  harness.nodes.items = [nodeOf()];
  harness.cluster.node = nodeOf();
  const observation = new NodeObservation(clock.monotonicMs() - 60_000);
  observation.seeNode(nodeOf(), clock.monotonicMs() - 60_000);
  const holds: ActiveHold[] = [];
  let sent = false;
  const run: Runner['run'] = async (job) => {
    await job.ask();
    holds.push(STORM);
    job.mayBegin(1_000);
    sent = true;
    return { id: job.entry.id, finishedAt: '2026-01-01T00:00:00Z', result: 'succeeded', message: 'sent' };
  };
  const dependencies = { ...harness.dependencies, runner: { ...harness.dependencies.runner, run } };
  const runs = new Runs(dependencies, new Acknowledgements(dependencies), () => holds);
  const { status, entry } = due(action);
  const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
  void runs.start(
    { node: 'a', fence, status, entry, operation: operationOf(entry, status), kind: 'run', intentAtMs: clock.monotonicMs() },
    observation,
  );
  await runs.settled();
  return { sent, report: runs.of('a').reports[0] };
}

describe('a hold that comes between an intent and its call', () => {
  it('stops an off: nothing is sent, and the journal says why', async () => {
    const { sent, report } = await runInto('off');
    expect(sent).toBe(false);
    expect(report?.result).toBe('not-sent');
    expect(report?.message).toContain('held by max-unhealthy: 3 of 6 nodes are unhealthy');
  });

  it('stops an isolating run', async () => {
    expect(await runInto('run')).toMatchObject({ sent: false, report: { result: 'not-sent' } });
  });

  it('never stops an on', async () => {
    expect(await runInto('on')).toMatchObject({ sent: true, report: { result: 'succeeded' } });
  });
});
