import { beforeEach, describe, expect, it } from 'vitest';

import { SIGNS } from '../../src/domain/node-daemon/datagram.ts';
import { areaBytes, encodeHeader, encodeSlot, slotOffset } from '../../src/domain/node-daemon/storage-lease/layout.ts';
import type { LeaseHeader } from '../../src/domain/node-daemon/storage-lease/layout.ts';
import { StorageLease } from '../../src/node/checks/storage-lease.ts';
import { MemoryDisk } from '../../src/node/checks/testing/memory-disk.ts';
import { ControllerModel } from './model/controller-model.ts';
import { DaemonWorld, HARDWARE } from './model/world.ts';
import type { MachineModel, MachineOptions } from './model/world.ts';

const HEADER: LeaseHeader = { sectorSize: 512, slots: 8, id: '0a1b2c3d-0000-4000-8000-00000000000f', cluster: 'prod' };
const BOOT = '11111111-2222-4333-8444-555555555555';
const LOST_MS = 60_000;
const SILENT = { kind: 'silent' as const, forMs: 3_000 };

describe('a node daemon that renews a slot on shared storage', () => {
  let world: DaemonWorld;
  let controller: ControllerModel;
  let disk: MemoryDisk;

  beforeEach(() => {
    world = new DaemonWorld();
    controller = new ControllerModel(world);
    disk = new MemoryDisk(new Uint8Array(areaBytes(HEADER)));
    disk.bytes.set(encodeHeader(HEADER));
  });

  async function started(change: Partial<MachineOptions> = {}): Promise<MachineModel> {
    const own = { node: 'a', systemUUID: 'u-a', bootID: BOOT, intervalMs: 5_000, path: '/dev/shared', cluster: 'prod', slot: 3 };
    const lease = new StorageLease(world.clock, disk, own);
    const machine = world.machine('a', { checks: [lease.check], slots: lease, options: { storageLeaseLostMs: LOST_MS }, ...change });
    await machine.daemon.start();
    await world.run(60_000);
    expect(machine.isArmed).toBe(true);
    return machine;
  }

  it('attests where it is and says in its heartbeats that it renews it, for as long as it does', async () => {
    await started();
    expect(controller.attested('a')).toMatchObject({ storageLease: { id: HEADER.id, slot: 3, intervalMs: 5_000 } });
    expect((controller.signs.get('a') ?? 0) & SIGNS.storageLease).not.toBe(0);
    disk.fault = SILENT;
    await world.run(10_000);
    expect((controller.signs.get('a') ?? 0) & SIGNS.storageLease).toBe(0);
    expect(controller.attested('a')).toMatchObject({ storageLease: { slot: 3 } });
  });

  it('takes its node down when it could not renew it for as long as was said, though everybody keeps it up', async () => {
    const a = await started();
    const lostAtMs = world.clock.monotonicMs();
    disk.fault = SILENT;
    await world.run(50_000);
    expect(a.isDead).toBe(false);
    await world.run(60_000);
    expect(a.deadBy).toBe('storage lost');
    expect((a.podsStoppedAtMs ?? 0) - lostAtMs).toBeGreaterThan(LOST_MS - 5_000);
    expect(a.deadAtMs).toBeGreaterThanOrEqual(a.podsStoppedAtMs ?? Infinity);
  });

  const other = { slot: 3, state: 'held' as const, node: 'b', systemUUID: 'u-b', bootID: BOOT, counter: 7, intervalMs: 5_000 };
  it.each<[string, Partial<MachineOptions>, () => void]>([
    ['it does not fence itself', { options: { fencesItself: false, storageLeaseLostMs: LOST_MS } }, () => (disk.fault = SILENT)],
    ['nobody said for how long', { options: {} }, () => (disk.fault = SILENT)],
    ['that was said of its other storage only', { options: { storageLostMs: LOST_MS } }, () => (disk.fault = SILENT)],
    ['its slot was taken by another node', {}, () => disk.bytes.set(encodeSlot(HEADER, other), slotOffset(HEADER, 3))],
    ['its slot is damaged', {}, () => void disk.bytes.fill(9, slotOffset(HEADER, 3), slotOffset(HEADER, 3) + 9)],
    ['something else stands on the device', {}, () => void disk.bytes.fill(9, 0, 512)],
    ['it may not write any more', {}, () => (disk.fault = { kind: 'refused', code: 'EACCES', step: 'open' })],
    ['the machine is too busy to ask', {}, () => (disk.fault = { kind: 'not-probed', why: 'the probe did not get to run' })],
  ])('stays up where %s', async (_, change, lose) => {
    const a = await started(change);
    lose();
    await world.run(600_000);
    expect(a).toMatchObject({ isDead: false, isArmed: true });
    expect(a.daemon.status().checks).toMatchObject([{ name: 'storage-lease', health: expect.not.stringMatching('ok') as string }]);
  });

  it('stays up where its slot was never renewed since its start', async () => {
    disk.fault = SILENT;
    const a = await started();
    await world.run(600_000);
    expect(a.isDead).toBe(false);
  });

  it('stays up where the machine was paused meanwhile, until it is lost for the whole time again', async () => {
    const a = await started({ facts: { ...HARDWARE, isPausable: true } });
    disk.fault = SILENT;
    await world.run(50_000);
    world.clock.suspend(600_000);
    await world.run(30_000);
    expect(a.daemon.status().phase).toBe('kept');
    await world.run(90_000);
    expect(a.deadBy).toBe('storage lost');
  });
});
