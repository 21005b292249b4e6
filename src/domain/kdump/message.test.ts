import { describe, expect, it } from 'vitest';
import { ipNumber, ipRange } from './address.ts';
import { malformedMessage } from './message.ts';

describe('a message of fence_kdump', () => {
  it.each<[what: string, bytes: number[], problem: string | undefined]>([
    ['as it was measured', [0x40, 0x2a, 0x30, 0x1b, 1, 0, 0, 0], undefined],
    ['in the other byte order', [0x1b, 0x30, 0x2a, 0x40, 0, 0, 0, 1], 'wrong-byte-order'],
    ['of version 2', [0x40, 0x2a, 0x30, 0x1b, 2, 0, 0, 0], 'wrong-version'],
    ['of version 1 in the other byte order', [0x40, 0x2a, 0x30, 0x1b, 0, 0, 0, 1], 'wrong-version'],
    ['with another magic', [0x40, 0x2a, 0x30, 0x1c, 1, 0, 0, 0], 'wrong-magic'],
    ['that is too short', [0x40, 0x2a, 0x30, 0x1b, 1, 0, 0], 'wrong-length'],
    ['that is too long', [0x40, 0x2a, 0x30, 0x1b, 1, 0, 0, 0, 0], 'wrong-length'],
    ['that is empty', [], 'wrong-length'],
  ])('%s', (_what, bytes, problem) => {
    expect(malformedMessage(Uint8Array.from([9, ...bytes]).subarray(1))).toBe(problem);
  });
});

describe('an address', () => {
  it.each([
    ['10.0.0.1', '::ffff:10.0.0.1'],
    ['2001:db8::7', '2001:0DB8:0:0:0:0:0:7'],
    ['::', '0:0:0:0:0:0:0:0'],
    ['fe80::1:2', 'fe80:0:0:0:0:0:1:2'],
  ])('%s is %s', (one, other) => {
    expect(ipNumber(one)).toBeDefined();
    expect(ipNumber(one)).toBe(ipNumber(other));
  });

  it.each(['', 'a', '10.0.0', '10.0.0.256', '10.0.0.01', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', ':1', '1:2:3:4:5:6:7::8', 'g::1'])(
    '%j is none',
    (text) => {
      expect(ipNumber(text)).toBeUndefined();
    },
  );

  it.each<[range: string, inside: string, outside: string]>([
    ['10.244.1.7/24', '10.244.1.255', '10.244.2.0'],
    ['10.0.0.0/0', '255.255.255.255', '::1'],
    ['fd00:10::/64', 'fd00:10::ffff', 'fd00:10:0:1::'],
    ['192.0.2.9/32', '192.0.2.9', '192.0.2.10'],
  ])('%s holds %s and not %s', (text, inside, outside) => {
    const range = ipRange(text)!;
    const holds = (address: string): boolean => ipNumber(address)! >= range.first && ipNumber(address)! <= range.last;
    expect([holds(inside), holds(outside)]).toEqual([true, false]);
  });

  it.each(['10.0.0.0', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', 'fd00::/129', '/8'])('%j is no range', (text) => {
    expect(ipRange(text)).toBeUndefined();
  });
});
