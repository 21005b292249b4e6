import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ZONE_LABEL } from './domains.ts';
import { DEFAULT_CONCURRENT, maxConcurrent } from './max-concurrent.ts';
import type { MaxConcurrentSettings } from './max-concurrent.ts';
import { fence, heldBy, holdOf, node, SLOT, view } from './testing/views.ts';
import type { StormNode } from './view.ts';

const policy = (settings: Partial<MaxConcurrentSettings> = {}): ReturnType<typeof maxConcurrent> =>
  maxConcurrent({ name: 'max-concurrent', ...DEFAULT_CONCURRENT, ...settings });

/** `a1*`: node 1 of zone a, holding a slot; `-1`: without a zone. */
function zoned(words: string): StormNode[] {
  return words.split(' ').map((word) => {
    const zone = word.charAt(0);
    return node(word.slice(0, 2), {
      health: 'failed',
      labels: zone === '-' ? {} : { [ZONE_LABEL]: zone },
      fence: word.endsWith('*') ? SLOT : undefined,
    });
  });
}

describe('max-concurrent', () => {
  it.each<[what: string, all: string, held: string[]]>([
    ['nobody is held while nothing is under way', 'a1 a2 b1', []],
    ['one at a time in a zone, another zone is free', 'a1* a2 b1', ['a2']],
    ['three at a time in all', 'a1* b1* c1* d1', ['d1']],
    ['two in all leave one more', 'a1* b1* c1', []],
    ['nodes without a zone are one domain', 'a1 -1* -2', ['-2']],
    ['without any zones all nodes are one domain', '-1* -2 -3', ['-2', '-3']],
    ['who holds a slot goes on, though there are too many', 'a1* a2* a3* a4* a5', ['a5']],
    ['a cluster of one', 'a1', []],
    ['a cluster of one under way', 'a1*', []],
  ])('%s', (_what, all, held) => {
    expect(heldBy(policy(), view(zoned(all)))).toEqual(held);
  });

  it('a fence without a slot takes no place: released, failed, off on purpose', () => {
    const over = ['new', 'running', 'done', 'error', 'final'] as const;
    const all = [...over.map((state) => node(state, { fence: fence({ state }) })), node('n0')];
    expect(heldBy(policy(), view(all))).toEqual([]);
  });

  it.each<[settings: Partial<MaxConcurrentSettings>, all: string, held: string[]]>([
    [{ max: 1 }, 'a1* b1', ['b1']],
    [{ max: 2, maxPerDomain: 2 }, 'a1* a2 b1', []],
    [{ max: 2, maxPerDomain: 2 }, 'a1* a2* b1', ['b1']],
    [{ maxPerDomain: 2 }, 'a1* a2* a3 b1', ['a3']],
    [{ max: 0 }, 'a1 b1', ['a1', 'b1']],
    [{ scope: (labels) => labels[ZONE_LABEL] === 'a', max: 1 }, 'a1 b1* b2', []],
    [{ topologyKeys: ['rack', ZONE_LABEL] }, 'a1* a2 b1', ['a2']],
    [{ topologyKeys: ['rack'] }, 'a1* a2 b1', ['a2', 'b1']],
  ])('%j', (settings, all, held) => {
    expect(heldBy(policy(settings), view(zoned(all)))).toEqual(held);
  });

  it('says who holds the slots, and where', () => {
    expect(holdOf(policy(), view(zoned('a1* a2')), 'a2')?.message).toBe(
      '1 under way (a1) of 1 at once in topology.kubernetes.io/zone=a: ends when one of them is released, fails or is off on purpose',
    );
    expect(holdOf(policy(), view(zoned('a1* b1* c1* d1')), 'd1')?.message).toBe(
      '3 under way (a1, b1, c1) of 3 at once: ends when one of them is released, fails or is off on purpose',
    );
  });

  it('never admits more than max in all and in each domain, asked one after the other', () => {
    const zones = fc.array(fc.constantFrom('a', 'b', 'c', '-'), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(zones, fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 3 }), (of, max, maxPerDomain) => {
        const all = of.map((zone, index) => node(`${index}`, { labels: zone === '-' ? {} : { [ZONE_LABEL]: zone } }));
        const one = policy({ max, maxPerDomain });
        for (const [index, candidate] of all.entries()) if (one.judge(view(all))(candidate) === undefined) all[index] = { ...candidate, fence: SLOT };
        const holders = all.filter((other) => other.fence !== undefined);
        expect(holders.length).toBeLessThanOrEqual(max);
        for (const zone of ['a', 'b', 'c', undefined])
          expect(holders.filter(({ labels }) => labels[ZONE_LABEL] === zone).length).toBeLessThanOrEqual(maxPerDomain);
      }),
    );
  });
});
