import { describe, expect, it } from 'vitest';
import type { Agent, AgentRegistry, Outcome, PowerState, Target } from '../ports/agents.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Dispatcher } from './dispatcher.ts';
import { Bench, failure, methodOf } from './testing/bench.ts';

const BMC = methodOf('bmc', 'power');

/** A dispatcher whose only agent answers a set without ever asking whether it may send. */
function silent(bench: Bench, state: () => PowerState): Dispatcher {
  const agent: Agent = {
    kind: 'power',
    read: () => Promise.resolve({ state: state(), detail: `PowerState=${state()}`, identity: 'verified' }),
    set: () => Promise.resolve({ result: 'accepted', detail: 'it is off already' }),
  };
  const definition = { name: 'power', create: () => Promise.resolve(agent) };
  const registry = { find: () => definition, names: () => ['power'] } as unknown as AgentRegistry;
  return new Dispatcher(registry, { cluster: {} as never, clock: bench.clock });
}

describe('an off of our own', () => {
  it('was none where the agent never asked whether it may send: what is read proves nothing', async () => {
    const bench = new Bench(new ManualClock());
    const report = await bench.ended(silent(bench, () => 'off').run(bench.job(BMC, 'off')));
    expect(report).toMatchObject({ result: 'refused', message: expect.stringContaining('nothing was sent: it is off already') as string });
    expect(report.evidence).toBeUndefined();
    expect(report.edge).toBeUndefined();
  });

  it('may be nothing at all where a control plane shows an instance that is stopped already', async () => {
    const bench = new Bench(new ManualClock());
    const method = methodOf('vm', 'power', { evidence: 'instance-stopped' });
    const report = await bench.ended(silent(bench, () => 'off').run(bench.job(method, 'off')));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { kind: 'instance-stopped' } });
  });

  it.each(['Misconfigured', 'Refused'] as const)('is ours to take back though a read after it was %s', async (kind) => {
    const bench = new Bench(new ManualClock());
    const plug = bench.plug('bmc');
    plug.onSet = () => {
      plug.state = 'off';
      plug.onRead = () => Promise.reject(failure('Misconfigured', 'another machine answers'));
      return kind === 'Refused' ? Promise.reject(failure('Refused', '403')) : Promise.resolve<Outcome>({ result: 'accepted', detail: '204' });
    };
    const report = await bench.run(bench.job(BMC, 'off'));
    expect(report).toMatchObject({ result: 'misconfigured', edge: 'off' });
    expect(report.evidence).toBeUndefined();
  });

  it('is not ours to take back where it was refused and the device reads on', async () => {
    const bench = new Bench(new ManualClock());
    bench.plug('bmc').onSet = () => Promise.reject(failure('Refused', '403'));
    const report = await bench.run(bench.job(BMC, 'off'));
    expect(report).toMatchObject({ result: 'refused' });
    expect(report.edge).toBeUndefined();
  });
});

describe('an action', () => {
  const SOFT = methodOf('soft', 'action', { action: 'run', device: 'host' });

  it.each<[boolean, string]>([
    [true, 'succeeded'],
    [false, 'unreachable'],
  ])('whose answer is unclear is what is read back: %s', async (isThere, result) => {
    const bench = new Bench(new ManualClock());
    bench.action = {
      kind: 'action',
      run: () => Promise.resolve({ result: 'unclear', detail: 'no code was told' }),
      confirm: () => Promise.resolve(isThere),
    };
    const report = await bench.run(bench.job(SOFT, 'run'));
    expect(report).toMatchObject({ result, message: expect.stringContaining('no code was told') as string });
  });

  it('that waits may send nothing once its set_deadline is over', async () => {
    const bench = new Bench(new ManualClock());
    let asked = 0;
    bench.action.run = async (target: Target): Promise<Outcome> => {
      await bench.clock.sleep(60_000, target.signal);
      target.beforeSend();
      return { result: 'accepted', detail: 'sent' };
    };
    const mayBegin = (): void => void (asked += 1);
    const report = await bench.run(bench.job({ ...SOFT, runMaxMs: 300_000 }, 'run', { mayBegin }));
    expect(report).toMatchObject({ result: 'not-sent' });
    expect(asked).toBe(0);
  });
});
