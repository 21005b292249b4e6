import { describe, expect, it } from 'vitest';
import type { Header, LeaseHeader, LeaseSlot, SlotContent } from './layout.ts';
import { chooseSlot, decideRenewal, hasLivedSince, headerProblem, isSameSlot } from './renewal.ts';
import type { Known } from './renewal.ts';

const HEADER: LeaseHeader = { sectorSize: 512, slots: 8, id: '0a1b2c3d-0000-4000-8000-00000000000f', cluster: 'prod' };
const OWNER = { node: 'a', systemUUID: 'u-1', bootID: '11111111-2222-4333-8444-555555555555', intervalMs: 5_000 };
const MINE: LeaseSlot = { slot: 3, state: 'held', counter: 41, ...OWNER };
const of = (change: Partial<LeaseSlot> = {}): SlotContent => ({ kind: 'slot', slot: { ...MINE, ...change } });
const EMPTY: SlotContent = { kind: 'empty' };
const BROKEN: SlotContent = { kind: 'broken' };

describe('a renewal', () => {
  const known = (counters?: number[]): Known => ({ header: HEADER, slot: 3, ...(counters === undefined ? {} : { counters }) });
  it.each<[string, Known, SlotContent, number]>([
    ['goes on where it was', known([41]), of(), 42],
    ['goes on where a write arrived that was given up', known([40, 41]), of(), 42],
    ['goes on after a restart of the daemon', known(), of(), 42],
    ['takes over from an earlier boot of the same machine', known(), of({ bootID: '99999999-2222-4333-8444-555555555555' }), 42],
    ['takes over what was released', known([7]), of({ state: 'released' }), 42],
    ['begins in an empty slot', known(), EMPTY, 1],
    ['never counts down, though somebody cleared its slot', known([41]), EMPTY, 42],
  ])('%s', (_, before, content, counter) => {
    expect(decideRenewal(before, { header: HEADER }, content, OWNER)).toEqual({ write: { ...MINE, counter } });
  });

  it.each<[string, Header, SlotContent, RegExp]>([
    ['of another node', { header: HEADER }, of({ node: 'b' }), /is of node b/],
    ['of another node that released it', { header: HEADER }, of({ node: 'b', state: 'released' }), /is of node b/],
    ['of this name on another machine', { header: HEADER }, of({ systemUUID: 'u-2' }), /another machine \(system UUID u-2\)/],
    ['that is damaged', { header: HEADER }, BROKEN, /damaged/],
    ['that somebody else renews', { header: HEADER }, of({ counter: 77 }), /second daemon/],
    ['in a lease that was laid out anew', { header: { ...HEADER, id: '0a1b2c3d-0000-4000-8000-000000000010' } }, EMPTY, /laid out anew/],
    ['in the lease of another cluster', { header: { ...HEADER, cluster: 'test' } }, of(), /cluster test, not of prod/],
    ['on a device that was emptied', { problem: 'empty' }, EMPTY, /nothing is laid out/],
    ['where a file system was made', { problem: 'foreign' }, EMPTY, /something else stands/],
    ['under a damaged header', { problem: 'broken' }, of(), /header is damaged/],
  ])('writes nothing into a slot %s', (_, header, content, why) => {
    const decided = decideRenewal(known([41]), header, content, OWNER);
    expect(decided).not.toHaveProperty('write');
    expect('refused' in decided && decided.refused).toMatch(why);
  });

  it('goes on once nobody else renews its slot any more', () => {
    const first = decideRenewal(known([41]), { header: HEADER }, of({ counter: 77 }), OWNER);
    const counters = 'refused' in first ? first.counters : undefined;
    expect(decideRenewal(known([...(counters ?? [])]), { header: HEADER }, of({ counter: 77 }), OWNER)).toEqual({ write: { ...MINE, counter: 78 } });
  });
});

describe('the slot of a node', () => {
  const empty: SlotContent[] = Array.from({ length: 8 }, () => EMPTY);
  const first = chooseSlot(HEADER, empty, 'a');

  it('is the one with its name, wherever it is', () => {
    const own = empty.with(6, of({ slot: 6 }));
    expect(chooseSlot(HEADER, own, 'a')).toEqual({ slot: 6 });
  });

  it('is the next empty one where its own is taken or damaged', () => {
    const at = 'slot' in first ? first.slot : -1;
    const taken = empty.with(at, of({ node: 'b', slot: at })).with((at + 1) % 8, BROKEN);
    expect(chooseSlot(HEADER, taken, 'a')).toEqual({ slot: (at + 2) % 8 });
  });

  it('is none where all are taken, those of nodes that released theirs too', () => {
    const full = empty.map((_, slot) => of({ node: `b${slot}`, slot, state: 'released' }));
    expect(chooseSlot(HEADER, full, 'a')).toEqual({ refused: expect.stringMatching(/none of its 8 slots is free/) as string });
  });

  it('differs from name to name', () => {
    const slots = Array.from({ length: 40 }, (_, index) =>
      chooseSlot(
        { slots: 256 },
        Array.from({ length: 256 }, () => EMPTY),
        `worker-${index}`,
      ),
    );
    expect(new Set(slots.map((choice) => JSON.stringify(choice))).size).toBeGreaterThan(30);
  });
});

it('a counter shows life only where a write was begun after the first look', () => {
  expect([hasLivedSince(5, 5), hasLivedSince(5, 6), hasLivedSince(5, 7), hasLivedSince(5, 4)]).toEqual([false, false, true, false]);
});

it('is renewed only where it reads as it was written', () => {
  expect(isSameSlot(MINE, of())).toBe(true);
  for (const change of [
    { counter: 40 },
    { node: 'b' },
    { systemUUID: 'u-2' },
    { state: 'released' as const },
    { bootID: OWNER.bootID.replace('1', '2') },
  ])
    expect(isSameSlot(MINE, of(change))).toBe(false);
  expect(isSameSlot(MINE, EMPTY)).toBe(false);
});

it('a lease of the cluster is none of another', () => {
  expect(headerProblem({ header: HEADER }, 'prod')).toBeUndefined();
  expect(headerProblem({ header: HEADER }, 'prod-2')).toContain('of cluster prod, not of prod-2');
});
