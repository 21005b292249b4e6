import { readFileSync } from 'node:fs';

import { beforeEach, describe, expect, it } from 'vitest';

import { reach } from '../../../../test/reach.ts';
import { Problems } from '../../../config/problems.ts';
import { readRemedyTexts } from '../../../config/remedies.ts';
import { JOBS as REAL_JOBS, JOB_PODS } from '../../../ports/batch.ts';
import type { BatchJob } from '../../../ports/batch.ts';
import { TransportError } from '../../../ports/api-transport.ts';
import { SECRETS } from '../../../ports/resources.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { FakeJobController } from '../../../testbed/objects/fake-job-controller.ts';
import type { ProgramEnd } from '../../../testbed/objects/fake-job-controller.ts';
import { ObjectWorld } from '../../../testbed/objects/object-world.ts';
import { remedyJobName } from './intent.ts';
import type { RemedyIntent } from './intent.ts';
import { RemedyJobs } from './jobs.ts';
import type { Begun } from './jobs.ts';
import type { RemedyOrder, RemedyPod } from './spec.ts';

const NAMESPACE = 'fence';
const INTENT: RemedyIntent = { node: 'worker-1', nodeUid: 'n-1', condition: 'Ready=False', run: 'r-1', attempt: 1, remedy: 'repair' };
const ORDER: RemedyOrder = {
  namespace: NAMESPACE,
  intent: INTENT,
  target: { condition: { type: 'Ready', status: 'False', reason: '' }, providerId: '', addresses: [], taints: [] },
  deadlineMs: 60_000,
};
const POD: RemedyPod = {
  template: { spec: { containers: [{ name: 'repair', image: 'i' }] } },
  references: [{ container: 'repair', isInit: false, secrets: ['secret-key'], configMaps: [] }],
  runOn: 'other',
};
const WATCH = { runOn: 'other', ageMs: 1_000, deadlineMs: 60_000 } as const;

let clock: ManualClock;
let world: ObjectWorld;
let controller: FakeJobController;
let end: ProgramEnd;
let jobs: RemedyJobs;

beforeEach(async () => {
  clock = new ManualClock();
  world = await ObjectWorld.with(clock, [], NAMESPACE, reach);
  end = { code: 0, log: 'repaired by open-sesame\n' };
  controller = new FakeJobController(world, NAMESPACE, () => end);
  const data = { password: Buffer.from('open-sesame').toString('base64') };
  await world.cluster.create(SECRETS, { metadata: { name: 'secret-key', namespace: NAMESPACE }, data });
  jobs = new RemedyJobs(world.seen, NAMESPACE);
});

function begin(intent = INTENT, ageMs = 0, mayBegin = (): void => undefined): Promise<Begun> {
  return jobs.begin({ order: { ...ORDER, intent }, pod: POD, ageMs, mayBegin });
}

async function begun(intent = INTENT): Promise<BatchJob & { uid: string }> {
  const answer = await begin(intent);
  if (answer.kind !== 'there') throw new Error(answer.kind);
  return { ...answer.job, uid: answer.job.metadata.uid ?? '' };
}

async function run(steps = 3): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    await controller.step();
    await clock.advance(100);
  }
}

/** The API server creates, and its answer does not come. */
function loseAnswers(): void {
  const { seen } = world;
  const create = seen.create.bind(seen);
  seen.create = async (...given) => {
    await create(...given);
    throw new TransportError('timeout', 'no answer');
  };
}

describe('the Job of an attempt', () => {
  it('is one, however often it is begun: after a crash, and by a second controller', async () => {
    const [first, second] = await Promise.all([begun(), begun()]);
    jobs = new RemedyJobs(world.seen, NAMESPACE);
    const third = await begun();
    expect(new Set([first.uid, second.uid, third.uid]).size).toBe(1);
    await run();
    expect((await begun()).uid, 'one that has ended is not begun again').toBe(first.uid);
    expect(controller.runs.map(({ node }) => node)).toEqual(['worker-2']);
  });

  it('is not created by an intent that is old: what it did before may be gone', async () => {
    expect(await begin(INTENT, 60_001)).toEqual({ kind: 'too-late' });
    expect(await controller.jobs()).toEqual([]);
    const { uid } = await begun();
    expect(await begin(INTENT, 60_001), 'one that is there is found').toMatchObject({ kind: 'there', job: { metadata: { uid } } });
  });

  it('is never that of another intent of the same name', async () => {
    const name = remedyJobName(INTENT);
    const spec = {
      backoffLimit: 0,
      activeDeadlineSeconds: 1,
      ttlSecondsAfterFinished: 1,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'i' }] } },
    };
    await world.cluster.create(REAL_JOBS, { metadata: { name, namespace: NAMESPACE }, spec });
    expect(await begin()).toEqual({ kind: 'another', name });
  });

  it('is asked for in the very turn in which it leaves, and is not created where it may not be', async () => {
    const held = (): void => {
      throw new Error('held by a stop');
    };
    await expect(begin(INTENT, 0, held)).rejects.toThrow('held by a stop');
    expect(await controller.jobs()).toEqual([]);
  });

  it('is taken up where the answer to its creation was lost', async () => {
    loseAnswers();
    const { uid } = await begun();
    expect(await controller.jobs()).toMatchObject([{ metadata: { uid } }]);
  });

  it('is found by its label after a restart, among those of its node', async () => {
    await begun();
    await begun({ ...INTENT, node: 'worker-2', nodeUid: 'n-2' });
    expect(await jobs.standing()).toHaveLength(2);
    expect((await jobs.standing('n-1')).map(({ metadata }) => metadata.name)).toEqual([remedyJobName(INTENT)]);
  });
});

