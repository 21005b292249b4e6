import { beforeEach, describe, expect, it } from 'vitest';

import { AgentError } from '../../src/ports/agents.ts';
import type { PowerAgent } from '../../src/ports/agents.ts';
import { ApiStatusError } from '../../src/ports/api-transport.ts';
import { NODE_ANNOTATION } from './objects.ts';
import { job } from './definition.ts';
import { JobScene, NAMESPACE, PASSWORD } from '../../src/testbed/objects/job-scene.ts';
import { reach } from '../../test/reach.ts';

async function agentOf({ world, clock }: JobScene): Promise<PowerAgent> {
  const agent = await job.create({ cluster: world.seen, clock, namespace: NAMESPACE });
  if (agent.kind !== 'power') throw new Error('not a power agent');
  return agent;
}

async function failureOf(scene: JobScene, promise: Promise<unknown>): Promise<AgentError> {
  const error: unknown = await scene.until(promise.then(() => 'it succeeded')).catch((caught: unknown) => caught);
  if (error instanceof AgentError) return error;
  throw new Error(`no AgentError: ${String(error)}`);
}

let scene: JobScene;
let agent: PowerAgent;
beforeEach(async () => {
  scene = await JobScene.open(reach);
  agent = await agentOf(scene);
});

describe('power by Jobs', () => {
  it('switches by one Job, and reads by another in a fresh pod', async () => {
    expect(await scene.until(agent.read(scene.target()))).toMatchObject({ state: 'on', detail: 'Status: ON', identity: 'unverified' });
    const outcome = await scene.until(agent.set(scene.target(), 'off'));
    expect(outcome).toMatchObject({
      result: 'accepted',
      detail: expect.stringMatching(/^Job nf-outlet-off-\w{12}: exit code 0: Success: done$/) as string,
    });
    const reading = await scene.until(agent.read(scene.target()));
    expect(reading.state).toBe('off');
    expect(reading.detail, 'what the Job of this intent said goes into the journal').toContain(outcome.detail);
    expect(scene.jobController.runs.map((run) => run.arguments['action'])).toEqual(['status', 'off', 'status']);
    expect(new Set(scene.jobController.runs.map((run) => run.job)).size).toBe(3);
  });

  it('leaves no Job of a status behind, and the one that switched to be looked at', async () => {
    await scene.until(agent.set(scene.target(), 'off'));
    await scene.until(agent.read(scene.target()));
    await scene.until(agent.close?.() ?? Promise.resolve());
    await scene.step();
    const [left, ...others] = await scene.jobController.jobs();
    expect(left?.metadata.annotations).toMatchObject({ [NODE_ANNOTATION]: 'worker-1' });
    expect(others).toEqual([]);
    expect(left?.spec.ttlSecondsAfterFinished).toBeGreaterThan(0);
    expect((await scene.jobController.pods()).map((pod) => pod.metadata.labels?.['team'])).toEqual(['metal']);
  });

  it('never runs on the node that it is for', async () => {
    await scene.until(agent.set(scene.target(), 'off'));
    await scene.until(agent.read(scene.target({ identity: { node: 'worker-2' } })));
    expect(scene.jobController.runs.map((run) => run.node)).toEqual(['worker-2', 'worker-1']);
  });

  it('tells the program everything by files, and the secret to nobody else', async () => {
    await scene.until(agent.set(scene.target(), 'off'));
    expect(scene.jobController.runs[0]).toMatchObject({
      arguments: { action: 'off', nodename: 'worker-1', plug: '3', ip: '192.0.2.30', snmp_version: '3' },
      secret: 'pdu-secret',
    });
    const written = JSON.stringify([await scene.jobController.jobs(), await scene.jobController.pods(), scene.world.writes]);
    expect(written).not.toContain(PASSWORD);
    const [pod] = await scene.jobController.pods();
    expect(JSON.stringify(pod)).not.toContain('"env"');
  });

  it('asks the lease in the turn of the creation, and creates nothing when it may not', async () => {
    const refused = agent.set(
      scene.target({
        beforeSend: () => {
          throw new AgentError('NotSent', { device: '', plug: '', asked: 'off', answered: 'the lease is lost' });
        },
      }),
      'off',
    );
    expect(await failureOf(scene, refused)).toMatchObject({ kind: 'NotSent' });
    expect(scene.world.writes).toEqual([]);
  });

  it('does not ask the lease for a status, which changes nothing', async () => {
    const beforeSend = (): never => {
      throw new Error('a read asked for permission');
    };
    expect(await scene.until(agent.read(scene.target({ beforeSend, isProbe: true })))).toMatchObject({ state: 'on' });
  });
});

describe('what a status says', () => {
  it.each([
    [0, 'Status: OFF\n'],
    [2, 'Status: ON\n'],
    [0, ''],
    [2, ''],
    [1, 'Status: OFF\n'],
    [2, 'status: off\n'],
    [2, 'Status: OFF\nStatus: ON\n'],
    [137, 'Status: OFF\n'],
  ])('is unknown when it is exit code %i and %j', async (code, log) => {
    scene.program = () => ({ code, log });
    const reading = await scene.until(agent.read(scene.target()));
    expect(reading.state).toBe('unknown');
    expect(reading.detail).toContain(`exit code ${code}`);
  });

  it('is not known without its log, and says why', async () => {
    scene.world.seen.podLog = () => Promise.reject(new ApiStatusError(403, 'Forbidden', 'pods "x" is forbidden: cannot get resource "pods/log"'));
    const reading = await scene.until(agent.read(scene.target()));
    expect(reading).toMatchObject({ state: 'unknown', detail: expect.stringContaining('cannot get resource "pods/log"') as string });
  });

  it('is bounded, without control characters and without the secret', async () => {
    scene.program = () => ({ code: 1, log: `${'x'.repeat(90_000)}\n\u0007password=${PASSWORD} refused\n` });
    const { detail } = await scene.until(agent.read(scene.target()));
    expect(detail.length).toBeLessThan(3_000);
    scene.program = () => ({ code: 1, log: `${'y'.repeat(3_000)}\n\u0007password=${PASSWORD} refused\n` });
    const second = await scene.until(agent.read(scene.target()));
    expect(second.detail).toContain('?password=*** refused');
    expect(second.detail).not.toContain(PASSWORD);
    expect(second.detail).not.toMatch(/\p{Cc}/u);
    expect(second.detail.length).toBeLessThan(3_000);
  });
});

describe('two methods at once', () => {
  it('have Jobs of their own, whatever plug and device they are for', async () => {
    scene.outlets.set('4', 'on');
    const other = scene.target({ plug: '4', intent: 'outlet-4-off-7d0f2e9a-3d3a-4d55-9d0e-0c6f5d5fbe1a' });
    await scene.until(Promise.all([agent.set(scene.target(), 'off'), agent.set(other, 'off')]));
    expect([...scene.outlets.values()]).toEqual(['off', 'off']);
    const names = (await scene.jobController.jobs()).map(({ metadata }) => metadata.name);
    expect(new Set(names).size).toBe(2);
    expect(await scene.until(agent.read(other))).toMatchObject({ state: 'off' });
  });
});
