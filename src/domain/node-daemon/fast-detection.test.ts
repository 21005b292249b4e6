import { describe, expect, it } from 'vitest';

import { FAST_ROWS, judgeFast, peersView } from './fast-detection.ts';
import type { FastFacts } from './fast-detection.ts';

const SILENT_AT_MS = 100_000;
/** Everything speaks against it. */
const LOST: FastFacts = {
  nowMs: SILENT_AT_MS + 3_000,
  timeoutMs: 3_000,
  heard: { lastMs: SILENT_AT_MS, fromMs: 50_000 },
  hasLeft: false,
  expected: 100,
  silent: 1,
  peers: { reachedBy: [], isUnreached: true },
  readsOff: true,
  isLeaseStale: true,
};

describe('fast detection', () => {
  it.each<[string, Partial<FastFacts>, string, string]>([
    ['everything speaks against the node', {}, 'reads-off', 'failed'],
    ['it is switched off', { timeoutMs: undefined }, 'off', 'none'],
    ['the daemon never ran, or runs in another boot', { heard: undefined }, 'never-heard', 'none'],
    ['the daemon was stopped as it should be', { hasLeft: true }, 'left', 'none'],
    ['the last heartbeat is a moment too young', { nowMs: SILENT_AT_MS + 2_999 }, 'heard', 'none'],
    ['this leader has just begun', { heard: { lastMs: SILENT_AT_MS, fromMs: SILENT_AT_MS - 9_999 } }, 'heard-too-short', 'none'],
    ['it was heard just long enough', { heard: { lastMs: SILENT_AT_MS, fromMs: SILENT_AT_MS - 10_000 } }, 'reads-off', 'failed'],
    ['two fall silent of a few', { silent: 2, expected: 19 }, 'many-silent', 'held'],
    ['one falls silent of two', { silent: 1, expected: 2 }, 'reads-off', 'failed'],
    ['as many fall silent as may', { silent: 10 }, 'reads-off', 'failed'],
    ['one more falls silent than may', { silent: 11 }, 'many-silent', 'held'],
    ['one peer reaches it', { peers: { reachedBy: ['b'], isUnreached: true } }, 'reached', 'suspected'],
    ['too few have said that it does not answer', { peers: { reachedBy: [], isUnreached: false } }, 'peers-unsure', 'suspected'],
    ['its devices do not read off, but its kubelet is silent', { readsOff: false }, 'lease-stale', 'failed'],
    ['its devices do not read off, and its kubelet lives', { readsOff: false, isLeaseStale: false }, 'lease-fresh', 'suspected'],
    ['its kubelet seems to live, but its devices read off', { isLeaseStale: false }, 'reads-off', 'failed'],
  ])('where %s', (_where, change, id, verdict) => {
    expect(judgeFast({ ...LOST, ...change })).toMatchObject({ id, verdict });
  });

  it('says the same wherever the rows name it, and has one for whatever is left', () => {
    expect(new Set(FAST_ROWS.map(({ id }) => id)).size).toBe(FAST_ROWS.length);
    expect(FAST_ROWS.at(-1)?.applies({ ...LOST, readsOff: false })).toBe(true);
  });

  it.each<[string, Record<string, 'reached' | 'unreached'>, boolean]>([
    ['two domains of three, the own one silent', { b: 'unreached', c: 'unreached' }, true],
    ['one domain of three', { b: 'unreached', b2: 'unreached' }, false],
    ['the own domain and another', { a2: 'unreached', b: 'unreached' }, true],
    ['nobody', {}, false],
    ['one that is no peer', { b: 'unreached', x: 'unreached' }, false],
  ])('asks for as many failure domains as must vouch: %s', (_who, answers, isUnreached) => {
    const peers = [
      { node: 'a2', domain: '1' },
      { node: 'b', domain: '2' },
      { node: 'b2', domain: '2' },
      { node: 'c', domain: '3' },
    ];
    expect(peersView({ node: 'a', domain: '1' }, peers, new Map(Object.entries(answers)))).toEqual({ reachedBy: [], isUnreached });
  });

  it('is vetoed by any peer that reaches the node', () => {
    const peers = [{ node: 'b' }, { node: 'c' }, { node: 'd' }];
    const answers = new Map([['b', 'unreached'] as const, ['c', 'unreached'] as const, ['d', 'reached'] as const]);
    expect(peersView({ node: 'a' }, peers, answers)).toEqual({ reachedBy: ['d'], isUnreached: false });
  });
});
