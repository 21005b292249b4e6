import { describe, expect, it } from 'vitest';
import type { JournalEntry, NodeFenceStatus } from '../../../domain/node-fence.ts';
import { operationOf } from '../../../domain/operation-of.ts';
import type { JobReport } from '../../../domain/snapshot.ts';
import type { Runner } from '../../../ports/jobs.ts';
import type { Node } from '../../../ports/objects.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { Acknowledgements } from '../acknowledgements.ts';
import { NodeObservation } from '../observation.ts';
import { Runs } from '../runs.ts';
import { FenceHarness, leaseOf, nodeOf } from '../testing/harness.ts';
import { offDue } from '../testing/off-due.ts';

const NOT_READY = nodeOf({ ready: 'False' });
const READY = nodeOf({ ready: 'True', heartbeat: '2026-01-01T00:01:00Z' });
/** Its kubelet has made it, and written nothing of it yet: so much of it has arrived here. */
const JUST_MADE: Node = { ...NOT_READY, status: { ...NOT_READY.status, conditions: [] } };
const OTHER: Node = { ...NOT_READY, metadata: { ...NOT_READY.metadata, uid: 'uid-b' } };

interface Change {
  status?: Partial<NodeFenceStatus>;
  entry?: Partial<JournalEntry>;
  /** While the device is asked. */
  meanwhile?: (observation: NodeObservation, nowMs: number) => void;
}

/** What an off comes to where our watch has heard `heard` of the node and the API server holds `standing`; it is tried as often as that. */
async function offs(heard: Node, standing: Node | undefined, times: number, change: Change = {}): Promise<(JobReport | undefined)[]> {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  harness.nodes.items = [heard];
  harness.cluster.node = standing;
  harness.cluster.lease = leaseOf('t1');
  const observation = new NodeObservation(clock.monotonicMs());
  observation.seeNode(heard, clock.monotonicMs());
  observation.mark('notReady', 'notReady', clock.monotonicMs());
  observation.seeLease(leaseOf('t1'), clock.monotonicMs());
  const run: Runner['run'] = async (job) => {
    await job.ask();
    change.meanwhile?.(observation, clock.monotonicMs());
    job.mayBegin(1_000);
    return { id: job.entry.id, result: 'timeout', message: 'sent', finishedAt: '' };
  };
  const dependencies = { ...harness.dependencies, runner: { ...harness.dependencies.runner, run } };
  const { status: before, entry: due } = offDue();
  const entry = { ...due, ...change.entry };
  const journal = before.journal.map((one) => (one.id === due.id ? entry : one));
  const status = { ...before, journal, ...change.status };
  const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
  await clock.advance(700_000);
  const reports: (JobReport | undefined)[] = [];
  for (let count = 0; count < times; count += 1) {
    const runs = new Runs(dependencies, new Acknowledgements(dependencies));
    const intentAtMs = clock.monotonicMs();
    void runs.start({ node: 'a', fence, status, entry, operation: operationOf(due, status), kind: 'run', intentAtMs }, observation);
    await clock.settle();
    reports.push(runs.of('a').reports[0]);
  }
  return reports;
}

describe('a node that our watch still shows as not ready', () => {
  it('is not switched off where the API server has it Ready again, however often it is tried while the watch hangs', async () => {
    const reports = await offs(NOT_READY, READY, 2);
    expect(reports.map((report) => report?.result)).toEqual(['not-sent', 'not-sent']);
    expect(reports[1]?.message).toContain('Ready=True');
  });

  it('nor where only its beginning has arrived here, without the condition Ready', async () => {
    const reports = await offs(JUST_MADE, READY, 2);
    expect(reports.map((report) => report?.result)).toEqual(['not-sent', 'not-sent']);
    expect(await offs(JUST_MADE, JUST_MADE, 1)).toMatchObject([{ result: 'timeout', message: 'sent' }]);
  });

  it('is switched off where the API server has it so too', async () => {
    expect(await offs(NOT_READY, NOT_READY, 1)).toMatchObject([{ result: 'timeout', message: 'sent' }]);
  });

  it('is switched off where somebody asked for it: whether it is Ready is no matter then', async () => {
    const trigger = { kind: 'person' as const, since: '2026-01-01T00:00:00Z' };
    expect(await offs(NOT_READY, READY, 1, { status: { trigger } })).toMatchObject([{ result: 'timeout' }]);
  });

  it.each([
    ['False', NOT_READY],
    ['Unknown', nodeOf()],
  ])('is not switched off where its Node, last heard as %s, is gone or another has its name, however often it is tried', async (_ready, heard) => {
    const results = async (standing: Node | undefined) => (await offs(heard, standing, 2)).map((report) => report?.result);
    expect(await results(undefined)).toEqual(['not-sent', 'not-sent']);
    expect(await results({ ...OTHER, status: heard.status })).toEqual(['not-sent', 'not-sent']);
  });

  describe('before a run by which it may go down too, such as the end of its grants', () => {
    const RUN = { action: 'run', operation: 'run:itself', agent: 'watchdog' } as const;

    it('is left alone where the API server has it Ready again, or heard of it', async () => {
      expect((await offs(NOT_READY, READY, 2, { entry: RUN })).map((report) => report?.result)).toEqual(['not-sent', 'not-sent']);
      expect(await offs(nodeOf(), nodeOf({ heartbeat: '2026-01-01T00:01:00Z' }), 1, { entry: RUN })).toMatchObject([{ result: 'not-sent' }]);
    });

    it('is left alone where it is heard up to the turn in which that is sent', async () => {
      const meanwhile: Change['meanwhile'] = (observation, nowMs) => observation.seeLease(leaseOf('t2'), nowMs);
      const [report] = await offs(nodeOf(), nodeOf(), 1, { entry: RUN, meanwhile });
      expect([report?.result, report?.message]).toEqual(['not-sent', expect.stringContaining('was heard meanwhile')]);
    });

    const PROGRAM = { action: 'run', operation: 'run:program', agent: 'ssh', step: 'isolation' } as const;

    it('is left alone by a program of isolation too, and is cordoned and uncordoned, which takes nothing from it', async () => {
      expect((await offs(NOT_READY, READY, 2, { entry: PROGRAM })).map((report) => report?.result)).toEqual(['not-sent', 'not-sent']);
      expect(await offs(nodeOf(), nodeOf({ heartbeat: '2026-01-01T00:01:00Z' }), 1, { entry: PROGRAM })).toMatchObject([{ result: 'not-sent' }]);
      expect(await offs(NOT_READY, NOT_READY, 1, { entry: PROGRAM })).toMatchObject([{ result: 'timeout', message: 'sent' }]);
      for (const agent of ['cordon', 'uncordon'])
        expect(await offs(NOT_READY, READY, 1, { entry: { ...PROGRAM, agent } })).toMatchObject([{ result: 'timeout', message: 'sent' }]);
    });

    it('is taken down where nothing is heard of it, and where that has begun already', async () => {
      expect(await offs(nodeOf(), nodeOf(), 1, { entry: RUN })).toMatchObject([{ result: 'timeout' }]);
      const before = { ...RUN, id: 'itself-1', step: 'power-management', restart: 0, result: 'timeout', finishedAt: 'then' } as JournalEntry;
      expect(await offs(NOT_READY, READY, 1, { entry: RUN, status: { journal: [before] } })).toMatchObject([{ result: 'timeout' }]);
      const unsent = { ...before, offSent: false };
      expect(await offs(NOT_READY, READY, 1, { entry: RUN, status: { journal: [unsent] } })).toMatchObject([{ result: 'not-sent' }]);
    });
  });
});
