import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../ports/objects.ts';
import { WORLD_NODES, WORLD_PODS } from '../kinds.ts';
import type { PodTemplateSpec, WorldPod } from '../kinds.ts';
import { TestWorld } from '../test-world.ts';
import { WORLD_JOBS } from './kinds.ts';
import type { WorldJob } from './kinds.ts';

const NODES = ['a', 'b'];

function offNode(node: string): PodTemplateSpec {
  const terms = [{ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: [node] }] }];
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } } };
}

function job(program: string, spec: Partial<WorldJob['spec']> = {}, pod: PodTemplateSpec = {}): KubeObject {
  const template = {
    metadata: { labels: { team: 'metal' } },
    spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: `drill/${program}:1` }], ...pod },
  };
  return { metadata: { name: 'repair', namespace: 'default' }, ...{ spec: { backoffLimit: 0, ...spec, template } } };
}

async function open(program: string, spec: Partial<WorldJob['spec']> = {}, pod: PodTemplateSpec = {}): Promise<TestWorld> {
  const world = await TestWorld.running(NODES, {}, { replicas: 0 });
  world.runJobs();
  await world.admin.create(WORLD_JOBS, job(program, spec, pod));
  return world;
}

async function stateOf(world: TestWorld): Promise<string | undefined> {
  const found = await world.admin.get(WORLD_JOBS, { namespace: 'default', name: 'repair' });
  return found && (found.status?.conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason ?? ''}`).join(', ');
}

async function podsOf(world: TestWorld): Promise<WorldPod[]> {
  return (await world.list(WORLD_PODS)).filter(({ metadata }) => metadata.name.startsWith('repair-'));
}

async function phases(world: TestWorld): Promise<(string | undefined)[]> {
  return (await podsOf(world)).map(({ status }) => status?.phase);
}

describe('a Job', () => {
  it('has one pod, by its template and owned by it, and is complete when that succeeds', async () => {
    const world = await open('succeed');
    await world.clock.advance(500);
    const [made] = await world.list(WORLD_JOBS);
    const [pod] = await podsOf(world);
    expect(pod?.metadata).toMatchObject({
      labels: { team: 'metal', 'job-name': 'repair', 'batch.kubernetes.io/controller-uid': made?.metadata.uid },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'repair', uid: made?.metadata.uid, controller: true }],
    });
    expect([made?.status?.active, await stateOf(world)]).toEqual([1, '']);
    await world.clock.advance(3_000);
    expect(await stateOf(world)).toBe('SuccessCriteriaMet True CompletionsReached, Complete True CompletionsReached');
    expect([await phases(world), (await world.list(WORLD_JOBS))[0]?.status?.succeeded]).toEqual([['Succeeded'], 1]);
  });

  it('fails with its only pod where nothing may be tried again', async () => {
    const world = await open('fail');
    await world.clock.advance(30_000);
    expect(await stateOf(world)).toBe('FailureTarget True BackoffLimitExceeded, Failed True BackoffLimitExceeded');
    expect(await phases(world)).toEqual(['Failed']);
  });

  it('tries as often as its limit says, later each time', async () => {
    const world = await open('fail', { backoffLimit: 2 });
    await world.clock.advance(5_000);
    expect(await phases(world)).toEqual(['Failed']);
    await world.clock.advance(10_000);
    expect(await phases(world)).toHaveLength(2);
    await world.clock.advance(10_000);
    expect(await phases(world)).toHaveLength(2);
    await world.clock.advance(20_000);
    expect([(await phases(world)).length, await stateOf(world)]).toEqual([
      3,
      'FailureTarget True BackoffLimitExceeded, Failed True BackoffLimitExceeded',
    ]);
  });

  it('takes a pod that somebody deletes for one that failed', async () => {
    const world = await open('hang');
    await world.clock.advance(2_000);
    const [pod] = await podsOf(world);
    if (pod === undefined) throw new Error('no pod');
    await world.admin.remove(WORLD_PODS, pod, 0);
    await world.clock.advance(2_000);
    expect([await phases(world), await stateOf(world)]).toEqual([[], 'FailureTarget True BackoffLimitExceeded, Failed True BackoffLimitExceeded']);
  });

  it('that is wedged fails at its deadline, when its pod has stopped and not before', async () => {
    const world = await open('hang', { activeDeadlineSeconds: 5 }, { terminationGracePeriodSeconds: 3 });
    await world.clock.advance(6_000);
    expect(await stateOf(world)).toBe('FailureTarget True DeadlineExceeded');
    expect(world.machine((await podsOf(world))[0]?.spec.nodeName ?? '').kubelet?.running).toHaveLength(1);
    await world.clock.advance(4_000);
    expect([await stateOf(world), await phases(world)]).toEqual(['FailureTarget True DeadlineExceeded, Failed True DeadlineExceeded', []]);
  });

  it('is ended by the kubelet alone where only its pod has a deadline', async () => {
    const world = await open('hang', {}, { activeDeadlineSeconds: 4 });
    await world.clock.advance(8_000);
    expect((await podsOf(world)).map(({ status }) => [status?.phase, (status as { reason?: string }).reason])).toEqual([
      ['Failed', 'DeadlineExceeded'],
    ]);
    expect(await stateOf(world)).toContain('Failed True BackoffLimitExceeded');
  });

  it('is deleted with its pods so long after its end', async () => {
    const world = await open('succeed', { ttlSecondsAfterFinished: 10 });
    await world.clock.advance(8_000);
    expect(await stateOf(world)).toContain('Complete');
    await world.clock.advance(6_000);
    expect([await stateOf(world), await phases(world)]).toEqual([undefined, []]);
  });

  it('takes its pods with it when somebody deletes it, and makes no more', async () => {
    const world = await open('hang', {}, { terminationGracePeriodSeconds: 1 });
    await world.clock.advance(2_000);
    const [made] = await world.list(WORLD_JOBS);
    if (made === undefined) throw new Error('no Job');
    await world.admin.remove(WORLD_JOBS, made);
    await world.clock.advance(5_000);
    expect([await world.list(WORLD_JOBS), await phases(world)]).toEqual([[], []]);
  });

  it('whose machine is switched off and on fails, and its program is not begun again', async () => {
    const world = await open('hang', {}, offNode('b'));
    await world.clock.advance(2_000);
    world.machine('a').powerOff('start');
    world.machine('a').powerOn('start');
    await world.clock.advance(5_000);
    expect([await phases(world), await stateOf(world)]).toEqual([
      ['Failed'],
      'FailureTarget True BackoffLimitExceeded, Failed True BackoffLimitExceeded',
    ]);
    expect(world.trace.filter((event) => event.kind === 'node' && event.what === 'pod-start' && event.pod?.includes('repair') === true)).toHaveLength(
      1,
    );
  });

  it('runs where its affinity says', async () => {
    const world = await open('succeed', {}, offNode('a'));
    await world.clock.advance(2_000);
    expect((await podsOf(world)).map(({ spec }) => spec.nodeName)).toEqual(['b']);
  });

  it.each([
    [undefined, []],
    ['a', [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }]],
  ])('runs on %s of a cordoned node and none where it tolerates %j', async (node, tolerations) => {
    const world = await TestWorld.running(NODES, {}, { replicas: 0 });
    world.runJobs();
    await world.admin.patch(WORLD_NODES, { name: 'a' }, 'merge', { spec: { unschedulable: true } });
    await world.admin.create(WORLD_JOBS, job('succeed', {}, { ...offNode('b'), tolerations }));
    await world.clock.advance(2_000);
    expect((await podsOf(world)).map(({ spec }) => spec.nodeName)).toEqual([node]);
  });
});
