import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { missingPromises } from './missing-promises.ts';
import { vouchedUntilMs } from './peers.ts';

const missing = (peers: string, domains: Record<string, string> | undefined, promised: string, eligible = peers): string => {
  const list = (text: string): string[] => text.split(' ').filter((word) => word !== '');
  const attestation = { bootID: 'b', systemUUID: 'u', peers: list(peers), ...(domains === undefined ? {} : { domains }) };
  return missingPromises('a', attestation, { bootID: 'b', eligible: list(eligible), promised: list(promised) }).join(' ');
};
const RACKS = { a: 'r1', b: 'r1', c: 'r2', d: 'r2', e: 'r3' };

describe('whose promise is missing', () => {
  it.each([
    ['nobody’s where all have promised', 'b c d e', RACKS, 'b c d e', ''],
    ['nobody’s where those that are left are of the own rack, which is dead with it', 'b c d e', RACKS, 'c d e', ''],
    ['nobody’s where those that are left are one rack of three', 'b c d e', RACKS, 'b e', ''],
    ['one peer of a rack is the whole rack', 'b c d e', RACKS, 'b c', 'd e'],
    ['of two racks both are needed to keep it up: the other one’s suffices', 'b c d', { a: 'r1', b: 'r1', c: 'r2', d: 'r2' }, 'c d', ''],
    ['of two racks both are needed to keep it up: not while one of the other has not', 'b c d', { a: 'r1', b: 'r1', c: 'r2', d: 'r2' }, 'c', 'b d'],
    ['of one domain half of the peers are not enough', 'b c', { a: 'r', b: 'r', c: 'r' }, 'b', ''],
    ['of one domain more than half of the peers are', 'b c d', { a: 'r', b: 'r', c: 'r', d: 'r' }, 'b', 'c d'],
    ['without labels each is a domain of its own', 'b c d e', {}, 'b', 'c d e'],
    ['without labels those that are left may be too few', 'b c d e', {}, 'b c', ''],
    ['of one that does not say how it counts each has to promise', 'b c d e', undefined, 'c d e', 'b'],
    ['a name is no property of every object', 'constructor b', { b: 'r' }, 'b', ''],
  ])('%s', (_what, peers, domains, promised, expected) => {
    expect(missing(peers, domains as Record<string, string> | undefined, promised)).toBe(expected);
  });

  it('that of a peer which the node was told of and does not attest yet: a write of it may be on its way', () => {
    expect(missing('b c d e', RACKS, 'b c d e', 'b c d e f')).toBe('f');
  });

  it('nobody’s only where whoever has not promised is never enough, whatever the racks', () => {
    const names = ['b', 'c', 'd', 'e', 'f'];
    const rack = fc.option(fc.constantFrom('r1', 'r2', 'r3'), { nil: undefined });
    fc.assert(
      fc.property(fc.tuple(rack, rack, rack, rack, rack, rack), fc.subarray(names), (racks, promised) => {
        const domains = Object.fromEntries(['a', ...names].flatMap((node, index) => (racks[index] === undefined ? [] : [[node, racks[index]]])));
        const peerOf = (node: string) => ({ node, ...(domains[node] === undefined ? {} : { domain: domains[node] }) });
        const still = new Map(names.filter((node) => !promised.includes(node)).map((node) => [node, 1]));
        const isEnough = vouchedUntilMs(peerOf('a'), names.map(peerOf), still) !== undefined;
        expect(missing(names.join(' '), domains, promised.join(' ')) !== '').toBe(isEnough);
      }),
    );
  });
});
