import { isIP } from 'node:net';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { contains, parseAddress, parseNetwork } from './network.ts';

const byte = fc.integer({ min: 0, max: 255 });
const four = fc.array(byte, { minLength: 4, maxLength: 4 });
const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
/** What looks like an address, and mostly is none. */
const odd = fc.string({ unit: fc.constantFrom(...'0 1 2 3 4 5 6 7 8 9 a b c d e f A F : . % /'.split(' ')), maxLength: 40 });

function written(parts: readonly number[]): string {
  return parts.map((part) => part.toString(16)).join(':');
}

describe('An address', () => {
  it('is one where the system takes it for one, and nowhere else', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          odd,
          four.map((parts) => parts.join('.')),
          groups.map(written),
        ),
        (text) => {
          const [bare = ''] = text.split('%');
          expect(parseAddress(text) !== undefined).toBe(isIP(bare) !== 0);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('is the number that its parts are, with any run of zeros left out', () => {
    fc.assert(
      fc.property(groups, fc.nat(7), fc.nat(7), (parts, from, length) => {
        const zeroed = parts.map((part, index) => (index >= from && index <= from + length ? 0 : part));
        const value = zeroed.reduce((sum, part) => (sum << 16n) | BigInt(part), 0n);
        const to = Math.min(8, from + length + 1);
        const short = `${written(zeroed.slice(0, from))}::${written(zeroed.slice(to))}`;
        fc.pre(value >> 32n !== 0xffffn);
        expect(parseAddress(short)).toEqual({ family: 6, value });
        expect(parseAddress(written(zeroed))).toEqual({ family: 6, value });
      }),
    );
  });

  it('inside an IPv6 one is the IPv4 one that a packet goes to', () => {
    fc.assert(
      fc.property(four, fc.constantFrom('::ffff:', '::FFFF:', '64:ff9b::', '0:0:0:0:0:ffff:'), (parts, prefix) => {
        expect(parseAddress(`${prefix}${parts.join('.')}`)).toEqual(parseAddress(parts.join('.')));
      }),
    );
  });

  it('is in the network that it begins, and not behind its end', () => {
    fc.assert(
      fc.property(four, fc.integer({ min: 1, max: 32 }), (parts, prefix) => {
        const network = parseNetwork(`${parts.join('.')}/${prefix}`);
        const address = parseAddress(parts.join('.'));
        if (network === undefined || address === undefined) throw new Error('no address');
        expect(contains(network, address)).toBe(true);
        const flipped = { ...address, value: address.value ^ (1n << BigInt(32 - prefix)) };
        expect(contains(network, flipped)).toBe(false);
      }),
    );
  });
});
