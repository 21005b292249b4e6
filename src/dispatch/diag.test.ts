import { describe, expect, it } from 'vitest';
import { ManualClock } from '../runtime/manual-clock.ts';
import { ACCEPTED, Harness, failure, methodOf } from './testing/harness.ts';

const BMC = methodOf('bmc', 'power', { action: 'diag' });

function dumping(): Harness {
  const harness = new Harness(new ManualClock());
  harness.plug('bmc').onDiagnose = () => Promise.resolve(ACCEPTED);
  return harness;
}

describe('a dump that is ordered', () => {
  it('is ordered once, after a read of a machine that is on, and proves nothing', async () => {
    const harness = dumping();
    const report = await harness.run(harness.job(BMC, 'diag'));
    expect(report).toMatchObject({ result: 'succeeded', message: 'dump ordered: 204' });
    expect(report).not.toHaveProperty('evidence');
    expect(report).not.toHaveProperty('edge');
    expect(harness.log.map(({ call }) => call)).toEqual(['read bmc', 'connect bmc', 'diag bmc']);
  });

  it.each(['off', 'unknown', 'pending'] as const)('is not ordered of a machine that reads %s', async (state) => {
    const harness = dumping();
    harness.plug('bmc').state = state;
    const report = await harness.run(harness.job(BMC, 'diag'));
    expect(report.result).toBe('failed');
    expect(report.message).toContain('nothing was sent');
    expect(harness.calls(/^diag/)).toEqual([]);
  });

  it('is not ordered without a lease, nor under a stop', async () => {
    const lost = dumping();
    const mayBegin = (): void => {
      throw failure('NotSent', 'the lease is over');
    };
    expect((await lost.run(lost.job(BMC, 'diag', { mayBegin }))).result).toBe('not-sent');
    const stopped = dumping();
    const ask = (): Promise<void> => Promise.reject(failure('NotSent', 'a stop stands'));
    expect((await stopped.run(stopped.job(BMC, 'diag', { ask }))).result).toBe('not-sent');
    expect([...lost.calls(/^diag/), ...stopped.calls(/^diag/)]).toEqual([]);
  });

  it('is not ordered by an intent that is too old for it to end within its deadline', async () => {
    const harness = dumping();
    const report = await harness.run(harness.job(BMC, 'diag', { intentAtMs: harness.clock.monotonicMs() - 10_001 }));
    expect(report.result).toBe('not-sent');
    expect(harness.calls(/^diag/)).toEqual([]);
  });

  it('fails in the words of a device that cannot, and within two deadlines of one that does not answer', async () => {
    const cannot = new Harness(new ManualClock());
    expect(await cannot.run(cannot.job(BMC, 'diag'))).toMatchObject({
      result: 'refused',
      message: expect.stringContaining('NMI is not supported') as string,
    });
    const mute = dumping();
    mute.plug('bmc').onDiagnose = () => new Promise(() => undefined);
    expect((await mute.run(mute.job(BMC, 'diag'))).result).toBe('timeout');
    expect(mute.clock.monotonicMs()).toBeLessThanOrEqual(1_000_000 + 16_100);
  });

  it('is not looked for after a crash, and not ordered again', async () => {
    const harness = dumping();
    expect((await harness.recover(harness.job(BMC, 'diag'))).result).toBe('found-not-done');
    expect(harness.log).toEqual([]);
  });
});
