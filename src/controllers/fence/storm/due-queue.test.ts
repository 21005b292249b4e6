import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DueQueue } from './due-queue.ts';

const LATEST_MS = 50;
/** A push, or that so much time passes and whatever is due is taken. */
const step = fc.oneof(fc.record({ dueMs: fc.nat(LATEST_MS) }), fc.record({ passMs: fc.nat(10) }));

function allDue(queue: DueQueue<{ dueMs: number }>, nowMs: number): { dueMs: number }[] {
  const taken: { dueMs: number }[] = [];
  for (let next = queue.take(nowMs); next !== undefined; next = queue.take(nowMs)) taken.push(next);
  return taken;
}

describe('what is due when', () => {
  it('gives each item once, when it is due, the earliest first', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new DueQueue<{ dueMs: number }>();
        const taken: { dueMs: number }[][] = [];
        const due: { dueMs: number }[][] = [];
        let waiting: { dueMs: number }[] = [];
        let nowMs = 0;
        for (const each of [...steps, { passMs: LATEST_MS }]) {
          if ('dueMs' in each) {
            queue.push(each);
            waiting.push(each);
            continue;
          }
          nowMs += each.passMs;
          taken.push(allDue(queue, nowMs));
          due.push(waiting.filter(({ dueMs }) => dueMs <= nowMs));
          waiting = waiting.filter(({ dueMs }) => dueMs > nowMs);
        }
        expect(taken.map((items) => new Set(items))).toEqual(due.map((items) => new Set(items)));
        const times = (rounds: { dueMs: number }[][] = []): number[][] => rounds.map((items) => items.map(({ dueMs }) => dueMs));
        expect(times(taken)).toEqual(times(due).map((round) => round.toSorted((one, other) => one - other)));
        expect(waiting).toEqual([]);
      }),
    );
  });

  it('has nothing once it is cleared', () => {
    const queue = new DueQueue<{ dueMs: number }>();
    queue.push({ dueMs: 1 });
    queue.clear();
    expect(queue.take(2)).toBeUndefined();
  });
});
