import { afterEach, describe, expect, it } from 'vitest';

import { AgentHarnesses, agentFailure, HARNESS_PASSWORD } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import { SESSIONS_PATH, SYSTEM_PATH } from '../../src/testbed/devices/bmc/tree.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { RedfishAgent } from './agent.ts';

const harnesses = new AgentHarnesses((clock) => new RedfishAgent(clock));
afterEach(() => harnesses.closeAll());

describe('sessions and passwords', () => {
  it('refuses a wrong password with the words of the device, without trying it a second way', async () => {
    const { agent, target, events } = await harnesses.start({}, { password: 'wrong password 1' });
    const error = await agentFailure(agent.read(target()));
    expect(error.kind).toBe('Refused');
    expect(error.message).toContain('401');
    expect(events.filter((event) => event.action === 'login')).toHaveLength(1);
  });

  it('never shows the password, not even when the device echoes it', async () => {
    const { agent, target, device } = await harnesses.start();
    device.faults = { failures: [{ path: SYSTEM_PATH, status: 403, message: `user admin:${HARNESS_PASSWORD} may not` }] };
    const error = await agentFailure(agent.read(target()));
    expect(error.message).toContain('may not');
    expect(JSON.stringify(error) + error.message).not.toContain(HARNESS_PASSWORD);
    expect(error.stack).not.toContain(HARNESS_PASSWORD);
  });

  it('logs in again once when the session is over, before a read and before a reset', async () => {
    const { agent, target, device, machine } = await harnesses.start();
    await agent.read(target());
    device.accounts.endAll();
    expect((await agent.read(target())).state).toBe('on');
    device.accounts.endAll();
    await agent.set(target(), 'off');
    expect(machine.state()).toBe('off');
    expect(device.accounts.createdSessions).toBe(3);
  });

  it('checks identity and lease anew when the session ends between identity and reset', async () => {
    const { agent, target, device, machine, events } = await harnesses.start();
    let checks = 0;
    const beforeSend = (): void => {
      checks += 1;
      if (checks === 1) device.accounts.endAll();
    };
    await agent.set(target({ beforeSend }), 'off');
    expect(checks).toBe(2);
    expect(machine.state()).toBe('off');
    const set = events.findIndex((event) => event.action === 'set');
    expect(events.slice(0, set).some((event) => event.action === 'identity' && event.session === events[set]?.session)).toBe(true);
  });

  it('keeps using a session whose address the device does not tell, instead of opening one after the other', async () => {
    const { agent, target, device } = await harnesses.start({ faults: { hidesSessionLocation: true } });
    await agent.read(target());
    await agent.read(target());
    await agent.set(target(), 'off');
    expect(device.accounts.createdSessions).toBe(1);
  });

  it('falls back to basic authentication where there are no sessions, or none to spare', async () => {
    const without = await harnesses.start({ tree: { hasSessions: false } });
    expect((await without.agent.read(without.target())).state).toBe('on');
    const full = await harnesses.start({
      faults: { failures: [{ method: 'POST', path: SESSIONS_PATH, status: 503, message: 'RAC0218: maximum number of sessions' }] },
    });
    await full.agent.set(full.target(), 'off');
    expect(full.machine.state()).toBe('off');
  });

  it('uses basic authentication, or sessions, alone when told so', async () => {
    const basic = await harnesses.start({}, { auth: 'basic' });
    await basic.agent.set(basic.target(), 'off');
    expect(basic.device.accounts.createdSessions).toBe(0);
    const session = await harnesses.start({ faults: { failures: [{ method: 'POST', path: SESSIONS_PATH, status: 404 }] } }, { auth: 'session' });
    expect((await agentFailure(session.agent.read(session.target()))).kind).toBe('Refused');
  });
});

describe('a device that is left alone', () => {
  it('has its session ended after 45 s, and is logged in to again when it is needed', async () => {
    const clock = new ManualClock();
    const idle = new AgentHarnesses(() => new RedfishAgent(clock));
    const { agent, target, device, server } = await idle.start();
    await agent.read(target());
    await clock.advance(44_000);
    expect(device.accounts.openSessions).toBe(1);
    await clock.advance(2_000);
    await expect.poll(() => device.accounts.openSessions).toBe(0);
    expect((await agent.read(target())).state).toBe('on');
    expect(device.accounts.createdSessions).toBe(2);
    expect(server.connections()).toBe(2);
    await idle.closeAll();
  });

  it('has its session ended a second after a probe, unless a fence has called it since or shortly before', async () => {
    const clock = new ManualClock();
    const idle = new AgentHarnesses(() => new RedfishAgent(clock));
    const { agent, target, device } = await idle.start();
    await agent.read(target({ isProbe: true }));
    await clock.advance(1_000);
    await expect.poll(() => device.accounts.openSessions).toBe(0);
    await agent.read(target({ isProbe: true }));
    await agent.read(target());
    await agent.read(target({ isProbe: true }));
    await clock.advance(44_000);
    expect(device.accounts.openSessions).toBe(1);
    await clock.advance(2_000);
    await expect.poll(() => device.accounts.openSessions).toBe(0);
    await idle.closeAll();
  });
});

