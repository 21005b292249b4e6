import { describe, expect, it } from 'vitest';
import type { DeviceBoot } from '../ports/agents.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { ACCEPTED, Bench, methodOf } from './testing/bench.ts';
import type { ScriptedPlug } from './testing/bench.ts';

const BMC = methodOf('bmc', 'power');
const START_MAX_MS = 180_000;

function boot(id: string, more: Partial<DeviceBoot> = {}): DeviceBoot {
  return { id, cause: 'it closed the connection', startMaxMs: START_MAX_MS, ...more };
}

/** A device whose boot a test can change; `upMs` counts on. */
function follow(bench: Bench, plug: ScriptedPlug, first: DeviceBoot = boot('1')): { boot: DeviceBoot } {
  const device = { boot: first };
  const bornMs = bench.clock.monotonicMs();
  plug.onRead = () => {
    const { upMs } = device.boot;
    const up = upMs === undefined ? {} : { upMs: upMs + bench.clock.monotonicMs() - bornMs };
    return Promise.resolve({ ...plug.reading(), boot: { ...device.boot, ...up } });
  };
  return device;
}

describe('a device that restarts between the off and its proof', () => {
  it.each([
    ['in the turn of the off', 0],
    ['after two reads of off', 2_500],
  ])('is not believed: %s', async (_when, afterMs) => {
    const bench = new Bench(new ManualClock());
    const plug = bench.plug('bmc');
    const device = follow(bench, plug);
    plug.onSet = () => {
      plug.state = 'off';
      bench.clock.after(afterMs, () => (device.boot = boot('2')));
      return Promise.resolve(ACCEPTED);
    };
    const report = await bench.run(bench.job(BMC, 'off'));
    expect(report).toMatchObject({ result: 'failed', restarted: ['bmc'], edge: 'off', offSent: true });
    expect(report.message).toContain('bmc: it closed the connection');
    expect(report.evidence).toBeUndefined();
  });

  it('is proven off by the next run as ever, where it shows on first', async () => {
    const bench = new Bench(new ManualClock());
    follow(bench, bench.plug('bmc'), boot('2'));
    const beganAtMs = bench.clock.monotonicMs();
    const report = await bench.run(bench.job(BMC, 'off', { restartedSince: () => true }));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { kind: 'power-off' } });
    expect(bench.clock.monotonicMs() - beganAtMs).toBeLessThan(10_000);
  });

  it('is believed where it shows off only after the longest start, though that is longer than power_timeout', async () => {
    const bench = new Bench(new ManualClock());
    bench.plug('bmc').state = 'off';
    follow(bench, bench.plug('bmc'), boot('2'));
    const beganAtMs = bench.clock.monotonicMs();
    const report = await bench.run(bench.job(BMC, 'off', { restartedSince: () => true }));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { kind: 'power-off' } });
    expect(bench.clock.monotonicMs() - beganAtMs).toBeGreaterThanOrEqual(START_MAX_MS);
    expect(bench.calls(/^set/)).toHaveLength(1);
  });

  it('is not waited for longer than power_timeout once it shows on: the off was lost, and the next run sends another', async () => {
    const bench = new Bench(new ManualClock());
    const plug = bench.plug('bmc');
    plug.state = 'off';
    follow(bench, plug, boot('2'));
    plug.onSet = () => Promise.resolve(ACCEPTED);
    bench.clock.after(20_000, () => (plug.state = 'on'));
    const beganAtMs = bench.clock.monotonicMs();
    const report = await bench.run(bench.job(BMC, 'off', { restartedSince: () => true }));
    expect(report).toMatchObject({ result: 'timeout' });
    expect(bench.clock.monotonicMs() - beganAtMs).toBeLessThan(65_000);
  });
});

describe('a device that has just started', () => {
  it('has its off believed when it has been up for longer than any start takes, at once where it showed on', async () => {
    const bench = new Bench(new ManualClock());
    const plug = bench.plug('bmc');
    plug.state = 'off';
    follow(bench, plug, boot('1', { upMs: 160_000 }));
    const beganAtMs = bench.clock.monotonicMs();
    expect(await bench.run(bench.job(BMC, 'off'))).toMatchObject({ result: 'succeeded' });
    const tookMs = bench.clock.monotonicMs() - beganAtMs;
    expect(tookMs).toBeGreaterThanOrEqual(20_000);
    expect(tookMs).toBeLessThan(25_000);

    plug.state = 'on';
    follow(bench, plug, boot('2', { upMs: 0 }));
    const againAtMs = bench.clock.monotonicMs();
    expect(await bench.run(bench.job(BMC, 'off'))).toMatchObject({ result: 'succeeded' });
    expect(bench.clock.monotonicMs() - againAtMs).toBeLessThan(10_000);
  });
});

describe('one of several supplies', () => {
  it('that restarts while all are read together is named, so that it is switched off again', async () => {
    const bench = new Bench(new ManualClock());
    const [left, right] = ['left', 'right'].map((name) => methodOf(name, 'power'));
    if (left === undefined || right === undefined) throw new Error('two supplies');
    bench.plug('left').state = 'off';
    const device = follow(bench, bench.plug('left'));
    follow(bench, bench.plug('right'));
    bench.clock.after(2_000, () => (device.boot = boot('2')));
    const report = await bench.run(bench.job(right, 'off', { together: [left] }));
    expect(report).toMatchObject({ result: 'failed', restarted: ['left'] });
    expect(report.evidence).toBeUndefined();
  });

  it('that is read again only, and restarts, is not confirmed', async () => {
    const bench = new Bench(new ManualClock());
    bench.plug('bmc').state = 'off';
    const device = follow(bench, bench.plug('bmc'));
    bench.clock.after(1_500, () => (device.boot = boot('2')));
    expect(await bench.run(bench.job(BMC, 'confirm'))).toMatchObject({ result: 'found-not-done', restarted: ['bmc'] });
  });
});
