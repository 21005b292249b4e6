import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PRESERVE } from '../../src/controllers/preservation/names.ts';
import { fenceName } from '../../src/domain/node-fence.ts';
import { LEASES, NODE_FENCE_STOPS, NODE_FENCES, NODE_LEASE_NAMESPACE, NODES, VOLUME_ATTACHMENTS } from '../../src/ports/resources.ts';
import { ShellWorld } from './shell-world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NODE = 'node-of-m1';

let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

/** By a kubelet whose clock is wrong by so much. */
async function renew(aheadMs: number): Promise<void> {
  const { operator } = world.nodes;
  const spec = { renewTime: new Date(world.clock.wallMs() + aheadMs).toISOString() };
  const place = { name: NODE, namespace: NODE_LEASE_NAMESPACE };
  if ((await operator.get(LEASES, NODE, NODE_LEASE_NAMESPACE)) === undefined) await operator.create(LEASES, { metadata: place, spec });
  else await operator.mergePatch(LEASES, NODE, { spec }, { namespace: NODE_LEASE_NAMESPACE });
}

/** It has watched for so long that it knows what came before what. */
const WATCHED_MS = MINUTE_MS;

describe('a lease that was renewed after the proof of a fence', () => {
  it('keeps pods from being taken by force, and it is told', async () => {
    await world.add('m1', { phase: 'Failed', ready: 'Unknown', machine: { [PRESERVE]: 'when-failed' }, timeout: '1h' });
    await world.addPod('web', NODE, { isBudgeted: true });
    await renew(-HOUR_MS);
    const { writes, controller } = world.start();
    await world.pass(WATCHED_MS);
    await world.fenced(NODE);
    await world.pass(1_000);
    await renew(-HOUR_MS);
    await world.pass(7 * MINUTE_MS, 2_000);
    expect(writes.filter((write) => write.startsWith('DELETE'))).toEqual([]);
    expect(controller.problems().join()).toContain('its lease was renewed after the proof');
  });

  it('keeps the Machine, and it is told', async () => {
    await world.add('m1', { phase: 'Running', ready: 'Unknown' });
    await renew(-HOUR_MS);
    const { controller } = world.start();
    await world.pass(WATCHED_MS);
    await world.fenced(NODE);
    await world.pass(1_000);
    await renew(-HOUR_MS);
    await world.pass(1_000);
    await world.phase('m1', 'Terminating');
    await world.pass(2 * MINUTE_MS, 2_000);
    expect(await world.machine('m1')).toBeDefined();
    expect(controller.problems().join()).toContain('its lease was renewed after the proof');
  });
});

describe('a lease of a kubelet whose clock is ahead', () => {
  it('is no sign of life after the proof: the Machine goes at once', async () => {
    await world.add('m1', { phase: 'Terminating', ready: 'Unknown' });
    await renew(36 * MINUTE_MS);
    world.start();
    await world.pass(WATCHED_MS);
    await world.fenced(NODE);
    await world.pass(5_000);
    expect(await world.machine('m1')).toBeUndefined();
  });

  it('has to be seen to stand still by a process that was not there before the proof, which is told', async () => {
    await world.add('m1', { phase: 'Terminating', ready: 'Unknown' });
    await world.fenced(NODE);
    await renew(36 * MINUTE_MS);
    const { controller } = world.start();
    await world.pass(39_000);
    expect(await world.machine('m1')).toBeDefined();
    expect(controller.problems().join()).toContain('it is not known yet that its lease was not renewed since');
    await world.pass(30_000);
    expect(await world.machine('m1')).toBeUndefined();
  });
});

describe('a Machine whose Node is out of service with a volume', () => {
  const VOLUME = 'csi-data';

  async function outOfService(): Promise<void> {
    await world.add('m1', { phase: 'Terminating', ready: 'Unknown' });
    const taints = [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }];
    await world.nodes.operator.mergePatch(NODES, NODE, { spec: { taints } });
    const spec = { attacher: 'csi', nodeName: NODE, source: { persistentVolumeName: 'data' } };
    await world.nodes.operator.create(VOLUME_ATTACHMENTS, { metadata: { name: VOLUME }, spec });
  }

  async function terminating(): Promise<ReturnType<ShellWorld['start']>> {
    await outOfService();
    await renew(-MINUTE_MS);
    const replica = world.start();
    await world.pass(WATCHED_MS, 2_000);
    await world.fenced(NODE);
    return replica;
  }

  it('is deleted when that is detached, for the Node goes with it', async () => {
    const { controller } = await terminating();
    await world.pass(MINUTE_MS, 2_000);
    expect(await world.machine('m1')).toBeDefined();
    expect(controller.problems()).toEqual([]);
    await world.nodes.operator.remove(VOLUME_ATTACHMENTS, VOLUME);
    await world.pass(15_000, 1_000);
    expect(await world.machine('m1')).toBeUndefined();
  });

  it('is deleted all the same after two minutes, and a person is told', async () => {
    const { events } = await terminating();
    await world.pass(3 * MINUTE_MS, 2_000);
    expect(await world.machine('m1')).toBeUndefined();
    expect(events.join()).toContain('Machine m1 Warning MachineDeleted');
  });

  it('has these two minutes from when its proof stands', async () => {
    await outOfService();
    await world.fenced(NODE);
    await renew(-MINUTE_MS);
    world.start();
    await world.pass(140_000, 2_000);
    expect(await world.machine('m1')).toBeDefined();
    await world.pass(4 * MINUTE_MS, 2_000);
    expect(await world.machine('m1')).toBeUndefined();
  });
});

