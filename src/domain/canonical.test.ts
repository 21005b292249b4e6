import { describe, expect, it } from 'vitest';
import { canonical, sameContent } from './canonical.ts';

const VALUES: readonly unknown[] = [
  null,
  0,
  '',
  'a',
  false,
  [],
  {},
  [1],
  [1, 2],
  [2, 1],
  { a: 1 },
  { a: undefined },
  { a: null },
  { a: 1, b: [{ c: 2 }] },
  { b: [{ c: 2, d: undefined }], a: 1 },
  { a: 1, b: { 0: { c: 2 } } },
  { b: 1 },
  { 0: 1 },
];

describe('content without regard to the order of fields', () => {
  it.each(VALUES)('is the same for %j exactly with what is the same as canonical JSON', (left) => {
    for (const right of VALUES) expect(sameContent(left, right), JSON.stringify(right)).toBe(canonical(left) === canonical(right));
  });
});
