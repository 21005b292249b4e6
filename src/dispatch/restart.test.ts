import { describe, expect, it } from 'vitest';
import type { DeviceBoot } from '../ports/agents.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { ACCEPTED, Harness, methodOf } from './testing/harness.ts';
import type { ScriptedPlug } from './testing/harness.ts';

const BMC = methodOf('bmc', 'power');
const START_MAX_MS = 180_000;

function boot(id: string, more: Partial<DeviceBoot> = {}): DeviceBoot {
  return { id, cause: 'it closed the connection', startMaxMs: START_MAX_MS, ...more };
}

/** A device whose boot a test can change; `upMs` counts on. */
function follow(harness: Harness, plug: ScriptedPlug, first: DeviceBoot = boot('1')): { boot: DeviceBoot } {
  const device = { boot: first };
  const bornMs = harness.clock.monotonicMs();
  plug.onRead = () => {
    const { upMs } = device.boot;
    const up = upMs === undefined ? {} : { upMs: upMs + harness.clock.monotonicMs() - bornMs };
    return Promise.resolve({ ...plug.reading(), boot: { ...device.boot, ...up } });
  };
  return device;
}

describe('a device that restarts between the off and its proof', () => {
  it.each([
    ['in the turn of the off', 0],
    ['after two reads of off', 2_500],
  ])('is not believed: %s', async (_when, afterMs) => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    const device = follow(harness, plug);
    plug.onSet = () => {
      plug.state = 'off';
      harness.clock.after(afterMs, () => (device.boot = boot('2')));
      return Promise.resolve(ACCEPTED);
    };
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report).toMatchObject({ result: 'failed', restarted: ['bmc'], edge: 'off', offSent: true });
    expect(report.message).toContain('bmc: it closed the connection');
    expect(report.evidence).toBeUndefined();
  });

  it('is proven off by the next run as ever, where it shows on first', async () => {
    const harness = new Harness(new ManualClock());
    follow(harness, harness.plug('bmc'), boot('2'));
    const beganAtMs = harness.clock.monotonicMs();
    const report = await harness.run(harness.job(BMC, 'off', { restartedSince: () => true }));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { kind: 'power-off' } });
    expect(harness.clock.monotonicMs() - beganAtMs).toBeLessThan(10_000);
  });

  it('is believed where it shows off only after the longest start, though that is longer than power_timeout', async () => {
    const harness = new Harness(new ManualClock());
    harness.plug('bmc').state = 'off';
    follow(harness, harness.plug('bmc'), boot('2'));
    const beganAtMs = harness.clock.monotonicMs();
    const report = await harness.run(harness.job(BMC, 'off', { restartedSince: () => true }));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { kind: 'power-off' } });
    expect(harness.clock.monotonicMs() - beganAtMs).toBeGreaterThanOrEqual(START_MAX_MS);
    expect(harness.calls(/^set/)).toHaveLength(1);
  });

  it('is waited for beyond the budget of several plugs', async () => {
    const harness = new Harness(new ManualClock());
    harness.plug('bmc').state = 'off';
    follow(harness, harness.plug('bmc'), boot('2'));
    const untilMs = harness.clock.monotonicMs() + 10_000;
    const report = await harness.run(harness.job(BMC, 'off', { restartedSince: () => true, untilMs }));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { kind: 'power-off' } });
  });

  it('is not waited for longer than power_timeout once it shows on: the off was lost, and the next run sends another', async () => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    plug.state = 'off';
    follow(harness, plug, boot('2'));
    plug.onSet = () => Promise.resolve(ACCEPTED);
    harness.clock.after(20_000, () => (plug.state = 'on'));
    const beganAtMs = harness.clock.monotonicMs();
    const report = await harness.run(harness.job(BMC, 'off', { restartedSince: () => true }));
    expect(report).toMatchObject({ result: 'timeout' });
    expect(harness.clock.monotonicMs() - beganAtMs).toBeLessThan(65_000);
  });
});

describe('a device that has just started', () => {
  it('has its off believed when it has been up for longer than any start takes, at once where it showed on', async () => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    plug.state = 'off';
    follow(harness, plug, boot('1', { upMs: 160_000 }));
    const beganAtMs = harness.clock.monotonicMs();
    expect(await harness.run(harness.job(BMC, 'off'))).toMatchObject({ result: 'succeeded' });
    const tookMs = harness.clock.monotonicMs() - beganAtMs;
    expect(tookMs).toBeGreaterThanOrEqual(20_000);
    expect(tookMs).toBeLessThan(25_000);

    plug.state = 'on';
    follow(harness, plug, boot('2', { upMs: 0 }));
    const againAtMs = harness.clock.monotonicMs();
    expect(await harness.run(harness.job(BMC, 'off'))).toMatchObject({ result: 'succeeded' });
    expect(harness.clock.monotonicMs() - againAtMs).toBeLessThan(10_000);
  });
});

describe('an on', () => {
  it('is reached though its device restarts: what shows on is on', async () => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    plug.state = 'off';
    const device = follow(harness, plug);
    plug.onSet = () => {
      plug.state = 'on';
      device.boot = boot('2', { upMs: 0 });
      return Promise.resolve(ACCEPTED);
    };
    const beganAtMs = harness.clock.monotonicMs();
    expect(await harness.run(harness.job(BMC, 'on'))).toMatchObject({ result: 'succeeded', edge: 'on' });
    expect(harness.clock.monotonicMs() - beganAtMs).toBeLessThan(10_000);
  });
});

describe('one of several supplies', () => {
  it('that restarts while all are read together is named, so that it is switched off again', async () => {
    const harness = new Harness(new ManualClock());
    const [left, right] = ['left', 'right'].map((name) => methodOf(name, 'power'));
    if (left === undefined || right === undefined) throw new Error('two supplies');
    harness.plug('left').state = 'off';
    const device = follow(harness, harness.plug('left'));
    follow(harness, harness.plug('right'));
    harness.clock.after(2_000, () => (device.boot = boot('2')));
    const report = await harness.run(harness.job(right, 'off', { together: [left] }));
    expect(report).toMatchObject({ result: 'failed', restarted: ['left'] });
    expect(report.evidence).toBeUndefined();
  });

  it('that is read again only, and restarts, is not confirmed', async () => {
    const harness = new Harness(new ManualClock());
    harness.plug('bmc').state = 'off';
    const device = follow(harness, harness.plug('bmc'));
    harness.clock.after(1_500, () => (device.boot = boot('2')));
    expect(await harness.run(harness.job(BMC, 'confirm'))).toMatchObject({ result: 'found-not-done', restarted: ['bmc'] });
  });
});
