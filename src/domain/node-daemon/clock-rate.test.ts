import { describe, expect, it } from 'vitest';
import { ClockRate, isLasting, rateWords } from './clock-rate.ts';
import type { MeasuredRate } from './clock-rate.ts';

const BOOT = 'boot-1';

/** What one heartbeat meets, by when it is sent on our clock and which it is. */
interface World {
  /** What the node's clock shows; by default it runs as ours does. */
  clockMs: (ourMs: number) => number;
  delayMs: (ourMs: number, index: number) => number;
  isLost: (ourMs: number, index: number) => boolean;
}

/** The same numbers each time. */
function noise(index: number): number {
  return ((index * 2_654_435_761) % 4_294_967_296) / 4_294_967_296;
}

const SOUND: World = { clockMs: (ourMs) => ourMs, delayMs: () => 1, isLost: () => false };

/** Heartbeats each second, received in order, as far as they are newer than those before them. */
function heard(rate: ClockRate, change: Partial<World>, [fromSeconds, toSeconds]: [number, number] = [0, 300]): MeasuredRate[] {
  const { clockMs, delayMs, isLost } = { ...SOUND, ...change };
  const sent: { counter: number; atMs: number }[] = [];
  for (let index = fromSeconds; index < toSeconds; index += 1) {
    const ourMs = index * 1_000;
    if (!isLost(ourMs, index)) sent.push({ counter: Math.floor((7_000_000 + clockMs(ourMs)) * 1_000), atMs: ourMs + delayMs(ourMs, index) });
  }
  const found: MeasuredRate[] = [];
  let newest = 0;
  for (const { counter, atMs } of sent.sort((one, other) => one.atMs - other.atMs)) {
    if (counter <= newest) continue;
    newest = counter;
    rate.hear(BOOT, counter, atMs);
    const measured = rate.measured(BOOT);
    if (measured !== undefined && measured !== found.at(-1)) found.push(measured);
  }
  return found;
}

const wrongs = (found: readonly MeasuredRate[]): unknown[] => [...new Set(found.map(({ wrong }) => wrong))];
const after = (ms: number, jumpMs: number) => (ourMs: number) => (ourMs < ms ? ourMs : ourMs + jumpMs);

