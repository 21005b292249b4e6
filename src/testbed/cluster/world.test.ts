import { describe, expect, it } from 'vitest';
import { isPodReady, isReady, WORLD_NODES, WORLD_PODS } from './kinds.ts';
import { OUT_OF_SERVICE, UNREACHABLE } from './taints.ts';
import { TestWorld } from './test-world.ts';
import { countOverlaps } from '../../laws/writers.ts';

const NODES = ['a', 'b', 'c'];
const OUR_TAINT = { key: OUT_OF_SERVICE, value: 'nodeshutdown', effect: 'NoExecute' } as const;

/** The pod on node `a`, and the others. */
async function podOn(world: TestWorld, node: string): Promise<string> {
  const pod = (await world.list(WORLD_PODS)).find(({ spec }) => spec.nodeName === node);
  if (pod === undefined) throw new Error(`no pod on ${node}`);
  return pod.metadata.name;
}

async function attachedTo(world: TestWorld, node: string): Promise<number> {
  return (await world.attachments()).filter(({ spec }) => spec.nodeName === node).length;
}

describe('a cluster at rest', () => {
  it('registers its nodes and spreads a ready pod with an attached volume over each', async () => {
    const world = await TestWorld.running(NODES);
    const pods = await world.list(WORLD_PODS);
    expect(pods.map(({ spec }) => spec.nodeName).sort()).toEqual(NODES);
    expect(pods.every(isPodReady)).toBe(true);
    expect((await world.attachments()).every(({ status }) => status?.attached === true)).toBe(true);
    const node = await world.node('a');
    expect([isReady(node), node.status.nodeInfo?.bootID, node.status.nodeInfo?.systemUUID, node.spec.taints ?? []]).toEqual([
      true,
      world.machine('a').bootID,
      'uuid-a',
      [],
    ]);
  });

  it('renews leases and nothing else, and never lists again', async () => {
    const world = await TestWorld.running(NODES);
    const before = world.trace.length;
    await world.clock.advance(10_000);
    const calls = world.trace.slice(before).filter((event) => event.kind === 'api');
    expect(calls.filter(({ resource }) => resource === 'leases.coordination.k8s.io').length).toBeGreaterThanOrEqual(57);
    expect(calls.filter(({ resource }) => resource !== 'leases.coordination.k8s.io').length).toBeLessThanOrEqual(6);
    expect(calls.filter(({ verb }) => verb === 'list')).toEqual([]);
  });
});

describe('a node whose disk is full', () => {
  it('says so at once, and that it has room again', async () => {
    const world = await TestWorld.running(NODES);
    const pressure = async (): Promise<string | undefined> =>
      (await world.node('a')).status.conditions?.find(({ type }) => type === 'DiskPressure')?.status;
    const seen = [await pressure()];
    for (const isFull of [true, false]) {
      world.machine('a').kubelet?.fill(isFull);
      await world.clock.advance(100);
      seen.push(await pressure());
    }
    expect(seen).toEqual(['False', 'True', 'False']);
  });
});

