import { describe, expect, it } from 'vitest';
import { TransportError } from '../ports/api-transport.ts';
import type { ProbeAnswer, ProbeRequest } from '../ports/probes.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Harness, failure, methodOf } from './testing/harness.ts';

const BMC = methodOf('bmc', 'power');

function request(more: Partial<ProbeRequest> = {}): ProbeRequest {
  return {
    method: BMC,
    identity: { node: 'a' },
    deadlineMs: 8_000,
    signal: new AbortController().signal,
    parametersOf: () => Promise.resolve({}),
    ...more,
  };
}

function probe(harness: Harness, more: Partial<ProbeRequest> = {}): Promise<ProbeAnswer | undefined> {
  return harness.ended(harness.dispatcher.probe(request(more)));
}

describe('a probe', () => {
  it('reads once, with identity, and tells what the device said, when its certificate ends and what it would refuse', async () => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    plug.onRead = ({ isProbe }) =>
      Promise.resolve({
        ...plug.reading(),
        ...(isProbe === true ? { certificateExpiresAt: '2027-01-01T00:00:00Z', wouldRefuse: 'no right to stop' } : {}),
      });
    expect(await probe(harness)).toMatchObject({
      state: 'on',
      identity: 'verified',
      detail: 'PowerState=on',
      certificateExpiresAt: '2027-01-01T00:00:00Z',
      wouldRefuse: 'no right to stop',
    });
    expect(harness.log.map(({ call }) => call)).toEqual(['read bmc']);
  });

  it('may change nothing: whoever sends in it is refused', async () => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    plug.onRead = (target) => {
      target.beforeSend();
      return Promise.resolve(plug.reading());
    };
    const answer = await probe(harness);
    expect(answer?.state).toBeUndefined();
    expect(answer?.error).toContain('a probe changes nothing');
  });

  it('believes no state that a witness contradicts', async () => {
    const harness = new Harness(new ManualClock());
    harness.plug('bmc').witness = 'off';
    expect(await probe(harness)).toMatchObject({ state: 'unknown', detail: 'PowerState=on, Chassis PowerState=off' });
  });

  it('says how an admin may do without a witness that alone disagrees, and says nothing of that where it agrees', async () => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    const witness = { source: 'Chassis', detail: 'PowerState=on', waiver: 'witness=no does without it' };
    for (const [state, seen, words] of [
      ['off', 'on', ' (witness=no does without it)'],
      ['on', 'on', ''],
      ['unknown', 'on', ''],
    ] as const) {
      plug.onRead = () => Promise.resolve({ ...plug.reading(), state, witness: { ...witness, state: seen } });
      const answer = await probe(harness);
      expect(answer?.detail).toBe(`PowerState=on, Chassis PowerState=on${words}`);
      expect(answer?.state).toBe(state === 'on' ? 'on' : 'unknown');
    }
  });

  it('says in words why a device could not be read, and never waits longer than its deadline', async () => {
    const harness = new Harness(new ManualClock());
    harness.plug('bmc').onRead = () => Promise.reject(failure('Refused', '401 wrong password'));
    expect((await probe(harness))?.error).toContain('401 wrong password');
    harness.plug('bmc').onRead = () => new Promise(() => undefined);
    const beganAtMs = harness.clock.monotonicMs();
    expect((await probe(harness))?.error).toContain('no complete answer within 8000 ms');
    expect(harness.clock.monotonicMs() - beganAtMs).toBeLessThanOrEqual(8_100);
    expect((await probe(harness, { parametersOf: () => Promise.reject(failure('Misconfigured', 'Secret s is missing')) }))?.error).toContain(
      'Secret s is missing',
    );
  });

  it('knows nothing of a device when the API server kept it from asking', async () => {
    const harness = new Harness(new ManualClock());
    const away = (): Promise<never> => Promise.reject(new TransportError('unreachable', 'connection reset'));
    expect(await probe(harness, { parametersOf: away })).toBeUndefined();
  });

  it('is not begun while a fence has the device', async () => {
    const harness = new Harness(new ManualClock());
    const fence = harness.dispatcher.run(harness.job(BMC, 'off'));
    expect(await probe(harness)).toBeUndefined();
    expect((await harness.ended(fence)).result).toBe('succeeded');
  });

  it('gives way at once to a fence that wants its device, however silent that is', async () => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    let isTold = false;
    plug.onRead = ({ signal }) => {
      plug.onRead = undefined;
      signal.addEventListener('abort', () => (isTold = true));
      return new Promise(() => undefined);
    };
    const silent = harness.dispatcher.probe(request());
    await harness.clock.advance(1_000);
    const beganAtMs = harness.clock.monotonicMs();
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report.result).toBe('succeeded');
    expect(await silent).toBeUndefined();
    expect(isTold).toBe(true);
    expect(harness.calls(/^read/).find(({ atMs }) => atMs >= beganAtMs)?.atMs).toBeLessThanOrEqual(beganAtMs + 50);
  });

  it('never stands in the way of another probe either, and holds up no other device', async () => {
    const harness = new Harness(new ManualClock());
    harness.plug('bmc').onRead = () => new Promise(() => undefined);
    const silent = harness.dispatcher.probe(request());
    expect(await probe(harness)).toBeUndefined();
    expect(await probe(harness, { method: methodOf('other', 'power') })).toMatchObject({ state: 'on' });
    expect((await harness.ended(silent))?.error).toContain('no complete answer');
  });

  it('ends without an answer when it is told to', async () => {
    const harness = new Harness(new ManualClock());
    const stopping = new AbortController();
    harness.plug('bmc').onRead = () => new Promise(() => undefined);
    const answer = harness.dispatcher.probe(request({ signal: stopping.signal }));
    await harness.clock.advance(10);
    stopping.abort(new Error('stop'));
    expect(await answer).toBeUndefined();
  });
});

describe('a call for the connection alone', () => {
  it('is a plain read of an agent that keeps its connections, rejects never, and asks nothing of any other', async () => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    const probes: (boolean | undefined)[] = [];
    plug.onRead = ({ isProbe }) => {
      probes.push(isProbe);
      return Promise.resolve(plug.reading());
    };
    await harness.ended(harness.dispatcher.warm(request()));
    expect(probes).toEqual([]);
    harness.keepsSession = true;
    await harness.ended(harness.dispatcher.warm(request()));
    expect(probes).toEqual([undefined]);
    plug.onRead = () => Promise.reject(failure('Unreachable', 'silent'));
    await expect(harness.ended(harness.dispatcher.warm(request()))).resolves.toBeUndefined();
  });

  it('right before the call that it is for connects alone, gives way to that, and is left out where an agent cannot', async () => {
    const left = new Harness(new ManualClock());
    left.keepsSession = true;
    await left.ended(left.dispatcher.warm({ ...request(), isUrgent: true }));
    expect(left.calls(/^read/)).toEqual([]);
    const harness = new Harness(new ManualClock());
    harness.keepsSession = true;
    const connected: string[] = [];
    harness.onConnect = ({ device, signal }) => {
      connected.push(device);
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(failure('NotSent', 'given up'))));
    };
    const urgent = harness.dispatcher.warm({ ...request(), isUrgent: true });
    await harness.clock.advance(1);
    expect([connected, harness.calls(/^read/)]).toEqual([['bmc'], []]);
    const beganAtMs = harness.clock.monotonicMs();
    expect((await harness.run(harness.job(BMC, 'off'))).result).toBe('succeeded');
    expect(harness.calls(/^read/)[0]?.atMs).toBeLessThanOrEqual(beganAtMs + 50);
    await urgent;
  });
});
