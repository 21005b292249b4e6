import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { OffsOnRequest } from './offs-on-request.ts';

const free = (): readonly never[] => [];

async function begun(): Promise<OffsOnRequest> {
  const clock = new ManualClock();
  const offs = new OffsOnRequest(clock);
  await clock.advance(7);
  offs.begin('machines x', 'a', free);
  return offs;
}

const kinds = ({ all }: OffsOnRequest): Record<string, string> => Object.fromEntries([...all].map(([node, { kind }]) => [node, kind]));

describe('nodes whose hosts are switched off on request', () => {
  it('count from the turn in which the off leaves, until it stands no more; then its begin alone does', async () => {
    const offs = await begun();
    const before = offs.all;
    expect([...before]).toEqual([['a', { kind: 'begun', beganAtMs: 1_000_007 }]]);
    offs.see('machines x', 'a');
    expect(offs.all, 'nothing has changed').toBe(before);
    offs.see('machines x', undefined);
    expect([...offs.all]).toEqual([['a', { kind: 'over', beganAtMs: 1_000_007 }]]);
  });

  it('are refused where a storm policy holds them by then, and count for nothing', async () => {
    const offs = await begun();
    const full = { policy: 'max-concurrent', reason: 'max-concurrent' as const, message: '1 under way (a)' };
    expect(() => offs.begin('machines y', 'b', () => [full])).toThrow('held by max-concurrent: 1 under way (a)');
    expect(kinds(offs)).toEqual({ a: 'begun' });
  });

  it('count for as long as anybody keeps them off', async () => {
    const offs = await begun();
    offs.see('remediations z', 'a');
    offs.see('machines x', undefined);
    expect(kinds(offs)).toEqual({ a: 'begun' });
    offs.see('remediations z', undefined);
    expect(kinds(offs)).toEqual({ a: 'over' });
  });

  it('are those that a predecessor has left off, too; of a Machine on another Node the new one', async () => {
    const offs = await begun();
    offs.see('machines w', 'c');
    offs.see('machines w', 'd');
    expect(kinds(offs)).toEqual({ a: 'begun', c: 'over', d: 'begun' });
  });

  it('are nobody’s where their controller stops', async () => {
    const offs = await begun();
    offs.see('machines-of-others v', 'b');
    offs.forget('machines');
    expect(kinds(offs)).toEqual({ a: 'over', b: 'begun' });
  });

  it('are remembered in a bounded number when they are over', async () => {
    const offs = await begun();
    for (let each = 0; each < 1_100; each += 1) {
      offs.see('machines w', `n-${each}`);
      offs.see('machines w', undefined);
    }
    expect([offs.all.size, kinds(offs)['a'], offs.all.has('n-1099')]).toEqual([1_000, 'begun', true]);
  });
});
