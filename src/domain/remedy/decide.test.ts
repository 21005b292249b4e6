import { describe, expect, it } from 'vitest';
import { decideRemedy } from './decide.ts';
import type { RemedyFacts, RemedyHold, RemedyPosition } from './position.ts';
import { RUN_MAX_MS } from './position.ts';
import { REMEDY_ROWS } from './rows.ts';
import { factsOf, RECOVERY, RUN_1 } from './testing/facts.ts';
import { aThreshold, aUse } from './testing/thresholds.ts';

type Position = Partial<RemedyPosition> | undefined;
type Expected = [row: string, to: string];

const STORM: RemedyHold = { reason: 'storm', message: 'too many nodes have failed', isPolicy: true };
const STOP: RemedyHold = { reason: 'stop', message: 'stopped by a person', isPolicy: false };
const CLEANING = aThreshold({ remedies: [aUse('first', { cleansResources: true }), aUse('second')] });
const WRITTEN: Position = { phase: 'starting', rung: 1, serial: 1, run: RUN_1 };
const RUNNING: Position = { ...WRITTEN, phase: 'running', hasActed: true };
const UNDOING: Position = { phase: 'starting', rung: 1, serial: 2, run: RECOVERY, hasActed: true };
const AFTER_1: Position = { rung: 1, serial: 1, hasActed: true };
const AFTER_2: Position = { rung: 2, serial: 2, hasActed: true };
const NOW_MS = 10_000_000;

/** The row that applies, and the phase after it: `-` where it stays, `none` where it is forgotten. */
function judged(position: Position, change: Partial<RemedyFacts>): Expected {
  const { row, state, isChanged } = decideRemedy(factsOf(position, change));
  return [row, isChanged ? (state?.position.phase ?? 'none') : '-'];
}

