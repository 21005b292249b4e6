import { describe, expect, it } from 'vitest';
import { Model } from './testing/model.ts';

/** What is begun so long after the last off read, with nothing between. */
function begunAfter(ms: number): string | undefined {
  const model = new Model();
  model.fail();
  while (model.next() !== 'off:off') expect(model.rows.length).toBeLessThan(50);
  model.nowMs += ms;
  model.step();
  return model.dispatched.at(-1)?.entry.action;
}

describe('a release', () => {
  it('begins within two seconds of the last off read', () => {
    expect(begunAfter(2_000)).toBe('release');
  });

  it('has the off read again first when it is older', () => {
    expect(begunAfter(2_001)).toBe('confirm');
  });
});
