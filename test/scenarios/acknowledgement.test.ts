import { describe, expect } from 'vitest';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import { NODE_FENCE_ACKNOWLEDGEMENTS, PODS } from '../../src/ports/resources.ts';
import type { AcknowledgementStatus, NodeFenceAcknowledgement } from '../../src/ports/resources.ts';
import { condition } from './operator.ts';
import type { Play } from './scenario.ts';
import { scenario } from './scenario.ts';
import { until } from './waiting.ts';

const DEAD_BMC = { bmcs: { a: { faults: { isSilent: true } } } };

/** It answers at once, and never with what was asked. */
const REFUSING_BMC = { bmcs: { a: { faults: { failures: ['GET', 'POST'].map((method) => ({ method, path: '/redfish/v1', status: 503 })) } } } };

/** The node fails, its fence gives up. */
async function givenUp({ world, operator }: Play): Promise<NodeFenceStatus> {
  world.machine('a').panic();
  return operator.seesFailure('a');
}

/** What a person writes who has looked at node a. Returns the controller's answer. */
async function acknowledge({ world, operator }: Play, changes: Partial<NodeFenceAcknowledgement['spec']> = {}): Promise<AcknowledgementStatus> {
  const fence = await operator.fence('a');
  const bootID = (await operator.node('a')).status.nodeInfo?.bootID;
  const name = `word-${world.clock.wallMs()}`;
  await world.cluster.create(NODE_FENCE_ACKNOWLEDGEMENTS, {
    metadata: { name },
    spec: {
      node: 'a',
      nodeFenceUID: fence?.metadata.uid ?? '',
      incident: fence?.status?.incident ?? 0,
      ...(bootID === undefined ? {} : { bootID }),
      reason: 'I hold its power cord in my hand',
      ...changes,
    },
  });
  return until('the acknowledgement is answered', async () => {
    const status = (await world.cluster.get(NODE_FENCE_ACKNOWLEDGEMENTS, name))?.status;
    return status?.state === undefined ? undefined : status;
  });
}

describe.concurrent('a person who has looked at a machine whose BMC is dead', () => {
  scenario('frees its workload with one word; nothing is switched, and the repaired machine recovers by itself', DEAD_BMC, async (play) => {
    const { world, operator } = play;
    await givenUp(play);
    world.machine('a').powerOff('restore');
    expect((await acknowledge(play)).state).toBe('accepted');
    const status = await operator.sees('a', 'done with its release', (now) => now.state === 'done');
    expect(status.evidence.at(-1)).toMatchObject({ kind: 'ack', grade: 'person' });
    expect(status.evidence.at(-1)?.detail).toContain('I hold its power cord in my hand');
    expect(condition(status, 'WorkloadReleased')).toBe('True Released');
    expect(condition(status, 'PoweredOff')).toBe('False NoProof');
    expect(status.message).toContain('released on an acknowledgement');
    expect(world.witness.sets('a')).toEqual([]);
    await until('no pod is left on a', async () => ((await world.podsOn('a')).length === 0 ? true : undefined));
    expect(await operator.hears('NodeFence', 'node-fence-a', 'ReleasedOnAcknowledgement')).toContain(
      'The acknowledgement is evidence: the workload is released.',
    );
    world.machine('a').powerOn('restore');
    await operator.seesRecovery('a');
    expect((await operator.node('a')).spec.unschedulable ?? false).toBe(false);
  });

  scenario(
    'frees its workload batch by batch with that one word, which is weighed anew before each; nothing is switched',
    { ...REFUSING_BMC, wrote: (files) => files.set({ pods_per_minute: '11', release_timeout: '60s' }) },
    async (play) => {
      const { world, operator } = play;
      const spec = { nodeName: 'a', containers: [{ name: 'x', image: 'x' }] };
      await world.cluster.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'alone', namespace: 'default' }, spec });
      await until('the pod is on the node', async () => ((await world.podsOn('a')).includes('alone') ? true : undefined));
      await givenUp(play);
      world.machine('a').powerOff('restore');
      expect((await acknowledge(play)).state).toBe('accepted');
      const status = await operator.sees('a', 'done with its release', (now) => now.state === 'done');
      expect(status.released).toMatchObject({ pods: 2, left: 0, batch: 2 });
      expect(status.evidence.filter(({ voidedAt }) => voidedAt !== undefined)).toEqual([]);
      expect(world.witness.sets('a')).toEqual([]);
    },
  );

  scenario('speaks of the failure before this one: it is refused in words, and nothing is freed', DEAD_BMC, async (play) => {
    const { incident } = await givenUp(play);
    const answer = await acknowledge(play, { incident: incident + 1 });
    expect(answer).toMatchObject({ state: 'refused' });
    expect(answer.message).toContain(`incident ${incident + 1}; the one that is open is ${incident}`);
    expect(play.world.witness.releases()).toEqual([]);
  });

  scenario('speaks of another boot: it is refused', DEAD_BMC, async (play) => {
    await givenUp(play);
    expect((await acknowledge(play, { bootID: 'another' })).message).toContain('it names boot another');
    expect(play.world.witness.releases()).toEqual([]);
  });
});

describe.concurrent('a person who is wrong', () => {
  const refuses = { bmcs: { a: { faults: { failures: [{ method: 'POST', path: '/redfish/v1/Systems', status: 403 }] } } } };
  scenario('is told what the device shows, and nothing is freed', refuses, async (play) => {
    await givenUp(play);
    const answer = await acknowledge(play);
    expect(answer.state).toBe('refused');
    expect(answer.message).toContain('reads on');
    expect(play.world.witness.releases()).toEqual([]);
    expect((await play.operator.status('a'))?.state).toBe('error');
  });

  const nameless = { bmcs: { a: { tree: { uuid: null } } } };
  scenario('is told so too by a BMC that does not say whose machine it switches', nameless, async (play) => {
    await givenUp(play);
    const answer = await acknowledge(play);
    expect(answer.state).toBe('refused');
    expect(answer.message).toContain('reads on');
    expect(play.world.witness.releases()).toEqual([]);
  });

  scenario('about a node that is healthy is told that no fence is open', {}, async (play) => {
    const answer = await acknowledge(play, { nodeFenceUID: 'none', incident: 1 });
    expect(answer).toMatchObject({ state: 'refused' });
    expect(answer.message).toContain('no fence of this node is open');
  });
});
