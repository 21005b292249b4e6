import { describe, expect, it } from 'vitest';
import { operationOf } from '../../domain/operation-of.ts';
import type { JournalEntry } from '../../domain/node-fence.ts';
import type { JobReport } from '../../domain/snapshot.ts';
import type { Job, Runner } from '../../ports/jobs.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { NodeObservation } from './observation.ts';
import { Runs } from './runs.ts';
import { FenceHarness, leaseOf, nodeOf } from './testing/harness.ts';
import { offDue } from './testing/off-due.ts';
import { factsOf } from '../shared/release/pod-facts.ts';

/** A world in which node `a` has failed, as whoever decided upon the off has seen it. */
function failing(clock: ManualClock): FenceHarness {
  const harness = new FenceHarness(clock);
  harness.nodes.items = [nodeOf()];
  harness.cluster.node = nodeOf();
  return harness;
}

function silentOn(clock: ManualClock): NodeObservation {
  const sinceMs = clock.monotonicMs() - 60_000;
  const observation = new NodeObservation(sinceMs);
  observation.seeNode(nodeOf(), sinceMs);
  return observation;
}

/** Runs the off until the stop comes; `work` does what the agent does before it waits. */
async function stoppedDuring(work: (job: Job) => void): Promise<JobReport | undefined> {
  const clock = new ManualClock();
  const harness = failing(clock);
  const run: Runner['run'] = async (job) => {
    await job.ask();
    return new Promise((_resolve, reject) => {
      work(job);
      job.signal.addEventListener('abort', () => reject(job.signal.reason as Error), { once: true });
    });
  };
  const dependencies = { ...harness.dependencies, runner: { ...harness.dependencies.runner, run } };
  const runs = new Runs(dependencies, new Acknowledgements(dependencies));
  const { status, entry } = offDue();
  const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
  void runs.start(
    { node: 'a', fence, status, entry, operation: operationOf(entry, status), kind: 'run', intentAtMs: clock.monotonicMs() },
    silentOn(clock),
  );
  await clock.settle();
  runs.abort(new Error('the controller stops'));
  await runs.settled();
  return runs.of('a').reports[0];
}

describe('a graceful stop during an off', () => {
  it('says that nothing was sent, when nothing was', async () => {
    expect(await stoppedDuring(() => undefined)).toMatchObject({ result: 'not-sent' });
  });

  it('leaves the intent open while the set may be on its way: the successor waits its deadline out', async () => {
    expect(await stoppedDuring((job) => job.mayBegin(1_000))).toBeUndefined();
  });

  it('takes an answered off for ours to take back, and for one to be done again', async () => {
    const report = await stoppedDuring((job) => {
      job.mayBegin(1_000);
      job.onAnswered(true);
    });
    expect(report).toMatchObject({ result: 'interrupted', edge: 'off', offSent: true });
  });

  it('knows that nothing was sent where the answer was that nothing needed to be', async () => {
    const report = await stoppedDuring((job) => {
      job.mayBegin(1_000);
      job.onAnswered(true, false);
    });
    expect(report).toMatchObject({ result: 'not-sent' });
    expect(report?.edge).toBeUndefined();
  });

  it('leaves the intent open when the set ended without a clear answer: it may still arrive', async () => {
    const report = await stoppedDuring((job) => {
      job.mayBegin(1_000);
      job.onAnswered(false);
    });
    expect(report).toBeUndefined();
  });
});

describe('an on', () => {
  it('is not sent while a deletion has not been answered: it may take a pod away that runs again by then', async () => {
    const clock = new ManualClock();
    const harness = failing(clock);
    let sent = 0;
    const run: Runner['run'] = async (job) => {
      await job.ask();
      sent += 1;
      return { id: job.entry.id, result: 'succeeded', message: '', finishedAt: '' };
    };
    const dependencies = { ...harness.dependencies, runner: { ...harness.dependencies.runner, run } };
    const runs = new Runs(dependencies, new Acknowledgements(dependencies));
    const observation = silentOn(clock);
    const { status, entry: off } = offDue();
    const start = async (id: string): Promise<JobReport | undefined> => {
      const entry: JournalEntry = { ...off, id, action: 'on', operation: 'on:on', method: 'on' };
      const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
      void runs.start(
        { node: 'a', fence, status, entry, operation: operationOf(entry, status), kind: 'run', intentAtMs: clock.monotonicMs() },
        observation,
      );
      await clock.settle();
      return runs.of('a').reports.find((report) => report.id === id);
    };
    const pod = factsOf({ metadata: { name: 'db-0', namespace: 'web', uid: 'uid-db-0' }, spec: { nodeName: 'a' } });
    observation.asked.asks(pod);
    expect(await start('on-1')).toMatchObject({ result: 'not-sent', message: expect.stringContaining('not been answered') as string });
    expect(sent).toBe(0);
    observation.asked.isOver(pod);
    expect(await start('on-2')).toMatchObject({ result: 'succeeded' });
  });
});

