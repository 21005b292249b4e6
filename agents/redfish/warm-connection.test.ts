import { afterEach, describe, expect, it } from 'vitest';

import { AgentHarnesses, agentFailure, HARNESS_PASSWORD } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import { RESET_PATH, SESSIONS_PATH, SYSTEM_PATH } from '../../src/testbed/devices/bmc/tree.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { RedfishAgent } from './agent.ts';

const harnesses = new AgentHarnesses((clock) => new RedfishAgent(clock));
afterEach(() => harnesses.closeAll());

describe('a warm connection', () => {
  it.each(['inline', 'action-info', 'absent'] as const)('needs one POST for a set and one GET for a read (types %s)', async (allowable) => {
    const { agent, target, device } = await harnesses.start({ tree: { allowable, hasChassis: false } });
    await agent.set(target(), 'off');
    await agent.read(target());
    const before = device.requests.length;
    await agent.set(target(), 'on');
    await agent.read(target());
    expect(device.requests.slice(before)).toEqual([`POST ${RESET_PATH}`, `GET ${SYSTEM_PATH}`]);
  });

  it('that begins with a set does not ask the Manager whether it has started: the set saw the machine on', async () => {
    const { agent, target, device } = await harnesses.start({ tree: { hasChassis: false } });
    await agent.set(target(), 'off');
    const before = device.requests.length;
    expect((await agent.read(target())).state).toBe('off');
    expect(device.requests.slice(before)).toEqual([`GET ${SYSTEM_PATH}`]);
    const off = await harnesses.start({ tree: { hasChassis: false }, state: 'off' });
    await off.agent.set(off.target(), 'off');
    await off.agent.read(off.target());
    expect(off.device.requests.at(-1)).toContain('/Managers/');
  });

  it('that is probed is not asked for its Manager while its machine is on, and is where it reads off', async () => {
    const { agent, target, device } = await harnesses.start();
    const isManagerAsked = (): boolean => device.requests.some((request) => request.includes('/Managers/'));
    expect((await agent.read(target({ isProbe: true }))).state).toBe('on');
    expect(isManagerAsked()).toBe(false);
    const manager = { Status: { State: 'Starting' } };
    const off = await harnesses.start({ state: 'off', extra: { '/redfish/v1/Managers/BMC': manager } });
    expect((await off.agent.read(off.target({ isProbe: true }))).state).toBe('unknown');
  });

  it('reads the identity anew for a set where the last read is older than 10 s, was of another node, or over a connection that is gone', async () => {
    const clock = new ManualClock();
    const aged = new AgentHarnesses(() => new RedfishAgent(clock));
    const { agent, target, device, server } = await aged.start();
    const asked = async (work: () => Promise<unknown>): Promise<string[]> => {
      const before = device.requests.length;
      await work();
      return device.requests.slice(before);
    };
    await agent.read(target());
    await clock.advance(10_001);
    expect(await asked(() => agent.set(target(), 'off'))).toEqual([`GET ${SYSTEM_PATH}`, `POST ${RESET_PATH}`]);
    expect(await asked(() => agent.set(target({ identity: { node: 'b' } }), 'off'))).toEqual([`GET ${SYSTEM_PATH}`, `POST ${RESET_PATH}`]);
    await agent.read(target());
    server.cut();
    await expect.poll(() => server.open()).toBe(0);
    expect(await asked(() => agent.set(target(), 'on'))).toEqual([`GET ${SYSTEM_PATH}`, `POST ${RESET_PATH}`]);
    await aged.closeAll();
  });

  it('refuses a machine that was exchanged since, and looks for it anew then', async () => {
    const { agent, target, device } = await harnesses.start();
    await agent.read(target());
    Object.assign(device.tree[SYSTEM_PATH] ?? {}, { UUID: '11111111-2222-3333-4444-555555555555' });
    expect(await agentFailure(agent.read(target()))).toMatchObject({ kind: 'Misconfigured' });
    expect(await agentFailure(agent.set(target(), 'off'))).toMatchObject({ kind: 'Misconfigured' });
    expect(device.commands).toEqual([]);
  });

  it('finds a target that has moved', async () => {
    const { agent, target, device, machine } = await harnesses.start();
    await agent.read(target());
    const moved = '/redfish/v1/Systems/1/Actions/Moved.Reset';
    const system = device.tree[SYSTEM_PATH] ?? {};
    Object.assign(system, { Actions: { '#ComputerSystem.Reset': { target: moved } } });
    await agent.set(target(), 'off');
    expect(machine.state()).toBe('off');
    expect(device.requests.filter((request) => request.startsWith('POST')).slice(-2)).toEqual([`POST ${RESET_PATH}`, `POST ${moved}`]);
  });
});

