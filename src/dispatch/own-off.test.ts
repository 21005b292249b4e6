import { describe, expect, it } from 'vitest';
import type { Agent, AgentRegistry, Outcome, PowerState, Target } from '../ports/agents.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Dispatcher } from './dispatcher.ts';
import { Harness, failure, methodOf } from './testing/harness.ts';

const BMC = methodOf('bmc', 'power');

/** A dispatcher whose only agent answers a set without ever asking whether it may send. */
function silent(harness: Harness, state: () => PowerState): Dispatcher {
  const agent: Agent = {
    kind: 'power',
    read: () => Promise.resolve({ state: state(), detail: `PowerState=${state()}`, identity: 'verified' }),
    set: () => Promise.resolve({ result: 'accepted', detail: 'it is off already' }),
  };
  const definition = { name: 'power', create: () => Promise.resolve(agent) };
  const registry = { find: () => definition, names: () => ['power'] } as unknown as AgentRegistry;
  return new Dispatcher(registry, { cluster: {} as never, clock: harness.clock });
}

describe('an off of our own', () => {
  it('was none where the agent never asked whether it may send: what is read proves nothing', async () => {
    const harness = new Harness(new ManualClock());
    const report = await harness.ended(silent(harness, () => 'off').run(harness.job(BMC, 'off')));
    expect(report).toMatchObject({ result: 'refused', message: expect.stringContaining('nothing was sent: it is off already') as string });
    expect(report.evidence).toBeUndefined();
    expect(report.edge).toBeUndefined();
  });

  it('may be nothing at all where a control plane shows an instance that is stopped already', async () => {
    const harness = new Harness(new ManualClock());
    const method = methodOf('vm', 'power', { evidence: 'instance-stopped' });
    const report = await harness.ended(silent(harness, () => 'off').run(harness.job(method, 'off')));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { kind: 'instance-stopped' } });
  });

  it.each(['Misconfigured', 'Refused'] as const)('is ours to take back though a read after it was %s', async (kind) => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    plug.onSet = () => {
      plug.state = 'off';
      plug.onRead = () => Promise.reject(failure('Misconfigured', 'another machine answers'));
      return kind === 'Refused' ? Promise.reject(failure('Refused', '403')) : Promise.resolve<Outcome>({ result: 'accepted', detail: '204' });
    };
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report).toMatchObject({ result: 'misconfigured', edge: 'off' });
    expect(report.evidence).toBeUndefined();
  });

  it('is not ours to take back where it was refused and the device reads on', async () => {
    const harness = new Harness(new ManualClock());
    harness.plug('bmc').onSet = () => Promise.reject(failure('Refused', '403'));
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report).toMatchObject({ result: 'refused' });
    expect(report.edge).toBeUndefined();
  });
});

/** A dispatcher whose only agent runs a program that reads for itself, and sends nothing where it reads off. */
function skipping(harness: Harness, plug: { state: PowerState; answer: Outcome | Error; after?: PowerState }): Dispatcher {
  const agent: Agent = {
    kind: 'power',
    skipsWhatIsOff: true,
    read: () => Promise.resolve({ state: plug.state, detail: `Status: ${plug.state.toUpperCase()}`, identity: 'verified' }),
    set: (target) => {
      target.beforeSend();
      plug.state = plug.after ?? plug.state;
      return plug.answer instanceof Error ? Promise.reject(plug.answer) : Promise.resolve(plug.answer);
    },
  };
  const definition = { name: 'power', create: () => Promise.resolve(agent) };
  const registry = { find: () => definition, names: () => ['power'] } as unknown as AgentRegistry;
  return new Dispatcher(registry, { cluster: {} as never, clock: harness.clock });
}

const ALREADY: Outcome = { result: 'accepted', detail: 'Success: Already OFF (exit code 0)', isSent: false };
const POWERED: Outcome = { result: 'accepted', detail: 'Success: Powered OFF (exit code 0)', isSent: true };
const BROKEN: Outcome = { result: 'unclear', detail: 'Connection lost (exit code 1)' };

