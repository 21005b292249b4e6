import { beforeEach, describe, expect, it } from 'vitest';

import { AgentError } from '../../src/ports/agents.ts';
import type { PowerAgent } from '../../src/ports/agents.ts';
import { TransportError } from '../../src/ports/api-transport.ts';
import { failureOf } from '../../src/ports/jobs.ts';
import { CONFIG_MAPS, SECRETS } from '../../src/ports/resources.ts';
import { job } from './definition.ts';
import { JOB_PODS, JOBS } from '../../src/ports/batch.ts';
import { JobScene, NAMESPACE } from '../../src/testbed/objects/job-scene.ts';
import { reach } from '../../test/reach.ts';

let scene: JobScene;
let agent: PowerAgent;

async function another(): Promise<PowerAgent> {
  const created = await job.create({ cluster: scene.world.seen, clock: scene.clock, namespace: NAMESPACE });
  if (created.kind !== 'power') throw new Error('not a power agent');
  return created;
}

beforeEach(async () => {
  scene = await JobScene.open(reach);
  agent = await another();
});

async function failure(promise: Promise<unknown>): Promise<AgentError> {
  const error: unknown = await scene.until(promise.then(() => 'it succeeded')).catch((caught: unknown) => caught);
  if (error instanceof AgentError) return error;
  throw new Error(`no AgentError: ${String(error)}`);
}

/** What is done by this action takes so long. */
function lasting(action: 'on' | 'off', afterMs: number): void {
  scene.program = (run) => ({ ...scene.honest(run), ...(run.arguments['action'] === action ? { afterMs } : {}) });
}

function actions(): (string | undefined)[] {
  return scene.jobController.runs.map((run) => run.arguments['action']);
}

describe('a Job that a crash left', () => {
  it('is waited for by the same intent, never started a second time', async () => {
    lasting('off', 2_000);
    const first = agent.set(scene.target(), 'off');
    await scene.step();
    await scene.step();
    const second = (await another()).set(scene.target(), 'off');
    expect(await scene.until(second)).toMatchObject({ result: 'accepted' });
    expect(actions()).toEqual(['off']);
    expect((await scene.jobController.jobs()).length).toBe(1);
    await scene.until(first);
  });

  it('is waited for by the read of whoever takes over, and its words are told', async () => {
    lasting('off', 2_000);
    const first = agent.set(scene.target(), 'off');
    await scene.step();
    await scene.step();
    const reading = await scene.until((await another()).read(scene.target()));
    expect(reading).toMatchObject({ state: 'off' });
    expect(reading.detail).toMatch(/Job nf-outlet-off-\w+: exit code 0: Success: done/);
    expect(actions()).toEqual(['off', 'status']);
    await scene.until(first);
  });

  it('of another intent is taken back before the opposite is ordered, and is not believed to be over until it is', async () => {
    lasting('on', 60_000);
    const on = scene.target({ intent: 'outlet-on-1', deadlineMs: 100_000 });
    void agent.set(on, 'on').catch(() => undefined);
    await scene.step();
    await scene.step();
    scene.outlets.set('3', 'off');
    const early = await scene.until(agent.read(scene.target()));
    expect(early).toMatchObject({ state: 'pending', detail: expect.stringMatching(/\(on\) may still act/) as string });
    expect(await scene.until(agent.set(scene.target(), 'off'))).toMatchObject({ result: 'accepted' });
    expect(await scene.until(agent.read(scene.target()))).toMatchObject({ state: 'off' });
    expect((await scene.jobController.jobs()).map(({ metadata }) => metadata.annotations?.['nodefence.ha.k8s.io/action'])).toEqual(['off']);
  });

  it('is taken back by its uid: one that took its name is left alone', async () => {
    lasting('on', 60_000);
    void agent.set(scene.target({ intent: 'outlet-on-1', deadlineMs: 100_000 }), 'on').catch(() => undefined);
    await scene.step();
    await scene.step();
    const [on] = await scene.jobController.jobs();
    await scene.until((await another()).set(scene.target(), 'off')).catch(() => undefined);
    const deletions = scene.world.writes.filter(({ method, path }) => method === 'DELETE' && path.includes(on?.metadata.name ?? ''));
    expect(deletions[0]).toMatchObject({ body: { preconditions: { uid: on?.metadata.uid } } });
  });

  it('keeps an off from being believed as long as its pod may run where nobody hears of it', async () => {
    lasting('on', 60_000);
    const stop = new AbortController();
    const on = agent.set(scene.target({ intent: 'outlet-on-1', signal: stop.signal }), 'on').catch(() => undefined);
    await scene.step();
    await scene.step();
    const [pod] = await scene.jobController.pods();
    scene.jobController.cutOff.add(pod?.metadata.name ?? '');
    stop.abort();
    await scene.until(on);
    await scene.until(agent.close?.() ?? Promise.resolve());
    expect(await scene.jobController.jobs()).toEqual([]);
    expect((await scene.jobController.pods()).map(({ metadata }) => metadata.deletionTimestamp)).toEqual([expect.any(String)]);
    scene.outlets.set('3', 'off');
    expect(await scene.until(agent.read(scene.target()))).toMatchObject({ state: 'pending' });
    scene.jobController.cutOff.clear();
    await scene.step();
    expect(await scene.until(agent.read(scene.target()))).toMatchObject({ state: 'off' });
  });

  it('that has the same name and is not ours is left alone', async () => {
    await scene.until(agent.set(scene.target(), 'off'));
    const [mine] = await scene.jobController.jobs();
    const name = mine?.metadata.name ?? '';
    await scene.world.cluster.mergePatch(
      JOBS,
      name,
      { metadata: { annotations: { 'nodefence.ha.k8s.io/intent': 'other' } } },
      { namespace: NAMESPACE },
    );
    const error = await failure(agent.set(scene.target(), 'off'));
    expect(error).toMatchObject({ kind: 'Refused', facts: { answered: `there is another Job ${name}` } });
    expect((await scene.jobController.jobs()).length).toBe(1);
  });
});

