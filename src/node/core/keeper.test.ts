import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { DaemonTimes } from './daemon-times.ts';
import { Keeper } from './keeper.ts';

const PUT_ASIDE_MS = 2_000;
const FACTS = { device: '/dev/watchdog0', identity: 'iTCO_wdt', kind: 'hardware', action: 'reset', isPausable: false, timeoutMs: 10_000 } as const;

/** A machine whose processes may be put aside between any two readings of its clocks. */
class BusyClock extends ManualClock {
  #isNext: 'monotonic' | 'boot' | undefined;

  /** The process is put aside before the next reading of this clock. */
  putAsideBefore(clock: 'monotonic' | 'boot'): void {
    this.#isNext = clock;
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
    this.#isNext = undefined;
    this.freeze(PUT_ASIDE_MS);
  }
}

/** Kept up for a minute, with a watchdog that stands still for nothing. */
async function kept(clock: BusyClock): Promise<{ keeper: Keeper; resets: string[]; warned: string[] }> {
  const [resets, warned]: string[][] = [[], []];
  const log = { debug: () => undefined, info: () => undefined, warn: (words: string) => warned?.push(words), error: () => undefined };
  const watchdog = {
    facts: () => Promise.resolve({ ...FACTS, isNowayout: false, outlivesClose: true }),
    open: () => Promise.resolve(),
    feed: () => undefined,
    disarm: () => Promise.resolve(),
  };
  const keeper = new Keeper(
    {
      clock,
      watchdog,
      workload: { stop: () => Promise.resolve('stopped') },
      machine: { reset: (cause) => resets?.push(cause) },
      record: { read: () => Promise.resolve(undefined), write: () => undefined },
      log,
    },
    { bootID: 'boot-1', fencesItself: true, times: new DaemonTimes({}), mayOpen: () => true, storageLostAtMs: () => undefined },
  );
  await keeper.restore();
  keeper.keep(clock.monotonicMs() + 60_000);
  keeper.tick();
  await clock.settle();
  return { keeper, resets: resets ?? [], warned: warned ?? [] };
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

  it('goes down when the machine slept just then', async () => {
    const clock = new BusyClock();
    const { keeper, resets } = await kept(clock);
    clock.suspend(600_000);
    clock.putAsideBefore('boot');
    expect(keeper.tick()).toEqual({ hasSlept: true });
    expect(resets).toEqual(['slept']);
  });
});
