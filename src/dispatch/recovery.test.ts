import { describe, expect, it } from 'vitest';
import { ApiStatusError, TransportError } from '../ports/api-transport.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Harness, failure, methodOf } from './testing/harness.ts';
import { entryOf } from './testing/job.ts';

const BMC = methodOf('bmc', 'power');
const CORDON = methodOf('cordon', 'action', { device: '', action: 'run' });

function harnessWith(): Harness {
  return new Harness(new ManualClock());
}

describe('a run that a crash left open', () => {
  it('is read and never sent again: found-done gives no evidence, but the edge is ours to take back', async () => {
    const harness = harnessWith();
    harness.plug('bmc').state = 'off';
    const report = await harness.recover(harness.job(BMC, 'off'));
    expect(report).toMatchObject({ result: 'found-done', edge: 'off' });
    expect(report.evidence).toBeUndefined();
    expect(harness.calls(/^set/)).toEqual([]);
  });

  it('is found-not-done when the device does not show it', async () => {
    const harness = harnessWith();
    expect(await harness.recover(harness.job(BMC, 'off'))).toMatchObject({ result: 'found-not-done' });
    expect(harness.calls(/^set/)).toEqual([]);
  });

  it.each([
    ['it is on its way', { state: 'pending' as const }],
    ['its state is unknown', { state: 'unknown' as const }],
    ['its witness contradicts it', { state: 'off' as const, witness: 'on' as const }],
  ])('is ours to take back where its device shows neither: %s', async (_how, shown) => {
    const harness = harnessWith();
    Object.assign(harness.plug('bmc'), shown);
    expect(await harness.recover(harness.job(BMC, 'off'))).toMatchObject({ result: 'timeout', edge: 'off' });
    const on = await harness.recover(harness.job(BMC, 'on'));
    expect([on.result, on.edge]).toEqual(['found-not-done', undefined]);
  });

  it('is no result of the device when the device does not answer', async () => {
    const harness = harnessWith();
    harness.plug('bmc').onRead = () => Promise.reject(failure('Unreachable', 'no route'));
    const report = await harness.recover(harness.job(BMC, 'off'));
    expect(report.result).toBe('unreachable');
    expect(report.edge, 'it may have been sent, and is ours to take back').toBe('off');
    expect((await harness.recover(harness.job(BMC, 'on'))).edge).toBeUndefined();
  });

  it('is done anew when it was only a read', async () => {
    const harness = harnessWith();
    expect((await harness.recover(harness.job(BMC, 'confirm'))).result).toBe('found-not-done');
    expect(harness.log).toEqual([]);
  });

  it('of an action is confirmed, not run again', async () => {
    const harness = harnessWith();
    let runs = 0;
    harness.action = {
      kind: 'action',
      run: () => {
        runs += 1;
        return Promise.resolve({ result: 'accepted', detail: '' });
      },
      confirm: () => Promise.resolve(true),
    };
    expect((await harness.recover(harness.job(CORDON, 'run'))).result).toBe('found-done');
    harness.action = { ...harness.action, confirm: () => Promise.resolve(false) };
    expect((await harness.recover(harness.job(CORDON, 'run'))).result).toBe('found-not-done');
    expect(runs).toBe(0);
  });
});

describe('a confirmation', () => {
  it('of an off reads stable off again, sends nothing, and is evidence of its own', async () => {
    const harness = harnessWith();
    harness.plug('bmc').state = 'off';
    const report = await harness.run(harness.job(BMC, 'confirm'));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { kind: 'power-off' } });
    expect(harness.calls(/^set/)).toEqual([]);
    expect(harness.calls(/^read/).length).toBeGreaterThanOrEqual(4);
  });

  it('of an off that no longer stands is found-not-done at the first read', async () => {
    const harness = harnessWith();
    const report = await harness.run(harness.job(BMC, 'confirm'));
    expect(report.result).toBe('found-not-done');
    expect(harness.calls(/^read/)).toHaveLength(1);
  });

  it('of an off that does not stay is found-not-done and no evidence', async () => {
    const harness = harnessWith();
    const plug = harness.plug('bmc');
    plug.state = 'off';
    let reads = 0;
    plug.onRead = () => {
      reads += 1;
      return Promise.resolve({ ...plug.reading(), state: reads > 2 ? 'on' : 'off' });
    };
    const report = await harness.run(harness.job(BMC, 'confirm'));
    expect(report.result).toBe('found-not-done');
    expect(report.evidence).toBeUndefined();
  });

  it('of an action asks whether it stands', async () => {
    const harness = harnessWith();
    const job = harness.job(CORDON, 'confirm', { entry: entryOf(CORDON, 'confirm', { operation: 'run:cordon' }) });
    expect((await harness.run(job)).result).toBe('succeeded');
    harness.action = { ...harness.action, confirm: () => Promise.resolve(false) };
    expect((await harness.run(job)).result).toBe('found-not-done');
  });
});

describe('an action', () => {
  it('is reported in its own words', async () => {
    const harness = harnessWith();
    harness.action = { ...harness.action, run: () => Promise.resolve({ result: 'accepted', detail: 'cordoned by us' }) };
    expect(await harness.run(harness.job(CORDON, 'run'))).toMatchObject({ result: 'succeeded', message: 'cordoned by us' });
  });

  it.each([
    ['the API server does not answer', new TransportError('unreachable', 'connection refused'), 'interrupted'],
    ['the API server is busy', new ApiStatusError(429, 'TooManyRequests', 'busy'), 'interrupted'],
    ['the API server is broken', new ApiStatusError(503, 'ServiceUnavailable', 'etcd'), 'interrupted'],
    ['the API server forbids it', new ApiStatusError(403, 'Forbidden', 'nodes is forbidden'), 'failed'],
    ['the agent itself is broken', new TypeError('x is not a function'), 'failed'],
  ])('is not a failure of the step just because it could not be asked: %s', async (_words, error, result) => {
    const harness = harnessWith();
    harness.action = { ...harness.action, run: () => Promise.reject(error) };
    const report = await harness.run(harness.job(CORDON, 'run'));
    expect(report.result).toBe(result);
    expect(report.message).toContain(error.message);
  });

  it('that never settles is cut off at its deadline', async () => {
    const harness = harnessWith();
    harness.action = { ...harness.action, run: () => new Promise(() => undefined) };
    expect((await harness.run(harness.job(CORDON, 'run'))).result).toBe('timeout');
  });

  it('may ask for permission in the turn of its send', async () => {
    const harness = harnessWith();
    harness.action = {
      ...harness.action,
      run: (target) => {
        target.beforeSend();
        return Promise.resolve({ result: 'accepted', detail: '' });
      },
    };
    const mayBegin = (): void => {
      throw failure('NotSent', 'a stop stands');
    };
    expect((await harness.run(harness.job(CORDON, 'run', { mayBegin }))).result).toBe('not-sent');
  });
});

describe('the end of the process', () => {
  it('ends the sessions of every agent that was used, once', async () => {
    const harness = harnessWith();
    await harness.run(harness.job(BMC, 'off'));
    await harness.run(harness.job(methodOf('other', 'power'), 'off'));
    await harness.dispatcher.close();
    expect(harness.closed).toBe(1);
  });
});