describe('time and trouble', () => {
  it('gives a device up that accepts connections and says nothing', async () => {
    const { agent, target, device } = await harnesses.start({ faults: { isSilent: true } }, { login_timeout: '0.3' });
    const started = performance.now();
    const error = await agentFailure(agent.set(target(), 'off'));
    expect(error.kind).toBe('Unreachable');
    expect(performance.now() - started).toBeLessThan(2_000);
    device.faults = {};
    expect((await agent.read(target())).state).toBe('on');
  });

  it('ends at its deadline when requests are never answered, and says that the set is unclear once it was sent', async () => {
    const { agent, target, device } = await harnesses.start();
    await agent.read(target());
    device.faults = { isMute: true };
    expect((await agentFailure(agent.read(target({ deadlineMs: 200 })))).kind).toBe('Timeout');
    device.faults = {};
    const mute = (): void => {
      device.faults = { isMute: true };
    };
    expect((await agent.set(target({ deadlineMs: 300, beforeSend: mute }), 'off')).result).toBe('unclear');
  });

  it('ends at its deadline when the body comes drop by drop', async () => {
    const { agent, target, device } = await harnesses.start();
    await agent.read(target());
    device.faults = { dripMs: 20 };
    const started = performance.now();
    expect((await agentFailure(agent.read(target({ deadlineMs: 300 })))).kind).toBe('Timeout');
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it('ends when the caller gives up, and sends nothing for a caller who gave up before', async () => {
    const { agent, target, device } = await harnesses.start();
    await agent.read(target());
    const controller = new AbortController();
    device.faults = { isMute: true };
    const reading = agentFailure(agent.read(target({ signal: controller.signal })));
    controller.abort();
    expect((await reading).kind).toBe('NotSent');
    device.faults = {};
    const asked = device.requests.length;
    expect((await agentFailure(agent.set(target({ signal: controller.signal }), 'off'))).kind).toBe('NotSent');
    expect(device.requests).toHaveLength(asked);
  });

  it('calls a closed port unreachable', async () => {
    const { agent, target, server } = await harnesses.start();
    await server.close();
    expect((await agentFailure(agent.read(target()))).kind).toBe('Unreachable');
  });

  it('opens a new connection when the kept one was cut', async () => {
    const { agent, target, server } = await harnesses.start();
    await agent.read(target());
    server.cut();
    expect((await agent.read(target())).state).toBe('on');
  });

  it('calls HTTP 500 for a read unreachable', async () => {
    const { agent, target } = await harnesses.start({ faults: { failures: [{ path: SYSTEM_PATH, status: 500 }] } });
    expect((await agentFailure(agent.read(target()))).kind).toBe('Unreachable');
  });

  it('never overlaps two calls on one device', async () => {
    const { agent, target, server, device, events } = await harnesses.start();
    await Promise.all([agent.read(target()), agent.set(target(), 'off'), agent.read(target()), agent.read(target())]);
    expect(server.connections()).toBe(1);
    expect(device.accounts.createdSessions).toBe(1);
    expect(events.filter((event) => event.action === 'set')).toHaveLength(1);
  });

  it('refuses incomplete parameters without touching the device', async () => {
    const { agent, target, server } = await harnesses.start({}, { password: undefined });
    const error = await agentFailure(agent.set(target(), 'off'));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain('password is missing');
    expect(server.connections()).toBe(0);
  });
});

describe('a login that needs a login', () => {
  it.each([
    ['auto', [{ path: '/redfish/v1', status: 401 }], true],
    ['session', [{ method: 'POST', path: SESSIONS_PATH, status: 405 }], true],
    ['auto', [{ method: 'POST', path: SESSIONS_PATH, status: 401 }], false],
  ] as const)('hints at auth=basic where that may be all (%s, %j: %s)', async (auth, failures, isHinted) => {
    const { agent, target } = await harnesses.start({ faults: { failures } }, { auth });
    const error = await agentFailure(agent.read(target()));
    expect(error.kind).toBe('Refused');
    expect(error.message.includes('set auth=basic')).toBe(isHinted);
  });
});
