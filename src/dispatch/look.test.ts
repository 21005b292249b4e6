import { describe, expect, it } from 'vitest';
import { ApiStatusError, TransportError } from '../ports/api-transport.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Harness, failure, methodOf } from './testing/harness.ts';

const BMC = methodOf('bmc', 'power', { device: 'bmc' });

describe('a look at a device', () => {
  it.each([
    ['unreachable', failure('Unreachable', 'no route to host')],
    ['without its Secret', failure('Misconfigured', 'Secret x is missing')],
  ])('is unknown when the device is %s', async (_name, error) => {
    const harness = new Harness(new ManualClock());
    expect(await harness.ended(harness.dispatcher.readState(harness.job(BMC, 'off', { parametersOf: () => Promise.reject(error) })))).toMatchObject({
      state: 'unknown',
    });
  });

  it.each([
    ['on', 'off'],
    ['off', 'on'],
    ['off', 'pending'],
  ] as const)('shows %s with a witness that shows %s as what may still run', async (state, witness) => {
    const harness = new Harness(new ManualClock());
    Object.assign(harness.plug('bmc'), { state, witness });
    const look = await harness.ended(harness.dispatcher.readState(harness.job(BMC, 'off')));
    expect(look).toEqual({ state: state === 'on' ? 'on' : witness, detail: `PowerState=${state}, Chassis PowerState=${witness}` });
  });

  it('is not unknown because one answer was lost: the device is asked again', async () => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    plug.onRead = () => {
      plug.onRead = undefined;
      return Promise.reject(failure('Timeout', 'no answer within 1000 ms'));
    };
    expect(await harness.ended(harness.dispatcher.readState(harness.job(BMC, 'off')))).toMatchObject({ state: 'on' });
  });

  it.each([
    ['busy', new ApiStatusError(500, 'InternalError', 'etcdserver: request timed out')],
    ['away', new TransportError('timeout', 'no answer within 5000 ms')],
  ])('fails when the API server is %s, so that nobody takes a device that was never asked for one that cannot be read', async (_name, error) => {
    const harness = new Harness(new ManualClock());
    const look = harness.dispatcher.readState(harness.job(BMC, 'off', { parametersOf: () => Promise.reject(error) }));
    await expect(harness.ended(look)).rejects.toBe(error);
    expect(harness.log).toEqual([]);
  });
});