const CASES: readonly [what: string, position: Position, change: Partial<RemedyFacts>, expected: Expected][] = [
  ['nothing stands', undefined, { view: { phase: 'pending' } }, ['none', '-']],
  ['it stands', undefined, {}, ['noticed', 'waiting']],
  ['it stands, and a fence is open', undefined, { fence: {} }, ['none-fenced', '-']],
  ['the first remedy is due', {}, {}, ['next-remedy', 'starting']],
  ['it is due, and a storm holds', {}, { holds: [STORM] }, ['held', '-']],
  ['it is due, and a stop holds', {}, { holds: [STOP] }, ['held', '-']],
  ['it is due, and another remedy is under way', {}, { isBusy: true }, ['queued', '-']],
  ['it is due, and nobody can tell whether it stands', {}, { view: { phase: 'unsure' } }, ['not-sure', '-']],
  ['it is due, and reads clear', {}, { view: { phase: 'clearing' } }, ['not-sure', '-']],
  ['it was over before anything was begun', {}, { view: { phase: 'absent' } }, ['over', 'none']],
  ['a relapse was over before anything was begun', { attempt: 2 }, { view: { phase: 'absent' } }, ['over', 'recovered']],
  ['the run is written down', WRITTEN, {}, ['run-begins', '-']],
  ['the run is written down, and held', WRITTEN, { holds: [STORM] }, ['run-held', '-']],
  ['the run is written down, and the condition reads clear', WRITTEN, { view: { phase: 'clearing' } }, ['run-withdrawn', 'waiting']],
  [
    'the run is written down, and its remedy is configured no more',
    { ...WRITTEN, rung: 3, run: { ...RUN_1, of: 3 } },
    {},
    ['run-withdrawn', 'waiting'],
  ],
  [
    'the run is written down, and another remedy has its number by now',
    WRITTEN,
    { threshold: aThreshold({ remedies: [aUse('another')] }) },
    ['run-withdrawn', 'waiting'],
  ],
  [
    'the run is written down, and its remedy is of another kind by now',
    WRITTEN,
    { threshold: aThreshold({ remedies: [aUse('first', { remedy: { kind: 'fence' } })] }) },
    ['run-withdrawn', 'waiting'],
  ],
  ['nobody knows what became of the run', WRITTEN, { outcome: 'unknown' }, ['run-unknown', '-']],
  ['the run is there', WRITTEN, { outcome: 'running' }, ['run-seen', 'running']],
  ['the run is there and has ended', WRITTEN, { outcome: 'failed' }, ['run-seen', 'running']],
  ['the run runs', RUNNING, { outcome: 'running', nowMs: RUN_MAX_MS - 1 }, ['run-runs', '-']],
  ['the run does not end', RUNNING, { outcome: 'running', nowMs: RUN_MAX_MS }, ['run-overdue', '-']],
  [
    'a fence does not end',
    { ...RUNNING, run: { ...RUN_1, kind: 'fence' } },
    { outcome: 'running', threshold: aThreshold({ remedies: [aUse('first', { remedy: { kind: 'fence' } })] }), fence: { byRun: RUN_1.id } },
    ['run-runs', '-'],
  ],
  [
    'a fence does not end, and another remedy has its number by now',
    { ...RUNNING, run: { ...RUN_1, kind: 'fence' } },
    { outcome: 'running', fence: { byRun: RUN_1.id } },
    ['run-runs', '-'],
  ],
  [
    'the run does not end, and a fence has its number by now',
    RUNNING,
    { outcome: 'running', threshold: aThreshold({ remedies: [aUse('first', { remedy: { kind: 'fence' } })] }), fence: { byRun: RUN_1.id } },
    ['run-overdue', '-'],
  ],
  ['the run succeeded', RUNNING, { outcome: 'succeeded' }, ['run-succeeded', 'waiting']],
  ['the run failed', RUNNING, { outcome: 'failed' }, ['run-failed', 'waiting']],
  ['the run is gone', RUNNING, { outcome: 'absent' }, ['run-lost', 'waiting']],
  ['the period after the first is not over', AFTER_1, { nowMs: 59_999 }, ['not-due', '-']],
  ['the period after the first is over', AFTER_1, { nowMs: 60_000 }, ['next-remedy', 'starting']],
  ['all were tried', AFTER_2, {}, ['pass-over', 'cooling']],
  ['all were tried, and no attempt is left', { ...AFTER_2, attempt: 2 }, {}, ['attempts-over', 'handed-over']],
  ['it cools', { ...AFTER_2, phase: 'cooling' }, { nowMs: 599_999 }, ['not-due', '-']],
  ['it has cooled', { ...AFTER_2, phase: 'cooling' }, { nowMs: 600_000 }, ['next-attempt', 'waiting']],
  ['it is over', AFTER_1, { view: { phase: 'absent' } }, ['over', 'starting']],
  ['it is over while it cools', { ...AFTER_2, phase: 'cooling' }, { view: { phase: 'absent' } }, ['over', 'starting']],
  ['it is over, and another remedy is under way', AFTER_1, { view: { phase: 'absent' }, isBusy: true }, ['recovery-queued', '-']],
  [
    'it is over, and there is no recovery',
    AFTER_1,
    { view: { phase: 'absent' }, threshold: (({ recovery: _recovery, ...rest }) => rest)(aThreshold()) },
    ['over', 'recovered'],
  ],
  ['the recovery is written down', UNDOING, { view: { phase: 'absent' } }, ['run-begins', '-']],
  ['the recovery is written down in a storm', UNDOING, { view: { phase: 'absent' }, holds: [STORM] }, ['run-begins', '-']],
  ['the recovery is written down, and a person said stop', UNDOING, { view: { phase: 'absent' }, holds: [STORM, STOP] }, ['run-held', '-']],
  ['the recovery is written down, and the condition is back', UNDOING, { view: { phase: 'pending' } }, ['run-withdrawn', 'waiting']],
  ['the recovery succeeded', { ...UNDOING, phase: 'running' }, { outcome: 'succeeded' }, ['run-succeeded', 'recovered']],
  ['the recovery failed', { ...UNDOING, phase: 'running' }, { outcome: 'failed' }, ['run-failed', 'handed-over']],
  ['the recovery is gone', { ...UNDOING, phase: 'running' }, { outcome: 'absent' }, ['run-lost', 'handed-over']],
  ['it is watched after a recovery', { phase: 'recovered' }, { view: { phase: 'absent' }, nowMs: 599_999 }, ['watched', '-']],
  ['it was well for long enough', { phase: 'recovered' }, { view: { phase: 'absent' } }, ['forgotten', 'none']],
  ['it was well for long enough, and matches again', { phase: 'recovered' }, { view: { phase: 'pending' } }, ['watched', '-']],
  ['it relapsed', { phase: 'recovered' }, {}, ['relapsed', 'waiting']],
  ['it relapsed too often', { phase: 'recovered', attempt: 2 }, {}, ['relapsed-too-often', 'handed-over']],
  ['a person is asked', { phase: 'handed-over', because: 'attempts', rung: 2 }, {}, ['asked', '-']],
  [
    'a person is asked, and it is over',
    { phase: 'handed-over', because: 'attempts', hasActed: true },
    { view: { phase: 'absent' } },
    ['over', 'starting'],
  ],
  [
    'a person is asked because of the recovery, and it is over',
    { phase: 'handed-over', because: 'recovery', hasActed: true },
    { view: { phase: 'absent' } },
    ['recovery-failed', '-'],
  ],
  ['a person said to go on', { phase: 'handed-over', because: 'recovery' }, { isResumed: true }, ['resumed', 'waiting']],
  ['a person said to go on, and nobody was asked', {}, { isResumed: true, nowMs: -1 }, ['not-due', '-']],
  ['a fence takes over', RUNNING, { outcome: 'running', fence: {} }, ['fence-takes-over', 'fenced']],
  ['a fence of another run takes over', RUNNING, { outcome: 'running', fence: { byRun: 'other' } }, ['fence-takes-over', 'fenced']],
  ['a fence is open, and the run runs', { ...RUNNING, phase: 'fenced' }, { outcome: 'running', fence: {} }, ['fence-ends-run', '-']],
  ['a fence is over, and the run runs', { ...RUNNING, phase: 'fenced' }, { outcome: 'running' }, ['fence-ends-run', '-']],
  ['a fence is over, and nobody knows of the run', { ...RUNNING, phase: 'fenced' }, { outcome: 'unknown' }, ['fence-run-unknown', '-']],
  ['a fence is open', { ...AFTER_1, phase: 'fenced' }, { fence: {} }, ['fence-open', '-']],
  [
    'a fence is over in the same boot',
    { ...AFTER_1, phase: 'fenced', fenced: { from: 'waiting', bootID: 'boot-1' } },
    {},
    ['fence-over-same-boot', 'waiting'],
  ],
  [
    'a fence is over, and no boot is shown',
    { ...AFTER_1, phase: 'fenced', fenced: { from: 'waiting', bootID: 'boot-1' } },
    { bootID: undefined },
    ['fence-over-same-boot', 'waiting'],
  ],
  [
    'a fence is over in another boot',
    { ...AFTER_1, phase: 'fenced', fenced: { from: 'waiting', bootID: 'boot-0' } },
    {},
    ['fence-over-new-boot', 'waiting'],
  ],
  [
    'a fence is over in another boot, and no attempt is left',
    { ...AFTER_1, attempt: 2, phase: 'fenced', fenced: { from: 'waiting', bootID: 'boot-0' } },
    {},
    ['fence-over-last', 'handed-over'],
  ],
  [
    'a fence took over from a recovered one',
    { phase: 'fenced', fenced: { from: 'recovered', bootID: 'boot-0' } },
    {},
    ['fence-over-before', 'recovered'],
  ],
  ['its threshold is configured no more', AFTER_1, { threshold: undefined }, ['unconfigured', 'none']],
  ['its threshold is missing, and a Configuration has an error', AFTER_1, { threshold: undefined, isIncomplete: true }, ['unread', '-']],
  ['its threshold is configured no more, and its run runs', RUNNING, { threshold: undefined, outcome: 'running' }, ['unconfigured-run', '-']],
  ['pods are to be let go', { ...AFTER_1, cleans: 1 }, { nowMs: 1, threshold: CLEANING }, ['cleaning', '-']],
  ['pods are to be let go, and something holds', { ...AFTER_1, cleans: 1 }, { nowMs: 1, threshold: CLEANING, holds: [STORM] }, ['held', '-']],
  ['pods are let go, and none is left', { ...AFTER_1, cleans: 1 }, { nowMs: 1, threshold: CLEANING, isCleaned: true }, ['not-due', '-']],
  [
    'pods are to be let go, and the condition reads clear',
    { ...AFTER_1, cleans: 1 },
    { nowMs: 1, threshold: CLEANING, view: { phase: 'clearing' } },
    ['not-sure', '-'],
  ],
  ['pods are to be let go, and the next remedy is due', { ...AFTER_1, cleans: 1 }, { threshold: CLEANING }, ['next-remedy', 'starting']],
];

