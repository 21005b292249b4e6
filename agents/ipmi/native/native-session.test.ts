import { afterEach, describe, expect, it } from 'vitest';

import type { IpmiDeviceOptions } from '../../../src/testbed/devices/ipmi/rmcp/ipmi-device.ts';
import { startTestServer } from '../../../src/testbed/devices/ipmi/rmcp/test-server.ts';
import { TEST_UUID } from '../../../src/testbed/devices/ipmi/rmcp/test-device.ts';
import { AgentError, type Target } from '../../../src/ports/agents.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { ManualClock } from '../../../src/runtime/manual-clock.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { IpmiAgent } from '../agent.ts';
import { until } from '../testing/ipmi-simulator.ts';
import { QuickClock } from '../testing/quick-clock.ts';
import { failure } from '../testing/failure.ts';

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** A wait of a second takes 20 ms where silence is what a test waits for. */
const TIMES = 50;
const CHASSIS_CONTROL = 'chassis control';

async function start(options: Partial<IpmiDeviceOptions> = {}, clock: Clock = new QuickClock(new SystemClock())) {
  const bmc = await startTestServer(options);
  const agent = new IpmiAgent(clock, { path: '/nonexistent' });
  cleanUp.push(bmc.close, () => agent.close());
  const target = (parameters: Record<string, string> = {}, changes: Partial<Target> = {}): Target => ({
    plug: '',
    device: `127.0.0.1:${bmc.port}`,
    parameters: { ip: '127.0.0.1', ipport: String(bmc.port), username: 'admin', password: 'secret', transport: 'native', ...parameters },
    identity: { node: 'a', systemUUID: TEST_UUID },
    signal: new AbortController().signal,
    deadlineMs: 20_000 * TIMES,
    beforeSend: () => undefined,
    ...changes,
  });
  const sets = () => bmc.events.filter(({ action }) => action === 'set').map(({ answer }) => answer);
  const sessions = () => bmc.device.login.sessions.active.length;
  const logins = () => bmc.events.filter(({ action }) => action === 'login').length;
  const awaitSilence = () => {
    if (clock instanceof QuickClock) clock.times = TIMES;
  };
  return { bmc, agent, target, sets, sessions, logins, awaitSilence };
}

/** Makes the BMC deaf, or dumb, to one command. */
function only(name: string, say: (answer: Buffer) => Buffer | undefined): Pick<IpmiDeviceOptions, 'amend'> {
  return { amend: (asked, answer) => (asked === name ? say(answer) : answer) };
}

