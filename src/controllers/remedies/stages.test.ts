import { describe, expect, it } from 'vitest';
import type { RemedyPosition, RemedyRun } from '../../domain/remedy/position.ts';
import { Stages } from './stages.ts';

const RUN: RemedyRun = { id: 'e-1-1-1', remedy: 'drain', kind: 'evict', of: 1 };
const at = (change: Partial<RemedyPosition>): RemedyPosition => ({
  ...{ threshold: 'T=True', episode: 'e', phase: 'waiting', attempt: 1, rung: 0, serial: 0, hasActed: false },
  ...change,
});

describe('what remedies do to a node, for storm policies', () => {
  it.each<[what: string, positions: RemedyPosition[], kind: string | undefined]>([
    ['nothing was done yet', [at({})], undefined],
    ['one is written down', [at({ phase: 'starting', run: RUN })], 'asked'],
    ['one runs', [at({ phase: 'running', run: RUN, hasActed: true })], 'begun'],
    ['one has run', [at({ hasActed: true })], 'acted'],
    ['the next one is written down', [at({ phase: 'starting', run: RUN, hasActed: true })], 'acted'],
    ['a person is asked', [at({ phase: 'handed-over', hasActed: true })], 'acted'],
    ['its recovery runs', [at({ phase: 'running', run: { ...RUN, of: 'recovery' }, hasActed: true })], 'acted'],
    ['all is over', [at({ phase: 'recovered' })], undefined],
    ['one of two runs', [at({ hasActed: true }), at({ phase: 'running', run: RUN })], 'begun'],
  ])('%s', (_what, positions, kind) => {
    const stages = new Stages();
    stages.see('a', positions);
    expect(stages.all.get('a')?.kind).toBe(kind);
  });

  it('counts from the turn in which it begins, also while it stands written as not begun', () => {
    const stages = new Stages();
    stages.see('a', [at({ phase: 'starting', run: RUN })]);
    const before = stages.all;
    stages.begins('a', 7);
    stages.see('a', [at({ phase: 'starting', run: RUN })]);
    expect([stages.all.get('a'), before.get('a')?.kind]).toEqual([{ kind: 'begun', beganAtMs: 7 }, 'asked']);
    stages.see('a', [at({ hasActed: true })]);
    expect(stages.all.get('a')).toEqual({ kind: 'acted', beganAtMs: 7 });
    stages.see('a', []);
    expect(stages.all.size).toBe(0);
  });

  it('is the same map for as long as nothing changes', () => {
    const stages = new Stages();
    stages.see('a', [at({ hasActed: true })]);
    const before = stages.all;
    stages.see('a', [at({ hasActed: true })]);
    stages.forget('b');
    expect(stages.all).toBe(before);
  });
});
