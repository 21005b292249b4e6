import { describe, expect, it } from 'vitest';
import type { Lease } from '../../../ports/objects.ts';
import { Candidates } from './candidates.ts';

const KEY = 'candidate.nodefence.ha.k8s.io/';

function lease(annotations: Record<string, string>): Lease {
  return { metadata: { name: 'nodefence-candidates', annotations }, spec: {} };
}

const said = (node: string | undefined, count: number): string => JSON.stringify({ node, mode: 'enforce', count });

describe('the announcements of candidates', () => {
  it('count as alive for three of their periods from our first sight of the last one', () => {
    const candidates = new Candidates('own');
    candidates.see(lease({ [`${KEY}b`]: said('b', 1) }), 1_000);
    expect(candidates.at(91_000)).toEqual([{ id: 'b', node: 'b', mode: 'enforce', isAlive: true }]);
    expect(candidates.at(91_001)[0]?.isAlive).toBe(false);
    candidates.see(lease({ [`${KEY}b`]: said('b', 1), other: 'x' }), 91_001);
    expect(candidates.at(91_001)[0]?.isAlive).toBe(false);
    candidates.see(lease({ [`${KEY}b`]: said('b', 2) }), 91_002);
    expect(candidates.at(91_002)[0]?.isAlive).toBe(true);
  });

  it('are read as what others may have written: nothing of it is believed that makes no sense, and our own is none', () => {
    const candidates = new Candidates('own');
    const texts = ['', '{', 'null', '{"mode":"root"}', '[]', '{"mode":"enforce","node":7}'];
    const odd = Object.fromEntries(texts.map((text, index) => [`${KEY}${index}`, text]));
    candidates.see(lease({ ...odd, [`${KEY}own`]: said('a', 1), unrelated: said('c', 1) }), 0);
    expect(candidates.at(0)).toEqual([{ id: '5', mode: 'enforce', isAlive: true }]);
  });

  it('are bounded, however many stand there', () => {
    const candidates = new Candidates('own');
    candidates.see(lease(Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`${KEY}${index}`, said('b', 1)]))), 0);
    expect(candidates.at(0)).toHaveLength(32);
  });

  it('of those who ended are forgotten with the annotation', () => {
    const candidates = new Candidates('own');
    candidates.see(lease({ [`${KEY}b`]: said('b', 1) }), 0);
    candidates.see(lease({}), 1);
    expect(candidates.at(1)).toEqual([]);
    candidates.see(undefined, 2);
    expect(candidates.at(2)).toEqual([]);
  });

  it('remove what has been silent for ten minutes with our own next one', () => {
    const candidates = new Candidates('own');
    candidates.see(lease({ [`${KEY}old`]: said('b', 1) }), 0);
    candidates.see(lease({ [`${KEY}old`]: said('b', 1), [`${KEY}new`]: said('c', 1) }), 300_000);
    expect(candidates.announcement({ node: 'a', mode: 'enforce', count: 4 }, 600_001)).toEqual({
      [`${KEY}old`]: null,
      [`${KEY}own`]: '{"node":"a","mode":"enforce","count":4}',
    });
    expect(candidates.farewell()).toEqual({ [`${KEY}own`]: null });
  });
});
