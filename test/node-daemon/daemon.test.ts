import { beforeEach, describe, expect, it } from 'vitest';

import { ControllerModel } from './model/controller-model.ts';
import { keyOf, macOf } from '../../src/testbed/simulation/keys.ts';
import { DaemonWorld, HARDWARE } from './model/world.ts';
import type { MachineModel } from './model/world.ts';
import { seal } from '../../src/domain/node-daemon/seal.ts';

const NODES = ['a', 'b', 'c', 'd', 'e'];
const others = (node: string): string[] => NODES.filter((other) => other !== node);
const RACKS = { a: 'r1', b: 'r1', c: 'r2', d: 'r2', e: 'r3' };

describe('a node daemon', () => {
  let world: DaemonWorld;
  let controller: ControllerModel;

  beforeEach(() => {
    world = new DaemonWorld();
    controller = new ControllerModel(world);
  });

  function machine(name: string): MachineModel {
    const found = world.machines.get(name);
    if (found === undefined) throw new Error(`no machine ${name}`);
    return found;
  }

  /** Five machines that have attested each other. */
  async function fleet(domains: Readonly<Record<string, string>> = {}): Promise<void> {
    controller.assign(Object.fromEntries(NODES.map((node) => [node, others(node)])), domains);
    for (const node of NODES) await world.machine(node).daemon.start();
    await world.run(35_000);
    for (const node of NODES) expect(controller.attested(node), node).toMatchObject({ peers: others(node), watchdog: { state: 'armed' } });
  }

  function cutOff(node: string): void {
    for (const other of [...NODES, 'controller', 'api']) {
      world.cut.add(`${node}>${other}`);
      world.cut.add(`${other}>${node}`);
    }
  }

  const dead = (): string[] => NODES.filter((node) => machine(node).isDead);

  it('opens the watchdog with the first grant, attests it, and feeds it as long as grants come', async () => {
    controller.isSilent = true;
    const { daemon } = world.machine('a');
    await daemon.start();
    await world.run(60_000);
    expect(machine('a').isArmed, 'nobody keeps it up yet').toBe(false);
    expect(controller.attested('a')?.watchdog?.state).toBe('disarmed');
    controller.isSilent = false;
    await world.run(5_000);
    expect(machine('a').isArmed).toBe(true);
    expect(controller.attested('a')?.watchdog?.state).toBe('armed');
    await world.run(600_000);
    expect(machine('a').isDead).toBe(false);
    expect(daemon.status()).toMatchObject({ phase: 'kept', watchdog: { state: 'armed', timeoutSeconds: 10 }, problems: [] });
  });

  it('stops its pods 40 s after the last grant ended and resets the machine then, when it is cut off from everybody', async () => {
    await fleet();
    const cutAtMs = world.clock.monotonicMs();
    cutOff('a');
    await world.run(120_000);
    const { podsStoppedAtMs = 0, deadAtMs = 0, deadBy } = machine('a');
    expect(podsStoppedAtMs - cutAtMs).toBeGreaterThan(42_000);
    expect(podsStoppedAtMs - cutAtMs).toBeLessThan(48_000);
    expect(deadAtMs - podsStoppedAtMs).toBeLessThan(1_000);
    expect(deadBy).toBe('cut off');
    expect(dead()).toEqual(['a']);
  });

  it('finds controllers that were moved before it takes itself down, though nobody vouches for it', async () => {
    await world.machine('a').daemon.start();
    await world.run(62_000);
    expect(machine('a').isArmed).toBe(true);
    controller.isSilent = true;
    const next = new ControllerModel(world, 'controller-2');
    await world.run(120_000);
    expect(next.isSilent).toBe(false);
    expect(machine('a')).toMatchObject({ isDead: false, podsStoppedAtMs: undefined });
    expect(machine('a').daemon.status()).toMatchObject({ phase: 'kept', controllers: ['controller-2:7411'] });
  });

  it('counts a grant from when it was asked for, however late the answer comes', async () => {
    await fleet();
    world.latencyMs = 2_000;
    await world.run(20_000);
    const cutAtMs = world.clock.monotonicMs();
    // What the node says is lost from now on; the answers to what it said before still come for four seconds.
    for (const other of [...NODES, 'controller', 'api']) world.cut.add(`a>${other}`);
    await world.run(120_000);
    expect((machine('a').podsStoppedAtMs ?? Infinity) - cutAtMs).toBeLessThan(47_500);
  });

  it('resets the machine though its pods do not stop', async () => {
    await fleet();
    machine('a').given.podStopMs = 900_000;
    const cutAtMs = world.clock.monotonicMs();
    cutOff('a');
    await world.run(120_000);
    expect((machine('a').deadAtMs ?? 0) - cutAtMs).toBeLessThan(76_000);
  });

  it('keeps the fleet up by vouches while every controller and the API server are gone', async () => {
    await fleet(RACKS);
    controller.isSilent = true;
    for (const node of NODES) world.cut.add(`${node}>api`);
    await world.run(600_000);
    expect(dead()).toEqual([]);
    // One that is cut off goes down all the same.
    cutOff('e');
    await world.run(120_000);
    expect(dead()).toEqual(['e']);
  });

  it('does not let the nodes behind a dead switch keep each other up', async () => {
    await fleet(RACKS);
    for (const inside of ['a', 'b'])
      for (const outside of ['c', 'd', 'e', 'controller', 'api']) {
        world.cut.add(`${inside}>${outside}`);
        world.cut.add(`${outside}>${inside}`);
      }
    await world.run(120_000);
    expect(dead()).toEqual(['a', 'b']);
  });

  it('takes over from a daemon that was killed, within the watchdog timeout', async () => {
    await fleet();
    machine('a').kill();
    await world.run(5_000);
    machine('a').restart();
    await machine('a').daemon.start();
    await world.run(120_000);
    expect(dead()).toEqual([]);
  });

  it('is reset by the watchdog when nobody takes over', async () => {
    await fleet();
    machine('a').kill();
    await world.run(12_000);
    expect(machine('a')).toMatchObject({ isDead: true, deadBy: 'watchdog' });
  });

  it('gives a daemon that is started anew no more time than the one before it had', async () => {
    await fleet();
    const cutAtMs = world.clock.monotonicMs();
    cutOff('a');
    for (let turn = 0; turn < 20 && !machine('a').isDead; turn += 1) {
      await world.run(7_000);
      machine('a').kill();
      await world.run(1_000);
      machine('a').restart();
      await machine('a').daemon.start();
    }
    expect((machine('a').deadAtMs ?? Infinity) - cutAtMs).toBeLessThan(85_000);
  });

  it('goes on with what the one before it knew while the API server is away', async () => {
    await fleet();
    controller.isSilent = true;
    for (const node of NODES) world.cut.add(`${node}>api`);
    machine('a').kill();
    machine('a').restart();
    await machine('a').daemon.start();
    await world.run(300_000);
    expect(dead()).toEqual([]);
  });

  it('disarms the watchdog at a clean stop after the API server knows', async () => {
    await fleet();
    const closing = machine('a').daemon.close();
    await world.run(2_000);
    expect(await closing).toBe('disarmed');
    expect(machine('a').isArmed).toBe(false);
    expect(controller.attested('a')?.watchdog?.state).toBe('disarmed');
    expect(controller.attested('a'), 'nothing takes this node down any more').not.toHaveProperty('selfFence');
  });

  it('leaves no watchdog armed that is being opened while it is stopped', async () => {
    await world.machine('a', { openMs: 4_000 }).daemon.start();
    await world.run(3_000);
    expect(machine('a').isArmed).toBe(false);
    const closing = machine('a').daemon.close();
    await world.run(10_000);
    expect(await closing).toBe('disarmed');
    await world.run(60_000);
    expect(machine('a')).toMatchObject({ isArmed: false, isDead: false });
  });

  it('feeds a driver in time that waits for less than it was asked to', async () => {
    await world.machine('a', { facts: { ...HARDWARE, timeoutMs: 2_000 } }).daemon.start();
    await world.run(60_000);
    expect(machine('a')).toMatchObject({ isArmed: true, isDead: false });
  });

  it('stays armed at a clean stop that the API server does not learn of', async () => {
    await fleet();
    world.cut.add('a>api');
    const closing = machine('a').daemon.close();
    await world.run(24_000);
    expect(machine('a').isDead, 'it is fed as long as it tries').toBe(false);
    await world.run(4_000);
    expect(await closing).toBe('armed');
    expect(machine('a').isArmed).toBe(true);
  });

  it('stays armed when it is stopped while the node takes itself down, though the API server answers', async () => {
    await fleet();
    machine('a').given.podStopMs = 900_000;
    controller.end('a');
    await world.run(50_000);
    expect(machine('a').daemon.status().phase).toBe('stopping');
    const closing = machine('a').daemon.close();
    await world.run(40_000);
    expect(await closing).toBe('armed');
    expect(machine('a')).toMatchObject({ isDead: true, deadBy: 'cut off' });
  });

  it('goes down where that begins while it is stopped, though the API server answers by then', async () => {
    await fleet();
    machine('a').given.podStopMs = 900_000;
    cutOff('a');
    await world.run(40_000);
    expect(machine('a').daemon.status().phase).toBe('isolated');
    const closing = machine('a').daemon.close();
    await world.run(15_000);
    expect(machine('a').daemon.status().phase).toBe('stopping');
    world.cut.delete('a>api');
    await world.run(45_000);
    expect(await closing).toBe('armed');
    expect(machine('a')).toMatchObject({ isDead: true, deadBy: 'cut off' });
  });

  it('takes a watchdog whose driver is loaded later', async () => {
    const late = world.machine('a', { facts: { problem: 'there is no /dev/watchdog0' } });
    await late.daemon.start();
    await world.run(60_000);
    expect(late.daemon.status()).toMatchObject({ watchdog: { state: 'none' }, problems: ['there is no /dev/watchdog0'] });
    late.given.facts = HARDWARE;
    await world.run(70_000);
    expect(late.daemon.status()).toMatchObject({ watchdog: { state: 'armed' }, problems: [] });
    expect(controller.attested('a')?.watchdog?.state).toBe('armed');
  });

  it('feeds the watchdog of a node that does not fence itself though it is cut off, and attests no self-fence', async () => {
    await world.machine('a', { options: { fencesItself: false } }).daemon.start();
    await world.run(35_000);
    expect(controller.attested('a')).not.toHaveProperty('selfFence');
    for (const place of ['controller', 'api']) world.cut.add(`a>${place}`);
    await world.run(300_000);
    expect(machine('a')).toMatchObject({ isArmed: true, isDead: false });
  });

  it('does not let a write that comes late say that it is armed', async () => {
    await fleet();
    const stale = world.object('Lease', 'nodefence-node-a');
    const closing = machine('a').daemon.close();
    await world.run(2_000);
    expect(await closing).toBe('disarmed');
    const late = world.cluster('a').mergePatch({ kind: 'Lease' } as never, 'nodefence-node-a', { metadata: stale?.metadata });
    await Promise.all([expect(late).rejects.toMatchObject({ status: 409 }), world.run(1_000)]);
  });

  it('goes down at once when it slept though it attested that it cannot', async () => {
    await fleet();
    world.clock.suspend(600_000);
    await world.run(1_000);
    expect(machine('a')).toMatchObject({ isDead: true, deadBy: 'slept' });
  });

  it('goes on after a virtual machine was paused', async () => {
    controller.assign(Object.fromEntries(NODES.map((node) => [node, others(node)])));
    for (const node of NODES) await world.machine(node, { facts: { ...HARDWARE, isPausable: true } }).daemon.start();
    await world.run(35_000);
    world.clock.suspend(600_000);
    await world.run(300_000);
    expect(dead()).toEqual([]);
  });

  it('vouches no more once it has promised, and the node goes down though it reaches everybody', async () => {
    await fleet();
    controller.end('a');
    await world.run(120_000);
    expect(dead()).toEqual(['a']);
    expect(machine('a').daemon.status().areGrantsEnded).toBe(true);
    expect([...machine('b').promises]).toEqual([[machine('a').bootID, 'a']]);
  });

  it('keeps its promise over a restart', async () => {
    await fleet();
    controller.end('a');
    await world.run(2_000);
    for (const node of others('a')) {
      machine(node).kill();
      machine(node).restart();
      await machine(node).daemon.start();
    }
    await world.run(120_000);
    expect(dead()).toEqual(['a']);
  });

  it('vouches for nobody when what it promised before cannot be read', async () => {
    await fleet();
    for (const node of others('a')) {
      machine(node).kill();
      machine(node).restart();
      machine(node).failsToReadPromises = true;
      await machine(node).daemon.start();
    }
    expect(machine('b').daemon.status().problems).toEqual([
      'the promises of earlier boots cannot be read, so no node is vouched for: Error: input/output error',
    ]);
    for (const place of ['controller', 'api']) world.cut.add(`a>${place}`);
    await world.run(120_000);
    expect(dead()).toEqual(['a']);
  });

  it('gives no promise that is not on its disk, and vouches no more all the same', async () => {
    await fleet();
    for (const node of ['b', 'c', 'd']) machine(node).failsToWritePromises = true;
    controller.end('a');
    await world.run(120_000);
    expect([...(controller.promised.get(machine('a').bootID) ?? [])]).toEqual(['e']);
    expect(controller.endedAtMs.has('a')).toBe(false);
    expect(dead()).toEqual(['a']);
  });

  it('attests the peers that it is told of later', async () => {
    await fleet();
    controller.assign({ a: ['b', 'c'] });
    await world.run(35_000);
    expect(controller.attested('a')?.peers).toEqual(['b', 'c']);
  });

  it.each([
    ['a vouch of somebody who was not asked', { type: 'vouch', sender: 'e' }],
    ['a grant of a node', { type: 'grant', sender: 'e' }],
  ] as const)('is not kept up by %s', async (_, said) => {
    controller.assign({ a: ['b', 'c'] });
    for (const node of ['a', 'b', 'c', 'e']) await world.machine(node).daemon.start();
    await world.run(35_000);
    for (const other of ['b', 'c', 'controller', 'api']) world.cut.add(`a>${other}`);
    const forger = world.socket('e', 'e:9999');
    for (let second = 0; second < 80; second += 1) {
      const counter = Math.floor(world.clock.monotonicMs() * 1_000);
      for (let guess = -250_000; guess < 1_000_000; guess += 250_000)
        forger.send('a:7411', seal({ ...said, counter: counter + guess, bootID: machine('e').bootID, signs: 0 }, macOf(keyOf('e'), keyOf('a'))));
      await world.run(1_000);
    }
    expect(machine('a').isDead).toBe(true);
    expect(Object.keys(machine('a').daemon.status().refusedDatagrams)).toEqual(['unknown sender']);
  });

  it('is not fed while a check of the daemon does not get on', async () => {
    await fleet();
    const { daemon } = machine('a');
    daemon.progress.expect('storage', 3_000);
    await world.run(20_000);
    expect(machine('a')).toMatchObject({ isDead: true, deadBy: 'watchdog' });
  });

  it('says that the driver refuses to be fed, and goes on', async () => {
    await fleet();
    machine('a').refusesFeeding = true;
    await world.run(5_000);
    expect(machine('a').daemon.status().problems).toEqual(['the watchdog could not be fed: EPIPE: broken pipe, write']);
    expect(machine('a').log.filter((line) => line.includes('could not be fed'))).toHaveLength(1);
    await world.run(12_000);
    expect(machine('a')).toMatchObject({ isDead: true, deadBy: 'watchdog' });
  });

  it('says what is missing, and goes on without it', async () => {
    const alone = world.machine('a', { facts: { problem: '/dev/watchdog0 is held by another program' } });
    await alone.daemon.start();
    world.cut.add('a>api');
    await world.run(60_000);
    expect(alone.daemon.status().problems).toEqual([
      '/dev/watchdog0 is held by another program',
      'the attestation cannot be written: the API server does not answer',
      'the controllers cannot be looked up: the API server does not answer',
    ]);
  });
});
