import { beforeEach, describe, expect, it } from 'vitest';

import { seal } from '../../../src/domain/node-daemon/seal.ts';
import { keyOf, macOf } from '../../../src/testbed/simulation/keys.ts';
import { Surroundings } from './fast.ts';
import { ControllerWorld, ZONE } from './world.ts';
import type { Replica } from './world.ts';

const NODES = ['a', 'b', 'c', 'd', 'e', 'f'];

describe('a node that falls silent', () => {
  let world: ControllerWorld;
  let around: Surroundings;
  let leader: Replica;

  beforeEach(async () => {
    world = await ControllerWorld.create();
    around = new Surroundings(world);
    leader = world.replica('controller-1', { around });
    for (const [index, node] of NODES.entries()) {
      const machine = await world.add(node, { [ZONE]: `zone-${index % 3}` }, { hasWatchdog: false });
      await around.kubelet(node);
      await machine.daemon.start();
    }
    await world.run(75_000);
  });

  const failed = (node = 'a', replica = leader): boolean => replica.controller.failureOf(node) !== undefined;
  const die = (node: string): void => world.machines.get(node)?.die('test');

  /** How long until it is taken for failed. */
  async function failedAfterMs(withinMs: number, node = 'a', replica = leader): Promise<number | undefined> {
    for (let overMs = 0; overMs < withinMs; overMs += 100) {
      if (failed(node, replica)) return overMs;
      await world.run(100);
    }
    return undefined;
  }

  it('is taken for failed within 3 s where no peer reaches it and its BMC reads off twice', async () => {
    around.off.add('a');
    die('a');
    expect(await failedAfterMs(10_000)).toBeLessThanOrEqual(3_000);
    expect(around.reads.filter((node) => node === 'a').length).toBeGreaterThanOrEqual(2);
    expect(around.woken).toEqual(['a']);
    expect(around.events).toEqual([
      expect.stringMatching(
        /^a Warning NodeSuspected No heartbeat since .*: taken for failed: its peers do not reach it, and its devices read off\.$/,
      ),
    ]);
    expect(leader.counts.get('silence failed')).toBe(1);
    await world.run(5_000);
    const condition = (await world.report('a'))?.status?.conditions?.find(({ type }) => type === 'NodeDaemonHeard');
    expect(condition).toMatchObject({ status: 'False', reason: 'TakenForFailed' });
  });

  it('waits for its kubelet to be silent for life_wait where its BMC reads on', async () => {
    die('a');
    const afterMs = (await failedAfterMs(40_000)) ?? 0;
    expect(afterMs).toBeGreaterThan(5_000);
    expect(afterMs).toBeLessThanOrEqual(15_000 + 10_000);
    expect(around.events).toEqual([expect.stringContaining('suspected: its peers do not reach it, but its kubelet has renewed its Lease lately')]);
  });

  it('is not taken for failed while its kubelet lives: its daemon was killed', async () => {
    world.machines.get('a')?.kill();
    expect(await failedAfterMs(60_000)).toBeUndefined();
    expect(around.events).toHaveLength(1);
  });

  it('is not taken for failed where its BMC does not show whose machine it is', async () => {
    around.identity = 'unverified';
    around.off.add('a');
    world.machines.get('a')?.kill();
    expect(await failedAfterMs(30_000)).toBeUndefined();
  });

  it('is not taken for failed where one read of two says off', async () => {
    world.machines.get('a')?.kill();
    const flicker = setOff(around, 'a');
    await failedAfterMs(30_000);
    expect(failed()).toBe(false);
    expect(flicker.count()).toBeGreaterThan(4);
  });

  it('is not suspected for one lost heartbeat, or two', async () => {
    for (let time = 0; time < 5; time += 1) {
      world.cut.add('a>controller-1');
      await world.run(2_000);
      world.cut.delete('a>controller-1');
      await world.run(2_000);
    }
    expect(around.events).toEqual([]);
    expect(around.woken).toEqual([]);
  });

  it('is not taken for failed while one peer reaches it, and the peer is named', async () => {
    around.silentKubelets.add('a');
    around.off.add('a');
    world.cut.add('a>controller-1');
    for (const peer of NODES.slice(2)) world.cut.add(`a>${peer}`);
    // Later it takes itself down: too few vouch for it.
    expect(await failedAfterMs(40_000)).toBeUndefined();
    expect(around.events).toEqual([expect.stringContaining('suspected: b still reaches it')]);
  });

  it('is taken for failed no sooner than enough failure domains have said so: silent peers say nothing', async () => {
    around.silentKubelets.add('a');
    around.off.add('a');
    die('a');
    for (const peer of NODES.slice(1)) if (peer !== 'd') world.cut.add(`controller-1>${peer}`);
    expect(await failedAfterMs(60_000)).toBeUndefined();
    expect(around.events).toEqual([expect.stringContaining('too few failure domains')]);
  });

  it('comes back: what was decided is withdrawn with its first heartbeat, before the next look', async () => {
    around.off.add('a');
    for (const other of ['controller-1', ...NODES.slice(1)]) world.cut.add(`a>${other}`);
    await failedAfterMs(5_000);
    expect(failed()).toBe(true);
    const machine = world.machines.get('a')!;
    const heartbeat = {
      type: 'heartbeat',
      counter: Math.floor(world.clock.monotonicMs() * 1_000) + 1,
      signs: 0,
      sender: 'a',
      bootID: machine.bootID,
    } as const;
    world.socket('x', 'x:7411').send('controller-1:7411', seal(heartbeat, macOf(keyOf('key-1'), keyOf('a'))));
    await world.clock.advance(2);
    expect(failed()).toBe(false);
    await world.run(300);
    expect(around.woken).toEqual(['a', 'a']);
  });

  it('is not brought back by an old heartbeat that somebody repeats, or one of another boot', async () => {
    around.off.add('a');
    const [old] = world.sent
      .filter(({ from, to, datagram }) => from === 'a' && to === 'controller-1:7411' && datagram.type === 'heartbeat')
      .slice(-3);
    die('a');
    await failedAfterMs(5_000);
    const machine = { ...old!.datagram, counter: old!.datagram.counter + 60_000_000, bootID: '00000000-0000-4000-8000-00000000beef' };
    world.socket('x', 'x:7411').send('controller-1:7411', old!.bytes);
    world.socket('x', 'x:7412').send('controller-1:7411', seal(machine, macOf(keyOf('key-1'), keyOf('a'))));
    await world.run(500);
    expect(failed()).toBe(true);
    expect(leader.counts.get('refused replayed')).toBe(1);
    expect(leader.counts.get('refused another boot')).toBe(1);
  });

  it('is left alone where its daemon was stopped as it should be, also while the API server is away', async () => {
    around.silentKubelets.add('a');
    around.off.add('a');
    world.cut.add('a>api');
    void world.machines.get('a')?.daemon.close();
    await world.run(100);
    world.machines.get('a')?.kill();
    expect(await failedAfterMs(60_000)).toBeUndefined();
    expect(around.events).toEqual([]);
  });

  it('is left alone where only the API server heard that its daemon stops', async () => {
    around.silentKubelets.add('a');
    around.off.add('a');
    world.cut.add('a>controller-1');
    void world.machines.get('a')?.daemon.close();
    await world.run(500);
    expect((await world.attestation('a'))?.isEnding).toBe(true);
    expect(await failedAfterMs(60_000)).toBeUndefined();
  });

  it('is left alone where its daemon is upgraded: stopped, and started anew', async () => {
    const machine = world.machines.get('a')!;
    void machine.daemon.close();
    await world.run(8_000);
    machine.restart();
    void machine.daemon.start();
    await world.run(20_000);
    expect(around.events).toEqual([]);
    expect((await world.attestation('a'))?.isEnding).toBeUndefined();
    around.off.add('a');
    die('a');
    expect(await failedAfterMs(10_000)).toBeLessThanOrEqual(3_000);
  });

  it('is not judged by a leader that has just begun, nor one whose daemon was never heard', async () => {
    const next = world.replica('controller-2', { isLeading: false, around });
    await world.run(120_000);
    expect(next.counts.get('received')).toBeGreaterThan(NODES.length * 20);
    around.off.add('a');
    leader.leadership.isLeading = false;
    next.lead();
    await world.run(5_000);
    die('a');
    expect(await failedAfterMs(60_000, 'a', next)).toBeUndefined();
    await world.attest('g', {});
    await world.run(30_000);
    expect(failed('g', next)).toBe(false);
    around.off.add('b');
    die('b');
    await world.run(3_500);
    expect(failed('b', next)).toBe(true);
  });

  it('is held where many fall silent at once, for it may be our own network: no peer is asked, and it is said', async () => {
    for (const node of ['a', 'b', 'c']) {
      around.off.add(node);
      die(node);
    }
    await world.run(30_000);
    expect(NODES.filter((node) => failed(node))).toEqual([]);
    expect(leader.counts.get('silence held')).toBe(3);
    expect(around.events).toHaveLength(3);
    expect(around.events[0]).toContain('not judged: 3 of 6 nodes fell silent at once');
    const condition = (await world.report('a'))?.status?.conditions?.find(({ type }) => type === 'NodeDaemonHeard');
    expect(condition?.reason).toBe('Suspected');
  });

  it('is not judged by a process that stood still, whatever came meanwhile', async () => {
    around.off.add('a');
    world.cut.add('a>controller-1');
    world.clock.freeze(20_000);
    await world.run(200);
    world.cut.delete('a>controller-1');
    die('a');
    await world.run(8_000);
    expect(failed()).toBe(false);
  });

  it('is not suspected where fast_detection is off', async () => {
    around.plan = { ...around.plan };
    delete around.plan.fastDetectionMs;
    around.off.add('a');
    die('a');
    expect(await failedAfterMs(60_000)).toBeUndefined();
    expect(around.events).toEqual([]);
    expect(around.reads).toEqual([]);
  });
});

/** Its BMC reads off every other time. */
function setOff(around: Surroundings, node: string): { count: () => number } {
  let reads = 0;
  around.off.has = (asked) => {
    if (asked !== node) return false;
    reads += 1;
    return reads % 2 === 0;
  };
  return { count: () => reads };
}