describe('an off by a program that sends nothing to what is off', () => {
  const run = async (plug: Parameters<typeof skipping>[1], more: Parameters<Harness['job']>[2] = {}) => {
    const harness = new Harness(new ManualClock());
    const answered: unknown[][] = [];
    const job = harness.job(BMC, 'off', { onAnswered: (...told) => void answered.push(told), ...more });
    return { report: await harness.ended(skipping(harness, plug).run(job)), answered };
  };

  it('proves nothing where it says so, and is not ours to take back', async () => {
    const { report, answered } = await run({ state: 'off', answer: ALREADY });
    expect(report).toMatchObject({ result: 'refused', message: expect.stringContaining('nothing was sent: Success: Already OFF') as string });
    expect(report.message).toContain('nodefence ack');
    expect([report.evidence, report.edge, report.offSent]).toEqual([undefined, undefined, undefined]);
    expect(answered).toEqual([[true, false]]);
  });

  it('proves nothing either where the plug went off between our read and its own', async () => {
    expect((await run({ state: 'on', after: 'off', answer: ALREADY })).report).toMatchObject({ result: 'refused' });
  });

  it('counts where an earlier run of this fence did send one: a slow device has come to it', async () => {
    const { report } = await run({ state: 'off', answer: ALREADY }, { offWasSent: () => true });
    expect(report).toMatchObject({ result: 'succeeded', edge: 'off', edgeUnseen: true, evidence: { kind: 'power-off' } });
    expect(report.offSent).toBeUndefined();
  });

  it('is an off of ours where it says that it sent one, and where it failed and the plug was on right before', async () => {
    const sent = { result: 'succeeded', offSent: true, evidence: { kind: 'power-off' } };
    expect((await run({ state: 'off', answer: POWERED })).report).toMatchObject(sent);
    expect((await run({ state: 'on', after: 'off', answer: BROKEN })).report).toMatchObject(sent);
  });

  it.each([
    ['failed', BROKEN],
    ['was refused', failure('Refused', 'permission denied')],
    ['said nothing of it', { result: 'accepted', detail: 'it said nothing (exit code 0)' } as const],
  ])('proves nothing where it %s and the plug was off before: it is tried again, and ours to take back', async (_what, answer) => {
    const { report, answered } = await run({ state: 'off', answer });
    expect(report).toMatchObject({
      result: 'unreachable',
      edge: 'off',
      message: expect.stringContaining('it is unknown whether anything was sent') as string,
    });
    expect([report.evidence, report.offSent]).toEqual([undefined, undefined]);
    expect(answered.every(([isCertain]) => isCertain === false)).toBe(true);
  });

  it('is known to have been sent though the device was too slow for the reads', async () => {
    const { report } = await run({ state: 'on', answer: { ...BROKEN, isSent: true } });
    expect(report).toMatchObject({ result: 'timeout', offSent: true });
    expect(report.evidence).toBeUndefined();
  });
});

describe('a way that a program did not close, for it was closed', () => {
  const CLOSED = methodOf('port', 'fabric');
  it.each([
    [false, undefined],
    [true, 'closed'],
  ])('is ours to open again only if we closed it before: %s', async (offWasSent, edge) => {
    const harness = new Harness(new ManualClock());
    const agent: Agent = {
      kind: 'fabric',
      read: () => Promise.resolve({ state: 'closed', detail: 'Status: OFF', identity: 'unverified' }),
      set: (target) => {
        target.beforeSend();
        return Promise.resolve(ALREADY);
      },
    };
    const definition = { name: 'fabric', create: () => Promise.resolve(agent) };
    const registry = { find: () => definition, names: () => ['fabric'] } as unknown as AgentRegistry;
    const dispatcher = new Dispatcher(registry, { cluster: {} as never, clock: harness.clock });
    const report = await harness.ended(dispatcher.run(harness.job(CLOSED, 'off', { offWasSent: () => offWasSent, identityRequired: false })));
    expect(report.result).toBe('succeeded');
    expect(report.edge).toBe(edge);
  });
});

describe('an action', () => {
  const SOFT = methodOf('soft', 'action', { action: 'run', device: 'host' });

  it.each<[boolean, string]>([
    [true, 'succeeded'],
    [false, 'unreachable'],
  ])('whose answer is unclear is what is read back: %s', async (isThere, result) => {
    const harness = new Harness(new ManualClock());
    harness.action = {
      kind: 'action',
      run: () => Promise.resolve({ result: 'unclear', detail: 'no code was told' }),
      confirm: () => Promise.resolve(isThere),
    };
    const report = await harness.run(harness.job(SOFT, 'run'));
    expect(report).toMatchObject({ result, message: expect.stringContaining('no code was told') as string });
  });

  it('that waits may send nothing once its set_deadline is over', async () => {
    const harness = new Harness(new ManualClock());
    let asked = 0;
    harness.action.run = async (target: Target): Promise<Outcome> => {
      await harness.clock.sleep(60_000, target.signal);
      target.beforeSend();
      return { result: 'accepted', detail: 'sent' };
    };
    const mayBegin = (): void => void (asked += 1);
    const report = await harness.run(harness.job({ ...SOFT, runMaxMs: 300_000 }, 'run', { mayBegin }));
    expect(report).toMatchObject({ result: 'not-sent' });
    expect(asked).toBe(0);
  });
});
