import { describe, expect, it } from 'vitest';
import { AgentError } from '../../src/ports/agents.ts';
import type { Target } from '../../src/ports/agents.ts';
import type { DeviceEvent } from '../../src/laws/trace.ts';
import { SimulatedPowerAgent } from '../../src/testbed/simulation/device-agent.ts';
import { SimulatedDevice } from '../../src/testbed/simulation/devices.ts';
import type { DeviceBehaviour } from '../../src/testbed/simulation/devices.ts';
import { Kernel } from '../../src/testbed/simulation/kernel.ts';
import { CrashCounter, Port } from '../../src/testbed/simulation/port.ts';
import type { CrashPoint } from '../../src/testbed/simulation/port.ts';

function harness(behaviour: DeviceBehaviour, crash?: CrashPoint, isUnnamed = false) {
  const kernel = new Kernel({ seed: 11 });
  const controller = kernel.spawn('controller');
  const events: DeviceEvent[] = [];
  let power: 'on' | 'off' = 'on';
  const device = new SimulatedDevice({
    name: 'bmc-a',
    node: 'a',
    ...(!isUnnamed && { systemUUID: 'uuid-a' }),
    behaviour,
    backend: { state: () => power, on: () => (power = 'on'), off: () => (power = 'off') },
    random: kernel.random('device'),
    effectMs: [100, 200],
    now: () => kernel.nowMs,
    schedule: (delayMs, task) => kernel.schedule(delayMs, task),
    record: (event) => events.push(event),
  });
  const counter = crash === undefined ? undefined : new CrashCounter(crash);
  const agent = new SimulatedPowerAgent(
    new Map([['bmc-a', device]]),
    new Port(controller, counter === undefined ? undefined : { strike: (tags) => counter.strike(tags), onCrash: () => undefined }),
  );
  const abort = new AbortController();
  const target = (changes: Partial<Target> = {}): Target => ({
    plug: '',
    device: 'bmc-a',
    parameters: {},
    identity: { node: 'a', systemUUID: 'UUID-A' },
    signal: abort.signal,
    deadlineMs: 1000,
    beforeSend: () => undefined,
    ...changes,
  });
  return { kernel, controller, events, agent, abort, target, device, power: () => power };
}

async function settled<T>(kernel: Kernel, call: Promise<T>): Promise<T | string> {
  const outcome = call.catch((thrown: unknown) => (thrown instanceof AgentError ? thrown.kind : `not an AgentError: ${String(thrown)}`));
  await kernel.run({ untilMs: 5000 });
  return await Promise.race([outcome, Promise.resolve('never')]);
}

describe('a simulated BMC', () => {
  it('switches an honest machine off after its latency and shows it', async () => {
    const { kernel, agent, target, power, events } = harness('honest');
    expect(await settled(kernel, agent.set(target(), 'off'))).toEqual({ result: 'accepted', detail: '204' });
    expect(power()).toBe('off');
    kernel.schedule(0, () => undefined);
    expect(events.map((event) => event.action)).toEqual(['identity', 'set']);
  });

  it('accepts an off and stays on when it lies', async () => {
    const { kernel, agent, target, power } = harness('lies');
    expect(await settled(kernel, agent.set(target(), 'off'))).toEqual({ result: 'accepted', detail: '204' });
    expect(power()).toBe('on');
  });

  it('comes back on by itself once after an off when it restores', async () => {
    const { kernel, agent, target, power } = harness('restores');
    const seen: string[] = [];
    kernel.schedule(400, () => seen.push(power()));
    void agent.set(target(), 'off');
    await kernel.run({ untilMs: 30_000 });
    expect([...seen, power()]).toEqual(['off', 'on']);
  });

  it('times out within the deadline when it is dead', async () => {
    const { kernel, agent, target, events } = harness('dead');
    expect(await settled(kernel, agent.read(target()))).toBe('Timeout');
    expect(events).toEqual([]);
  });

  it('notes a set that left and was lost on the way, and keeps the power as it was', async () => {
    const { kernel, agent, target, device, power, events } = harness('honest');
    const call = agent.set(
      target({
        beforeSend: () => {
          device.network = 'cut';
        },
      }),
      'off',
    );
    expect(await settled(kernel, call)).toBe('Timeout');
    expect(events.map(({ action, answer }) => `${action} ${answer}`)).toEqual(['identity 200 uuid-a', 'set lost']);
    expect(power()).toBe('on');
  });

  it('refuses every set when told so, and keeps the power as it was', async () => {
    const { kernel, agent, target, power } = harness('refuses');
    expect(await settled(kernel, agent.set(target(), 'off'))).toBe('Refused');
    expect(power()).toBe('on');
  });

  it('shows unknown when its state is null', async () => {
    const { kernel, agent, target } = harness('unknown');
    expect(await settled(kernel, agent.read(target()))).toMatchObject({ state: 'unknown' });
  });

  it('sends nothing when its machine is another than the one meant', async () => {
    const { kernel, agent, target, power, events } = harness('honest');
    expect(await settled(kernel, agent.set(target({ identity: { node: 'a', systemUUID: 'other' } }), 'off'))).toBe('Misconfigured');
    expect(power()).toBe('on');
    expect(events.map((event) => event.action)).toEqual(['identity']);
  });

  it('that shows no identity is read and set all the same, and says that nothing was verified', async () => {
    const read = harness('honest', undefined, true);
    expect(await settled(read.kernel, read.agent.read(read.target()))).toMatchObject({ state: 'on', identity: 'unverified' });
    const { kernel, agent, target, events } = harness('honest', undefined, true);
    expect(await settled(kernel, agent.set(target(), 'off'))).toMatchObject({ result: 'accepted' });
    expect(events.map((event) => event.action)).toEqual(['set']);
  });

  it('asks for permission in the turn of the send, after the identity was read, and sends nothing when it is refused', async () => {
    const { kernel, agent, target, power, events } = harness('honest');
    let seen: string[] = [];
    const refusal = new AgentError('NotSent', { device: 'bmc-a', plug: '', asked: 'off', answered: 'the lease is over' });
    const call = agent.set(
      target({
        beforeSend: () => {
          seen = events.map((event) => event.action);
          throw refusal;
        },
      }),
      'off',
    );
    expect(await settled(kernel, call)).toBe('NotSent');
    expect(seen).toEqual(['identity']);
    expect(power()).toBe('on');
  });

  it.each([
    ['before-effect', 'on'],
    ['after-effect', 'off'],
  ] as const)('leaves the machine as the crash %s of the set found it, and the caller without an answer', async (moment, state) => {
    const { kernel, agent, target, power, controller } = harness('honest', { tag: 'device-set', nth: 1, moment, stopMs: 0 });
    expect(await settled(kernel, agent.set(target(), 'off'))).toBe('never');
    expect(power()).toBe(state);
    expect(controller.isDead).toBe(true);
  });
});