describe('a Job that is not done in time', () => {
  it('leaves it unclear what became of it, and is deleted with its pod', async () => {
    lasting('off', 60_000);
    const outcome = await scene.until(agent.set(scene.target(), 'off'));
    expect(outcome).toMatchObject({ result: 'unclear', detail: expect.stringMatching(/Running; it is deleted, and may still act$/) as string });
    await scene.until(agent.close?.() ?? Promise.resolve());
    await scene.step();
    await scene.step();
    expect(await scene.jobController.jobs()).toEqual([]);
    expect(await scene.jobController.pods()).toEqual([]);
    expect(scene.outlets.get('3')).toBe('on');
  });

  it('has a deadline of its own below that of the call, which its kubelet keeps too', async () => {
    await scene.until(agent.set(scene.target({ deadlineMs: 8_000 }), 'off'));
    const [done] = await scene.jobController.jobs();
    expect(done?.spec.activeDeadlineSeconds).toBe(6);
    expect(done?.spec.template.spec['activeDeadlineSeconds']).toBe(6);
    expect(done?.spec.backoffLimit).toBe(0);
  });

  it('is deleted when the call is given up, and that is said', async () => {
    lasting('off', 60_000);
    const stop = new AbortController();
    const promise = agent.set(scene.target({ signal: stop.signal }), 'off');
    promise.catch(() => undefined);
    await scene.step();
    await scene.step();
    stop.abort();
    const error = await failure(promise);
    expect(error.message).toMatch(/the call was given up; Job nf-outlet-off-\w+ is deleted, and may still act/);
    await scene.until(agent.close?.() ?? Promise.resolve());
    await scene.step();
    expect([await scene.jobController.jobs(), await scene.jobController.pods()]).toEqual([[], []]);
  });

  it('leaves no timer and no listener', async () => {
    await scene.until(agent.set(scene.target(), 'off'));
    await scene.until(agent.read(scene.target()));
    await scene.until(agent.close?.() ?? Promise.resolve());
    expect(scene.clock.pending).toBe(0);
  });
});

