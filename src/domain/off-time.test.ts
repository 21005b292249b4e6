import { expect, it } from 'vitest';
import { offTimeTooShort } from './off-time.ts';
import { DEFAULT_TIMING } from './plan.ts';

it.each([
  [305_000, true],
  [305_001, false],
])('a time of %d ms for the off is %s too short for the delays that are set without any configuration', (timeoutMs, isTooShort) => {
  expect(offTimeTooShort(timeoutMs, DEFAULT_TIMING) !== undefined).toBe(isTooShort);
});

it('says which times they are, and what to do', () => {
  expect(offTimeTooShort(120_000, DEFAULT_TIMING)).toBe(
    'powerOffTimeoutSeconds (without it timeoutSeconds) is 120 s, and nothing is switched off before isolation_delay (5 s) and power_management_delay (300 s) of its node are over: every try fails. Raise it, or lower the delays',
  );
});
