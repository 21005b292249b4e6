import { describe, expect, it } from 'vitest';
import { alerts } from './alerts.ts';
import { holdOf, nodes, view } from './testing/views.ts';

const URL = 'http://prometheus.example:9090';

function ask(
  answer: readonly string[] | undefined,
  settings: { names?: string[]; whenUnreachable?: 'hold' | 'ignore' } = {},
): ReturnType<typeof holdOf> {
  const { names = [], whenUnreachable = 'ignore' } = settings;
  const policy = alerts({ name: 'mine', query: { url: URL, names }, whenUnreachable });
  return holdOf(policy, view(nodes(1), { alerts: new Map([['mine', answer]]) }));
}

describe('alerts', () => {
  it.each<[what: string, found: ReturnType<typeof ask>, message: string | undefined]>([
    ['none fires', ask([]), undefined],
    ['one fires', ask(['CoreSwitchDown']), 'alert CoreSwitchDown fires; ends when it does no more'],
    ['several fire', ask(['A', 'B', 'C', 'D', 'E']), 'alerts A, B, C and 2 more fire; ends when none of them does'],
    ['another one fires', ask(['Watchdog'], { names: ['CoreSwitchDown'] }), undefined],
    ['a named one fires', ask(['Watchdog', 'A'], { names: ['A', 'B'] }), 'alert A fires; ends when it does no more'],
    ['no answer', ask(undefined), undefined],
    [
      'no answer, when_unreachable=hold',
      ask(undefined, { whenUnreachable: 'hold' }),
      `${URL} does not say which alerts fire, and when_unreachable=hold: ends when it answers`,
    ],
    ['an answer, when_unreachable=hold', ask([], { whenUnreachable: 'hold' }), undefined],
  ])('%s', (_what, found, message) => {
    expect(found?.message).toBe(message);
  });

  it('hears only its own answer, and was never asked is no answer', () => {
    const policy = alerts({ name: 'mine', query: { url: URL, names: [] }, whenUnreachable: 'hold' });
    expect(holdOf(policy, view(nodes(1), { alerts: new Map([['other', []]]) }))?.reason).toBe('alerts-unreachable');
  });

  it('tells the shell what to ask', () => {
    const query = { url: URL, query: 'ALERTS', names: ['A'] };
    expect(alerts({ name: 'mine', query, whenUnreachable: 'ignore' }).alertQuery).toEqual(query);
  });
});