describe('what keeps a Job from running is told in the words of the cluster', () => {
  it.each([
    ['ErrImagePull', 'Unreachable', 'failed to resolve reference "registry.example.org/fence:1": not found'],
    ['ImagePullBackOff', 'Unreachable', 'Back-off pulling image "registry.example.org/fence:1"'],
    ['InvalidImageName', 'Misconfigured', 'couldn\'t parse image name "Fence"'],
    ['CreateContainerConfigError', 'Misconfigured', 'secret "x" not found'],
  ])('%s', async (reason, kind, message) => {
    scene.jobController.trouble = { waiting: { reason, message } };
    const read = await failure(agent.read(scene.target()));
    expect(read).toMatchObject({ kind, facts: { answered: expect.stringContaining(`${reason}: ${message}`) as string } });
    const set = await failure(agent.set(scene.target(), 'off'));
    expect(set.facts.answered).toContain(message);
    await scene.until(agent.close?.() ?? Promise.resolve());
    await scene.step();
    expect(await scene.jobController.jobs()).toEqual([]);
  });

  it('an evicted pod', async () => {
    scene.jobController.trouble = { evicted: 'The node was low on resource: memory.' };
    const error = await failure(agent.read(scene.target()));
    expect(error).toMatchObject({
      kind: 'Unreachable',
      facts: { answered: expect.stringContaining('Evicted: The node was low on resource: memory.') as string },
    });
    const outcome = await scene.until(agent.set(scene.target(), 'off'));
    expect(outcome, 'it may have begun').toMatchObject({ result: 'unclear', detail: expect.stringContaining('Evicted') as string });
  });

  it('a second pod for the same Job: what either of them did is not known', async () => {
    lasting('off', 2_000);
    const promise = agent.set(scene.target(), 'off');
    await scene.step();
    await scene.step();
    const [pod] = await scene.jobController.pods();
    if (pod === undefined) throw new Error('no pod');
    const { name, namespace = '', labels = {}, ownerReferences = [] } = pod.metadata;
    await scene.world.cluster.create(JOB_PODS, { ...pod, metadata: { name: `${name}-again`, namespace, labels, ownerReferences } });
    expect(await scene.until(promise)).toMatchObject({ result: 'unclear', detail: expect.stringContaining('2 pods of it were started') as string });
  });

  it('a pod that bears its label and that its Job does not own: it says nothing of this one', async () => {
    lasting('off', 2_000);
    const promise = agent.set(scene.target(), 'off');
    await scene.step();
    await scene.step();
    const [pod] = await scene.jobController.pods();
    if (pod === undefined) throw new Error('no pod');
    const { namespace = '', labels = {} } = pod.metadata;
    const [container] = (pod.spec as { containers?: { name: string }[] }).containers ?? [];
    const stranger = { name: 'stranger', namespace, labels };
    await scene.world.cluster.create(JOB_PODS, { ...pod, metadata: stranger });
    const terminated = { name: container?.name ?? '', state: { terminated: { exitCode: 1 } } };
    await scene.world.status(JOB_PODS, 'stranger', { phase: 'Failed', containerStatuses: [terminated] }, NAMESPACE);
    expect(await scene.until(promise)).toMatchObject({ result: 'accepted' });
    expect(scene.outlets.get('3')).toBe('off');
  });

  it('a Job that somebody deleted, and another one that took its name', async () => {
    lasting('off', 60_000);
    const promise = agent.set(scene.target(), 'off');
    await scene.step();
    await scene.step();
    const [mine] = await scene.jobController.jobs();
    if (mine === undefined) throw new Error('no Job');
    const { name, labels = {}, annotations = {} } = mine.metadata;
    await scene.world.cluster.remove(JOBS, name, { namespace: NAMESPACE, propagationPolicy: 'Background' });
    await scene.world.cluster.create(JOBS, { metadata: { name, namespace: NAMESPACE, labels, annotations }, spec: mine.spec });
    expect(await failure(promise)).toMatchObject({ facts: { answered: expect.stringContaining('somebody has deleted it') as string } });
  });

  it('no node for it', async () => {
    scene.jobController.trouble = { unplaced: "0/2 nodes are available: 1 node(s) didn't match node affinity, 1 Insufficient memory." };
    const error = await failure(agent.read(scene.target()));
    expect(error).toMatchObject({
      kind: 'Timeout',
      facts: { answered: expect.stringMatching(/Unschedulable: 0\/2 nodes.*it was not done in time/) as string },
    });
  });

  it('a pod on the very node that it is for', async () => {
    scene.jobController.nodes.splice(0, 2, 'worker-1');
    const created = scene.world.cluster.create.bind(scene.world.cluster);
    scene.world.cluster.create = (resource, object) => {
      const { spec } = object as { spec?: { affinity?: unknown; nodeName?: string } };
      return created(resource, resource.plural === 'pods' ? { ...object, spec: { ...spec, nodeName: 'worker-1' } } : object);
    };
    const error = await failure(agent.read(scene.target()));
    expect(error).toMatchObject({ kind: 'Refused', facts: { answered: expect.stringContaining('the very node that it is for') as string } });
  });

  it('no template, a template that is none, no Secret', async () => {
    const { cluster } = scene.world;
    const broken = async (text: string): Promise<string> => {
      await cluster.mergePatch(CONFIG_MAPS, 'jobs', { data: { pdu: text } }, { namespace: NAMESPACE });
      const error = await failure(agent.set(scene.target(), 'off'));
      expect(error.kind).toBe('Misconfigured');
      return error.message;
    };
    expect((await failure(agent.read(scene.target({ parameters: { pod_template: 'jobs/other' } })))).message).toContain('has no key other');
    expect(await broken('spec: { env: [}')).toMatch(/pod template jobs\/pdu: .* at line 1, column/);
    expect(await broken('a: b\ntoken: open-sesame: again')).not.toContain('open-sesame');
    expect(await broken('spec: { containers: [] }')).toContain('spec.containers');
    expect(await broken('spec: { nodeName: worker-1, containers: [{ name: a }] }')).toContain('spec.nodeName must not be there');
    expect(await broken('spec: { tolerations: [{ operator: Exists }], containers: [{ name: a }] }')).toContain('must not tolerate');
    await cluster.remove(SECRETS, 'pdu-secret', { namespace: NAMESPACE });
    expect((await failure(agent.read(scene.target()))).message).toContain('Secret pdu-secret does not exist');
    expect(scene.world.writes).toEqual([]);
  });

  it('no right to create Jobs', async () => {
    scene.world.refuse = (path) => path.endsWith('/jobs');
    const error = await failure(agent.read(scene.target()));
    expect(error).toMatchObject({ kind: 'Refused', facts: { answered: expect.stringContaining('403 Forbidden') as string } });
    expect(failureOf(error).isDenied).toBe(true);
  });
});

