import { describe, expect, it } from 'vitest';
import { DUMPING, FAULT_AT_MS, played, quiet, timeOf } from './testing.ts';
import type { DumpDeed } from './dumps.ts';

const TIMEOUT_MS = 240_000;
const BEGUN_MS = DUMPING.bootMs;
const LAST_MS = BEGUN_MS + DUMPING.lastsMs;
const OVER_MS = LAST_MS + DUMPING.settings.finishedMs;
/** A pass, and what is read before an off leaves. */
const SLACK_MS = 5_000;
/** The clock by which an armed crash kernel is waited for is looked at each second. */
const POLL_MS = 1_000;
const SEEDS = [1, 2];

describe('a node whose kernel dumps', { timeout: TIMEOUT_MS }, () => {
  it('is switched off when its messages have ended for long enough, and no later', async () => {
    const { violations, offMs, checks } = await played(quiet({}));
    expect(violations).toEqual([]);
    expect(offMs).toBeGreaterThanOrEqual(OVER_MS - DUMPING.everyMs);
    expect(offMs).toBeLessThanOrEqual(OVER_MS + SLACK_MS);
    expect(checks['P6']).toBeGreaterThan(0);
  });

  it('is switched off at its limit, counted from the first message, where messages never end', async () => {
    const { violations, offMs } = await played(quiet({ kernel: 'endless' }));
    expect(violations).toEqual([]);
    expect(offMs).toBeGreaterThanOrEqual(BEGUN_MS + DUMPING.settings.maxMs);
    expect(offMs).toBeLessThanOrEqual(BEGUN_MS + DUMPING.settings.maxMs + SLACK_MS);
  });

  it('boots by itself after its dump, and is never switched', async () => {
    const { violations, offMs } = await played(quiet({ kernel: 'ends', reboots: true }));
    expect(violations).toEqual([]);
    expect(offMs).toBeNaN();
  });

  it.each([0, 1] as const)('is not switched off by a leader that heard nothing itself: replica %s is deaf', async (replica) => {
    const deeds: DumpDeed[] = [{ what: 'deaf', replica, atMs: 0, durationMs: 600_000 }];
    const { violations, offMs } = await played(quiet({ deeds }));
    expect(violations).toEqual([]);
    expect(offMs).toBeGreaterThanOrEqual(OVER_MS - 2 * DUMPING.everyMs);
    expect(offMs).toBeLessThanOrEqual(OVER_MS + SLACK_MS);
  });

  it.each([
    ['is killed', 'before-effect'],
    ['is told to stop', 'terminated'],
    ['stands still for 25 s', 'stopped'],
  ] as const)('is not switched off earlier where the leader %s in the midst of its dump', async (_what, moment) => {
    const crashes = [{ tag: 'any', nth: 90, moment, stopMs: 25_000 }];
    const { violations, offMs, struck } = await played(quiet({}, { crashes }));
    expect([struck, ...violations]).toEqual([1]);
    expect(offMs).toBeGreaterThanOrEqual(OVER_MS - DUMPING.everyMs);
  });

  it('is held once its only controller is back, by what that hears and by what the one before has written', async () => {
    const crashes = [{ tag: 'any', nth: 60, moment: 'before-effect' as const, stopMs: 0 }];
    const { violations, offMs } = await played(quiet({}, { crashes, controllers: 1, restartAfterMs: 5_000 }));
    expect(violations).toEqual([]);
    expect(offMs).toBeGreaterThanOrEqual(OVER_MS - DUMPING.everyMs);
  });

  it.each([
    ['admitted', true],
    ['refused', false],
  ] as const)('lets its pods go on the word of its messages where that is %s', async (evidence, isReleased) => {
    const { violations, lines } = await played(quiet({ evidence, kernel: 'endless' }));
    expect(violations).toEqual([]);
    const releasedMs = timeOf(lines, 'api nodefence delete pods');
    const isBeforeItsEnd = releasedMs - FAULT_AT_MS < BEGUN_MS + DUMPING.settings.maxMs;
    expect(isBeforeItsEnd).toBe(isReleased);
  });
});

describe('a node that dies without a dump', { timeout: TIMEOUT_MS }, () => {
  const known = new Map<number, number>();
  /** From the panic to the off where nobody hears anything. */
  const plainMs = async (seed: number): Promise<number> => {
    const ms = known.get(seed) ?? (await played(quiet(undefined, {}, seed))).offMs;
    known.set(seed, ms);
    return ms;
  };
  const mute = { kernel: 'mute' as const };
  const armed = (startMs: number) => ({ ...mute, settings: { ...DUMPING.settings, startMs, isArmed: true } });

  it.each([
    ['not at all where its crash kernel is not armed', mute, 0],
    ['by kdump_start_timeout at most where it is armed: 10 s', armed(10_000), 10_000],
    ['by kdump_start_timeout at most where it is armed: 30 s', armed(30_000), 30_000],
  ])('is delayed %s', async (_what, dumps, mostMs) => {
    const delays: number[] = [];
    for (const seed of SEEDS) {
      const { violations, offMs } = await played(quiet(dumps, {}, seed));
      expect(violations).toEqual([]);
      delays.push(Math.round(offMs - (await plainMs(seed))));
    }
    expect(Math.max(...delays), `by ${delays.join(', ')} ms`).toBeLessThanOrEqual(mostMs + POLL_MS);
  });

  it.each([
    ['a healthy node', 'sound', true],
    ['nobody', 'stranger', true],
    ['itself, malformed', 'victim', false],
  ] as const)('is not delayed by messages that bear the address of %s', async (_what, whose, isWellFormed) => {
    const deeds: DumpDeed[] = [{ what: 'forge', whose, everyMs: 500, isWellFormed, atMs: 0, durationMs: 200_000 }];
    const { violations, offMs } = await played(quiet({ ...mute, deeds }));
    expect(violations).toEqual([]);
    expect(Math.abs(offMs - (await plainMs(1)))).toBeLessThanOrEqual(POLL_MS);
  });
});
