import { beforeEach, describe, expect, it } from 'vitest';
import { areaBytes, encodeHeader } from '../../../src/domain/node-daemon/storage-lease/layout.ts';
import type { LeaseHeader } from '../../../src/domain/node-daemon/storage-lease/layout.ts';
import { StorageLease } from '../../../src/node/checks/storage-lease.ts';
import { MemoryDisk } from '../../../src/node/checks/testing/memory-disk.ts';
import type { MachineModel } from '../model/world.ts';
import { ControllerWorld } from './world.ts';
import type { Replica } from './world.ts';

const HEADER: LeaseHeader = { sectorSize: 512, slots: 16, id: '0a1b2c3d-0000-4000-8000-00000000000f', cluster: 'prod' };
const NODES = ['a', 'b', 'c', 'd'];

describe('a node whose heartbeats do not come', () => {
  let world: ControllerWorld;
  let leader: Replica;
  const disks = new Map<string, MemoryDisk>();

  beforeEach(async () => {
    world = await ControllerWorld.create();
    leader = world.replica('controller-1');
    const bytes = new Uint8Array(areaBytes(HEADER));
    bytes.set(encodeHeader(HEADER));
    for (const node of NODES) {
      const disk = new MemoryDisk(bytes);
      disks.set(node, disk);
      const bootID = world.machine(node).bootID;
      const lease = new StorageLease(world.clock, disk, {
        node,
        bootID,
        systemUUID: `u-${node}`,
        intervalMs: 5_000,
        path: '/dev/shared',
        cluster: 'prod',
      });
      const machine = await world.add(node, {}, { hasWatchdog: false, checks: [lease.check], slots: lease });
      await machine.daemon.start();
    }
    await world.run(60_000);
  });

  const GONE = { kind: 'silent' as const, forMs: 3_000 };
  /** Nobody hears it, and it goes on writing. */
  const cutOff = (node: string): void => {
    for (const other of ['api', 'controller-1', ...NODES]) world.cut.add(`${node}>${other}`);
  };
  /** Its power fails. */
  const die = (node: string): void => {
    world.machines.get(node)?.die('test');
    disks.get(node)!.fault = GONE;
  };
  const bootOf = (node: string): string => (world.machines.get(node) as MachineModel).bootID;
  const questions = (): string[] => world.sent.filter(({ datagram }) => datagram.type === 'slot-request').map(({ to }) => to);

  it('is asked about by nobody while they come, and says itself that it renews its slot', () => {
    expect(questions()).toEqual([]);
    expect(NODES.map((node) => leader.controller.renewsLease(node))).toEqual([true, true, true, true]);
  });

  it('is alive where others see it renew its slot', async () => {
    cutOff('a');
    const cutAtMs = world.clock.monotonicMs();
    await world.run(25_000);
    expect(leader.controller.renewsLease('a')).toBe(true);
    expect(leader.controller.isHeard('a', bootOf('a'))).toBe(true);
    expect(leader.controller.isHeard('a', bootOf('b'))).toBe(false);
    const heardAtMs = leader.controller.heardAtMs('a') ?? 0;
    expect(heardAtMs).toBeGreaterThan(cutAtMs + 3_000);
    await world.run(30_000);
    expect(leader.controller.heardAtMs('a')).toBeGreaterThan(heardAtMs);
    expect(leader.counts.get('alive-on-storage')).toBe(1);
    const condition = (await world.report('a'))?.status?.conditions?.find(({ type }) => type === 'NodeDaemonHeard');
    expect(condition).toMatchObject({ status: 'False', reason: 'AliveOnStorage', message: expect.stringContaining('it is alive') as string });
  });

  it('is not alive once its slot stands still, which is shown and proves nothing', async () => {
    die('a');
    const diedAtMs = world.clock.monotonicMs();
    await world.run(90_000);
    expect(leader.controller.renewsLease('a')).toBe(false);
    expect(leader.controller.isHeard('a', bootOf('a'))).toBe(false);
    expect(leader.controller.heardAtMs('a') ?? 0).toBeLessThanOrEqual(diedAtMs);
    const condition = (await world.report('a'))?.status?.conditions?.find(({ type }) => type === 'NodeDaemonHeard');
    expect(condition).toMatchObject({ reason: 'Silent', message: expect.stringContaining('stands still, which proves nothing') as string });
  });

  it('has no last renewal counted as life that was on its way when it died', async () => {
    const disk = disks.get('a')!;
    const write = disk.write.bind(disk);
    let late = (): void => undefined;
    disk.write = async (offset, content) => {
      late = () => {
        disk.bytes.set(content, offset);
      };
      return GONE;
    };
    await world.run(6_000);
    die('a');
    disk.write = write;
    await world.run(4_000);
    late();
    await world.run(40_000);
    expect(leader.controller.heardAtMs('a') ?? 0).toBeLessThanOrEqual(world.machines.get('a')?.deadAtMs ?? 0);
    expect(leader.controller.renewsLease('a')).toBe(false);
  });

  it('is not alive by another boot of it that renews the slot', async () => {
    die('a');
    const bootID = '99999999-2222-4333-8444-555555555555';
    const own = { node: 'a', bootID, systemUUID: 'u-a', intervalMs: 5_000, path: '/dev/shared', cluster: 'prod' };
    const lease = new StorageLease(world.clock, new MemoryDisk(disks.get('a')!.bytes), own);
    for (let round = 0; round < 12; round += 1) {
      expect((await lease.renew()).health).toBe('ok');
      await world.run(5_000);
    }
    expect(questions().length).toBeGreaterThan(0);
    expect([leader.controller.renewsLease('a'), leader.controller.isHeard('a', bootOf('a'))]).toEqual([undefined, false]);
    expect(leader.controller.heardAtMs('a') ?? 0).toBeLessThanOrEqual(world.machines.get('a')?.deadAtMs ?? 0);
  });

  it('is not known where nobody can read its slot', async () => {
    cutOff('a');
    for (const node of ['b', 'c', 'd']) disks.get(node)!.fault = GONE;
    await world.run(60_000);
    expect(leader.controller.renewsLease('a')).toBeUndefined();
    expect(leader.controller.isHeard('a', bootOf('a'))).toBe(false);
  });

  it('is asked about by the leader only', async () => {
    leader.leadership.isLeading = false;
    cutOff('a');
    await world.run(20_000);
    expect([questions(), leader.controller.renewsLease('a')]).toEqual([[], undefined]);
  });

  it('is alive by no answer that nobody asked for', async () => {
    cutOff('a');
    await world.run(25_000);
    const answers = world.sent.filter(({ datagram }) => datagram.type === 'slot-moved');
    expect(answers.length).toBeGreaterThan(0);
    die('a');
    for (const node of ['b', 'c', 'd']) disks.get(node)!.fault = GONE;
    await world.run(40_000);
    const before = leader.controller.heardAtMs('a');
    // Whoever repeats an answer says nothing new.
    for (const { from, to, bytes } of answers) world.socket(from, `${from}:7411`).send(to, bytes);
    await world.run(1_000);
    expect([leader.controller.heardAtMs('a'), leader.controller.renewsLease('a')]).toEqual([before, undefined]);
  });
});
