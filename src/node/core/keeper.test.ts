import { describe, expect, it } from 'vitest';
import type { KeepRecord, WatchdogDevice } from '../../ports/node-daemon.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { DaemonTimes } from './daemon-times.ts';
import { Keeper } from './keeper.ts';
import type { KeeperPorts } from './keeper.ts';

const PUT_ASIDE_MS = 2_000;
const FACTS = { device: '/dev/watchdog0', identity: 'iTCO_wdt', kind: 'hardware', action: 'reset', isPausable: false, timeoutMs: 10_000 } as const;
const SOUND = { ...FACTS, isNowayout: false, outlivesClose: true };

/** A watchdog that does what it is asked, but for `more`. */
function watchdogOf(more: Partial<WatchdogDevice>): WatchdogDevice {
  return { facts: () => Promise.resolve(SOUND), open: () => Promise.resolve(), feed: () => undefined, disarm: () => Promise.resolve(), ...more };
}

interface Scene extends Partial<Omit<KeeperPorts, 'clock' | 'watchdog' | 'machine'>> {
  watchdog?: Partial<WatchdogDevice>;
  fencesItself?: boolean;
}

/** A keeper with such a watchdog, and why it reset its machine. */
function keeperOf(clock: ManualClock, { watchdog = {}, fencesItself = true, ...ports }: Scene = {}): { keeper: Keeper; resets: string[] } {
  const resets: string[] = [];
  const keeper = new Keeper(
    {
      clock,
      watchdog: watchdogOf(watchdog),
      workload: { stop: () => Promise.resolve('stopped') },
      machine: { reset: (cause) => void resets.push(cause) },
      record: { read: () => Promise.resolve(undefined), write: () => undefined },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      ...ports,
    },
    { bootID: 'boot-1', fencesItself, times: new DaemonTimes({}), mayOpen: () => true, storageLostAtMs: () => undefined },
  );
  return { keeper, resets };
}

/** A machine whose processes may be put aside between any two readings of its clocks. */
class BusyClock extends ManualClock {
  #isNext: 'monotonic' | 'boot' | undefined;
  #passes = 0;

  /** The process is put aside before the next reading of this clock, or so many readings later. */
  putAsideBefore(clock: 'monotonic' | 'boot', later = 0): void {
    this.#isNext = clock;
    this.#passes = later;
  }

  override monotonicMs(): number {
    this.#pass('monotonic');
    return super.monotonicMs();
  }

  override bootMs(): number {
    this.#pass('boot');
    return super.bootMs();
  }

  #pass(clock: 'monotonic' | 'boot'): void {
    if (this.#isNext !== clock) return;
    if (this.#passes > 0) {
      this.#passes -= 1;
      return;
    }
    this.#isNext = undefined;
    this.freeze(PUT_ASIDE_MS);
  }
}

/** Kept up for a minute, with a watchdog that stands still for nothing. */
async function kept(clock: BusyClock): Promise<{ keeper: Keeper; resets: string[]; warned: string[] }> {
  const warned: string[] = [];
  const log = { info: () => undefined, warn: (words: string) => void warned.push(words), error: () => undefined };
  const { keeper, resets } = keeperOf(clock, { log });
  await keeper.restore();
  keeper.keep(clock.monotonicMs() + 60_000);
  keeper.tick();
  await clock.settle();
  return { keeper, resets, warned };
}