describe('the Configuration of 2018, as it is printed', () => {
  it('runs its repair, and after it its terminate, each told of the node', async () => {
    const text = readFileSync(new URL('../../../config/fixtures/node-remedy.yaml', import.meta.url), 'utf8');
    const [configuration] = readRemedyTexts([{ name: 'seed', text, where: String }], new Problems());
    const uses = configuration?.thresholds.find(({ conditionType }) => conditionType === 'Ready')?.remedies ?? [];
    for (const { name, remedy } of uses) {
      if (remedy.kind !== 'podTemplate') throw new Error(remedy.kind);
      const order = { ...ORDER, intent: { ...INTENT, remedy: name } };
      const answer = await jobs.begin({ order, pod: remedy, ageMs: 0, mayBegin: () => undefined });
      expect(answer.kind).toBe('there');
      await run();
    }
    expect(controller.runs.map(({ job, node }) => [job.replace(/-\w+$/, ''), node])).toEqual([
      ['nr-repair', 'worker-2'],
      ['nr-terminate', 'worker-2'],
    ]);
    const [made] = (await controller.jobs()).map(({ spec }) => spec.template.spec.containers[0]);
    expect(made).toMatchObject({ envFrom: [{ secretRef: { name: 'secret-key' } }, { configMapRef: { name: 'fence-method-config' } }] });
    expect(made?.['env']).toContainEqual({ name: 'NODE_NAME', value: 'worker-1' });
  });
});

describe('the end of a remedy', () => {
  it('is the success or the failure of its Job', async () => {
    const good = await begun();
    expect(await jobs.observe(INTENT, good.uid, WATCH)).toMatchObject({ state: 'running' });
    expect(await jobs.isQuiet(INTENT, good.uid)).toBe(false);
    await run();
    expect(await jobs.observe(INTENT, good.uid, WATCH)).toMatchObject({ state: 'succeeded' });
    expect(await jobs.isQuiet(INTENT, good.uid)).toBe(true);
    end = { code: 3, log: '' };
    const second = { ...INTENT, attempt: 2 };
    const bad = await begun(second);
    await run();
    expect(await jobs.observe(second, bad.uid, WATCH)).toMatchObject({
      state: 'failed',
      mustGo: false,
      message: expect.stringMatching('BackoffLimit') as string,
    });
  });

  it('is a failure where it hangs beyond its deadline, which nobody else told: it is to be deleted', async () => {
    end = { code: 0, log: '', afterMs: 3_600_000 };
    const { uid } = await begun();
    await run();
    const at = (ageMs: number) => jobs.observe(INTENT, uid, { ...WATCH, ageMs });
    expect(await at(120_000)).toMatchObject({ state: 'running' });
    expect(await at(120_001)).toMatchObject({ state: 'failed', mustGo: true, message: expect.stringMatching('60 s after its deadline') as string });
  });

  it('is a failure where its pod is on the sick node, and is what it was meant for with runOn target', async () => {
    const job = await begun();
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: job.metadata.name, uid: job.uid };
    const metadata = { name: 'misplaced', namespace: NAMESPACE, labels: job.metadata.labels ?? {}, ownerReferences: [owner] };
    await world.cluster.create(JOB_PODS, { metadata, spec: { nodeName: 'worker-1', containers: [{ name: 'a', image: 'i' }] } as never });
    expect(await jobs.observe(INTENT, job.uid, WATCH)).toMatchObject({
      state: 'failed',
      mustGo: true,
      message: expect.stringMatching('the very node') as string,
    });
    expect(await jobs.observe(INTENT, job.uid, { ...WATCH, runOn: 'target' })).toMatchObject({ state: 'running' });
  });

  it('is told where somebody has deleted its Job, and another under its name is not it', async () => {
    const first = await begun();
    expect(await jobs.end(first)).toBe(true);
    expect(await jobs.observe(INTENT, first.uid, WATCH)).toMatchObject({ state: 'failed', message: 'somebody has deleted its Job' });
    const second = await begun();
    expect(second.uid).not.toBe(first.uid);
    await run();
    expect(await jobs.observe(INTENT, first.uid, WATCH)).toMatchObject({ state: 'failed', mustGo: false });
  });

  it('comes with what it wrote last, without the Secrets that it could read', async () => {
    const job = await begun();
    await run();
    const [pod] = await controller.pods();
    expect(await jobs.tail(job, pod?.metadata.name ?? '')).toBe('repaired by ***');
  });

  it('comes without its words where a Secret can not be read to hide it', async () => {
    const job = await begun();
    await run();
    const [pod] = await controller.pods();
    world.fault = { status: { code: 403, reason: 'Forbidden', message: 'no right' } };
    const tail = await jobs.tail(job, pod?.metadata.name ?? '');
    expect(tail).toBe('(its log is not shown: Secret secret-key can not be read, so that its values could not be hidden)');
  });
});