describe('remedies, where', () => {
  it.each(CASES)('%s', (_what, position, change, expected) => {
    expect(judged(position, change)).toEqual(expected);
  });

  it('some row applies, each is named once, and each decides somewhere here', () => {
    expect(new Set(REMEDY_ROWS.map(({ id }) => id)).size).toBe(REMEDY_ROWS.length);
    const tried = new Set(CASES.map(([, , , [row]]) => row));
    expect(REMEDY_ROWS.map(({ id }) => id).filter((id) => !tried.has(id))).toEqual([]);
  });
});

describe('what a remedy does', () => {
  const decided = (position: Position, change: Partial<RemedyFacts> = {}) => decideRemedy(factsOf(position, change));

  it('is written down under a name before it is begun under that name', () => {
    const written = decided(AFTER_1);
    expect(written.actions).toBeUndefined();
    expect(written.state?.position).toMatchObject({ phase: 'starting', rung: 2, run: { id: 'e-1-2-2', remedy: 'second', of: 2 } });
    expect(decided(written.state?.position).actions).toMatchObject([{ kind: 'begin', run: { id: 'e-1-2-2' }, use: { name: 'second' } }]);
  });

  it('has another name when the run that was written down first was never begun', () => {
    const again = decided(decided(WRITTEN, { view: { phase: 'clearing' } }).state?.position);
    expect(again.state?.position).toMatchObject({ rung: 1, run: { id: 'e-1-1-2' } });
  });

  it('is counted by remedy and result when it has ended, and waits its period from then', () => {
    const { ended, state } = decided(RUNNING, { outcome: 'failed' });
    expect([ended, state?.sinceMs, state?.position.run]).toEqual([{ run: RUN_1, result: 'failed' }, NOW_MS, undefined]);
    expect(decided(RUNNING, { outcome: 'absent' }).ended?.result).toBe('lost');
  });

  it('cleans after a success only', () => {
    expect(decided(RUNNING, { outcome: 'succeeded', threshold: CLEANING }).state?.position.cleans).toBe(1);
    expect(decided(RUNNING, { outcome: 'failed', threshold: CLEANING }).state?.position.cleans).toBeUndefined();
    expect(decided(RUNNING, { outcome: 'succeeded' }).state?.position.cleans).toBeUndefined();
  });

  it('cleans the pods that stood there when it succeeded, and nothing where none did', () => {
    const after = (newestPod: string | undefined) => decided(RUNNING, { outcome: 'succeeded', threshold: CLEANING, newestPod }).state?.position;
    expect(after('2026-11-25T07:00:00Z')).toMatchObject({ phase: 'waiting', cleans: 1, podsUntil: '2026-11-25T07:00:00Z' });
    expect([after(undefined)?.cleans, after(undefined)?.podsUntil]).toEqual([undefined, undefined]);
    const next = decided({ ...AFTER_1, cleans: 1, podsUntil: '2026-11-25T07:00:00Z' }, { threshold: CLEANING }).state?.position;
    expect([next?.phase, next?.cleans, next?.podsUntil]).toEqual(['starting', undefined, undefined]);
  });

  it('evicts the pods that stood there when it was seen to have begun, and forgets them with its end', () => {
    const evicting: Position = { ...WRITTEN, run: { ...RUN_1, kind: 'evict' } };
    const seen = decided(evicting, { outcome: 'running', newestPod: '2026-11-25T07:00:00Z' }).state?.position;
    expect(seen).toMatchObject({ phase: 'running', podsUntil: '2026-11-25T07:00:00Z' });
    const after = decided(seen, { outcome: 'succeeded', threshold: CLEANING, newestPod: '2026-11-25T08:00:00Z' }).state?.position;
    expect([after?.phase, after?.podsUntil, after?.cleans]).toEqual(['waiting', undefined, undefined]);
  });

  it.each<[string, Partial<RemedyFacts>, unknown, string]>([
    ['evicts the pods of a node that lives', { presence: { kind: 'alive' } }, [{ kind: 'evict' }], 'PodDisruptionBudgets'],
    [
      'asks for a fence that ends in off where the node is silent and its devices read off',
      { presence: { kind: 'reads-off', reads: 'bmc-a reads off' } },
      [{ kind: 'release', id: expect.stringContaining('-release-1') as string }],
      'bmc-a reads off',
    ],
    [
      'lets no pods go without evidence, and says what it waits for',
      { presence: { kind: 'unproven', waitsFor: 'no device has read off' } },
      undefined,
      'no device has read off',
    ],
  ])('%s', (_what, change, actions, says) => {
    const decision = decided({ ...AFTER_1, cleans: 1 }, { nowMs: 1, threshold: CLEANING, ...change });
    expect(decision.actions).toEqual(actions);
    expect(decision.says).toContain(says);
    expect(decision.dueMs).toBe(60_000);
  });

  it('is ended when a fence takes over, and what was never begun is not left out after it', () => {
    expect(decided({ ...RUNNING, phase: 'fenced' }, { outcome: 'running', fence: {} }).actions).toEqual([{ kind: 'cancel', run: RUN_1 }]);
    expect(decided(WRITTEN, { fence: {} }).state?.position).toMatchObject({
      phase: 'fenced',
      rung: 0,
      fenced: { from: 'starting', bootID: 'boot-1' },
    });
    expect(decided(WRITTEN, { fence: {}, outcome: 'running' }).state?.position).toMatchObject({ rung: 1, run: RUN_1, hasActed: true });
  });

  it('begins anew with remedy1 when a fence was over in another boot, counts the attempt, and still undoes what was done', () => {
    const fenced: Position = { ...AFTER_2, phase: 'fenced', fenced: { from: 'waiting', bootID: 'boot-0' } };
    expect(decided(fenced).state?.position).toMatchObject({ phase: 'waiting', rung: 0, attempt: 2, hasActed: true });
    expect(decided({ ...fenced, rung: 0, attempt: 1 }).state?.position.attempt).toBe(1);
  });

  it('begins with a fresh episode after a person said to go on', () => {
    const { state } = decided({ phase: 'handed-over', because: 'attempts', attempt: 2, rung: 2, hasActed: true }, { isResumed: true });
    expect(state?.position).toEqual({
      threshold: 'KernelDeadlock=True',
      episode: 'u',
      phase: 'waiting',
      attempt: 1,
      rung: 0,
      serial: 0,
      hasActed: true,
    });
  });

  it('is kept while some Configuration has an error, though its own is missing: a typing error makes nobody begin anew', () => {
    const { row, state, says } = decided(RUNNING, { threshold: undefined, isIncomplete: true, outcome: 'running' });
    expect([row, state?.position.phase, says]).toEqual(['unread', 'running', expect.stringContaining('has an error')]);
  });

  it('says what must be undone by hand when its threshold is configured no more', () => {
    expect(decided(AFTER_1, { threshold: undefined }).says).toContain('undo by hand');
    expect(decided({}, { threshold: undefined }).says).toBeUndefined();
  });
});