describe('a daemon whose process is put aside', () => {
  it('between two readings of its clocks does not take its machine for one that slept', async () => {
    const clock = new BusyClock();
    const { keeper, resets, warned } = await kept(clock);
    expect(keeper.watchdogState).toBe('armed');
    const until = keeper.keptUntilMs;
    clock.putAsideBefore('boot');
    expect(keeper.tick()).toEqual({ hasSlept: false });
    expect({ phase: keeper.phase, until: keeper.keptUntilMs, resets, warned }).toEqual({ phase: 'kept', until, resets: [], warned: [] });
  });

  it('while it starts does not either', async () => {
    const clock = new BusyClock();
    clock.putAsideBefore('monotonic');
    const { keeper, resets, warned } = await kept(clock);
    expect(keeper.tick()).toEqual({ hasSlept: false });
    expect({ phase: keeper.phase, resets, warned }).toEqual({ phase: 'kept', resets: [], warned: [] });
  });

  it('right before it feeds does not feed when the time to feed is over by then', async () => {
    const clock = new BusyClock();
    const fed: number[] = [];
    const { keeper, resets } = keeperOf(clock, {
      watchdog: { feed: () => void fed.push(clock.monotonicMs()) },
      workload: { stop: () => new Promise(() => undefined) },
    });
    await keeper.restore();
    keeper.progress.expect('exchange', 600_000);
    const keptUntilMs = clock.monotonicMs() + 5_000;
    keeper.keep(keptUntilMs);
    const endsAtMs = keptUntilMs + 40_000 + 30_000;
    while (clock.monotonicMs() < endsAtMs - 5_000) {
      keeper.tick();
      await clock.advance(1_000);
    }
    await clock.advance(endsAtMs - 500 - clock.monotonicMs());
    // After both readings of the moment, while it looks whether its checks get on.
    clock.putAsideBefore('monotonic', 2);
    keeper.tick();
    expect([clock.monotonicMs() > endsAtMs, fed.length > 10, fed.filter((atMs) => atMs > endsAtMs)]).toEqual([true, true, []]);
    keeper.tick();
    expect(resets).toEqual(['cut off']);
  });

  it('goes down when the machine slept just then', async () => {
    const clock = new BusyClock();
    const { keeper, resets } = await kept(clock);
    clock.suspend(600_000);
    clock.putAsideBefore('boot');
    expect(keeper.tick()).toEqual({ hasSlept: true });
    expect(resets).toEqual(['slept']);
  });
});

describe('a daemon that was told to fence its node, and is started anew without that', () => {
  const PAST = { bootID: 'boot-1', times: {} } as const;

  /** Its node is cut off from then on; how often it fed within ten minutes, and whether it went down. */
  async function cutOff({ keptUntilMs, ...past }: KeepRecord) {
    const clock = new ManualClock();
    const beganMs = clock.monotonicMs();
    const record = { ...past, ...(keptUntilMs !== undefined && { keptUntilMs: beganMs + keptUntilMs }) };
    const written: KeepRecord[] = [];
    const fed: number[] = [];
    const { keeper, resets } = keeperOf(clock, {
      fencesItself: false,
      watchdog: { feed: () => void fed.push(clock.monotonicMs() - beganMs) },
      record: { read: () => Promise.resolve(record), write: (one) => void written.push(one) },
    });
    await keeper.restore();
    for (let second = 0; second < 600 && resets.length === 0; second += 1) {
      keeper.tick();
      await clock.advance(1_000);
    }
    return { keeper, fed, resets, written };
  }

  it('goes on with it while its watchdog was left armed: others rest on what it attested', async () => {
    const { keeper, fed, resets, written } = await cutOff({ ...PAST, isArmed: true, fencesItself: true, keptUntilMs: 5_000 });
    expect(resets).toEqual(['cut off']);
    // Isolation, and the pods that have ended at once.
    expect(fed.at(-1)).toBeLessThanOrEqual(5_000 + 40_000 + 2_000);
    expect([keeper.fencesItself, written.at(-1)?.fencesItself]).toEqual([true, true]);
    expect(keeper.problem).toContain('until its next clean stop');
  });

  it('goes on with it once it was stopping the pods', async () => {
    expect((await cutOff({ ...PAST, isArmed: false, fencesItself: true, stoppingSinceMs: 0 })).resets).toEqual(['cut off']);
  });

  it('does so, and says it, where an older version left its watchdog armed and did not write whether it fenced itself', async () => {
    const { keeper, fed, resets, written } = await cutOff({ ...PAST, isArmed: true, keptUntilMs: 5_000 });
    expect([resets, keeper.fencesItself, written.at(-1)?.fencesItself]).toEqual([['cut off'], true, true]);
    expect(fed.at(-1)).toBeLessThanOrEqual(5_000 + 40_000 + 2_000);
    expect(keeper.problem).toBe(
      'an older version left the watchdog armed and did not record whether the node fences itself: it does until its next clean stop',
    );
  });

  it('goes on where an older version was stopping the pods', async () => {
    expect((await cutOff({ ...PAST, isArmed: false, stoppingSinceMs: 0 })).resets).toEqual(['cut off']);
  });

  it.each([
    ['a clean stop', { isArmed: false, fencesItself: true, keptUntilMs: 5_000 }],
    ['a daemon that never did', { isArmed: true, fencesItself: false, keptUntilMs: 5_000 }],
    ['a clean stop of an older version, which did not write it', { isArmed: false, keptUntilMs: 5_000 }],
  ])('does not after %s', async (_what, more) => {
    const { keeper, fed, resets } = await cutOff({ ...PAST, ...more });
    expect([keeper.fencesItself, keeper.problem, resets]).toEqual([false, undefined, []]);
    expect(fed.at(-1)).toBeGreaterThan(590_000);
  });
});

