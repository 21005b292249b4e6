import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freeze, reuse, type Json } from './json.ts';

const anyJson: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 4 });

describe('what comes again', () => {
  it('is what came, whatever stood there', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (value, known) => {
        expect(JSON.stringify(reuse(value, freeze(known)))).toBe(JSON.stringify(value));
      }),
    );
  });

  it('is the very part that stood there where it equals it', () => {
    const known = freeze({ plan: { steps: [{ name: 'off' }, { name: 'on' }] }, phase: 'new' });
    expect(reuse(structuredClone(known), known)).toBe(known);
    const changed = reuse({ ...structuredClone(known), phase: 'done' }, known) as typeof known;
    expect(changed.plan).toBe(known.plan);
    const longer = reuse({ plan: { steps: [{ name: 'off' }, { name: 'on' }, { name: 'read' }] } }, known) as typeof known;
    expect(longer.plan.steps[0]).toBe(known.plan.steps[0]);
    expect(longer).toEqual({ plan: { steps: [{ name: 'off' }, { name: 'on' }, { name: 'read' }] } });
    expect(reuse({ plan: known.plan }, known), 'a member that is left out').toEqual({ plan: known.plan });
  });
});
