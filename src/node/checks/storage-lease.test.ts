import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { areaBytes, decodeSlot, encodeHeader, encodeSlot, slotOffset } from '../../domain/node-daemon/storage-lease/layout.ts';
import type { LeaseHeader, LeaseSlot, SlotContent } from '../../domain/node-daemon/storage-lease/layout.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { LeaseDisk } from './lease-disk.ts';
import { StorageLease } from './storage-lease.ts';
import { MemoryDisk } from './testing/memory-disk.ts';

const HEADER: LeaseHeader = { sectorSize: 512, slots: 8, id: '0a1b2c3d-0000-4000-8000-00000000000f', cluster: 'prod' };
const OWN = { node: 'a', systemUUID: 'u-a', bootID: '11111111-2222-4333-8444-555555555555', intervalMs: 5_000, cluster: 'prod', path: '/dev/shared' };
const OTHER: LeaseSlot = { slot: 3, state: 'held', node: 'b', systemUUID: 'u-b', bootID: OWN.bootID, counter: 7, intervalMs: 5_000 };

function laidOut(): Uint8Array {
  const bytes = new Uint8Array(areaBytes(HEADER));
  bytes.set(encodeHeader(HEADER));
  return bytes;
}

describe('a storage lease', () => {
  const clock = new ManualClock();
  let bytes: Uint8Array;
  let disk: MemoryDisk;
  beforeEach(() => {
    bytes = laidOut();
    disk = new MemoryDisk(bytes);
  });
  const lease = (change: Partial<typeof OWN & { slot: number }> = {}, on = disk): StorageLease => new StorageLease(clock, on, { ...OWN, ...change });
  const slot = (index: number): SlotContent => decodeSlot(HEADER, index, bytes.subarray(slotOffset(HEADER, index)));
  const put = (change: Partial<LeaseSlot> = {}): void => bytes.set(encodeSlot(HEADER, { ...OTHER, ...change }), slotOffset(HEADER, 3));

  it('counts one renewal after the other, and is held from the second one on', async () => {
    const own = lease({ slot: 3 });
    const found = [await own.renew(), await own.renew(), await own.renew()];
    expect(found.map(({ health, lease: said }) => [health, said?.reach, said?.isRenewed])).toEqual([
      ['ok', 'reachable', false],
      ['ok', 'reachable', true],
      ['ok', 'reachable', true],
    ]);
    expect(found[2]?.sentence).toBe('slot 3 of 8 is renewed every 5 s on /dev/shared');
    expect(slot(3)).toMatchObject({ slot: { node: 'a', counter: 3, state: 'held' } });
  });

  it('never writes into the slot of another node that was given to it by hand', async () => {
    put();
    const found = await lease({ slot: 3 }).renew();
    expect(found).toMatchObject({
      health: 'problem',
      sentence: expect.stringContaining('slot 3 is of node b') as string,
      lease: { reach: 'unknown' },
    });
    expect([disk.writes, slot(3)]).toEqual([[], { kind: 'slot', slot: OTHER }]);
  });

  it('goes on to another slot where another node was faster, and leaves that one alone', async () => {
    const own = lease();
    const first = (await own.renew()).lease?.slot ?? -1;
    bytes.set(encodeSlot(HEADER, { ...OTHER, slot: first }), slotOffset(HEADER, first));
    expect((await own.renew()).health).toBe('problem');
    const again = await own.renew();
    expect([again.health, again.lease?.isRenewed, again.lease?.slot]).toEqual(['ok', false, (first + 1) % 8]);
    expect(slot(first)).toMatchObject({ slot: { node: 'b' } });
  });

  it.each<[string, () => void, string]>([
    ['whose header was overwritten', () => void bytes.fill(7, 0, 512), 'something else stands there'],
    ['that was emptied', () => void bytes.fill(0), 'nothing is laid out there'],
    ['that was laid out anew', () => bytes.set(encodeHeader({ ...HEADER, id: OWN.bootID })), 'laid out anew'],
    ['that is another cluster’s now', () => bytes.set(encodeHeader({ ...HEADER, cluster: 'test' })), 'cluster test'],
    ['whose slot is damaged', () => void bytes.fill(9, slotOffset(HEADER, 3) + 30, slotOffset(HEADER, 3) + 32), 'damaged'],
  ])('writes nothing more to a device %s, and says so', async (_, spoil, words) => {
    const own = lease({ slot: 3 });
    await own.renew();
    spoil();
    const before = Uint8Array.from(bytes);
    const found = await own.renew();
    expect(found).toMatchObject({ health: 'problem', lease: { reach: 'unknown', isRenewed: false } });
    expect(found.sentence).toContain(words);
    expect(bytes).toEqual(before);
  });

  it.each<[string, MemoryDisk['fault'], string]>([
    ['does not answer', { kind: 'silent', forMs: 3_000 }, 'lost'],
    ['answers with an I/O error', { kind: 'refused', code: 'EIO', step: 'write' }, 'lost'],
    ['may not be written', { kind: 'refused', code: 'EACCES', step: 'open' }, 'unknown'],
    ['was not asked', { kind: 'not-probed', why: 'the probe did not get to run' }, 'unknown'],
  ])('that %s is %3$s', async (_, fault, reach) => {
    const own = lease({ slot: 3 });
    await own.renew();
    disk.fault = fault;
    expect((await own.renew()).lease).toEqual({ path: '/dev/shared', reach, isRenewed: false, intervalMs: 5_000, id: HEADER.id, slot: 3 });
  });

  it('goes on after a write that was given up, whether or not it arrived', async () => {
    for (const writesThrough of [true, false]) {
      const own = lease({ slot: 3 });
      await own.renew();
      Object.assign(disk, { fault: undefined, writesThrough });
      const write = disk.write.bind(disk);
      disk.write = async (offset, content) => {
        if (writesThrough) await write(offset, content);
        return { kind: 'silent', forMs: 3_000 };
      };
      expect((await own.renew()).lease?.reach).toBe('lost');
      disk.write = write;
      expect((await own.renew()).health).toBe('ok');
    }
  });

  it('is released at a clean stop, and not held again by a renewal that was under way', async () => {
    const own = lease({ slot: 3 });
    await own.renew();
    await own.release();
    expect(slot(3)).toMatchObject({ slot: { state: 'released' } });
    expect((await own.renew()).health).toBe('problem');
    expect(slot(3)).toMatchObject({ slot: { state: 'released' } });
  });

  it('says which slot is missing, and which cluster it is of', async () => {
    expect((await lease({ slot: 8 }).renew()).sentence).toContain('it has 8 slots: there is no 8');
    expect((await lease({ cluster: 'test' }).renew()).sentence).toContain('it is the lease of cluster prod, not of test');
    expect(disk.writes).toEqual([]);
  });

  it('reads the slots of others, and nothing of what is damaged', async () => {
    const own = lease({ slot: 0 });
    put();
    expect(await own.read(3)).toBeUndefined();
    await own.renew();
    expect(await own.read(3)).toEqual(OTHER);
    expect([await own.read(4), await own.read(8)]).toEqual([undefined, undefined]);
    bytes.fill(1, slotOffset(HEADER, 3), slotOffset(HEADER, 3) + 20);
    expect(await own.read(3)).toBeUndefined();
  });
});

