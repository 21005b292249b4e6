import { expect, it } from 'vitest';
import { backOffMs } from './back-off.ts';

it('doubles after each failure in a row, up to the most, however many follow', () => {
  expect([1, 2, 3, 4, 5, 5_000].map((failures) => backOffMs(failures, 100, 1_000))).toEqual([100, 200, 400, 800, 1_000, 1_000]);
});
