import { describe, expect, it } from 'vitest';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Harness, failure, methodOf } from './testing/harness.ts';

const BMC = methodOf('bmc', 'power');

describe('permission to send', () => {
  it('is misconfigured, with nothing sent, when the identity is required and the device does not show it', async () => {
    const harness = new Harness(new ManualClock());
    harness.plug('bmc').identity = 'unverified';
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report.result).toBe('misconfigured');
    expect(report.message).toContain('identity=unverified');
    expect(harness.calls(/^set/)).toEqual([]);
  });

  it('is misconfigured in the middle of the reads too: evidence of another machine is none', async () => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    let reads = 0;
    plug.onRead = () => {
      reads += 1;
      return Promise.resolve({ ...plug.reading(), identity: reads > 2 ? 'unverified' : 'verified' });
    };
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report.result).toBe('misconfigured');
    expect(report.evidence).toBeUndefined();
  });

  it('is read consistently once more after the other reads, which may have taken long: a stop that came meanwhile is obeyed', async () => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    let isStopped = false;
    plug.onRead = () => {
      isStopped = true;
      return Promise.resolve(plug.reading());
    };
    const ask = (): Promise<void> => (isStopped ? Promise.reject(failure('NotSent', 'NodeFenceStop maintenance is active')) : Promise.resolve());
    const report = await harness.run(harness.job(BMC, 'off', { ask }));
    expect(report).toMatchObject({ result: 'not-sent' });
    expect(report.message).toContain('maintenance');
    expect(harness.calls(/^set/)).toEqual([]);
  });

  it('is asked for by an action too, before its agent does anything', async () => {
    const harness = new Harness(new ManualClock());
    const ask = (): Promise<void> => Promise.reject(failure('NotSent', 'NodeFenceStop maintenance is active'));
    let runs = 0;
    harness.action.run = () => {
      runs += 1;
      return Promise.resolve({ result: 'accepted', detail: 'cordoned' });
    };
    const cordon = methodOf('cordon', 'action', { action: 'run' });
    expect(await harness.run(harness.job(cordon, 'run', { ask }))).toMatchObject({ result: 'not-sent' });
    expect(runs).toBe(0);
    expect(await harness.run(harness.job(cordon, 'run'))).toMatchObject({ result: 'succeeded' });
  });

  it('is refused by the lease, a stop or a hold in the turn of the send: not-sent, and nothing reaches the device', async () => {
    const harness = new Harness(new ManualClock());
    const sets: number[] = [];
    const job = harness.job(BMC, 'off', {
      mayBegin: () => {
        throw failure('NotSent', 'the leader lease does not cover it');
      },
      onSet: (atMs) => sets.push(atMs),
    });
    const report = await harness.run(job);
    expect(report).toMatchObject({ result: 'not-sent' });
    expect(report.message).toContain('lease');
    expect(harness.calls(/^set/)).toEqual([]);
    expect(sets).toEqual([]);
    expect(harness.plug('bmc').state).toBe('on');
  });

  it('tells when each set began', async () => {
    const harness = new Harness(new ManualClock());
    const sets: number[] = [];
    await harness.run(harness.job(BMC, 'off', { onSet: (atMs) => sets.push(atMs) }));
    expect(sets).toEqual([harness.calls(/^set/)[0]?.atMs]);
  });

  it('is over when the intent is too old for a set to end within its deadline', async () => {
    const harness = new Harness(new ManualClock());
    const report = await harness.run(harness.job(BMC, 'off', { intentAtMs: harness.clock.monotonicMs() - 10_001 }));
    expect(report.result).toBe('not-sent');
    expect(harness.calls(/^set/)).toEqual([]);
  });

  it('is over for a call whose deadline passed while it was still connecting', async () => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    plug.onRead = () => {
      plug.callMs = 20_000;
      plug.onRead = undefined;
      return Promise.resolve(plug.reading());
    };
    const job = harness.job(BMC, 'off', { timing: { ...harness.job(BMC, 'off').timing, powerTimeoutMs: 30_000 } });
    const report = await harness.run(job);
    expect(report.evidence).toBeUndefined();
    await harness.ended(harness.clock.sleep(20_000));
    expect(harness.calls(/^connect/).length, 'it did try').toBeGreaterThan(0);
    expect(harness.calls(/^set/)).toEqual([]);
  });

  it('names the known agents when a plan names one that does not exist', async () => {
    const harness = new Harness(new ManualClock());
    const report = await harness.run(harness.job({ ...BMC, agent: 'redfsh' }, 'off'));
    expect(report).toMatchObject({ result: 'misconfigured' });
    expect(report.message).toContain('redfsh');
    expect(report.message).toContain('power, cloud, fabric, action');
  });

  it('is misconfigured when a Secret is missing, and nothing is asked of the device', async () => {
    const harness = new Harness(new ManualClock());
    const report = await harness.run(
      harness.job(BMC, 'off', { parametersOf: () => Promise.reject(failure('Misconfigured', 'Secret x is missing')) }),
    );
    expect(report.result).toBe('misconfigured');
    expect(harness.log).toEqual([]);
  });
});