describe('a storage lease in a file, through a child', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-lease-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'lease');

  it('is renewed by several nodes, each in its own slot, until the file is cut off', async () => {
    writeFileSync(path, laidOut());
    const clock = new SystemClock();
    const disks = ['a', 'b', 'c'].map((node) => new LeaseDisk({ clock, path, stateFolder: join(folder, node) }));
    try {
      const leases = disks.map((disk, index) => new StorageLease(clock, disk, { ...OWN, path, node: 'abc'[index] ?? '', systemUUID: `u-${index}` }));
      for (let round = 0; round < 4; round += 1) for (const lease of leases) await lease.renew();
      const found = await Promise.all(leases.map(async (lease) => lease.renew()));
      expect(found.map(({ lease }) => lease?.isRenewed)).toEqual([true, true, true]);
      expect(new Set(found.map(({ lease }) => lease?.slot)).size).toBe(3);
      const slot = found[1]?.lease?.slot ?? -1;
      expect(await leases[0]?.read(slot)).toMatchObject({ node: 'b', counter: 5 });
      expect(decodeSlot(HEADER, slot, readFileSync(path).subarray(slotOffset(HEADER, slot)))).toMatchObject({ slot: { node: 'b', counter: 5 } });
      truncateSync(path, 512);
      expect((await leases[1]?.renew())?.health).toBe('problem');
      expect(readFileSync(path)).toHaveLength(512);
    } finally {
      for (const disk of disks) disk.close();
    }
  });

  it('says why nothing is read where there is nothing, or where the name leads elsewhere', async () => {
    const disk = new LeaseDisk({ clock: new SystemClock(), path: join(folder, 'none'), stateFolder: join(folder, 'd') });
    expect(await disk.read(0, 512, 20_000)).toEqual({ kind: 'refused', code: 'ENOENT', step: 'open' });
    disk.close();
    expect(await disk.read(0, 512, 20_000)).toEqual({ kind: 'not-probed', why: 'the daemon stops' });
  });
});
