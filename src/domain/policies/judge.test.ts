import { describe, expect, it } from 'vitest';
import { cooldown } from './cooldown.ts';
import { judgeStorm } from './judge.ts';
import { maintenance } from './maintenance.ts';
import { maxUnhealthy } from './max-unhealthy.ts';
import type { StormPolicy } from './policy.ts';
import { rate } from './rate.ts';
import { ISOLATION, node, nodes, NOW_MS, view } from './testing/views.ts';
import { UTC } from './windows.ts';

describe('all policies together', () => {
  const policies = [
    rate({ name: 'slow', max: 1, windowMs: 60_000, scope: ({ rack }) => rack === 'r1', alarmAfterMs: 5_000 }),
    cooldown({ name: 'cooldown', durationMs: 60_000 }),
    maintenance({ name: 'hands', windows: [], offsetMs: UTC }),
  ];
  const all = [node('a', { labels: { rack: 'r1' }, marks: [{ source: 'kured', where: 'lock' }] }), node('b')];
  const judged = judgeStorm(policies, view(all, { starts: [{ node: 'a', atMs: NOW_MS }], stormEndedAtMs: NOW_MS }));

  it('hold a node for every reason, in their order, by their own names', () => {
    expect(judged('a').map(({ policy, reason, alarmAfterMs }) => [policy, reason, alarmAfterMs])).toEqual([
      ['slow', 'rate', 5_000],
      ['cooldown', 'cooldown', undefined],
      ['hands', 'maintenance', undefined],
    ]);
  });

  it('hold nobody outside their scope, and nobody who is not there', () => {
    expect(judged('b').map(({ policy }) => policy)).toEqual(['cooldown']);
    expect(judged('gone')).toEqual([]);
  });

  it('without policies nobody is held', () => {
    expect(judgeStorm([], view(all))('a')).toEqual([]);
  });

  it('count a well node that somebody asks for without a fence as one more', () => {
    const of = judgeStorm([maxUnhealthy({ name: 'max-unhealthy', isolation: ISOLATION })], view(nodes(3, 1)));
    expect([of('n1', true), of('n1'), of('n0', true)].map((holds) => holds.map(({ reason }) => reason))).toEqual([['max-unhealthy'], [], []]);
  });

  it('look at the view once, however many nodes are asked for', () => {
    let looks = 0;
    const counting: StormPolicy = {
      name: 'c',
      policy: 'rate',
      judge: () => {
        looks += 1;
        return () => undefined;
      },
    };
    const of = judgeStorm([counting], view(all));
    for (const name of ['a', 'b', 'a']) of(name);
    expect(looks).toBe(1);
  });
});