describe('connecting alone', () => {
  it('logs in where it is known how, and asks for nothing else: a read that gives it up finds both', async () => {
    const { agent, target, device, server } = await harnesses.start();
    await agent.connect(target());
    expect([server.connections(), device.requests]).toEqual([1, []]);
    await agent.connect(target());
    await agent.read(target());
    expect(server.connections()).toBe(1);
    // What is known of the device outlives its connection.
    server.cut();
    await expect.poll(() => server.open()).toBe(0);
    await agent.read(target());
    await agent.close();
    const [connections, requests, sessions] = [server.connections(), device.requests.length, device.accounts.createdSessions];
    const givingWay = new AbortController();
    device.faults = { answerDelayMs: 200 };
    const given = agentFailure(agent.connect(target({ signal: givingWay.signal })));
    await expect.poll(() => device.requests.length).toBe(requests + 1);
    givingWay.abort();
    expect((await agent.read(target())).state).toBe('on');
    expect((await given).kind).toBe('NotSent');
    expect([server.connections(), device.accounts.createdSessions]).toEqual([connections + 1, sessions + 1]);
    expect(device.requests.slice(requests)).toContain(`POST ${SESSIONS_PATH}`);
  });

  it('to a device that is not trusted, or is away, fails in its words', async () => {
    const foreign = await harnesses.start({ certificate: 'foreign' });
    expect((await agentFailure(foreign.agent.connect(foreign.target()))).kind).toBe('Misconfigured');
    expect(foreign.device.requests).toEqual([]);
    const { agent, target, server } = await harnesses.start();
    await server.close();
    expect((await agentFailure(agent.connect(target()))).kind).toBe('Unreachable');
  });
});

describe('sessions', () => {
  it('are renewed exactly once in a call', async () => {
    const faults = { failures: [{ method: 'POST', path: RESET_PATH, status: 401, message: 'No valid session.' }] };
    const { agent, target, device } = await harnesses.start({ faults });
    const error = await agentFailure(agent.set(target(), 'off'));
    expect(error.kind).toBe('Refused');
    expect(error.message).toContain('No valid session.');
    expect(device.accounts.createdSessions).toBe(2);
    const reads = await harnesses.start({ faults: { failures: [{ method: 'GET', path: SYSTEM_PATH, status: 401 }] } });
    expect((await agentFailure(reads.agent.read(reads.target()))).kind).toBe('Refused');
    expect(reads.device.accounts.createdSessions).toBe(2);
  });

  it('that were opened after the call was over are used by the next call, and ended', async () => {
    const { agent, target, device } = await harnesses.start();
    device.faults = { answerDelayMs: 400 };
    expect((await agentFailure(agent.read(target({ deadlineMs: 600 })))).kind).toBe('Timeout');
    device.faults = {};
    await expect.poll(() => device.accounts.createdSessions).toBe(1);
    expect((await agent.read(target())).state).toBe('on');
    expect(device.accounts.createdSessions).toBe(1);
    await agent.close();
    expect(device.accounts.openSessions).toBe(0);
  });

  it('are ended by a close in the middle of a call that hangs', async () => {
    const { agent, target, device, server } = await harnesses.start();
    await agent.read(target());
    device.faults = { failures: [], isMute: true };
    const hanging = agentFailure(agent.read(target({ deadlineMs: 30_000 })));
    await expect.poll(() => device.faults.isMute).toBe(true);
    const closing = agent.close();
    setTimeout(() => (device.faults = {}), 200);
    expect((await hanging).kind).toBe('NotSent');
    await closing;
    expect(device.accounts.openSessions).toBe(0);
    await expect.poll(() => server.open()).toBe(0);
  });

  it('are ended although the device is too busy to do it at once', async () => {
    const { agent, target, device } = await harnesses.start();
    await agent.read(target());
    device.faults = { failures: [{ method: 'DELETE', path: SESSIONS_PATH, status: 429, times: 1 }] };
    await agent.close();
    expect(device.accounts.openSessions).toBe(0);
  });
});