describe('a daemon that cannot write what must outlive its process', () => {
  it('attests no watchdog that others may rest on, and says so, until it can', async () => {
    const clock = new ManualClock();
    let isFull = true;
    const write = (): void => {
      if (isFull) throw new Error('ENOSPC');
    };
    const { keeper, resets } = keeperOf(clock, { record: { read: () => Promise.resolve(undefined), write } });
    await keeper.restore();
    keeper.keep(clock.monotonicMs() + 5_000);
    keeper.tick();
    await clock.advance(1_000);
    expect(keeper.watchdogState).toBe('unreliable');
    expect(keeper.problem).toBe('what must outlive this process cannot be written, so its watchdog counts as unreliable: ENOSPC');
    isFull = false;
    keeper.keep(clock.monotonicMs() + 5_000);
    expect([keeper.watchdogState, keeper.problem]).toEqual(['armed', undefined]);
    isFull = true;
    keeper.keep(clock.monotonicMs() + 6_000);
    expect(keeper.watchdogState).toBe('unreliable');
    // What was attested before may stand: a sleep takes it down all the same.
    clock.suspend(600_000);
    keeper.tick();
    expect(resets).toEqual(['slept']);
  });
});

describe('a watchdog that an earlier process left armed', () => {
  /** Its driver can be opened from so many seconds on. */
  async function leftArmed(opensAfterSeconds: number) {
    const clock = new ManualClock();
    const beganMs = clock.monotonicMs();
    const written: KeepRecord[] = [];
    const said: string[] = [];
    const { keeper } = keeperOf(clock, {
      watchdog: {
        open: () => (clock.monotonicMs() - beganMs < opensAfterSeconds * 1_000 ? Promise.reject(new Error('EBUSY')) : Promise.resolve()),
      },
      record: {
        read: () => Promise.resolve({ bootID: 'boot-1', isArmed: true, fencesItself: true, keptUntilMs: beganMs + 5_000 }),
        write: (one) => void written.push(one),
      },
      log: { info: () => undefined, warn: () => undefined, error: (words) => void said.push(words) },
    });
    await keeper.restore();
    for (let second = 0; second < 5; second += 1) {
      keeper.keep(clock.monotonicMs() + 5_000);
      keeper.tick();
      await clock.advance(1_000);
    }
    return { keeper, written, said };
  }

  it('is tried again until it can be opened, before it bites', async () => {
    const { keeper, said } = await leftArmed(3);
    expect(keeper.watchdogState).toBe('armed');
    expect(said).toEqual(['the watchdog could not be opened']);
  });

  it('takes its machine down where that slept between the two, though it was attested that it cannot', async () => {
    const clock = new ManualClock();
    const written: KeepRecord[] = [];
    const first = keeperOf(clock, { record: { read: () => Promise.resolve(undefined), write: (one) => void written.push(one) } });
    await first.keeper.restore();
    first.keeper.keep(clock.monotonicMs() + 5_000);
    first.keeper.tick();
    await clock.advance(1_000);
    clock.suspend(600_000);
    const next = async (): Promise<string[]> => {
      const { keeper, resets } = keeperOf(clock, { record: { read: () => Promise.resolve(written.at(-1)), write: () => undefined } });
      await keeper.restore();
      keeper.tick();
      return resets;
    };
    expect(await next()).toEqual(['slept']);
    written.push({ bootID: 'boot-1', isArmed: false });
    expect(await next()).toEqual([]);
  });

  it('stays on record as armed until this process has opened it, or has said that it is not: the next one must know', async () => {
    const { keeper, written } = await leftArmed(60);
    expect([keeper.watchdogState, written.length > 3, written.every(({ isArmed }) => isArmed)]).toEqual(['disarmed', true, true]);
    await keeper.disarm();
    expect(written.at(-1)?.isArmed).toBe(false);
  });
});

