import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../domain/plan.ts';
import type { Agent, AgentRegistry, Reading } from '../ports/agents.ts';
import type { Job } from '../ports/jobs.ts';
import type { ProbeRequest } from '../ports/probes.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Dispatcher } from './dispatcher.ts';
import { Harness, failure, methodOf } from './testing/harness.ts';

const BMC = methodOf('bmc', 'power');
const ON: Reading<'on'> = { state: 'on', detail: 'PowerState=on', identity: 'verified' };

function calls({ log }: Harness): string[] {
  return log.map(({ call }) => call);
}

describe('an off whose device was read while its node was isolated', () => {
  const begunWith = (reading: Promise<Reading | undefined>): Pick<Job, 'firstRead'> => ({ firstRead: () => reading });

  it('is sent without one more read, and proven by those that follow', async () => {
    const harness = new Harness(new ManualClock());
    const report = await harness.run(harness.job(BMC, 'off', begunWith(Promise.resolve(ON))));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { kind: 'power-off' }, edge: 'off' });
    expect(calls(harness).slice(0, 3)).toEqual(['connect bmc', 'set off bmc', 'read bmc']);
    expect(harness.calls(/^read/u).length).toBeGreaterThanOrEqual(3);
    expect(report.edgeUnseen).toBeUndefined();
  });

  it('is proven by reads that follow it alone where the plug showed off before: what was read while its node was isolated is none of them', async () => {
    const harness = new Harness(new ManualClock());
    harness.plug('bmc').state = 'off';
    const report = await harness.run(harness.job(BMC, 'off', begunWith(Promise.resolve<Reading>({ ...ON, state: 'off', detail: 'PowerState=off' }))));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { kind: 'power-off' }, edgeUnseen: true });
    const reads = harness.calls(/^read/u).map(({ atMs }) => atMs);
    expect(calls(harness).slice(0, 3)).toEqual(['connect bmc', 'set off bmc', 'read bmc']);
    expect(reads.length).toBeGreaterThanOrEqual(3);
    expect((reads.at(-1) ?? 0) - (reads[0] ?? 0), 'off_stable, from the first read after the off').toBeGreaterThanOrEqual(DEFAULT_TIMING.offStableMs);
  });

  it('is not sent where that did not show whose machine it is', async () => {
    const harness = new Harness(new ManualClock());
    const report = await harness.run(harness.job(BMC, 'off', begunWith(Promise.resolve({ ...ON, identity: 'unverified' }))));
    expect(report).toMatchObject({ result: 'misconfigured', message: expect.stringContaining('whose machine') as string });
    expect(calls(harness)).toEqual([]);
  });

  it.each([
    ['failed', () => Promise.reject(failure('Unreachable', 'no route to host'))],
    ['was unclear', () => Promise.resolve<Reading>({ ...ON, state: 'unknown', detail: 'PowerState=Paused' })],
  ])('is not sent where that %s', async (_name, firstRead) => {
    const harness = new Harness(new ManualClock());
    expect(await harness.run(harness.job(BMC, 'off', { firstRead }))).toMatchObject({ result: 'unreachable' });
    expect(calls(harness)).toEqual([]);
  });

  it.each([
    ['too old', () => undefined],
    ['none', () => Promise.resolve(undefined)],
  ])('reads by itself where that is %s', async (_name, firstRead) => {
    const harness = new Harness(new ManualClock());
    expect(await harness.run(harness.job(BMC, 'off', { firstRead }))).toMatchObject({ result: 'succeeded' });
    expect(calls(harness)[0]).toBe('read bmc');
  });

  it('is no matter of an on, which is left out where the machine reads on', async () => {
    const harness = new Harness(new ManualClock());
    harness.plug('bmc').state = 'off';
    expect(await harness.run(harness.job(BMC, 'on', begunWith(Promise.resolve(ON))))).toMatchObject({ result: 'succeeded' });
    expect(harness.calls(/^set on/u)).toHaveLength(1);
  });
});

describe('a look at a device before its off', () => {
  const request = (more: Partial<ProbeRequest> = {}): ProbeRequest => ({
    method: BMC,
    identity: { node: 'a', systemUUID: 'sys-a' },
    deadlineMs: 5_000,
    signal: new AbortController().signal,
    parametersOf: () => Promise.resolve({}),
    ...more,
  });

  it('reads once, where the agent keeps the session over which the off will be sent', async () => {
    const harness = new Harness(new ManualClock());
    harness.keepsSession = true;
    expect(await harness.ended(harness.dispatcher.look(request()))).toMatchObject({ state: 'on', identity: 'verified' });
    expect(calls(harness)).toEqual(['read bmc']);
  });

  it('is not made where the agent keeps none', async () => {
    const harness = new Harness(new ManualClock());
    expect(await harness.ended(harness.dispatcher.look(request()))).toBeUndefined();
    expect(calls(harness)).toEqual([]);
  });

  it('is not made where the agent may send nothing to what reads off: its off counts only where it read on right before', async () => {
    const clock = new ManualClock();
    let reads = 0;
    const agent: Agent = {
      kind: 'power',
      skipsWhatIsOff: true,
      read: () => {
        reads += 1;
        return Promise.resolve(ON);
      },
      set: () => Promise.resolve({ result: 'accepted', detail: 'done' }),
    };
    const definition = { name: 'power', keepsSession: true, create: () => Promise.resolve(agent) };
    const registry = { find: () => definition, names: () => ['power'] } as unknown as AgentRegistry;
    expect(await new Dispatcher(registry, { cluster: {} as never, clock }).look(request())).toBeUndefined();
    expect(reads).toBe(0);
  });

  it('waits its turn behind another call of the device', async () => {
    const harness = new Harness(new ManualClock());
    harness.keepsSession = true;
    const [first, second] = [harness.dispatcher.look(request()), harness.dispatcher.look(request())];
    expect(await harness.ended(Promise.all([first, second]))).toMatchObject([{ state: 'on' }, { state: 'on' }]);
    expect(harness.mostAtOnce.get('bmc')).toBe(1);
  });

  it('has an idle read give way', async () => {
    const harness = new Harness(new ManualClock());
    harness.keepsSession = true;
    const idle = harness.dispatcher.probe(request());
    expect(await harness.ended(harness.dispatcher.look(request()))).toMatchObject({ state: 'on' });
    expect(await idle).toBeUndefined();
  });

  it('ends at its deadline, and may change nothing', async () => {
    const harness = new Harness(new ManualClock());
    harness.keepsSession = true;
    harness.plug('bmc').onRead = () => new Promise(() => undefined);
    await expect(harness.ended(harness.dispatcher.look(request()))).rejects.toMatchObject({ kind: 'Timeout' });
    harness.plug('bmc').onRead = (target) => {
      target.beforeSend();
      return Promise.resolve(ON);
    };
    await expect(harness.ended(harness.dispatcher.look(request()))).rejects.toMatchObject({ kind: 'NotSent' });
  });
});
