import { expect, it } from 'vitest';
import { unlessOld } from './proof-age.ts';

it('what rests on a read of a device leaves within four seconds of it, and not later', () => {
  let nowMs = 5_000;
  const mayLeave = unlessOld({ monotonicMs: () => nowMs }, { atMs: 1_000 });
  expect(mayLeave).not.toThrow();
  nowMs += 1;
  expect(mayLeave).toThrow('older than 4 s: nothing was sent');
});