describe('an API server that does not answer', () => {
  it('while a Job is waited for does not end the wait', async () => {
    const promise = agent.set(scene.target(), 'off');
    await scene.step();
    scene.world.fault = { failure: new TransportError('unreachable', 'connect ECONNREFUSED') };
    await scene.step();
    await scene.step();
    scene.world.fault = {};
    expect(await scene.until(promise)).toMatchObject({ result: 'accepted' });
    expect(actions()).toEqual(['off']);
  });

  it('to the creation, and has done it, is asked for that Job', async () => {
    const create = scene.world.seen.create.bind(scene.world.seen);
    scene.world.seen.create = async (...given) => {
      await create(...given);
      throw new TransportError('timeout', 'no answer within 5000 ms');
    };
    expect(await scene.until(agent.set(scene.target(), 'off'))).toMatchObject({ result: 'accepted' });
    expect(actions()).toEqual(['off']);
  });

  it('to the creation, which it does later, has that Job deleted when it comes', async () => {
    const { seen } = scene.world;
    const create = seen.create.bind(seen);
    const late: (() => Promise<unknown>)[] = [];
    seen.create = async (resource, object, options) => {
      options?.beforeSend?.();
      late.push(() => create(resource, object));
      return Promise.reject(new TransportError('timeout', 'no answer within 5000 ms'));
    };
    const error = await failure(agent.set(scene.target(), 'off'));
    expect(error).toMatchObject({ kind: 'Timeout', message: expect.stringMatching(/is deleted, and may still act/) as string });
    await Promise.all(late.map((done) => done()));
    expect((await scene.jobController.jobs()).length).toBe(1);
    await scene.until(agent.close?.() ?? Promise.resolve());
    expect(await scene.jobController.jobs()).toEqual([]);
  });
});
