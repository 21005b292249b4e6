import { describe, expect, it } from 'vitest';
import { EqualParts, keeping } from './equal-parts.ts';

describe('equal parts', () => {
  it('are one and the same thing', () => {
    const parts = new EqualParts(10);
    const first = parts.of({ app: 'a', tier: ['x'] });
    expect(parts.of({ app: 'a', tier: ['x'] })).toBe(first);
    expect(parts.of({ app: 'b', tier: ['x'] })).not.toBe(first);
    expect(parts.of(['a'])).toEqual(['a']);
  });

  it('are never taken for a text that reads like them', () => {
    const parts = new EqualParts(10);
    parts.of({ a: 1 });
    expect(parts.of('{"a":1}')).toBe('{"a":1}');
    expect(parts.of({ a: 1 })).toEqual({ a: 1 });
  });

  it('are forgotten when there are too many, and learnt anew', () => {
    const parts = new EqualParts(2);
    const first = parts.of({ a: 1 });
    parts.of({ a: 2 });
    parts.of({ a: 3 });
    expect(parts.of({ a: 1 })).not.toBe(first);
    expect(parts.of({ a: 1 })).toEqual({ a: 1 });
  });
});

describe('what did not change', () => {
  const before = { labels: { zone: 'a' }, spec: { taints: [{ key: 'k' }, { key: 'l' }] }, version: '1' };

  it('is the very part that stood there before', () => {
    const after = keeping({ labels: { zone: 'a' }, spec: { taints: [{ key: 'k' }, { key: 'm' }] }, version: '2' }, before);
    expect(after).toEqual({ labels: { zone: 'a' }, spec: { taints: [{ key: 'k' }, { key: 'm' }] }, version: '2' });
    expect(after.labels).toBe(before.labels);
    expect(after.spec.taints[0]).toBe(before.spec.taints[0]);
    expect(before.spec.taints[1]).toEqual({ key: 'l' });
  });

  it('is the whole, where nothing changed', () => {
    expect(keeping(structuredClone(before), before)).toBe(before);
  });

  it('is left where the new one is frozen', () => {
    const frozen = Object.freeze({ labels: { zone: 'a' }, version: '2' });
    expect(keeping(frozen, before)).toBe(frozen);
  });

  it.each([
    ['a field that came', { a: 1 }, { a: 1, b: 2 }],
    ['a field that went', { a: 1, b: 2 }, { a: 1 }],
    ['a field under another name', { a: 1, b: 2 }, { a: 1, c: 2 }],
    ['an item that came', { a: [1] }, { a: [1, 2] }],
    ['an item that went', { a: [1, 2] }, { a: [1] }],
    ['a list in place of an object', { a: { 0: 'x' } }, { a: ['x'] }],
    ['nothing in place of an object', { a: {} }, { a: null }],
    ['a field that is called as what all objects have', {}, { toString: 'x' }],
  ])('is told from %s', (_what, one, other) => {
    const after = keeping(structuredClone(other) as object, one);
    expect(after).toEqual(other);
    expect(after).not.toBe(one);
  });
});
