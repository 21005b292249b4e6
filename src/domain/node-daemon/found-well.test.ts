import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activelyClear, FOUND_WELL_MAX, foundWellIn, lookedAt } from './found-well.ts';
import type { AttestedWell } from './found-well.ts';

const TYPE = 'ReadonlyFilesystem';
const AT = '2026-02-03T04:05:06Z';
const attested = (at = AT, bootID = 'boot-1'): AttestedWell => ({ bootID, foundWell: [{ type: TYPE, at }] });
const clear = (found: AttestedWell | undefined, lastTransitionTime?: string, type: string = TYPE): string[] => [
  ...activelyClear(found, { bootID: 'boot-1', conditions: [{ type, ...(lastTransitionTime !== undefined && { lastTransitionTime }) }] }),
];

describe('a condition that the daemon of the node looked at', () => {
  it('is clear by a look that began after it last changed', () => {
    expect(clear(attested(), '2026-02-03T04:05:05Z')).toEqual([TYPE]);
  });

  it.each<[string, AttestedWell | undefined, string | undefined]>([
    ['before it last changed: what came since was not looked at', attested(), '2026-02-03T04:05:07Z'],
    ['within the second in which it changed', attested(), AT],
    ['in another boot', attested(AT, 'boot-2'), '2026-02-03T04:05:05Z'],
    ['when nobody knows when it changed', attested(), undefined],
    ['when it changed at a time that is none', attested(), 'yesterday'],
    ['never', undefined, '2026-02-03T04:05:05Z'],
  ])('is not clear where that was %s', (_, found, changed) => {
    expect(clear(found, changed)).toEqual([]);
  });

  it('is not clear by a look at another one, nor on a Node that says no boot', () => {
    expect(clear(attested(), '2026-02-03T04:05:05Z', 'KernelDeadlock')).toEqual([]);
    expect(activelyClear(attested(), { conditions: [{ type: TYPE, lastTransitionTime: '2026-02-03T04:05:05Z' }] }).size).toBe(0);
  });

  it('was looked at in the second before, never after', () => {
    expect(lookedAt(Date.parse('2026-02-03T04:05:06.999Z'))).toBe(AT);
    expect(lookedAt(Date.parse(AT))).toBe(AT);
  });
});

describe('what a daemon attests to have found well', () => {
  it('is read of what is known, and of nothing else', () => {
    const known = { type: TYPE, at: AT };
    const odd = [{ ...known, type: 'Ready' }, { ...known, at: 'now' }, { ...known, at: '2026-99-03T04:05:06Z' }, { type: TYPE }, 'x', null];
    expect(foundWellIn([...odd, known])).toEqual([known]);
    expect(foundWellIn('all')).toEqual([]);
    expect(foundWellIn(Array.from({ length: 1_000 }, () => known))).toHaveLength(FOUND_WELL_MAX);
  });

  it('never throws, whatever stands there', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(foundWellIn(value).length).toBeLessThanOrEqual(FOUND_WELL_MAX);
      }),
    );
  });
});
