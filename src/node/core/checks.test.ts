import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CheckFound, CheckName, NodeCheck } from '../../ports/node-checks.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { Checks } from './checks.ts';
import { Progress } from './progress.ts';

const WELL: CheckFound = { health: 'ok', sentence: 'all is well' };
const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
let clock: ManualClock;
let progress: Progress;
let changed: [CheckName, CheckFound][];
beforeEach(() => {
  clock = new ManualClock();
  progress = new Progress(clock);
  changed = [];
  vi.clearAllMocks();
});

function started(...checks: readonly NodeCheck[]): Checks {
  const all = new Checks({ clock, log, checks }, progress, (name, found) => changed.push([name, found]));
  all.start();
  return all;
}

/** Each run is `next()`, and its times are kept. */
function check(name: CheckName, next: () => Promise<CheckFound>, intervalMs = 30_000, deadlineMs = 5_000): NodeCheck & { runsAt: number[] } {
  const runsAt: number[] = [];
  const run = (): Promise<CheckFound> => {
    runsAt.push(clock.monotonicMs() - 1_000_000);
    return next();
  };
  return { name, intervalMs, deadlineMs, run, runsAt };
}

describe('checks', () => {
  it('run each at its own interval', async () => {
    const storage = check('storage', () => Promise.resolve(WELL), 10_000);
    const kdump = check('kdump', () => Promise.resolve(WELL), 30_000);
    const all = started(storage, kdump);
    await clock.advance(65_000);
    expect(storage.runsAt).toEqual([0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000]);
    expect(kdump.runsAt).toEqual([1_000, 31_000, 61_000]);
    expect(all.status()).toEqual([
      { name: 'storage', ...WELL, secondsAgo: 5 },
      { name: 'kdump', ...WELL, secondsAgo: 4 },
    ]);
  });

  it('that hang are late, are not begun a second time, and hold up neither the others nor the progress of the daemon', async () => {
    const hung = check('bmc', async () => new Promise(() => undefined));
    const kdump = check('kdump', () => Promise.resolve(WELL), 10_000);
    const all = started(hung, kdump);
    await clock.advance(300_000);
    expect(hung.runsAt).toEqual([0]);
    expect(kdump.runsAt.length).toBe(30);
    expect(all.found('bmc')).toEqual({ health: 'unknown', sentence: 'not checked: it did not end within 5 s' });
    expect(changed.filter(([name]) => name === 'bmc')).toHaveLength(1);
    expect(progress.stuck()).toEqual([]);
  });

  it('do not count what came too late', async () => {
    const findings = [clock.sleep(60_000).then((): CheckFound => ({ health: 'problem', sentence: 'as it was a minute ago' })), Promise.resolve(WELL)];
    const all = started(check('bmc', () => findings.shift() ?? Promise.resolve(WELL)));
    await clock.advance(61_000);
    expect(all.found('bmc')?.health).toBe('unknown');
    await clock.advance(30_000);
    expect(all.found('bmc')).toEqual(WELL);
    expect(changed.map(([, { health }]) => health)).toEqual(['unknown', 'ok']);
  });

  it('that fail are unknown, and begin again', async () => {
    const failing = check('kdump', () => Promise.reject(new Error('EIO: i/o error')), 10_000);
    const throwing = check('hardware', () => {
      throw new Error('a defect');
    });
    const all = started(failing, throwing);
    await clock.advance(25_000);
    expect(failing.runsAt).toHaveLength(3);
    expect(all.found('kdump')).toEqual({ health: 'unknown', sentence: 'not checked: EIO: i/o error' });
    expect(all.found('hardware')).toEqual({ health: 'unknown', sentence: 'not checked: a defect' });
  });

  it('are logged when what they find changes, and only then', async () => {
    let health: CheckFound['health'] = 'ok';
    started(check('storage', () => Promise.resolve({ health, sentence: `${clock.monotonicMs()}` }), 1_000));
    await clock.advance(10_000);
    expect([log.info.mock.calls.length, log.warn.mock.calls.length]).toEqual([0, 0]);
    health = 'problem';
    await clock.advance(10_000);
    health = 'ok';
    await clock.advance(10_000);
    expect(log.warn.mock.calls.map(([message]) => message as string)).toEqual(['a check found a problem']);
    expect(log.info.mock.calls.map(([message]) => message as string)).toEqual(['a check finds nothing wrong any more']);
  });

  it('do not get on where their scheduler does not', async () => {
    const all = started(check('storage', () => Promise.resolve(WELL)));
    await clock.advance(60_000);
    expect(progress.stuck()).toEqual([]);
    all.close();
    await clock.advance(11_000);
    expect(progress.stuck()).toEqual(['checks']);
  });

  it('where there are none hold up nothing', async () => {
    started();
    await clock.advance(60_000);
    expect(progress.stuck()).toEqual([]);
  });
});