describe('a node that fails', () => {
  it('becomes Unknown and tainted after the grace, and its pod is left where it is', async () => {
    const world = await TestWorld.running(NODES);
    const pod = await podOn(world, 'a');
    world.machine('a').panic();
    await world.clock.advance(3_400);
    expect(isReady(await world.node('a'))).toBe(true);
    await world.clock.advance(1_000);
    const node = await world.node('a');
    const told = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];
    expect(node.status.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason ?? ''}`)).toEqual(
      told.map((type) => `${type} Unknown NodeStatusUnknown`),
    );
    expect(node.spec.taints?.map(({ key, effect }) => `${key}:${effect}`)).toEqual([`${UNREACHABLE}:NoSchedule`, `${UNREACHABLE}:NoExecute`]);
    await world.clock.advance(60_000);
    expect((await world.pod(pod))?.spec.nodeName).toBe('a');
    expect((await world.pod(pod))?.metadata.deletionTimestamp).toBeUndefined();
  });

  it('evicts its pod after the toleration seconds, but the name stays taken while the pod object hangs', async () => {
    const world = await TestWorld.running(NODES, { tolerationSeconds: 20 });
    const pod = await podOn(world, 'a');
    const uid = (await world.pod(pod))?.metadata.uid;
    world.machine('a').panic();
    await world.clock.advance(60_000);
    expect((await world.pod(pod))?.metadata.deletionTimestamp).toBeDefined();
    expect((await world.pod(pod))?.metadata.uid).toBe(uid);
  });

  it('gives its workload free once it is out of service, and another node goes on from the counter on the disk', async () => {
    const world = await TestWorld.running(NODES);
    const pod = await podOn(world, 'a');
    const volume = await world.volumeOf(pod);
    const uid = (await world.pod(pod))?.metadata.uid;
    world.machine('a').panic();
    world.machine('a').powerOff('set');
    const counter = world.disk.last(volume);
    await world.clock.advance(6_000);
    expect(world.disk.last(volume)).toBe(counter);
    await world.taint('a', [OUR_TAINT]);
    // Eleven seconds into the world; the rounds of the pod garbage collector are every twenty.
    await world.clock.advance(8_500);
    expect((await world.pod(pod))?.metadata.uid).toBe(uid);
    await world.clock.advance(3_500);
    const moved = await world.pod(pod);
    expect([moved?.metadata.uid === uid, moved?.spec.nodeName === 'a', moved !== undefined && isPodReady(moved)]).toEqual([false, false, true]);
    expect((await world.attachments()).filter(({ spec }) => spec.nodeName === 'a')).toEqual([]);
    expect(world.disk.last(volume)).toBeGreaterThan(counter);
    expect(countOverlaps(world.trace)).toBe(0);
  });

  it('shows two writers when its workload is freed while it still writes', async () => {
    const world = await TestWorld.running(NODES);
    const pod = await podOn(world, 'a');
    world.machine('a').hang();
    await world.clock.advance(6_000);
    await world.taint('a', [OUR_TAINT]);
    await world.clock.advance(12_000);
    expect((await world.pod(pod))?.spec.nodeName).not.toBe('a');
    expect(countOverlaps(world.trace)).toBeGreaterThan(0);
  });

  it('keeps its volume for six minutes when its pod is force-deleted without the taint', async () => {
    const world = await TestWorld.running(NODES);
    const pod = await podOn(world, 'a');
    world.machine('a').panic();
    await world.clock.advance(6_000);
    const before = await world.pod(pod);
    if (before !== undefined) await world.admin.remove(WORLD_PODS, before, 0);
    await world.clock.advance(350_000);
    const waiting = await world.pod(pod);
    expect([waiting?.spec.nodeName === 'a', waiting !== undefined && isPodReady(waiting)]).toEqual([false, false]);
    await world.clock.advance(20_000);
    const moved = await world.pod(pod);
    expect(moved !== undefined && isPodReady(moved)).toBe(true);
  });

  it('keeps its volume for six minutes when its Node is deleted with the volume mounted, for no taint can be seen any more', async () => {
    const world = await TestWorld.running(NODES);
    const pod = await podOn(world, 'a');
    world.machine('a').panic();
    world.machine('a').powerOff('set');
    await world.clock.advance(6_000);
    await world.admin.remove(WORLD_NODES, await world.node('a'));
    await world.clock.advance(350_000);
    const waiting = await world.pod(pod);
    expect([waiting?.spec.nodeName === 'a', waiting !== undefined && isPodReady(waiting)]).toEqual([false, false]);
    expect(await attachedTo(world, 'a')).toBe(1);
    // Besides the six minutes: the garbage collector's quarantine of a pod whose Node is gone, and two of its rounds.
    await world.clock.advance(100_000);
    const moved = await world.pod(pod);
    expect([await attachedTo(world, 'a'), moved !== undefined && isPodReady(moved)]).toEqual([0, true]);
    expect(countOverlaps(world.trace)).toBe(0);
  });

  it('keeps its volume no longer when its Node is deleted after the volume was detached by the taint', async () => {
    const world = await TestWorld.running(NODES);
    const pod = await podOn(world, 'a');
    world.machine('a').panic();
    world.machine('a').powerOff('set');
    await world.clock.advance(6_000);
    await world.taint('a', [OUR_TAINT]);
    await world.clock.advance(25_000);
    expect(await attachedTo(world, 'a')).toBe(0);
    await world.admin.remove(WORLD_NODES, await world.node('a'));
    await world.clock.advance(2_000);
    const moved = await world.pod(pod);
    expect(moved !== undefined && isPodReady(moved)).toBe(true);
  });

  it('lets go of its volume when another Node registers under its name, which has nothing mounted', async () => {
    const world = await TestWorld.running(NODES);
    const pod = await podOn(world, 'a');
    world.machine('a').powerOff('set');
    await world.clock.advance(6_000);
    await world.admin.remove(WORLD_NODES, await world.node('a'));
    await world.clock.advance(90_000);
    expect(await attachedTo(world, 'a')).toBe(1);
    world.machine('a').powerOn('set');
    await world.clock.advance(5_000);
    const moved = await world.pod(pod);
    expect(moved !== undefined && isPodReady(moved)).toBe(true);
    expect(countOverlaps(world.trace)).toBe(0);
  });

  it('comes back with another boot ID, Ready and without taints, and may carry pods again', async () => {
    const world = await TestWorld.running(NODES);
    const bootID = world.machine('a').bootID;
    world.machine('a').powerOff('set');
    await world.clock.advance(6_000);
    world.machine('a').powerOn('set');
    await world.clock.advance(3_000);
    const node = await world.node('a');
    expect([isReady(node), node.spec.taints ?? [], node.status.nodeInfo?.bootID === bootID]).toEqual([true, [], false]);
    const told = ['DiskPressure False', 'MemoryPressure False', 'PIDPressure False', 'Ready True'];
    expect(node.status.conditions?.map(({ type, status }) => `${type} ${status}`).sort()).toEqual(told);
    const pod = await world.pod(await podOn(world, 'a'));
    expect(pod !== undefined && isPodReady(pod)).toBe(true);
    expect(countOverlaps(world.trace)).toBe(0);
  });

  it('stops a pod that was deleted behind its back as soon as it reaches the API again', async () => {
    const world = await TestWorld.running(NODES);
    const pod = await podOn(world, 'a');
    world.machine('a').partition();
    await world.clock.advance(6_000);
    expect(world.machine('a').kubelet?.running).toHaveLength(1);
    const before = await world.pod(pod);
    if (before !== undefined) await world.admin.remove(WORLD_PODS, before, 0);
    await world.clock.advance(1_000);
    expect(world.machine('a').kubelet?.running).toHaveLength(1);
    world.machine('a').heal();
    await world.clock.advance(3_000);
    expect(isReady(await world.node('a'))).toBe(true);
    const uid = before?.metadata.uid ?? '';
    expect(world.machine('a').kubelet?.running).not.toContain(uid);
  });
});

describe('a node that lives', () => {
  it('lets a deleted pod run for its grace, then lets it go and starts its successor', async () => {
    const world = await TestWorld.running(NODES, {}, { terminationGracePeriodSeconds: 2 });
    const pod = await podOn(world, 'a');
    const before = await world.pod(pod);
    if (before !== undefined) await world.admin.remove(WORLD_PODS, before);
    await world.clock.advance(1_500);
    expect(world.machine('a').kubelet?.running).toEqual([before?.metadata.uid]);
    await world.clock.advance(2_500);
    const after = await world.pod(pod);
    expect([after?.metadata.uid === before?.metadata.uid, after !== undefined && isPodReady(after)]).toEqual([false, true]);
    expect(countOverlaps(world.trace)).toBe(0);
  });

  it('gets no new pods while it is cordoned', async () => {
    const world = await TestWorld.running(NODES);
    await world.admin.patch(WORLD_NODES, { name: 'a' }, 'merge', { spec: { unschedulable: true } });
    await world.clock.advance(100);
    const pod = await world.pod(await podOn(world, 'a'));
    if (pod !== undefined) await world.admin.remove(WORLD_PODS, pod);
    await world.clock.advance(5_000);
    expect((await world.list(WORLD_PODS)).filter(({ spec }) => spec.nodeName === 'a')).toEqual([]);
    expect((await world.node('a')).spec.taints?.map(({ key }) => key)).toEqual(['node.kubernetes.io/unschedulable']);
  });

  it('says goodbye when it is shut down in order', async () => {
    const world = await TestWorld.running(NODES);
    await world.machine('a').shutdown();
    const ready = (await world.node('a')).status.conditions?.find(({ type }) => type === 'Ready');
    expect([ready?.status, ready?.message, world.machine('a').state]).toEqual(['False', 'node is shutting down', 'off']);
  });

  it('has the pods of a deleted Node collected once the quarantine is over that began with the next round, and registers again while it lives', async () => {
    const world = await TestWorld.running(NODES);
    const pod = await podOn(world, 'a');
    world.machine('a').powerOff('set');
    await world.admin.remove(WORLD_NODES, await world.node('a'));
    // Missed by the round at 20 s, collected by the one at 60 s; five seconds have passed.
    await world.clock.advance(54_000);
    expect((await world.pod(pod))?.spec.nodeName).toBe('a');
    await world.clock.advance(3_000);
    expect((await world.pod(pod))?.spec.nodeName).not.toBe('a');
    await world.admin.remove(WORLD_NODES, await world.node('b'));
    await world.clock.advance(2_000);
    expect(isReady(await world.node('b'))).toBe(true);
  });
});