describe('a proof that is old when something is to rest on it', () => {
  async function terminating(device: ShellWorld['device']): Promise<ReturnType<ShellWorld['start']>> {
    await world.add('m1', { phase: 'Terminating', ready: 'Unknown' });
    await renew(-MINUTE_MS);
    world.device = device;
    const replica = world.start();
    await world.pass(WATCHED_MS);
    await world.fenced(NODE);
    await world.pass(MINUTE_MS);
    return replica;
  }

  it.each([
    ['reads on', () => ({ doubt: 'its device reads on' }), 'its device reads on'],
    ['was read five seconds ago', () => ({ atMs: world.clock.monotonicMs() - 5_000 }), 'the last read of its device is older than 4 s'],
  ])('keeps the Machine while the device %s, tells it, and lets it go once the device is read off', async (_what, device, told) => {
    const { controller } = await terminating(device);
    expect(await world.machine('m1')).toBeDefined();
    expect(controller.problems().join()).toContain(told);
    expect((await world.told()).join()).toContain(told);
    world.device = () => ({ atMs: world.clock.monotonicMs() });
    await world.pass(2 * MINUTE_MS, 2_000);
    expect(await world.machine('m1')).toBeUndefined();
    expect(await world.told()).toEqual([]);
  });

  it.each([
    ['reads on', () => ({ doubt: 'its device reads on' })],
    ['was read five seconds ago', () => ({ atMs: world.clock.monotonicMs() - 5_000 })],
  ])('keeps pods from being taken by force while the device %s', async (_what, device) => {
    await world.add('m1', { phase: 'Failed', ready: 'Unknown', machine: { [PRESERVE]: 'when-failed' }, timeout: '1h' });
    await world.addPod('web', NODE, { isBudgeted: true });
    await renew(-HOUR_MS);
    world.device = device;
    const { writes } = world.start();
    await world.pass(WATCHED_MS);
    await world.fenced(NODE);
    await world.pass(7 * MINUTE_MS, 2_000);
    expect(writes.filter((write) => write.startsWith('DELETE'))).toEqual([]);
    world.device = () => ({ atMs: world.clock.monotonicMs() });
    await world.pass(MINUTE_MS, 2_000);
    expect(writes.filter((write) => write.startsWith('DELETE'))).toHaveLength(1);
  });

  it('is no proof under a stop that came while the device was read', async () => {
    const { controller } = await terminating(() => {
      void world.nodes.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'stop' }, spec: { node: NODE, reason: 'I look at it' } });
      return { atMs: world.clock.monotonicMs() };
    });
    expect(await world.machine('m1')).toBeDefined();
    expect(controller.problems().join()).toContain('I look at it');
  });
});

/** It is deleted, and the fence controller is switching the machine on again: its finalizer still stands. */
async function takenBack(): Promise<void> {
  const { operator } = world.nodes;
  await operator.mergePatch(NODE_FENCES, fenceName(NODE), { metadata: { finalizers: ['nodefence.ha.k8s.io/protect'] } });
  await operator.remove(NODE_FENCES, fenceName(NODE));
}

describe('right before a Machine is deleted', () => {
  it.each([
    ['a proof that was voided meanwhile', () => world.nodes.operator.remove(NODE_FENCES, fenceName(NODE)), 'no fence has proven'],
    ['a fence that is being taken back', takenBack, 'no fence has proven'],
    ['a node that is Ready again', () => world.ready(NODE, 'True'), 'the node is Ready'],
  ])('%s is seen though no watch tells it', async (_what, happens, told) => {
    await world.add('m1', { phase: 'Terminating', ready: 'Unknown' });
    await world.fenced(NODE);
    await renew(-MINUTE_MS);
    const replica = world.start({ isLeading: false });
    await world.pass(2_000);
    replica.deafen();
    await happens();
    replica.leadership.isLeading = true;
    replica.controller.wake();
    await world.pass(5_000);
    expect(await world.machine('m1')).toBeDefined();
    expect(replica.controller.problems().join()).toContain(told);
  });

  it('a node that stands there again is seen though no watch tells it', async () => {
    await world.add('m1', { phase: 'Terminating', ready: 'Unknown' });
    await world.nodes.operator.remove(NODES, NODE);
    const replica = world.start({ isLeading: false });
    await world.pass(2_000);
    replica.deafen();
    await world.addNode(NODE);
    replica.leadership.isLeading = true;
    replica.controller.wake();
    await world.pass(5_000);
    expect(await world.machine('m1')).toBeDefined();
  });

  it('another who has the node is seen though no watch tells it: it is waited for, and told who it is', async () => {
    await world.add('m1', { phase: 'Terminating', ready: 'Unknown' });
    const replica = world.start({ isLeading: false });
    await world.pass(2_000);
    replica.deafen();
    const requestedBy = { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFenceRemediation', namespace: 'default', name: 'r', uid: 'another' };
    await world.nodes.operator.create(NODE_FENCES, { metadata: { name: fenceName(NODE) }, spec: { node: NODE, requestedBy } });
    replica.leadership.isLeading = true;
    replica.controller.wake();
    await world.pass(5_000);
    expect((await world.fence(NODE))?.spec.requestedBy).toEqual(requestedBy);
    expect(replica.controller.problems().join()).toContain(`NodeFenceRemediation default/r has node ${NODE}`);
    expect(replica.events).toContain(`Node ${NODE} Warning PreservationBlocked`);
  });

  it('an old lease is no sign of life', async () => {
    await world.add('m1', { phase: 'Terminating', ready: 'Unknown' });
    await renew(-MINUTE_MS);
    world.start();
    await world.pass(WATCHED_MS);
    await world.fenced(NODE);
    await world.pass(10_000);
    expect(await world.machine('m1')).toBeUndefined();
  });
});
