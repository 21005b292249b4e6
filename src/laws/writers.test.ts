import { describe, expect, it } from 'vitest';
import type { TraceEvent } from './trace.ts';
import { countOverlaps, replacedAt } from './writers.ts';

const write = (at: number, podUID: string, counter: number, volume = 'disk-0'): TraceEvent => ({
  kind: 'disk',
  at,
  volume,
  node: `on-${podUID}`,
  podUID,
  counter,
});

describe('overlapping writers', () => {
  it('finds none when one hands over to the other', () => {
    expect(countOverlaps([write(1, 'a', 1), write(2, 'a', 2), write(3, 'b', 3), write(4, 'b', 4)])).toBe(0);
  });

  it('finds the old writer that writes after the new one began', () => {
    expect(countOverlaps([write(1, 'a', 1), write(2, 'b', 2), write(3, 'a', 2)])).toBe(1);
  });

  it('finds every turn of two interleaved writers', () => {
    expect(countOverlaps([write(1, 'a', 1), write(2, 'b', 2), write(3, 'a', 3), write(4, 'b', 4)])).toBe(2);
  });

  it('finds a new writer that began below the counter on the disk', () => {
    expect(countOverlaps([write(1, 'a', 5), write(2, 'b', 5)])).toBe(1);
  });

  it('sorts by time and keeps volumes apart', () => {
    expect(countOverlaps([write(3, 'b', 3), write(1, 'a', 1), write(2, 'a', 2), write(4, 'a', 1, 'disk-1')])).toBe(0);
  });
});

describe('the replacement of a node’s writers', () => {
  const trace = [
    write(1, 'a', 1),
    write(2, 'a', 1, 'disk-1'),
    write(2, 'c', 1, 'disk-2'),
    write(6, 'b', 2),
    write(7, 'b', 3),
    write(8, 'd', 2, 'disk-2'),
  ];

  it('is there when the last of its volumes is written to by another pod', () => {
    expect(replacedAt([...trace, write(9, 'b', 2, 'disk-1')], 'on-a', 5)).toBe(9);
  });

  it('is not there while one volume waits, or only the old pod writes on', () => {
    expect(replacedAt(trace, 'on-a', 5)).toBeUndefined();
    expect(replacedAt([...trace, write(9, 'a', 2, 'disk-1')], 'on-a', 5)).toBeUndefined();
  });

  it('is nothing where nobody wrote', () => {
    expect(replacedAt(trace, 'on-x', 5)).toBeUndefined();
  });
});
