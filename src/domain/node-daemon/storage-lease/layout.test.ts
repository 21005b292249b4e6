import { describe, expect, it } from 'vitest';
import { crc32 } from './crc32.ts';
import { areaBytes, decodeHeader, decodeSlot, encodeHeader, encodeSlot, slotOffset } from './layout.ts';
import type { LeaseHeader, LeaseSlot } from './layout.ts';

const HEADER: LeaseHeader = { sectorSize: 4_096, slots: 255, id: '0a1b2c3d-0000-4000-8000-00000000000f', cluster: 'prod-1.example' };
const SLOT: LeaseSlot = {
  slot: 7,
  state: 'held',
  node: 'worker-7.example.com',
  systemUUID: '4C4C4544-0042-3510-8052-B4C04F4D3332',
  bootID: '11111111-2222-4333-8444-555555555555',
  counter: 2 ** 40 + 3,
  intervalMs: 5_000,
};

function changed(bytes: Uint8Array, change: (copy: Uint8Array, view: DataView) => void): Uint8Array {
  const copy = Uint8Array.from(bytes);
  change(copy, new DataView(copy.buffer));
  return copy;
}

/** As somebody writes it who means ill and knows the layout. */
function resealed(bytes: Uint8Array, change: (copy: Uint8Array, view: DataView) => void): Uint8Array {
  return changed(bytes, (copy, view) => {
    change(copy, view);
    view.setUint32(508, crc32(copy.subarray(0, 508)));
  });
}

it('checks as IEEE 802.3 does', () => {
  expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
});

describe('a header', () => {
  it.each([512, 4_096] as const)('is read as it was written, in sectors of %d', (sectorSize) => {
    const header = { ...HEADER, sectorSize };
    const bytes = encodeHeader(header);
    expect(bytes).toHaveLength(sectorSize);
    expect(decodeHeader(bytes)).toEqual({ header });
  });

  it.each<[string, Uint8Array, string]>([
    ['nothing but zeros', new Uint8Array(4_096), 'empty'],
    ['a device that ends before it', new Uint8Array(100), 'broken'],
    ['a device of no bytes', new Uint8Array(0), 'broken'],
    ['a file system', changed(new Uint8Array(4_096), (copy) => copy.fill(0x53, 56, 58)), 'foreign'],
    ['one with a bit turned', changed(encodeHeader(HEADER), (copy) => (copy[60] = (copy[60] ?? 0) ^ 1)), 'broken'],
    ['one that is cut off', encodeHeader(HEADER).subarray(0, 511), 'broken'],
    ['a later version', resealed(encodeHeader(HEADER), (_, view) => view.setUint16(24, 2)), 'broken'],
    ['sectors of no device', resealed(encodeHeader(HEADER), (_, view) => view.setUint32(28, 1)), 'broken'],
    ['more slots than are read', resealed(encodeHeader(HEADER), (_, view) => view.setUint32(32, 2 ** 31)), 'broken'],
    ['no slot', resealed(encodeHeader(HEADER), (_, view) => view.setUint32(32, 0)), 'broken'],
    ['a cluster longer than its field', resealed(encodeHeader(HEADER), (copy) => (copy[52] = 255)), 'broken'],
    ['a cluster with a line break', resealed(encodeHeader(HEADER), (copy) => (copy[54] = 10)), 'broken'],
  ])('is none: %s', (_, bytes, problem) => {
    expect(decodeHeader(bytes)).toEqual({ problem });
  });
});

describe('a slot', () => {
  it.each([{}, { state: 'released' as const }, { counter: 0 }, { node: 'a'.repeat(253) }, { systemUUID: '4'.repeat(64) }])(
    'is read as it was written: %j',
    (change) => {
      const slot = { ...SLOT, ...change };
      expect(decodeSlot(HEADER, 7, encodeSlot(HEADER, slot))).toEqual({ kind: 'slot', slot });
    },
  );

  it('is empty where only zeros stand', () => {
    expect(decodeSlot(HEADER, 0, new Uint8Array(512))).toEqual({ kind: 'empty' });
  });

  const good = encodeSlot(HEADER, SLOT);
  it.each<[string, Uint8Array, number]>([
    ['a bit turned', changed(good, (copy) => (copy[24] = 1)), 7],
    ['zeros from the middle on', changed(good, (copy) => copy.fill(0, 256)), 7],
    ['a device that ends within it', good.subarray(0, 300), 7],
    ['a device that ends before it', new Uint8Array(0), 7],
    ['the slot of another place', good, 8],
    ['another lease', encodeSlot({ ...HEADER, id: '0a1b2c3d-0000-4000-8000-000000000010' }, SLOT), 7],
    ['a state that is none', resealed(good, (_, view) => view.setUint16(18, 9)), 7],
    ['a counter that no number holds', resealed(good, (_, view) => view.setBigUint64(24, 2n ** 63n)), 7],
    ['an interval of no time', resealed(good, (_, view) => view.setUint32(32, 0)), 7],
    ['an interval of weeks', resealed(good, (_, view) => view.setUint32(32, 2 ** 31)), 7],
    ['a name with an escape sequence', resealed(good, (copy) => (copy[70] = 27)), 7],
    ['a name longer than its field', resealed(good, (copy) => (copy[68] = 255)), 7],
    ['no name', resealed(good, (copy) => (copy[68] = 0)), 7],
    ['a system UUID with a line break', resealed(good, (copy) => (copy[324] = 10)), 7],
    ['a later version', resealed(good, (_, view) => view.setUint16(16, 2)), 7],
  ])('is damaged: %s', (_, bytes, index) => {
    expect(decodeSlot(HEADER, index, bytes)).toEqual({ kind: 'broken' });
  });

  it('says nothing wrong of any bytes at all', () => {
    let state = 1;
    const next = (): number => (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff);
    for (let round = 0; round < 3_000; round += 1) {
      const bytes = changed(good, (copy) => {
        for (let count = next() % 6; count >= 0; count -= 1) copy[next() % 512] = next() & 0xff;
      });
      const isSame = bytes.every((byte, index) => index >= 512 || byte === good[index]);
      expect(decodeSlot(HEADER, 7, bytes).kind).toBe(isSame ? 'slot' : 'broken');
      expect(() =>
        decodeSlot(
          HEADER,
          7,
          resealed(bytes, () => undefined),
        ),
      ).not.toThrow();
      expect(() => decodeHeader(bytes)).not.toThrow();
    }
  });
});

it('refuses to write what could not be read', () => {
  expect(() => encodeSlot(HEADER, { ...SLOT, node: 'A b' })).toThrow(TypeError);
  expect(() => encodeSlot(HEADER, { ...SLOT, bootID: 'x' })).toThrow(TypeError);
  expect(() => encodeHeader({ ...HEADER, cluster: 'a b' })).toThrow(TypeError);
});

it('puts each slot in a sector of its own, after the header', () => {
  expect([slotOffset(HEADER, 0), slotOffset(HEADER, 254), areaBytes(HEADER)]).toEqual([4_096, 255 * 4_096, 256 * 4_096]);
});
