import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { InTurns } from './in-turns.ts';

const MANY = Array.from({ length: 1_000 }, (_unused, index) => index);

describe('a look at all', () => {
  it('takes few in the turn in which it begins, and arms nothing', () => {
    const clock = new ManualClock();
    const [turns, seen] = [new InTurns(clock), [] as (number | string)[]];
    turns.begin(
      MANY.slice(0, 60),
      (one) => seen.push(one),
      () => seen.push('end'),
    );
    expect(seen).toEqual([...MANY.slice(0, 60), 'end']);
    expect([turns.isUnderWay, clock.pending]).toEqual([false, 0]);
  });

  it('leaves others their turn among thousands: no turn takes more than 64', async () => {
    const clock = new ManualClock();
    const [turns, seen] = [new InTurns(clock), [] as (number | string)[]];
    const perTurn: number[] = [];
    turns.begin(
      MANY,
      (one) => seen.push(one),
      () => seen.push('end'),
    );
    for (let before = 0; turns.isUnderWay; before = seen.length) {
      perTurn.push(seen.length - before);
      await clock.advance(5);
    }
    expect(Math.max(...perTurn)).toBe(64);
    expect(seen).toEqual([...MANY, 'end']);
  });

  it('is over when it is closed: nobody else is looked at, and no end is told', async () => {
    const clock = new ManualClock();
    const [turns, seen] = [new InTurns(clock), [] as (number | string)[]];
    turns.begin(
      MANY,
      (one) => seen.push(one),
      () => seen.push('end'),
    );
    turns.close();
    await clock.advance(1_000);
    expect([seen.length, turns.isUnderWay, clock.pending]).toEqual([64, false, 0]);
  });
});