describe('the rate of a clock', () => {
  it.each<[string, Partial<World>]>([
    ['a sound clock', {}],
    ['one that is slewed as ntpd slews', { clockMs: (ourMs) => ourMs * 0.9995 }],
    ['one that is slow by 1 % where ours is fast by 1 %', { clockMs: (ourMs) => (ourMs * 0.99) / 1.01 }],
    ['one that is fast by 1 % where ours is slow by 1 %', { clockMs: (ourMs) => (ourMs * 1.01) / 0.99 }],
    [
      'such a slow one, and heartbeats that all take 0.5 s from some time on',
      { clockMs: (ourMs) => ourMs * 0.981, delayMs: (ourMs) => (ourMs < 139_500 ? 0 : 500) },
    ],
    [
      'such a fast one, and heartbeats that all took 0.5 s until some time',
      { clockMs: (ourMs) => ourMs * 1.0195, delayMs: (ourMs) => (ourMs < 140_500 ? 500 : 0) },
    ],
    ['heartbeats that take between 0 and 0.5 s', { delayMs: (_ourMs, index) => 500 * noise(index) }],
    ['heartbeats that all take 0.5 s from some time on', { delayMs: (ourMs) => (ourMs < 139_500 ? 0 : 500) }],
    ['heartbeats that all took 0.5 s until some time', { delayMs: (ourMs) => (ourMs < 140_500 ? 500 : 0) }],
    ['half a second more, turn about', { delayMs: (ourMs) => (Math.floor(ourMs / 20_000) % 2 === 0 ? 500 : 0) }],
    ['three of four heartbeats that take up to 4 s', { delayMs: (_ourMs, index) => (index % 4 === 0 ? 1 : 4_000 * noise(index)) }],
    ['a burst of delays that ends in the last span', { delayMs: (ourMs) => (ourMs % 100_000 > 82_000 ? 2_500 : 1) }],
    ['two of three heartbeats that are lost', { isLost: (_ourMs, index) => index % 3 !== 0 }],
    ['both', { isLost: (_ourMs, index) => noise(index) < 0.5, delayMs: (_ourMs, index) => 500 * noise(index + 7) }],
  ])('is found right with %s', (_what, change) => {
    expect(wrongs(heard(new ClockRate(), change))).toEqual([undefined]);
  });

  it.each<[string, 'slow' | 'fast', Partial<World>]>([
    ['3 % slow', 'slow', { clockMs: (ourMs) => ourMs * 0.97 }],
    ['3 % fast', 'fast', { clockMs: (ourMs) => ourMs * 1.03 }],
    ['8.3 % slow, as chrony slews by its defaults', 'slow', { clockMs: (ourMs) => ourMs * (1 - 1 / 12) }],
    ['8.3 % fast', 'fast', { clockMs: (ourMs) => ourMs * (1 + 1 / 12) }],
    ['10 % slow, the most that Linux slews', 'slow', { clockMs: (ourMs) => ourMs * 0.9 }],
    [
      '4 % slow, with delays and losses',
      'slow',
      { clockMs: (ourMs) => ourMs * 0.96, delayMs: (_ourMs, index) => 500 * noise(index), isLost: (_ourMs, index) => noise(index + 3) < 0.4 },
    ],
  ])('is found wrong: %s', (_what, wrong, change) => {
    const found = heard(new ClockRate(), change);
    expect(wrongs(found)).toEqual([wrong]);
    expect(isLasting(found.at(-1) as MeasuredRate)).toBe(true);
  });

  it('is found wrong within 60 s of when chrony begins to slew, and right again 100 s after it has ended', () => {
    const clockMs = (ourMs: number): number => ourMs - Math.min(Math.max(0, ourMs - 120_000), 60_000) / 12;
    const rate = new ClockRate();
    expect(wrongs(heard(rate, { clockMs }, [0, 170]))).toEqual([undefined]);
    heard(rate, { clockMs }, [170, 182]);
    expect(rate.measured(BOOT)?.wrong).toBe('slow');
    heard(rate, { clockMs }, [182, 282]);
    expect(rate.measured(BOOT)?.wrong).toBeUndefined();
  });

  it('is said in words', () => {
    const [slow] = heard(new ClockRate(), { clockMs: (ourMs) => ourMs * 0.95 });
    const [fast] = heard(new ClockRate(), { clockMs: (ourMs) => ourMs * 1.05 });
    expect(rateWords(slow as MeasuredRate)).toBe('its clock fell 4.0 s behind ours within 80 s');
    expect(rateWords(fast as MeasuredRate)).toBe('its clock gained 4.0 s on ours within 80 s');
  });

  it.each<[string, Partial<World>, [number, number]?]>([
    ['less than 100 s', { clockMs: (ourMs) => ourMs * 0.9 }, [0, 100]],
    ['four heartbeats in 20 s', { clockMs: (ourMs) => ourMs * 0.9, isLost: (_ourMs, index) => index % 5 !== 0 }],
    ['a hole in each 100 s', { clockMs: (ourMs) => ourMs * 0.9, isLost: (ourMs) => ourMs % 100_000 < 20_000 }],
    ['a clock that jumps each minute', { clockMs: (ourMs) => ourMs + 30_000 * Math.floor(ourMs / 60_000) }],
  ])('is not known by %s', (_what, change, span) => {
    expect(heard(new ClockRate(), change, span)).toEqual([]);
  });

  it.each<[string, Partial<World>]>([
    ['the node was suspended for 5 s', { clockMs: after(155_000, -5_000) }],
    ['the node was suspended for an hour', { delayMs: (ourMs) => (ourMs < 155_000 ? 1 : 3_600_001) }],
    ['its counters go on from elsewhere', { clockMs: after(155_000, 1_000_000) }],
    ['we were suspended', { clockMs: after(150_000, 20_000) }],
  ])('is measured anew after a jump: %s', (_what, change) => {
    const found = heard(new ClockRate(), change);
    expect(wrongs(found)).toEqual([undefined]);
    expect(found.length).toBeLessThan(heard(new ClockRate(), {}).length);
  });

  it('is wrong for a while after a jump that could be a slew, which is no clock that runs wrong', () => {
    const found = heard(new ClockRate(), { clockMs: after(155_000, -2_500) });
    expect(wrongs(found)).toEqual([undefined, 'slow']);
    expect(found.at(-1)?.wrong).toBeUndefined();
    expect(found.some(isLasting)).toBe(false);
  });

  it('is of one boot', () => {
    const rate = new ClockRate();
    heard(rate, { clockMs: (ourMs) => ourMs * 0.95 });
    expect(rate.measured('boot-2')).toBeUndefined();
    rate.hear('boot-2', 5_000_000, 300_000);
    expect(rate.measured('boot-2')).toBeUndefined();
    expect(rate.measured(BOOT)).toBeUndefined();
  });

  it('is measured anew after we stood still; what was found last stands until then', () => {
    const rate = new ClockRate();
    heard(rate, { clockMs: (ourMs) => ourMs * 0.95 }, [0, 200]);
    rate.restart();
    const sound = { clockMs: (ourMs: number) => ourMs - 10_000 };
    heard(rate, sound, [200, 295]);
    expect(rate.measured(BOOT)?.wrong).toBe('slow');
    heard(rate, sound, [295, 305]);
    expect(rate.measured(BOOT)?.wrong).toBeUndefined();
  });
});