describe('what ends', () => {
  const accounts = '/redfish/v1/AccountService';
  const extra = (expiration: unknown): Record<string, Record<string, unknown>> => ({
    '/redfish/v1': {
      Systems: { '@odata.id': '/redfish/v1/Systems' },
      Links: { Sessions: { '@odata.id': SESSIONS_PATH } },
      AccountService: { '@odata.id': accounts },
    },
    [accounts]: { Accounts: { '@odata.id': `${accounts}/Accounts` } },
    [`${accounts}/Accounts`]: { Members: [{ '@odata.id': `${accounts}/Accounts/1` }, { '@odata.id': `${accounts}/Accounts/2` }] },
    [`${accounts}/Accounts/1`]: { UserName: 'other', PasswordExpiration: '2020-01-01T00:00:00Z' },
    [`${accounts}/Accounts/2`]: { UserName: 'admin', PasswordExpiration: expiration },
  });

  it('is told of the certificate in each read, of the password in a probe', async () => {
    const { agent, target, device } = await harnesses.start({ extra: extra('2027-01-02T03:04:05Z') });
    const reading = await agent.read(target());
    expect(Date.parse(reading.certificateExpiresAt ?? '')).toBeGreaterThan(Date.now());
    expect(reading.credentialExpiresAt).toBeUndefined();
    expect(device.requests.some((request) => request.includes('AccountService'))).toBe(false);
    expect((await agent.read(target({ isProbe: true }))).credentialExpiresAt).toBe('2027-01-02T03:04:05.000Z');
  });

  it('does not fail a probe where the device will not say', async () => {
    const silent = await harnesses.start({ extra: extra(null) });
    expect((await silent.agent.read(silent.target({ isProbe: true }))).credentialExpiresAt).toBeUndefined();
    const refused = await harnesses.start({ extra: extra('2027-01-02T03:04:05Z'), faults: { failures: [{ path: accounts, status: 403 }] } });
    expect(await refused.agent.read(refused.target({ isProbe: true }))).toMatchObject({ state: 'on' });
    const plain = await harnesses.start({ certificate: 'plain' });
    expect((await plain.agent.read(plain.target({ isProbe: true }))).certificateExpiresAt).toBeUndefined();
  });
});

describe('many devices at once', () => {
  it('are all served by one agent, 16 calls at a time, and a dead rack does not hold up the living', async () => {
    const agent = new RedfishAgent(new SystemClock());
    const dead = await harnesses.start({ faults: { isSilent: true } }, { login_timeout: '8' });
    const living = await harnesses.start();
    const stopping = new AbortController();
    // Each user name is a device of its own to the agent.
    const hanging = Array.from({ length: 130 }, (_, index) => {
      const parameters = { ...dead.parameters, username: `user-${index}`, login_timeout: '30' };
      return agentFailure(agent.read(dead.target({ parameters, deadlineMs: 30_000, signal: stopping.signal })));
    });
    expect((await agent.read(living.target({ deadlineMs: 20_000 }))).state).toBe('on');
    stopping.abort();
    expect((await Promise.all(hanging)).every((error) => error.kind === 'NotSent')).toBe(true);
    await agent.close();
    expect(JSON.stringify(await Promise.all(hanging))).not.toContain(HARNESS_PASSWORD);
  });
});