describe('a session of our own', { timeout: 60_000 }, () => {
  it.each(['3', '17'])('needs two round trips for an off and a read, once it is open: suite %s', async (cipher) => {
    const { bmc, agent, target, sets } = await start();
    await agent.set(target({ cipher }), 'off');
    // The first status without a single bit has it asked whether it is up.
    await agent.read(target({ cipher }));
    await agent.set(target({ cipher }), 'on');
    const before = bmc.heard.length;
    expect(await agent.set(target({ cipher }), 'off')).toEqual({ result: 'accepted', detail: 'Chassis Power Control: Down/Off' });
    expect(await agent.read(target({ cipher }))).toMatchObject({ state: 'off', detail: 'Chassis Power is off', identity: 'verified' });
    expect(bmc.heard.length - before).toBe(2);
    expect(sets()).toEqual(['00 down', '00 up', '00 down']);
  });

  it('serves calls that come at once one after the other, also behind one that was given up while it waited', async () => {
    const { agent, target, logins } = await start();
    const stopping = new AbortController();
    const first = agent.read(target());
    const impatient = failure(agent.read(target({}, { signal: stopping.signal })));
    const others = Array.from({ length: 6 }, () => agent.read(target()));
    stopping.abort();
    expect((await impatient).kind).toBe('NotSent');
    for (const reading of await Promise.all([first, ...others])) expect(reading).toMatchObject({ state: 'on', identity: 'verified' });
    expect(logins()).toBe(1);
  });

  it.each(['text', 'hexadecimal'])('takes the BMC’s key as %s, bytes that nobody can type too', async (as) => {
    const kg = as === 'text' ? 'twenty bytes exactly' : 'ÿ\0þ\u0001key';
    const given: Record<string, string> = as === 'text' ? { kg } : { hexadecimal_kg: `0x${Buffer.from(kg, 'latin1').toString('hex')}` };
    const { agent, target } = await start({ kg });
    expect(await agent.read(target(given))).toMatchObject({ state: 'on', identity: 'verified' });
    const missing = await failure(agent.read(target()));
    expect(missing).toMatchObject({ kind: 'Refused' });
    expect(missing.message).toContain('the password is right, but the BMC has a key of its own: give kg');
    expect((await failure(agent.read(target({ kg: 'another' })))).message).toContain('kg is not the key of the BMC');
  });

  it.each([
    ['password', { password: 'guess' }, 'Refused', 'the password is wrong'],
    ['user', { username: 'nobody' }, 'Refused', 'unauthorized name (0x0d)'],
    ['privilege', { username: 'viewer' }, 'Refused', 'set privlvl=operator, or lower'],
  ] as const)('says that the %s is wrong, and leaves no session', async (_what, parameters, kind, words) => {
    const { bmc, agent, target, sessions } = await start();
    const error = await failure(agent.read(target(parameters)));
    expect(error).toMatchObject({ kind });
    expect(error.message).toContain(words);
    for (const secret of ['guess', 'secret']) expect(error.message).not.toContain(secret);
    await until(() => bmc.heard.length > 0);
    expect(sessions()).toBe(0);
  });

  it('says that the BMC has no session left', async () => {
    const { agent, target } = await start({ sessionsMax: 0 });
    expect((await failure(agent.read(target()))).message).toContain('insufficient resources to create a session (0x01)');
  });

  it('asks for the privilege, and needs no more than operator; a user’s is refused the off in the BMC’s words', async () => {
    const { agent, target, sets } = await start();
    expect(await agent.set(target({ username: 'operator', privlvl: 'operator' }), 'off')).toMatchObject({ result: 'accepted' });
    expect(await agent.set(target({ username: 'operator', privlvl: 'operator' }), 'on')).toMatchObject({ result: 'accepted' });
    const error = await failure(agent.set(target({ username: 'viewer', privlvl: 'user' }), 'off'));
    expect(error).toMatchObject({ kind: 'Refused' });
    expect(error.message).toContain('Insufficient privilege level (0xd4); then Chassis Power is on; give the user privilege operator');
    expect(sets()).toEqual(['00 down', '00 up', 'd4 down']);
  });

  it('is closed at the BMC by close, after an aborted call and after a set without an answer', async () => {
    const { agent, target, sessions, awaitSilence } = await start(only(CHASSIS_CONTROL, () => undefined));
    await agent.read(target());
    expect(sessions()).toBe(1);
    await agent.close();
    expect(sessions()).toBe(0);
    await agent.read(target());
    awaitSilence();
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'unclear' });
    await until(() => sessions() === 0, 'the end of the session');
    const controller = new AbortController();
    const setting = failure(
      agent.set(target({}, { signal: controller.signal, beforeSend: () => queueMicrotask(() => controller.abort()) }), 'off').then((outcome) => {
        throw new AgentError('NotSent', { device: '', plug: '', asked: '', answered: outcome.result });
      }),
    );
    expect((await setting).facts.answered).toBe('unclear');
    await until(() => sessions() === 0, 'the end of the session');
  });

  it('is opened anew for a read when the BMC has forgotten it', async () => {
    const { bmc, agent, target, logins } = await start();
    await agent.read(target());
    bmc.device.login.sessions.endAll();
    expect(await agent.read(target())).toMatchObject({ state: 'on', identity: 'verified' });
    expect(logins()).toBe(2);
  });

  it('sends nothing when the lease is lost in the turn of the send, and stays', async () => {
    const { bmc, agent, target, sets, logins } = await start();
    await agent.read(target());
    const before = bmc.heard.length;
    const beforeSend = () => {
      throw new AgentError('NotSent', { device: 'd', plug: '', asked: 'off', answered: 'the lease is not ours any more' });
    };
    expect(await failure(agent.set(target({}, { beforeSend }), 'off'))).toMatchObject({ kind: 'NotSent' });
    expect(await failure(agent.diagnose(target({}, { beforeSend })))).toMatchObject({ kind: 'NotSent' });
    expect(bmc.heard.length).toBe(before);
    expect(await agent.read(target())).toMatchObject({ state: 'on' });
    expect([sets(), logins()]).toEqual([[], 1]);
  });
});