describe('a watchdog that is just opened', () => {
  /** Its facts are answered so once it is open. */
  async function justOpened(once: () => Promise<typeof SOUND>) {
    const clock = new ManualClock();
    const fed: number[] = [];
    const state = { isOpen: false };
    const { keeper } = keeperOf(clock, {
      watchdog: {
        facts: () => (state.isOpen ? once() : Promise.resolve(SOUND)),
        open: () => Promise.resolve(void (state.isOpen = true)),
        feed: () => void fed.push(clock.monotonicMs()),
        disarm: () => Promise.resolve(void (state.isOpen = false)),
      },
    });
    await keeper.restore();
    keeper.keep(clock.monotonicMs() + 120_000);
    const pass = async (seconds: number): Promise<void> => {
      for (let ticks = seconds * 4; ticks > 0; ticks -= 1) {
        keeper.tick();
        await clock.advance(250);
      }
    };
    await pass(1);
    return { keeper, fed, state, pass };
  }

  it('counts as armed only when it was read how long it waits: its driver may wait longer than it said before', async () => {
    const { promise: longer, resolve } = Promise.withResolvers<typeof SOUND>();
    const { keeper, state, pass } = await justOpened(() => longer);
    expect([state.isOpen, keeper.watchdogState]).toEqual([true, 'disarmed']);
    resolve({ ...SOUND, timeoutMs: 60_000 as never });
    await pass(1);
    expect([keeper.watchdogState, keeper.facts?.timeoutMs]).toEqual(['armed', 60_000]);
  });

  it('is said to reset the machine at any stop of the daemon where its driver cannot be disarmed', async () => {
    const warned: string[] = [];
    const clock = new ManualClock();
    const log = { info: () => undefined, warn: (words: string) => void warned.push(words), error: () => undefined };
    const { keeper } = keeperOf(clock, { log, watchdog: { facts: () => Promise.resolve({ ...SOUND, isNowayout: true }) } });
    await keeper.restore();
    keeper.keep(clock.monotonicMs() + 60_000);
    keeper.tick();
    await clock.settle();
    expect([keeper.watchdogState, warned.filter((words) => words.includes('nowayout'))]).toEqual([
      'armed',
      ['the watchdog cannot be disarmed (nowayout): it resets the machine whenever no daemon runs for longer than it waits'],
    ]);
  });

  it('is fed while that is read, however long it takes', async () => {
    const { keeper, fed, pass } = await justOpened(() => new Promise(() => undefined));
    await pass(30);
    const gaps = fed.map((atMs, index) => atMs - (fed[index - 1] ?? atMs));
    expect([fed.length > 5, Math.max(...gaps) < FACTS.timeoutMs / 2, keeper.watchdogState]).toEqual([true, true, 'disarmed']);
  });

  it('is fed where that cannot be read, which is said and tried again, and is disarmed by a clean stop', async () => {
    let isBroken = true;
    const { keeper, fed, state, pass } = await justOpened(() => (isBroken ? Promise.reject(new Error('EMFILE')) : Promise.resolve(SOUND)));
    expect([keeper.watchdogState, keeper.problem]).toEqual(['disarmed', 'what the watchdog is could not be read: EMFILE']);
    await pass(20);
    expect(fed.length).toBeGreaterThan(3);
    isBroken = false;
    await pass(30);
    expect([keeper.watchdogState, keeper.problem]).toEqual(['armed', undefined]);
    await keeper.disarm();
    expect(state.isOpen).toBe(false);
    const other = await justOpened(() => Promise.reject(new Error('EMFILE')));
    await other.keeper.disarm();
    expect(other.state.isOpen).toBe(false);
  });
});
