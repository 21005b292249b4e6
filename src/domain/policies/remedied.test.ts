import { describe, expect, it } from 'vitest';
import { DEFAULT_CONCURRENT, maxConcurrent } from './max-concurrent.ts';
import { maxUnhealthy } from './max-unhealthy.ts';
import { rate } from './rate.ts';
import { startupGrace } from './startup-grace.ts';
import { withRemedies } from './remedied.ts';
import type { RemedyStage } from './remedied.ts';
import { heldBy, node, view } from './testing/views.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);
const stages = (words: Readonly<Record<string, RemedyStage['kind']>>): ReadonlyMap<string, RemedyStage> =>
  new Map(Object.entries(words).map(([name, kind]) => [name, { kind }]));

describe('storm policies about remedies', () => {
  const all = view(names(10).map((name) => node(name)));
  const isolation = { targets: [], minReachable: 0 } as never;

  it.each<[what: string, words: Readonly<Record<string, RemedyStage['kind']>>, held: boolean]>([
    ['the first one', { n0: 'asked' }, false],
    ['the fourth of ten', { n0: 'asked', n1: 'begun', n2: 'acted', n3: 'acted' }, false],
    ['one more than 40 percent', { n0: 'asked', n1: 'begun', n2: 'acted', n3: 'acted', n4: 'acted' }, true],
    ['those that are only asked for hold nobody', { n0: 'asked', n1: 'asked', n2: 'asked', n3: 'asked', n4: 'asked' }, false],
  ])('max-unhealthy: %s', (_what, words, held) => {
    expect(heldBy(maxUnhealthy({ name: 'max-unhealthy', isolation }), withRemedies(all, stages(words))).includes('n0')).toBe(held);
  });

  it('max-unhealthy: a node that was fenced before is held as any other', () => {
    const ended = { isRequested: false, state: 'final', holdsSlot: false } as const;
    const fenced = view([{ ...node('n0'), fence: ended }, node('n1'), node('n2')]);
    const policy = maxUnhealthy({ name: 'max-unhealthy', isolation });
    expect(heldBy(policy, withRemedies(fenced, stages({ n0: 'asked', n1: 'begun' })))).toContain('n0');
  });

  it('max-concurrent: one that runs holds a slot, also beside a fence; whoever holds one goes on', () => {
    const policy = maxConcurrent({ name: 'max-concurrent', ...DEFAULT_CONCURRENT });
    const held = heldBy(policy, withRemedies(all, stages({ n0: 'asked', n1: 'begun' })));
    expect([held.includes('n0'), held.includes('n1')]).toEqual([true, false]);
    expect(heldBy(policy, withRemedies(all, stages({ n0: 'asked', n1: 'acted' })))).toEqual([]);
  });

  it('startup-grace: a remedy waits for it whether or not it is written down yet; one that has begun goes on', () => {
    const policy = startupGrace({ name: 'startup-grace', durationMs: 300_000 });
    const started = { ...all, controller: { ...all.controller, startedAtMs: all.nowMs - 60_000 } };
    const held = heldBy(policy, withRemedies(started, stages({ n0: 'asked', n1: 'begun' })));
    expect([held.includes('n0'), held.includes('n1'), held.includes('n2')]).toEqual([true, false, true]);
  });

  it('rate: each begin counts', () => {
    const began = new Map<string, RemedyStage>(names(3).map((name) => [name, { kind: 'begun', beganAtMs: all.nowMs - 1 }]));
    const policy = rate({ name: 'rate', max: 3, windowMs: 600_000 });
    expect(heldBy(policy, withRemedies(all, began))).toContain('n5');
    expect(heldBy(policy, withRemedies(all, new Map()))).toEqual([]);
  });

  it('leaves the picture of fences as it is, and knows nothing of nodes that are gone', () => {
    const before = JSON.stringify([...all.nodes]);
    const seen = withRemedies(all, stages({ n0: 'begun', gone: 'begun' }));
    expect([JSON.stringify([...all.nodes]), seen.nodes.has('gone')]).toEqual([before, false]);
  });
});
