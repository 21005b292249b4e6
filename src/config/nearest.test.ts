import { describe, expect, it } from 'vitest';
import { didYouMean, nearest } from './nearest.ts';

const KNOWN = ['power_timeout', 'ready_timeout', 'release_timeout', 'settle', 'ip'];

describe('the nearest known name', () => {
  it.each([
    ['power_timout', 'power_timeout'],
    ['power-timeout', 'power_timeout'],
    ['Power_Timeout', 'power_timeout'],
    ['redy_timeout', 'ready_timeout'],
    ['settel', 'settle'],
    ['colour', undefined],
    ['x', undefined],
    ['', undefined],
  ])('of %s is %s', (written, name) => {
    expect(nearest(written, KNOWN)).toBe(name);
  });

  it('is asked about, or the other words stand', () => {
    expect(didYouMean('setle', KNOWN, 'it is ignored')).toBe('did you mean settle?');
    expect(didYouMean('colour', KNOWN, 'it is ignored')).toBe('it is ignored');
  });
});
