import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { SILENT_AFTER_MS, WRITE_DEADLINE_MS, WriteGate } from './write-gate.ts';

let clock: ManualClock;
let enforce: boolean;
let leadership: { isLeading: boolean; leftMs: number; mayBegin: (deadlineMs: number) => boolean };
let watches: { synced: boolean; freshAtMs: number }[];
let gate: WriteGate;

beforeEach(() => {
  clock = new ManualClock({ monotonicMs: 1_000_000 });
  enforce = true;
  leadership = { isLeading: true, leftMs: WRITE_DEADLINE_MS, mayBegin: (deadlineMs) => deadlineMs <= leadership.leftMs };
  watches = [1, 2].map(() => ({ synced: true, freshAtMs: clock.monotonicMs() - SILENT_AFTER_MS }));
  gate = new WriteGate({ clock, leadership, enforce: () => enforce, watches: () => watches });
});

describe('whether a controller may write', () => {
  it('is so while it leads, is not told to stop, and hears its watches', () => {
    expect([gate.mayWrite(), gate.isSilent, gate.silence('x')]).toEqual([true, false, []]);
  });

  it.each<[string, () => void]>([
    ['it only observes', () => (enforce = false)],
    ['it does not lead', () => (leadership.isLeading = false)],
    ['its lease may end before the write does', () => (leadership.leftMs -= 1)],
    ['it is told to stop', () => gate.close()],
    ['a watch has told nothing for too long', () => ((watches[1] as { freshAtMs: number }).freshAtMs -= 1)],
    ['what a watch has told may be of before a restore', () => ((watches[0] as { freshAtMs: number }).freshAtMs = -Infinity)],
  ])('is not so where %s', (_why, arrange) => {
    arrange();
    expect(gate.mayWrite()).toBe(false);
  });

  it('says of which watches nothing is heard, and no longer than that', () => {
    (watches[0] as { freshAtMs: number }).freshAtMs -= 1;
    expect(gate.silence('health checks')).toEqual(['the watches of health checks are stale: nothing is written until they deliver again']);
    (watches[0] as { freshAtMs: number }).freshAtMs += 1;
    expect([gate.silence('health checks'), gate.mayWrite()]).toEqual([[], true]);
  });

  it('does not wait for a watch that was never synced: nothing was decided from it', () => {
    watches.push({ synced: false, freshAtMs: -Infinity });
    expect(gate.mayWrite()).toBe(true);
  });
});
