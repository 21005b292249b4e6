import { describe, expect, it } from 'vitest';
import { ManualClock } from '../runtime/manual-clock.ts';
import { ACCEPTED, Harness, failure, methodOf } from './testing/harness.ts';

const CLOUD = methodOf('cloud', 'power', { action: 'delete' });

function stopped(): Harness {
  const harness = new Harness(new ManualClock());
  harness.plug('cloud').state = 'off';
  harness.plug('cloud').onRemove = () => Promise.resolve(ACCEPTED);
  return harness;
}

describe('a machine that is deleted', () => {
  it('is deleted once, after a read of off, and is gone when its cloud shows so', async () => {
    const harness = stopped();
    const shown = [false, false, true];
    harness.plug('cloud').onRemoval = () => Promise.resolve({ isGone: shown.shift() ?? true, detail: shown.length === 0 ? 'terminated' : 'stopped' });
    const report = await harness.run(harness.job(CLOUD, 'delete'));
    expect(report).toMatchObject({ result: 'succeeded', message: 'deleted: terminated' });
    expect(report).not.toHaveProperty('evidence');
    expect(report).not.toHaveProperty('edge');
    expect(harness.log.map(({ call }) => call)).toEqual([
      'read cloud',
      'connect cloud',
      'delete cloud',
      ...['look cloud', 'look cloud', 'look cloud'],
    ]);
  });

  it.each(['on', 'unknown', 'pending'] as const)('is left alone while it reads %s', async (state) => {
    const harness = stopped();
    harness.plug('cloud').state = state;
    const report = await harness.run(harness.job(CLOUD, 'delete'));
    expect(report.result).toBe('refused');
    expect(report.message).toContain('nothing was sent');
    expect(harness.calls(/^(?:connect|delete)/)).toEqual([]);
  });

  it('is left alone where nothing shows whose it is, whatever the plan says of identity', async () => {
    const harness = stopped();
    harness.plug('cloud').identity = 'unverified';
    const report = await harness.run(harness.job(CLOUD, 'delete', { identityRequired: false }));
    expect(report).toMatchObject({ result: 'refused', message: expect.stringContaining('does not show whose machine it is') as string });
    expect(harness.calls(/^delete/)).toEqual([]);
  });

  it('is not deleted without a lease, under a stop, or by an intent that is too old', async () => {
    const lost = stopped();
    const mayBegin = (): void => {
      throw failure('NotSent', 'the lease is over');
    };
    expect((await lost.run(lost.job(CLOUD, 'delete', { mayBegin }))).result).toBe('not-sent');
    const held = stopped();
    const ask = (): Promise<void> => Promise.reject(failure('NotSent', 'a stop stands'));
    expect((await held.run(held.job(CLOUD, 'delete', { ask }))).result).toBe('not-sent');
    const late = stopped();
    expect((await late.run(late.job(CLOUD, 'delete', { intentAtMs: late.clock.monotonicMs() - 10_001 }))).result).toBe('not-sent');
    expect([lost, held, late].flatMap((harness) => harness.calls(/^delete/))).toEqual([]);
  });

  it('is not taken for gone on the answer alone, nor where no look is answered', async () => {
    const lying = stopped();
    lying.plug('cloud').onRemoval = () => Promise.resolve({ isGone: false, detail: 'stopped' });
    expect(await lying.run(lying.job(CLOUD, 'delete'))).toMatchObject({
      result: 'timeout',
      message: expect.stringContaining('last seen stopped; to the request it answered 204') as string,
    });
    const mute = stopped();
    mute.plug('cloud').onRemoval = () => Promise.reject(failure('Unreachable', 'no answer'));
    expect((await mute.run(mute.job(CLOUD, 'delete'))).result).toBe('timeout');
    expect(
      [lying, mute].map((harness) => harness.calls(/^delete/).length),
      'sent once',
    ).toEqual([1, 1]);
  });

  it('that its cloud protects stays, in the words of the cloud', async () => {
    const harness = stopped();
    harness.plug('cloud').onRemove = undefined;
    expect(await harness.run(harness.job(CLOUD, 'delete'))).toMatchObject({
      result: 'refused',
      message: expect.stringContaining('it is protected') as string,
    });
  });

  it('is looked for after a crash, and not deleted again', async () => {
    const harness = stopped();
    expect(await harness.recover(harness.job(CLOUD, 'delete'))).toMatchObject({ result: 'found-done' });
    harness.plug('cloud').onRemoval = () => Promise.resolve({ isGone: false, detail: 'stopped' });
    expect(await harness.recover(harness.job(CLOUD, 'delete'))).toMatchObject({ result: 'found-not-done' });
    expect(harness.calls(/^(?:connect|delete)/)).toEqual([]);
  });

  it('that is under way after a crash is waited for', async () => {
    const harness = stopped();
    const plug = harness.plug('cloud');
    const shown = [false, false, false, true];
    plug.onRemoval = () => Promise.resolve({ isGone: shown.shift() ?? true, detail: 'STOPPING' });
    plug.state = 'pending';
    plug.onRead = () => (shown.length === 1 ? Promise.reject(failure('Misconfigured', 'not found')) : Promise.resolve(plug.reading()));
    expect(await harness.recover(harness.job(CLOUD, 'delete'))).toMatchObject({ result: 'found-done' });
    plug.onRead = undefined;
    plug.onRemoval = () => Promise.resolve({ isGone: false, detail: 'STOPPING' });
    expect(await harness.recover(harness.job(CLOUD, 'delete')), 'but not for ever').toMatchObject({ result: 'found-not-done' });
    expect(harness.calls(/^(?:connect|delete)/)).toEqual([]);
  });
});
