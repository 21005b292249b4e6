import { describe, expect, it } from 'vitest';

import { ManualClock } from '../../../runtime/manual-clock.ts';
import { SystemRandom } from '../../../runtime/system-random.ts';
import type { DeviceEvent } from '../../../laws/trace.ts';
import type { BmcFaults } from './faults.ts';
import { MemoryMachine } from './power-backend.ts';
import { RedfishDevice, type DeviceResponse } from './redfish-device.ts';
import { resourceTree, RESET_PATH, SESSIONS_PATH, SYSTEM_PATH } from './tree.ts';

function device(faults: BmcFaults = {}) {
  const clock = new ManualClock();
  const machine = new MemoryMachine();
  const events: DeviceEvent[] = [];
  const bmc = new RedfishDevice({
    clock,
    random: new SystemRandom(),
    node: 'a',
    users: { admin: 'secret' },
    tree: resourceTree({ uuid: '38947555-7742-3448-3784-823347823834' }),
    backend: machine,
    faults,
    trace: (event) => events.push(event),
  });
  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): DeviceResponse => {
    const response = bmc.handle({ method, path, headers, body, connection: '1' });
    if (response === undefined) throw new Error('no answer');
    return response;
  };
  const token = (): string => ask('POST', SESSIONS_PATH, { UserName: 'admin', Password: 'secret' }).headers['X-Auth-Token'] ?? '';
  return { clock, machine, events, ask, token, bmc };
}

function power(response: DeviceResponse): unknown {
  return (response.body as Record<string, unknown>)['PowerState'];
}

describe('the emulated BMC', () => {
  it('shows nothing but its root without a login, and ends what it ends', () => {
    const { ask, token, bmc } = device();
    expect(ask('GET', '/redfish/v1/').status).toBe(200);
    expect(ask('GET', SYSTEM_PATH).status).toBe(401);
    expect(ask('POST', SESSIONS_PATH, { UserName: 'admin', Password: 'wrong' }).status).toBe(401);
    expect(ask('GET', SYSTEM_PATH, undefined, { authorization: `Basic ${Buffer.from('admin:secret').toString('base64')}` }).status).toBe(200);
    const headers = { 'x-auth-token': token() };
    expect(ask('GET', SYSTEM_PATH, undefined, headers).status).toBe(200);
    expect(ask('DELETE', `${SESSIONS_PATH}/1`, undefined, headers).status).toBe(204);
    expect(bmc.accounts.openSessions).toBe(0);
    expect(ask('GET', SYSTEM_PATH, undefined, headers).status).toBe(401);
  });

  it('takes its time when slow, and reports On until then', async () => {
    const { clock, machine, ask, token } = device({ offDelayMs: 8_000 });
    const headers = { 'x-auth-token': token() };
    expect(ask('POST', RESET_PATH, { ResetType: 'ForceOff' }, headers).status).toBe(204);
    await clock.advance(7_999);
    expect(power(ask('GET', SYSTEM_PATH, undefined, headers))).toBe('On');
    await clock.advance(1);
    expect(power(ask('GET', SYSTEM_PATH, undefined, headers))).toBe('Off');
    expect(machine.state()).toBe('off');
  });

  it('comes on again by itself after an AC restore', async () => {
    const { clock, machine, ask, token } = device({ restoresAfterMs: 2_000 });
    ask('POST', RESET_PATH, { ResetType: 'ForceOff' }, { 'x-auth-token': token() });
    await clock.advance(2_000);
    expect(machine.edges).toEqual([
      { state: 'off', cause: 'set' },
      { state: 'on', cause: 'restore' },
    ]);
  });

  it('lies about being off', () => {
    const { machine, ask, token } = device({ ignoresReset: true, shows: 'Off' });
    const headers = { 'x-auth-token': token() };
    expect(ask('POST', RESET_PATH, { ResetType: 'ForceOff' }, headers).status).toBe(204);
    expect(power(ask('GET', SYSTEM_PATH, undefined, headers))).toBe('Off');
    expect(machine.state()).toBe('on');
  });

  it('ends sessions that are not used', async () => {
    const { clock, ask, token } = device({ sessionTimeoutMs: 30_000 });
    const headers = { 'x-auth-token': token() };
    await clock.advance(30_000);
    expect(ask('GET', SYSTEM_PATH, undefined, headers).status).toBe(200);
    await clock.advance(30_001);
    expect(ask('GET', SYSTEM_PATH, undefined, headers).status).toBe(401);
  });

  it('records logins, identities, reads and sets with the session they came over', () => {
    const { events, ask, token, bmc } = device();
    bmc.name = '127.0.0.1:443';
    const headers = { 'x-auth-token': token() };
    ask('GET', SYSTEM_PATH, undefined, headers);
    ask('POST', RESET_PATH, { ResetType: 'ForceOff' }, headers);
    ask('GET', SYSTEM_PATH, undefined, headers);
    const told = events.map(({ action, want, answer, shown, session, device: name, node }) => [action, want, answer, shown, session, name, node]);
    const tail = ['session 1', '127.0.0.1:443', 'a'];
    const uuid = '200 38947555-7742-3448-3784-823347823834';
    expect(told).toEqual([
      ['login', undefined, '201', undefined, ...tail],
      ['identity', undefined, uuid, undefined, ...tail],
      ['read', undefined, '200 On', 'on', ...tail],
      ['set', 'off', '204', undefined, ...tail],
      ['identity', undefined, uuid, undefined, ...tail],
      ['read', undefined, '200 Off', 'off', ...tail],
    ]);
  });

  it('answers nonsense with an error of its own', () => {
    const { ask, token } = device();
    const headers = { 'x-auth-token': token() };
    expect(ask('POST', RESET_PATH, { ResetType: 'Explode' }, headers).status).toBe(400);
    expect(ask('POST', RESET_PATH, undefined, headers).status).toBe(400);
    expect(ask('GET', '/redfish/v1/Nothing', undefined, headers).status).toBe(404);
    expect(ask('PUT', SYSTEM_PATH, {}, headers).status).toBe(405);
  });
});