describe('before the first off', () => {
  /** The off's report, when the API server holds that Lease and our watch has heard this one. */
  async function offAgainst(
    stored: string,
    heard: string,
    standing = nodeOf(),
  ): Promise<{ report: JobReport | undefined; sent: number; lifeAtMs: number; nowMs: number }> {
    const clock = new ManualClock();
    const harness = failing(clock);
    harness.cluster.lease = leaseOf(stored);
    harness.cluster.node = standing;
    let sent = 0;
    const run: Runner['run'] = async (job) => {
      await job.ask();
      sent += 1;
      return { id: job.entry.id, result: 'timeout', message: '', finishedAt: '' };
    };
    const dependencies = { ...harness.dependencies, runner: { ...harness.dependencies.runner, run } };
    const runs = new Runs(dependencies, new Acknowledgements(dependencies));
    const { status, entry } = offDue();
    const observation = silentOn(clock);
    observation.seeLease(leaseOf(heard), clock.monotonicMs());
    observation.seeNode(nodeOf(), clock.monotonicMs());
    await clock.advance(30_000);
    const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
    void runs.start(
      { node: 'a', fence, status, entry, operation: operationOf(entry, status), kind: 'run', intentAtMs: clock.monotonicMs() },
      observation,
    );
    await clock.settle();
    return { report: runs.of('a').reports[0], sent, lifeAtMs: observation.lifeAtMs, nowMs: clock.monotonicMs() };
  }

  it('asks the API server itself whether the node is silent: a renewal that our watch did not bring is a sign of life', async () => {
    const { report, sent, lifeAtMs, nowMs } = await offAgainst('t2', 't1');
    expect([report?.result, sent]).toEqual(['not-sent', 0]);
    expect(lifeAtMs).toBe(nowMs);
  });

  it.each([{ heartbeat: '2026-01-01T00:01:31Z' }, { bootID: 'boot-2' }])(
    'asks whether the Node says more than our watch did: %j is heard now, and is no news after the off',
    async (more) => {
      const { report, sent, lifeAtMs, nowMs } = await offAgainst('t1', 't1', nodeOf(more));
      expect([report?.result, sent]).toEqual(['not-sent', 0]);
      expect(lifeAtMs).toBe(nowMs);
    },
  );

  it('goes on when the API server knows of no later renewal', async () => {
    expect(await offAgainst('t1', 't1')).toMatchObject({ sent: 1 });
  });
});