describe('a set on a bad network', { timeout: 60_000 }, () => {
  it('is repeated as the same packet when it was lost, after the lease was asked again', async () => {
    const { bmc, agent, target, sets } = await start();
    await agent.read(target());
    const before = bmc.heard.length;
    let lost = 1;
    bmc.wire.arrives = () => lost-- <= 0;
    let asked = 0;
    expect(await agent.set(target({}, { beforeSend: () => (asked += 1) }), 'off')).toMatchObject({ result: 'accepted' });
    const [first, second] = bmc.heard.slice(before);
    expect(second).toEqual(first);
    expect([asked, sets()]).toEqual([2, ['00 down']]);
  });

  it('acts once at most when its answers are lost, and is unclear', async () => {
    const { bmc, agent, target, sets, awaitSilence } = await start();
    await agent.read(target());
    const before = bmc.heard.length;
    bmc.wire.hears = () => [];
    awaitSilence();
    expect(await agent.set(target(), 'off')).toEqual({ result: 'unclear', detail: 'sent, but the BMC did not answer' });
    expect(new Set(bmc.heard.slice(before, before + 3).map((datagram) => datagram.toString('hex'))).size).toBe(1);
    expect(sets()).toEqual(['00 down']);
  });

  it('is not repeated when the lease is lost meanwhile', async () => {
    const { bmc, agent, target, sets, awaitSilence } = await start();
    await agent.read(target());
    const before = bmc.heard.length;
    bmc.wire.arrives = () => false;
    awaitSilence();
    let asked = 0;
    const beforeSend = () => {
      asked += 1;
      if (asked > 1) throw new AgentError('NotSent', { device: 'd', plug: '', asked: 'off', answered: 'the lease is not ours any more' });
    };
    const outcome = await agent.set(target({}, { beforeSend }), 'off');
    expect(outcome.result).toBe('unclear');
    // Behind the one packet only the words that close the session.
    expect(new Set(bmc.heard.slice(before).map((datagram) => datagram.readUInt32LE(10))).size).toBeLessThanOrEqual(4);
    expect([asked, sets()]).toEqual([2, []]);
  });

  it('that was delayed beyond its call switches nothing: its session is closed', async () => {
    const { bmc, agent, target, sets, sessions, awaitSilence } = await start();
    await agent.read(target());
    awaitSilence();
    let held: Buffer | undefined;
    bmc.wire.arrives = (datagram) => {
      if (held === undefined || datagram.equals(held)) held = datagram;
      else return true;
      return false;
    };
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'unclear' });
    await until(() => sessions() === 0, 'the end of the session');
    expect(bmc.device.handle(held ?? Buffer.alloc(0))).toBeUndefined();
    expect([bmc.machine.state(), sets()]).toEqual(['on', []]);
  });
});

describe('an answer', { timeout: 60_000 }, () => {
  it('counts once: what was said before is not believed again', async () => {
    const { bmc, agent, target, awaitSilence } = await start();
    await agent.read(target());
    const old: Buffer[] = [];
    bmc.wire.hears = (answer) => {
      old.push(answer);
      return old.slice(0, -1).concat([answer]);
    };
    // Every old answer comes before the new one; rqSeq comes round after 64.
    for (let turn = 0; turn < 70; turn += 1) {
      await agent.set(target(), turn % 2 === 0 ? 'off' : 'on');
      expect((await agent.read(target())).state).toBe(turn % 2 === 0 ? 'off' : 'on');
    }
    bmc.wire.hears = () => old.slice(0, 130);
    awaitSilence();
    expect(await failure(agent.read(target()))).toMatchObject({ kind: 'Unreachable' });
  });

  it.each([
    ['of less than three bytes', Buffer.from([0, 1, 0]), 'unknown'],
    ['of nothing', Buffer.from([0]), 'unknown'],
    ['of five bytes', Buffer.from([0, 0, 0, 0, 0, 0]), 'unknown'],
    ['with an error', Buffer.from([0xff, 0, 0, 0]), 'unknown'],
    ['of three bytes', Buffer.from([0, 0x60, 0, 0]), 'off'],
  ])('%s is %s', async (_what, answer, state) => {
    const { agent, target } = await start(only('chassis status', () => answer));
    expect((await agent.read(target())).state).toBe(state);
  });

  it.each([
    [0xc0, 'unclear'],
    [0xc3, 'unclear'],
    [0xff, 'unclear'],
    [0xc1, 'Refused'],
    [0xcc, 'Refused'],
    [0xd4, 'Refused'],
    [0xd5, 'Refused'],
  ])('of completion code %i to a set is %s', async (completion, result) => {
    const { agent, target } = await start({ ...only(CHASSIS_CONTROL, () => Buffer.from([completion])), faults: { ignoresReset: true } });
    const said = await agent.set(target(), 'off').then(
      (outcome) => outcome.result,
      (error: unknown) => (error as AgentError).kind,
    );
    expect(said).toBe(result);
  });

  it('in the present state already is no refusal', async () => {
    const { agent, target } = await start({ faults: { refusesWhenInState: true } });
    expect(await agent.set(target(), 'on')).toMatchObject({
      result: 'unclear',
      detail: 'Set Chassis Power Control to Up/On failed: Command not supported in present state (0xd5); then Chassis Power is on',
    });
  });
});

