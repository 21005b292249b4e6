import { expect, it } from 'vitest';
import { WritePace } from './write-pace.ts';

it('a report is written at once, and then once in 15 seconds', () => {
  const pace = new WritePace();
  expect(pace.turnMs('a', 1_000)).toBe(1_000);
  pace.take('a', 1_000);
  expect([pace.turnMs('a', 1_500), pace.turnMs('a', 9_000)]).toEqual([16_000, 16_000]);
  pace.forget('a');
  expect(pace.turnMs('a', 40_000)).toBe(40_000);
});

it('the reports of a whole cluster are written ten a second, each in its turn', () => {
  const pace = new WritePace();
  const turns = Array.from({ length: 1_000 }, (_, index) => pace.turnMs(`node-${index}`, 0));
  expect(turns.filter((turn) => turn === 0)).toHaveLength(20);
  expect([turns[20], turns[120], turns[999]]).toEqual([100, 10_100, 98_000]);
});
