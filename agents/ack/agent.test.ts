import { beforeEach, describe, expect, it } from 'vitest';

import type { ActionAgent, Target } from '../../src/ports/agents.ts';
import { ApiStatusError } from '../../src/ports/api-transport.ts';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { EVENTS, NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { ack } from './definition.ts';

const STATUS = { state: 'running', incident: 3, frozen: { plan: { minimumEvidence: ['ack'], release: 'auto' } } };

describe('ack', () => {
  let clock: ManualClock;
  let objects: Map<string, KubeObject[]>;
  let created: KubeObject[];
  let eventsFail: boolean;
  let agent: ActionAgent;

  beforeEach(async () => {
    clock = new ManualClock();
    eventsFail = false;
    created = [];
    objects = new Map<string, KubeObject[]>([
      [NODES.plural, [{ metadata: { name: 'worker-1' }, status: { nodeInfo: { bootID: 'boot-1' } } } as KubeObject]],
      [NODE_FENCES.plural, [{ metadata: { name: 'node-fence-worker-1', uid: 'fence-1' }, status: STATUS } as unknown as KubeObject]],
      [NODE_FENCE_ACKNOWLEDGEMENTS.plural, []],
    ]);
    const cluster: Partial<Cluster> = {
      get: <T extends KubeObject>(resource: Resource<T>, name: string) =>
        Promise.resolve(objects.get(resource.plural)?.find(({ metadata }) => metadata.name === name) as T | undefined),
      list: <T extends KubeObject>(resource: Resource<T>) => Promise.resolve((objects.get(resource.plural) ?? []) as T[]),
      create: <T extends KubeObject>(_resource: Resource<T>, object: T) => {
        created.push(object);
        return eventsFail ? Promise.reject(new ApiStatusError(403, 'Forbidden', 'events')) : Promise.resolve(object);
      },
    };
    const made = await ack.create({ cluster: cluster as Cluster, clock });
    if (made.kind !== 'action') throw new Error('not an action');
    agent = made;
  });

  function target(change: Partial<Target> = {}): Target {
    return {
      plug: '',
      device: '',
      parameters: {},
      identity: { node: 'worker-1' },
      signal: new AbortController().signal,
      deadlineMs: 60_000,
      beforeSend: () => undefined,
      ...change,
    };
  }

  function word(spec: object = {}, more: object = {}): void {
    const whole = { node: 'worker-1', nodeFenceUID: 'fence-1', incident: 3, bootID: 'boot-1', reason: 'I pulled both cords', ...spec };
    objects.get(NODE_FENCE_ACKNOWLEDGEMENTS.plural)?.push({ metadata: { name: 'word' }, spec: whole, ...more } as KubeObject);
  }

  /** Lets the time pass in which the agent looks again and again; `meanwhile` is told the seconds that are over. */
  async function ended<T>(promise: Promise<T>, meanwhile: (seconds: number) => void = () => undefined): Promise<T> {
    const state = { isOver: false };
    const watched = promise.finally(() => {
      state.isOver = true;
    });
    watched.catch(() => undefined);
    for (let seconds = 0; !state.isOver && seconds < 1_000; seconds += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      meanwhile(seconds);
      await clock.advance(1_000);
    }
    return watched;
  }

  it('waits for the word on this very incident, and says on the Node what is to be done', async () => {
    const outcome = await ended(agent.run(target()), (seconds) => {
      if (seconds === 20) word();
    });
    expect(outcome).toEqual({ result: 'accepted', detail: 'word is valid: I pulled both cords' });
    expect(outcome.evidence, 'what it proves is weighed by the core').toBeUndefined();
    expect(created).toMatchObject([
      {
        involvedObject: { kind: 'Node', name: 'worker-1' },
        reason: 'AcknowledgementNeeded',
        message: expect.stringContaining('nodefence ack worker-1') as string,
      },
    ]);
    expect(EVENTS.plural).toBe('events');
    expect(await agent.confirm(target())).toBe(true);
  });

  it('asks nobody when the word stands already', async () => {
    word();
    await agent.run(target());
    expect(created).toEqual([]);
  });

  it.each([
    ['another incident', { incident: 2 }, {}, 'incident 2'],
    ['another fence', { nodeFenceUID: 'fence-0' }, {}, 'another NodeFence'],
    ['another boot', { bootID: 'boot-0' }, {}, 'boot boot-0'],
    ['long ago', {}, { metadata: { name: 'word', creationTimestamp: '1969-12-31T23:44:00Z' } }, '15 minutes'],
    ['what was refused', {}, { status: { state: 'refused', message: 'the BMC reads on' } }, 'the BMC reads on'],
    ['another node', { node: 'worker-2' }, {}, 'nobody has said so:'],
  ])('does not take a word about %s', async (_what, spec, more, words) => {
    word(spec, more);
    await expect(ended(agent.run(target()))).rejects.toMatchObject({ kind: 'Timeout', message: expect.stringContaining(words) as string });
    expect(await agent.confirm(target())).toBe(false);
  });

  it('takes the word that counts, whatever stands before it', async () => {
    word({ incident: 2 });
    word({ reason: 'seen myself' }, { metadata: { name: 'second' } });
    expect(await agent.run(target())).toEqual({ result: 'accepted', detail: 'second is valid: seen myself' });
  });

  it('weighs the age of a word until the core has accepted it', async () => {
    const old = { metadata: { name: 'word', creationTimestamp: '1969-12-31T23:44:00Z' } };
    word({}, { ...old, status: { message: 'not weighed yet' } });
    expect(await agent.confirm(target())).toBe(false);
    word({}, { ...old, status: { state: 'accepted' } });
    expect(await agent.confirm(target())).toBe(true);
  });

  it('does not take a word when the configuration admits none', async () => {
    const plan = { minimumEvidence: ['power-off'], release: 'auto' };
    objects.set(NODE_FENCES.plural, [
      { metadata: { name: 'node-fence-worker-1', uid: 'fence-1' }, status: { ...STATUS, frozen: { plan } } } as unknown as KubeObject,
    ]);
    word();
    await expect(ended(agent.run(target()))).rejects.toMatchObject({ message: expect.stringContaining('minimum_evidence') as string });
  });

  it('waits also where it may write no events, and ends when it is given up', async () => {
    eventsFail = true;
    const controller = new AbortController();
    const waiting = ended(agent.run(target({ signal: controller.signal })), (seconds) => {
      if (seconds === 10) controller.abort();
    });
    await expect(waiting).rejects.toMatchObject({ kind: 'NotSent' });
    expect(clock.pending, 'no timer is left').toBe(0);
  });

  it('tells the core how long it may take', () => {
    expect(ack.runMaxMs?.({})).toBe(300_000);
    expect(ack.runMaxMs?.({ wait: '90s' })).toBe(90_000);
    expect(ack.check({ wait: '2h' }, true)).toMatchObject([{ parameter: 'wait' }]);
  });
});
