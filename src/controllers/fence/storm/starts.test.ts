import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../domain/node-fence.ts';
import { DEFAULT_TIMING } from '../../../domain/plan.ts';
import { planOf } from '../../../domain/testing/model.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import { provenStatus } from '../testing/harness.ts';
import { Starts } from './starts.ts';

const NOW_MS = 10_000_000;
const WALL_MS = Date.parse('2026-01-01T12:00:00Z');
const MINUTE_MS = 60_000;

function begun(ageMs: number, more: Partial<JournalEntry> = {}, incident = 1): NodeFence {
  const startedAt = new Date(WALL_MS - ageMs).toISOString();
  const entry = { id: 'run-1', step: 'isolation', action: 'run', agent: 'cordon', restart: 0, startedAt, ...more } as JournalEntry;
  return {
    metadata: { name: 'node-fence-a', uid: 'u' },
    spec: { node: 'a' },
    status: { ...provenStatus(planOf({ timing: DEFAULT_TIMING })), incident, journal: [entry] },
  };
}

describe('starts of fences', () => {
  it.each([
    ['one that began just now counts from now', 0, 0],
    ['one of a predecessor counts from our first sight, for its clock may be off', 14 * MINUTE_MS, 0],
    ['one that is clearly longer ago counts as long ago', 40 * MINUTE_MS, 25 * MINUTE_MS],
  ])('%s', (_words, ageMs, countedMs) => {
    const starts = new Starts();
    expect(starts.see(begun(ageMs), NOW_MS, WALL_MS)).toBe(true);
    expect(starts.list()).toEqual([{ node: 'a', atMs: NOW_MS - countedMs }]);
  });

  it('a fence counts once for each incident, when it was first seen', () => {
    const starts = new Starts();
    starts.see(begun(0), NOW_MS, WALL_MS);
    expect(starts.see(begun(0), NOW_MS + 5_000, WALL_MS + 5_000)).toBe(false);
    starts.see(begun(0, {}, 2), NOW_MS + 9_000, WALL_MS + 9_000);
    expect(starts.list().map(({ atMs }) => atMs)).toEqual([NOW_MS, NOW_MS + 9_000]);
  });

  it('a run of which nothing was sent is no start, and takes a reservation back', () => {
    const starts = new Starts();
    starts.reserve(begun(0), NOW_MS);
    starts.settle('a', begun(0));
    expect(starts.list()).toHaveLength(1);
    expect(starts.see(begun(0, { result: 'not-sent' }), NOW_MS, WALL_MS)).toBe(true);
    expect(starts.list()).toEqual([]);
  });

  it('one whose intent is on its way is not taken back by what the watch brings of the NodeFence meanwhile', () => {
    const starts = new Starts();
    const written = begun(0);
    const before: NodeFence = { ...written, status: { ...provenStatus(planOf({ timing: DEFAULT_TIMING })), journal: [] } };
    starts.reserve(before, NOW_MS);
    expect(starts.see(before, NOW_MS + 5, WALL_MS)).toBe(false);
    expect(starts.list()).toEqual([{ node: 'a', atMs: NOW_MS }]);
    starts.settle('a', written);
    expect(starts.see(written, NOW_MS + 10, WALL_MS)).toBe(false);
    expect(starts.list()).toEqual([{ node: 'a', atMs: NOW_MS }]);
  });

  it('one whose write failed is taken back once it is over', () => {
    const starts = new Starts();
    const before: NodeFence = { ...begun(0), status: { ...provenStatus(planOf({ timing: DEFAULT_TIMING })), journal: [] } };
    starts.reserve(before, NOW_MS);
    starts.settle('a', before);
    expect(starts.see(before, NOW_MS + 5, WALL_MS)).toBe(true);
    expect(starts.list()).toEqual([]);
  });

  it('are bounded', () => {
    const starts = new Starts();
    for (let incident = 1; incident <= 5_000; incident += 1) starts.reserve(begun(0, {}, incident), NOW_MS + incident);
    expect(starts.list().length).toBeLessThanOrEqual(4_097);
    expect(starts.list().at(-1)?.atMs).toBe(NOW_MS + 5_000);
  });

  it('one whose intent never came to stand is taken back, whatever incident it was to begin', () => {
    const starts = new Starts();
    starts.reserve(begun(0, {}, 2), NOW_MS);
    expect(starts.list()).toHaveLength(1);
    const { status: _never, ...before } = begun(0);
    expect(starts.settle('a', before)).toBe(true);
    expect(starts.list()).toEqual([]);
  });

  it('one whose intent stands is kept', () => {
    const starts = new Starts();
    starts.reserve(begun(0, {}, 2), NOW_MS);
    expect(starts.settle('a', begun(0, {}, 2))).toBe(false);
    expect(starts.list()).toHaveLength(1);
  });
});