describe('between the decision of the first off and its sending', () => {
  /** The off's report; `meanwhile` happens while the device is asked, after the API server has allowed it. */
  async function offWhile(
    meanwhile: (world: { harness: FenceHarness; observation: NodeObservation; nowMs: number }) => void,
    change: (due: ReturnType<typeof offDue>) => ReturnType<typeof offDue> = (due) => due,
  ): Promise<{ report: JobReport | undefined; sent: number }> {
    const clock = new ManualClock();
    const harness = failing(clock);
    const observation = silentOn(clock);
    let sent = 0;
    const run: Runner['run'] = async (job) => {
      await job.ask();
      await clock.sleep(1_000, job.signal);
      meanwhile({ harness, observation, nowMs: clock.monotonicMs() });
      job.mayBegin(1_000);
      sent += 1;
      return { id: job.entry.id, result: 'timeout', message: '', finishedAt: '' };
    };
    const dependencies = { ...harness.dependencies, runner: { ...harness.dependencies.runner, run } };
    const runs = new Runs(dependencies, new Acknowledgements(dependencies));
    const { status, entry } = change(offDue());
    const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
    void runs.start(
      { node: 'a', fence, status, entry, operation: operationOf(entry, status), kind: 'run', intentAtMs: clock.monotonicMs() },
      observation,
    );
    await clock.settle();
    await clock.advance(1_000);
    return { report: runs.of('a').reports[0], sent };
  }
  const back = ({ harness, observation, nowMs }: { harness: FenceHarness; observation: NodeObservation; nowMs: number }): void => {
    harness.nodes.items = [nodeOf({ ready: 'True', heartbeat: '2026-01-01T00:05:00Z' })];
    observation.seeNode(nodeOf({ ready: 'True', heartbeat: '2026-01-01T00:05:00Z' }), nowMs);
  };

  it('a node may renew its Lease: it is not switched off, though Kubernetes still calls it Unknown', async () => {
    const { report, sent } = await offWhile(({ observation, nowMs }) => observation.seeLease(leaseOf('later'), nowMs));
    expect([report?.result, sent]).toEqual(['not-sent', 0]);
    expect(report?.message).toContain('the node was heard meanwhile');
  });

  it('a node may become Ready: it is not switched off', async () => {
    const { report, sent } = await offWhile(back);
    expect([report?.result, sent]).toEqual(['not-sent', 0]);
  });

  it('a Node may go, or another take its name: its machine is not switched off', async () => {
    const gone = await offWhile(({ harness }) => (harness.nodes.items = []));
    const other = await offWhile(({ harness }) => (harness.nodes.items = [{ ...nodeOf(), metadata: { name: 'a', uid: 'uid-b' } }]));
    expect([gone.report?.result, gone.sent, other.report?.result, other.sent]).toEqual(['not-sent', 0, 'not-sent', 0]);
    expect(other.report?.message).toContain('another has its name');
  });

  it('nothing may have come: it is switched off', async () => {
    expect(await offWhile(() => undefined)).toMatchObject({ sent: 1, report: { result: 'timeout' } });
  });

  it('a node may become Ready that somebody has asked to be fenced: it is switched off', async () => {
    const trigger = { kind: 'person' as const, since: '2026-01-01T00:00:00Z' };
    expect(await offWhile(back, ({ status, entry }) => ({ status: { ...status, trigger }, entry }))).toMatchObject({ sent: 1 });
  });

  it('a node may become Ready of which another supply is off already: the off goes on', async () => {
    const before = (due: ReturnType<typeof offDue>): ReturnType<typeof offDue> => ({
      ...due,
      status: { ...due.status, journal: [{ ...due.entry, id: 'before', result: 'succeeded', finishedAt: 'then' }, ...due.status.journal] },
    });
    expect(await offWhile(back, before)).toMatchObject({ sent: 1 });
  });
});

describe('a run of a device', () => {
  /** What stands in the journal of an off, where this is what its device comes to. */
  async function ended(run: Runner['run'], isStopped: boolean): Promise<JobReport | undefined> {
    const clock = new ManualClock();
    const harness = failing(clock);
    const stops = isStopped ? [{ spec: { all: true as const, reason: 'wait' }, metadata: { name: 'halt' } }] : [];
    const dependencies = {
      ...harness.dependencies,
      cluster: { ...harness.dependencies.cluster, list: () => Promise.resolve(stops as never) },
      runner: { ...harness.dependencies.runner, run },
    };
    const runs = new Runs(dependencies, new Acknowledgements(dependencies));
    const { status, entry } = offDue();
    const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
    void runs.start(
      { node: 'a', fence, status, entry, operation: operationOf(entry, status), kind: 'run', intentAtMs: clock.monotonicMs() },
      silentOn(clock),
    );
    await runs.settled();
    return runs.of('a').reports[0];
  }

  it('that could not be carried out says so, and under a stop that it was stopped: that counts as no failure', async () => {
    const run: Runner['run'] = ({ entry }) => Promise.resolve({ id: entry.id, result: 'unreachable', message: 'no answer', finishedAt: '' });
    expect(await ended(run, false)).toMatchObject({ result: 'unreachable', message: 'no answer' });
    expect(await ended(run, true)).toMatchObject({ result: 'stopped', message: 'NodeFenceStop halt is active: nothing was sent' });
  });

  it('says that it was stopped where dispatch was told so, whatever dispatch makes of it', async () => {
    const run: Runner['run'] = async (job) => {
      const refusal = await job.ask().then(() => undefined, String);
      return { id: job.entry.id, result: 'failed', message: refusal ?? 'sent', finishedAt: '' };
    };
    expect(await ended(run, true)).toMatchObject({ result: 'stopped' });
    expect(await ended(run, false)).toMatchObject({ result: 'failed', message: 'sent' });
  });

  it('sends nothing that the API server was not asked about', async () => {
    const run: Runner['run'] = (job) => {
      job.mayBegin(1_000);
      return Promise.resolve({ id: job.entry.id, result: 'succeeded', message: 'sent', finishedAt: '' });
    };
    const report = await ended(run, false);
    expect(report).toMatchObject({ result: 'not-sent', message: expect.stringContaining('has not said that it may begin') as string });
  });
});

