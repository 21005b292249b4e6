import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_FAILURE_DOMAIN, failureDomain } from './failure-domain.ts';
import { heldBy, holdOf, node, view } from './testing/views.ts';
import type { StormNode } from './view.ts';

const policy = failureDomain({ name: 'failure-domain', ...DEFAULT_FAILURE_DOMAIN, topologyKeys: ['rack', 'feed'] });

/** `r1:3/5`: five nodes of rack r1, of which three failed; `-` is no rack. `r1+f1`: on feed f1 too. */
function racks(words: string): StormNode[] {
  return words.split(' ').flatMap((word) => {
    const [domain = '', count = ''] = word.split(':');
    const [failed = 0, total = 0] = count.split('/').map(Number);
    const [rack = '', feed] = domain.split('+');
    const labels: Record<string, string> = { ...(rack !== '-' && { rack }), ...(feed !== undefined && { feed }) };
    return Array.from({ length: total }, (_, index) => node(`${rack}.${index}`, { labels, health: index < failed ? 'failed' : 'healthy' }));
  });
}

describe('failure-domain', () => {
  it.each<[what: string, all: string, heldRacks: string[]]>([
    ['a rack that is gone is held', 'r1:4/4 r2:0/4 r3:0/4', ['r1']],
    ['three of five are 60 percent', 'r1:3/5 r2:0/5', ['r1']],
    ['four of seven are less', 'r1:4/7 r2:0/7', []],
    ['one node of two is a node', 'r1:1/2 r2:0/2', []],
    ['both of two are a rack', 'r1:2/2 r2:0/2', ['r1']],
    ['a rack of one is a node', 'r1:1/1 r2:0/5', []],
    ['two racks of one are two nodes', 'r1:1/1 r2:1/1 r3:0/5', []],
    ['a rack that is the whole cluster is no rack', 'r1:5/5', []],
    ['just half of the failures are elsewhere: not most', 'r1:3/3 r2:1/9 r3:1/9 r4:1/9', []],
    ['most failures are in it', 'r1:4/4 r2:1/9 r3:1/9 r4:1/9', ['r1']],
    ['two racks on one feed share the failures', 'r1:3/3 r2:3/3 r3:0/9', ['r1', 'r2']],
    ['nodes without a rack are no domain', '-:5/5 r1:0/5', []],
    ['a feed over two racks, of which one is half alive', 'r1+f1:2/4 r2+f1:3/4 r3+f2:0/9', ['r1', 'r2']],
    ['a feed that is mostly alive, and a rack with just half of the failures', 'r1+f1:2/4 r2+f1:2/3 r3+f2:0/9', []],
    ['one node alone', 'r1:1/1', []],
    ['no failures', 'r1:0/4 r2:0/4', []],
  ])('%s', (_what, all, heldRacks) => {
    const held = heldBy(policy, view(racks(all)));
    expect([...new Set(held.map((name) => name.split('.')[0]))]).toEqual(heldRacks);
  });

  it('a second label is a domain of its own', () => {
    const all = [...racks('r1:0/1'), ...['r2', 'r3', 'r4'].map((rack) => node(rack, { labels: { rack, feed: 'f1' }, health: 'silent' }))];
    expect(heldBy(policy, view(all))).toEqual(['r2', 'r3', 'r4']);
  });

  it('says its numbers', () => {
    expect(holdOf(policy, view(racks('r1:3/4 r2:1/9')), 'r1.0')).toEqual({
      reason: 'failure-domain',
      message:
        '3 of 4 nodes of rack=r1 are unhealthy, and 3 of all 4 unhealthy nodes are in such domains: a switch or a power feed, not the nodes; ends when less than 60% of it is unhealthy',
    });
  });

  it('share=100 holds only what is gone to the last node', () => {
    const strict = failureDomain({ name: 'p', topologyKeys: ['rack'], share: 100 });
    expect(heldBy(strict, view(racks('r1:3/4 r2:0/9')))).toEqual([]);
    expect(heldBy(strict, view(racks('r1:4/4 r2:0/9')))).toHaveLength(4);
  });

  it('counts its scope only; a domain that is all of the scope is still one when the cluster has others', () => {
    const scoped = failureDomain({ name: 'p', topologyKeys: ['rack'], share: 60, scope: ({ rack }) => rack === 'r1' });
    expect(heldBy(scoped, view(racks('r1:3/3 r2:9/9')))).toEqual(['r1.0', 'r1.1', 'r1.2']);
  });

  it('never lets a domain go because more of that domain fails', () => {
    const counts = fc.array(fc.tuple(fc.nat(6), fc.nat(6)), { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(counts, (domains) => {
        const words = (extra: number): string =>
          domains
            .map(([failed, healthy], index) => `r${index}:${failed + (index === 0 ? Math.min(extra, healthy) : 0)}/${failed + healthy}`)
            .join(' ');
        const before = heldBy(policy, view(racks(words(0)))).filter((name) => name.startsWith('r0.'));
        const after = heldBy(policy, view(racks(words(1)))).filter((name) => name.startsWith('r0.'));
        expect(after.length).toBeGreaterThanOrEqual(before.length);
      }),
    );
  });
});
