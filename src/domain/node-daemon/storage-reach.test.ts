import { describe, expect, it } from 'vitest';
import { peersReach, reachOf } from './storage-reach.ts';

describe('what a node says of its storage', () => {
  it.each<[attested: string | undefined, isHeard: boolean, isLostNow: boolean, reaches: boolean | undefined]>([
    ['reachable', true, false, true],
    ['reachable', true, true, false],
    ['lost', true, true, false],
    // It is over, and what is true now is not attested yet.
    ['lost', true, false, undefined],
    ['unknown', true, false, undefined],
    ['unknown', true, true, false],
    [undefined, true, false, undefined],
    ['reachable', false, false, undefined],
    ['lost', false, true, undefined],
  ])('attested %s, heard %s, lost by heartbeat %s: %s', (attested, isHeard, isLostNow, reaches) => {
    expect(reachOf({ attested, isHeard, isLostNow })).toBe(reaches);
  });
});

describe('what its peers say', () => {
  it('counts no word of its own for its peers', () => {
    expect([peersReach({ reach: 1, lost: 0 }, true), peersReach({ reach: 0, lost: 1 }, false)]).toEqual([undefined, undefined]);
  });

  it.each<[reach: number, lost: number, own: boolean | undefined, peers: boolean | undefined]>([
    [0, 0, undefined, undefined],
    [1, 0, undefined, true],
    [0, 1, undefined, false],
    [1, 5, undefined, true],
    [1, 2, true, false],
    [1, 1, false, true],
    [0, 2, false, false],
    [2, 0, true, true],
  ])('%i reach it, %i lost it, its own word is %s: %s', (reach, lost, own, peers) => {
    expect(peersReach({ reach, lost }, own)).toBe(peers);
  });
});