describe('the identity', { timeout: 60_000 }, () => {
  it('of another machine stops everything', async () => {
    const { agent, target, sets } = await start({ faults: { wrongGuid: true } });
    for (const call of [agent.read(target()), agent.set(target(), 'off'), agent.diagnose(target())])
      expect(await failure(call)).toMatchObject({ kind: 'Misconfigured' });
    expect(sets()).toEqual([]);
  });

  it('is that of the login where the BMC does not know the command', async () => {
    const { agent, target } = await start(only('system guid', () => Buffer.from([0xc1])));
    expect(await agent.read(target())).toMatchObject({ state: 'on', identity: 'verified' });
    expect(await failure(agent.read(target({}, { identity: { node: 'b', systemUUID: '4c4c4544-0030-5210-8047-c6c04f5a4333' } })))).toMatchObject({
      kind: 'Misconfigured',
    });
  });

  it('is unverified where the BMC knows none, and its own is enough to pin it', async () => {
    const ownUuid = '4c4c4544-0030-5210-8047-c6c04f5a4333';
    const { agent, target } = await start({ hasSystemGuid: false, ownUuid });
    const reading = await agent.read(target());
    expect(reading).toMatchObject({ state: 'on', identity: 'unverified' });
    expect(reading.detail).toContain('the BMC shows no usable GUID (Get System GUID failed: Invalid command (0xc1))');
    expect(await agent.read(target({ guid: ownUuid }))).toMatchObject({ state: 'on', identity: 'unverified' });
    expect(await failure(agent.set(target({ guid: TEST_UUID }), 'off'))).toMatchObject({ kind: 'Misconfigured' });
  });

  it('is read again before a set once it is old', async () => {
    const clock = new ManualClock();
    const { bmc, agent, target } = await start({}, clock);
    const identities = () => bmc.events.filter(({ action }) => action === 'identity').length;
    await agent.read(target());
    clock.freeze(29_000);
    await agent.set(target(), 'off');
    expect(identities()).toBe(1);
    clock.freeze(2_000);
    bmc.device.faults = { wrongGuid: true };
    expect(await failure(agent.set(target(), 'on'))).toMatchObject({ kind: 'Misconfigured' });
    expect([identities(), bmc.machine.state()]).toEqual([2, 'off']);
  });
});

describe('an idle session', { timeout: 60_000 }, () => {
  it('is kept for three minutes after the last call, with a question each 20 s, then closed', async () => {
    const clock = new ManualClock();
    const { bmc, agent, target, sessions, logins } = await start({}, clock);
    const identities = () => bmc.events.filter(({ action }) => action === 'identity').length;
    await agent.read(target());
    for (let asked = 2; asked <= 9; asked += 1) {
      bmc.clock.pass(20_000);
      await clock.advance(20_000);
      await until(() => identities() === asked, 'a keep-alive');
      // While it is under way its own deadline of 2 s is armed.
      await until(() => clock.nextInMs === 20_000, 'the end of the keep-alive');
    }
    expect([sessions(), logins()]).toEqual([1, 1]);
    await clock.advance(20_000);
    await until(() => sessions() === 0, 'the end of the session');
    expect(identities()).toBe(9);
    await until(() => clock.pending === 0, 'the end of all timers');
  });
});
