import { describe, expect, it } from 'vitest';
import type { RemedyState } from '../../domain/remedy/position.ts';
import type { RemediesStatus } from '../../ports/remedies.ts';
import { mustBeWritten, remediesStatus, restoredStatus } from './status.ts';

const NOW = { monotonicMs: 1_000, wallMs: Date.parse('2026-11-25T00:00:30Z') };
const STATE: RemedyState = {
  position: {
    ...{ threshold: 'T=True', episode: 'e', phase: 'running', attempt: 2, rung: 1, serial: 3, hasActed: true },
    run: { id: 'e-2-recovery-3', remedy: 'undo', kind: 'podTemplate', of: 'recovery' },
  },
  sinceMs: 500,
};
const OBSERVED = { bootID: 'b', standings: {} };

const written = (message: string | undefined, change: Partial<RemedyState['position']> = {}): RemediesStatus | undefined =>
  remediesStatus(
    {
      observed: OBSERVED,
      states: new Map([['T=True', { ...STATE, position: { ...STATE.position, ...change } }]]),
      messages: new Map(message === undefined ? [] : [['T=True', message]]),
      runs: [],
    },
    undefined,
    '2026-11-25T00:00:00Z',
  );

describe('what is written down of remedies', () => {
  it('is read as it was, and every wait begins anew', () => {
    const report = { metadata: { name: 'a' }, status: { remedies: written('undo runs') ?? {} } };
    const restored = restoredStatus(report, NOW, 'uid-a');
    expect(restored.states).toEqual(new Map([['T=True', { ...STATE, sinceMs: 1_000 }]]));
    expect(restored.writtenAtMs.get('T=True')).toBe(Date.parse('2026-11-25T00:00:00Z'));
    expect(restored.observed.standings['T=True']).toMatchObject({ isTripped: true });
  });

  it('is nothing to go on from where it was written of another Node', () => {
    const of = (nodeUID: string): ReturnType<typeof restoredStatus> =>
      restoredStatus({ metadata: { name: 'a' }, status: { remedies: { ...written('undo runs'), nodeUID } } }, NOW, 'uid-a');
    expect([of('uid-a').states.size, of('uid-before').states.size, of('uid-before').observed.standings]).toEqual([1, 0, {}]);
  });

  it('is not written anew where an older definition has dropped whose it is', () => {
    expect(mustBeWritten({ ...written('x'), nodeUID: 'uid-a' }, written('x'), true)).toBe(false);
  });

  it('is nothing where nothing is to be remembered', () => {
    expect(remediesStatus({ observed: OBSERVED, states: new Map(), messages: new Map(), runs: [] }, undefined, '')).toBeUndefined();
  });

  it.each<[what: string, now: RemediesStatus | undefined, before: RemediesStatus | undefined, isDue: boolean, is: boolean]>([
    ['the same', written('3 of 9'), written('3 of 9'), true, false],
    ['other counts, soon', written('4 of 9 (a, b)'), written('3 of 9 (a)'), false, false],
    ['other words, soon', written('incomplete'), written('3 of 9'), false, true],
    ['other counts, when they are due', written('4 of 9'), written('3 of 9'), true, true],
    ['words where there were none', written('4 of 9'), written(undefined), false, true],
    ['another phase', written('x', { phase: 'waiting' }), written('x'), false, true],
    ['nothing any more', undefined, written('x'), false, true],
  ])('%s', (_what, now, before, isDue, is) => {
    expect(mustBeWritten(now, before, isDue)).toBe(is);
  });
});