describe('what an on waits for', () => {
  it('counts from the answer to the off: until then the off was on its way', async () => {
    const clock = new ManualClock();
    const harness = failing(clock);
    const run: Runner['run'] = async (job) => {
      job.onSet(clock.monotonicMs());
      await clock.sleep(700, job.signal);
      job.onAnswered(true);
      return { id: job.entry.id, result: 'timeout', message: '', finishedAt: '' };
    };
    const dependencies = { ...harness.dependencies, runner: { ...harness.dependencies.runner, run } };
    const runs = new Runs(dependencies, new Acknowledgements(dependencies));
    const { status, entry } = offDue();
    const observation = silentOn(clock);
    const sentAtMs = clock.monotonicMs();
    const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
    void runs.start({ node: 'a', fence, status, entry, operation: operationOf(entry, status), kind: 'run', intentAtMs: sentAtMs }, observation);
    await clock.settle();
    expect(observation.since(status).set).toBe(sentAtMs);
    await clock.advance(700);
    expect(observation.since(status).set).toBe(sentAtMs + 700);
  });
});

describe('the answer on which a set begins', () => {
  /** What the agent hears, so long after the API server was asked, whether it may send; the API server may be gone meanwhile, or a stop have come. */
  async function askedAfter(
    ms: number,
    cluster: (asked: number) => { spec: { all: true; reason: string }; metadata: { name: string } }[] | Error,
  ): Promise<string> {
    const clock = new ManualClock();
    const harness = failing(clock);
    let asked = 0;
    const list = (): Promise<never> => {
      const answer = cluster((asked += 1));
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as never);
    };
    let heard = 'sent';
    const run: Runner['run'] = async (job) => {
      await job.ask();
      await clock.sleep(ms, job.signal);
      try {
        job.mayBegin(1_000);
      } catch (error) {
        heard = String(error);
      }
      return { id: job.entry.id, result: 'not-sent', message: '', finishedAt: '' };
    };
    const dependencies = {
      ...harness.dependencies,
      cluster: { ...harness.dependencies.cluster, list },
      runner: { ...harness.dependencies.runner, run },
    };
    const runs = new Runs(dependencies, new Acknowledgements(dependencies));
    const { status, entry } = offDue();
    const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
    void runs.start(
      { node: 'a', fence, status, entry, operation: operationOf(entry, status), kind: 'run', intentAtMs: clock.monotonicMs() },
      silentOn(clock),
    );
    await clock.settle();
    await clock.advance(ms);
    await runs.settled();
    return heard;
  }
  const gone = (asked: number): Error | [] => (asked === 1 ? [] : new Error('no answer'));

  it('is at most 1.5 s old, so that no process that stood still while its watch hung sets anything after a stop', async () => {
    expect(await askedAfter(1_500, gone)).toBe('sent');
    expect(await askedAfter(1_501, gone)).toMatch(/whether a stop is active was last answered 1501 ms ago/);
  });

  it('is kept fresh while a slow device is waited for', async () => {
    expect(await askedAfter(7_900, () => [])).toBe('sent');
  });

  it('may be a stop that came while the device was waited for, and that no watch has brought', async () => {
    const stop = [{ spec: { all: true as const, reason: 'wait' }, metadata: { name: 'halt' } }];
    expect(await askedAfter(1_200, (asked) => (asked > 1 ? stop : []))).toMatch(/NodeFenceStop halt is active/);
  });
});

describe('a node whose run has ended', () => {
  it('is decided before all others that wait: what its device showed grows old', async () => {
    const clock = new ManualClock();
    const { dependencies } = failing(clock);
    const asked: string[] = [];
    dependencies.queue = { add: (node) => void asked.push(`${node} in its turn`), addFirst: (node) => void asked.push(`${node} first`) };
    dependencies.runner = {
      ...dependencies.runner,
      run: (job) => job.ask().then(() => ({ id: job.entry.id, result: 'failed', message: 'refused', finishedAt: '' })),
    };
    const runs = new Runs(dependencies, new Acknowledgements(dependencies));
    const { status, entry } = offDue();
    const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' }, spec: { node: 'a' }, status };
    const run = { node: 'a', fence, status, entry, operation: operationOf(entry, status), kind: 'run', intentAtMs: clock.monotonicMs() } as const;
    await runs.start(run, silentOn(clock));
    await runs.settled();
    expect(asked).toEqual(['a first']);
  });
});
