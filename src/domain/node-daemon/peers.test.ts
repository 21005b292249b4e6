import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { choosePeers, PEERS_MAX, vouchedUntilMs } from './peers.ts';
import type { Peer } from './peers.ts';

const own: Peer = { node: 'me', domain: 'a' };
const of = (text: string): Peer[] =>
  text.split(' ').map((word) => {
    const [node = '', domain] = word.split('@');
    return domain === undefined ? { node } : { node, domain };
  });
const until = (text: string): Map<string, number> =>
  new Map(
    text.split(' ').flatMap((word) => {
      const [node = '', ms] = word.split('=');
      return ms === undefined ? [] : [[node, Number(ms)]];
    }),
  );

describe('vouchedUntilMs', () => {
  it.each([
    ['a second of three domains is enough', 'x@a y@b z@c', 'x=10 y=20', 10],
    ['the own rack alone is not, however many are in it', 'v@a w@a x@a y@b z@c', 'v=10 w=10 x=20', undefined],
    ['another rack alone is not', 'x@a y@b z@c', 'y=10', undefined],
    ['peers of one domain count as one: the latest of them', 'x@b y@b z@c', 'x=10 y=30 z=20', 20],
    ['half of the domains is not enough', 'x@b', 'x=10', undefined],
    ['without labels each node is a domain of its own', 'x y z', 'x=10 y=20', undefined],
    ['without labels more than half, the own one counted', 'x y z', 'x=10 y=20 z=30', 10],
    ['all in one domain: more than half of the peers', 'x@a y@a z@a', 'x=10 y=20', 10],
    ['all in one domain: one of three is not', 'x@a y@a z@a', 'x=10', undefined],
    ['a node alone is never vouched for', '', '', undefined],
    ['somebody who was not asked does not count', 'x@a y@b', 'q=10 r=20', undefined],
  ])('%s', (_, peers, vouches, expected) => {
    expect(vouchedUntilMs(own, peers === '' ? [] : of(peers), until(vouches))).toBe(expected);
  });

  it('never is kept up by its own domain alone, where there is another', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 1, max: 8 }), (inside, outside) => {
        const peers = [
          ...Array.from({ length: inside }, (_, index) => ({ node: `in-${index}`, domain: 'a' })),
          ...Array.from({ length: outside }, (_, index) => ({ node: `out-${index}`, domain: `b-${index % 3}` })),
        ];
        const vouches = new Map(peers.filter(({ domain }) => domain === 'a').map(({ node }) => [node, 1_000]));
        expect(vouchedUntilMs(own, peers, vouches)).toBeUndefined();
      }),
    );
  });
});

describe('choosePeers', () => {
  const racks = (nodes: number, count: number): Peer[] =>
    Array.from({ length: nodes }, (_, index) => ({ node: `worker-${index}`, domain: `rack-${index % count}` }));

  it('asks at most twelve, of as many domains as possible, and never itself', () => {
    for (const [nodes, count, domains] of [
      [5_000, 100, 12],
      [5_000, 4, 4],
      [40, 8, 8],
      [3, 3, 2],
    ] as const) {
      const chosen = choosePeers('worker-0', racks(nodes, count));
      expect(chosen.length, `${nodes} nodes`).toBe(Math.min(PEERS_MAX, nodes - 1, count * 3));
      expect(new Set(chosen.map(({ domain }) => domain)).size).toBe(domains);
      expect(chosen.map(({ node }) => node)).not.toContain('worker-0');
    }
  });

  it('takes several of a domain, so that one dead peer silences none', () => {
    const chosen = choosePeers('worker-0', racks(30, 3));
    expect(chosen.filter(({ domain }) => domain === 'rack-1')).toHaveLength(3);
  });

  it('changes by what came or went only', () => {
    const all = racks(200, 50);
    const before = choosePeers('worker-0', all).map(({ node }) => node);
    const [gone = ''] = before;
    const after = choosePeers(
      'worker-0',
      all.filter(({ node }) => node !== gone),
    ).map(({ node }) => node);
    expect(before.filter((node) => !after.includes(node))).toEqual([gone]);
  });

  it('spreads the asking over the nodes', () => {
    const all = racks(300, 10);
    const asked = new Map<string, number>();
    for (const { node } of all) for (const peer of choosePeers(node, all)) asked.set(peer.node, (asked.get(peer.node) ?? 0) + 1);
    expect(Math.max(...asked.values())).toBeLessThan(4 * PEERS_MAX);
  });
});
