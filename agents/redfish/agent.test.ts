import { afterEach, describe, expect, it } from 'vitest';

import { BENCH_PASSWORD, BENCH_UUID, startBmcBench, type BenchOptions, type BmcBench } from '../../src/drill/bmc/bmc-bench.ts';
import { RESET_PATH, SESSIONS_PATH, SYSTEM_PATH } from '../../src/drill/bmc/tree.ts';
import { AgentError, type Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { RedfishAgent } from './agent.ts';

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

interface Bench extends BmcBench {
  agent: RedfishAgent;
  target(overrides?: Partial<Target>): Target;
}

async function bench(options: BenchOptions = {}, parameters: Record<string, string | undefined> = {}): Promise<Bench> {
  const bmc = await startBmcBench(options);
  const agent = new RedfishAgent(new SystemClock());
  open.push(() => bmc.close());
  open.push(() => agent.close());
  const given = Object.fromEntries(
    Object.entries({ ...bmc.parameters, ...parameters }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return {
    ...bmc,
    agent,
    target: (overrides = {}) => ({
      plug: '',
      device: `127.0.0.1:${bmc.server.port}`,
      parameters: given,
      identity: { node: 'a', systemUUID: BENCH_UUID },
      signal: new AbortController().signal,
      deadlineMs: 5_000,
      beforeSend: () => undefined,
      ...overrides,
    }),
  };
}

async function failure(promise: Promise<unknown>): Promise<AgentError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof AgentError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

function resets(bmc: BmcBench): number {
  return bmc.events.filter((event) => event.action === 'set').length;
}

describe('reading', () => {
  it('reads on and off with verified identity, the Chassis as witness and the time of the device', async () => {
    const { agent, target, machine } = await bench();
    const on = await agent.read(target());
    expect(on).toMatchObject({
      state: 'on',
      detail: 'PowerState=On',
      identity: 'verified',
      witness: { source: '/redfish/v1/Chassis/1U', state: 'on' },
    });
    expect(Number.isNaN(Date.parse(on.deviceTime ?? ''))).toBe(false);
    machine.off('set');
    expect(await agent.read(target())).toMatchObject({ state: 'off', detail: 'PowerState=Off', witness: { state: 'off' } });
  });

  it.each([
    ['PoweringOff', 'pending'],
    ['PoweringOn', 'pending'],
    ['Paused', 'unknown'],
    ['off', 'unknown'],
    ['OFF', 'unknown'],
    ['Off ', 'unknown'],
    ['', 'unknown'],
    [0, 'unknown'],
    [null, 'unknown'],
    ['absent', 'unknown'],
  ] as const)('takes PowerState %j for %s', async (shows, state) => {
    const { agent, target } = await bench({ faults: { shows }, state: 'off' });
    expect((await agent.read(target())).state).toBe(state);
  });

  it('reports a Chassis that disagrees, stays silent about its power later, or cannot be read', async () => {
    const { agent, target, device } = await bench({ state: 'off', faults: { chassisShows: 'On' } });
    expect((await agent.read(target())).witness).toMatchObject({ state: 'on' });
    device.faults = { chassisShows: 'absent' };
    expect((await agent.read(target())).witness).toMatchObject({ state: 'unknown' });
    device.faults = { failures: [{ path: '/redfish/v1/Chassis/1U', status: 500 }] };
    expect((await agent.read(target())).witness).toMatchObject({ state: 'unknown' });
  });

  it('has no witness where the Chassis shows no power, is shared, or is not wanted', async () => {
    const without = await bench({ faults: { chassisShows: 'absent' } });
    expect((await without.agent.read(without.target())).witness).toBeUndefined();
    const unwanted = await bench({}, { chassis_witness: 'no' });
    expect((await unwanted.agent.read(unwanted.target())).witness).toBeUndefined();
  });

  it('gives garbage as unknown, never as off', async () => {
    const { agent, target, device } = await bench({ state: 'off' });
    expect((await agent.read(target())).state).toBe('off');
    device.faults = { garbage: true };
    const reading = await agent.read(target());
    expect(reading).toMatchObject({ state: 'unknown', identity: 'unverified' });
    expect(reading.detail).toContain('no JSON');
  });

  it('calls a device that speaks garbage from the start unreachable', async () => {
    const { agent, target } = await bench({ faults: { garbage: true } }, { auth: 'basic' });
    expect(await failure(agent.read(target()))).toMatchObject({ kind: 'Unreachable' });
  });

  it('does not read more than 4 MB', async () => {
    const { agent, target, device } = await bench();
    await agent.read(target());
    device.faults = { paddingBytes: 5_000_000 };
    const error = await failure(agent.read(target()));
    expect(error.kind).toBe('Unreachable');
    expect(error.message).toContain('bytes');
  });

  it('keeps one connection and one session for many reads, and ends the session at close', async () => {
    const { agent, target, server, device } = await bench();
    for (let round = 0; round < 10; round += 1) await agent.read(target());
    expect(server.connections()).toBe(1);
    expect(device.accounts.createdSessions).toBe(1);
    await agent.close();
    expect(device.accounts.openSessions).toBe(0);
  });
});

describe('switching', () => {
  it('switches off with ForceOff by the advertised target, after the identity was read over the same session', async () => {
    const { agent, target, machine, events } = await bench();
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(machine.state()).toBe('off');
    const set = events.findIndex((event) => event.action === 'set');
    expect(events.slice(0, set).some((event) => event.action === 'identity' && event.session === events[set]?.session)).toBe(true);
    expect(await agent.set(target(), 'on')).toMatchObject({ result: 'accepted' });
    expect(machine.edges.map((edge) => edge.state)).toEqual(['off', 'on']);
  });

  it('refuses another machine before anything is sent, and names both', async () => {
    const { agent, target, events } = await bench();
    const other = '4c4c4544-0030-5210-8047-c6c04f5a4333';
    const wrong = target({ identity: { node: 'a', systemUUID: other } });
    const error = await failure(agent.set(wrong, 'off'));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain(BENCH_UUID);
    expect(error.message).toContain(other);
    expect((await failure(agent.read(wrong))).kind).toBe('Misconfigured');
    expect(events.some((event) => event.action === 'set')).toBe(false);
  });

  it('accepts the UUID in capitals and in the byte order of SMBIOS', async () => {
    const { agent, target } = await bench();
    const swapped = '55759438-4277-4834-3784-823347823834';
    for (const systemUUID of [BENCH_UUID.toUpperCase(), swapped]) {
      expect((await agent.read(target({ identity: { node: 'a', systemUUID } }))).identity).toBe('verified');
    }
  });

  it('says that an identity is unverified where the device shows none or none is recorded', async () => {
    const { agent, target } = await bench({ tree: { uuid: null } });
    expect((await agent.read(target())).identity).toBe('unverified');
    const known = await bench();
    expect((await known.agent.read(known.target({ identity: { node: 'a' } }))).identity).toBe('unverified');
  });

  it.each(['inline', 'action-info', 'absent'] as const)('sends ForceOff where the allowed types are %s', async (allowable) => {
    const { agent, target, machine } = await bench({ tree: { allowable } });
    await agent.set(target(), 'off');
    expect(machine.state()).toBe('off');
  });

  it.each(['inline', 'action-info'] as const)(
    'refuses a device without ForceOff (%s): neither a graceful shutdown nor the power button fences',
    async (allowable) => {
      const tree = { allowable, resetTypes: ['On', 'GracefulShutdown', 'PushPowerButton', 'ForceRestart'] };
      const { agent, target, events } = await bench({ tree });
      const error = await failure(agent.set(target(), 'off'));
      expect(error.kind).toBe('Refused');
      expect(error.message).toContain('GracefulShutdown');
      expect(events.some((event) => event.action === 'set')).toBe(false);
    },
  );

  it('switches on with ForceOn where On is not offered', async () => {
    const { agent, target, machine } = await bench({ state: 'off', tree: { resetTypes: ['ForceOff', 'ForceOn'] } });
    await agent.set(target(), 'on');
    expect(machine.state()).toBe('on');
  });

  it('gives no verdict of its own when a device accepts and stays on', async () => {
    const { agent, target, machine } = await bench({ faults: { ignoresReset: true, resetStatus: 200 } });
    expect((await agent.set(target(), 'off')).result).toBe('accepted');
    expect((await agent.read(target())).state).toBe('on');
    expect(machine.edges).toEqual([]);
  });

  it('takes 400 "already off" for unclear when the state read again is off, and for a refusal when it is not', async () => {
    const { agent, target, device } = await bench({ state: 'off', faults: { refusesWhenInState: true } });
    const outcome = await agent.set(target(), 'off');
    expect(outcome.result).toBe('unclear');
    expect(outcome.detail).toContain('InvalidOperationForSystemState');
    device.faults = { failures: [{ method: 'POST', path: RESET_PATH, status: 400, message: 'Blade is in maintenance.' }] };
    device.faults = { ...device.faults, shows: 'On', chassisShows: 'On' };
    const error = await failure(agent.set(target(), 'off'));
    expect(error.kind).toBe('Refused');
    expect(error.message).toContain('Blade is in maintenance.');
  });

  it.each([403, 404, 405, 501])('takes HTTP %i for a refusal, with the words of the device', async (status) => {
    const { agent, target } = await bench({
      faults: { failures: [{ method: 'POST', path: RESET_PATH, status, message: 'Insufficient privilege.' }] },
    });
    const error = await failure(agent.set(target(), 'off'));
    expect(error.kind).toBe('Refused');
    expect(error.facts.answered).toContain('Insufficient privilege.');
  });

  it.each([409, 500, 503])('takes HTTP %i for unclear: the effect may have come all the same', async (status) => {
    const { agent, target, machine } = await bench({ faults: { failures: [{ method: 'POST', path: RESET_PATH, status, withEffect: true }] } });
    expect((await agent.set(target(), 'off')).result).toBe('unclear');
    expect(machine.state()).toBe('off');
  });

  it('follows a task for its error only', async () => {
    const good = await bench({ faults: { resetStatus: 202 } });
    expect((await good.agent.set(good.target(), 'off')).result).toBe('accepted');
    const bad = await bench({ faults: { resetStatus: 202, taskState: 'Exception', ignoresReset: true } });
    const error = await failure(bad.agent.set(bad.target(), 'off'));
    expect(error.kind).toBe('Refused');
    expect(error.message).toContain('The power supply refused.');
    const running = await bench({ faults: { resetStatus: 202, taskState: 'Running' } });
    expect((await running.agent.set(running.target(), 'off')).result).toBe('accepted');
  });

  it('repeats a reset once with the ETag that the device wants', async () => {
    const { agent, target, machine, events } = await bench({ faults: { wantsEtag: true } });
    let checks = 0;
    await agent.set(target({ beforeSend: () => (checks += 1) }), 'off');
    expect(machine.state()).toBe('off');
    expect(events.filter((event) => event.action === 'set').map((event) => event.answer)).toEqual(['412', '204']);
    expect(checks).toBe(2);
  });
});

describe('the lease check before a set', () => {
  it('comes after login and identity, once for one reset', async () => {
    const { agent, target, device, machine } = await bench();
    const seen: string[][] = [];
    await agent.set(target({ beforeSend: () => void seen.push([...device.requests]) }), 'off');
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain(`POST ${SESSIONS_PATH}`);
    expect(seen[0]?.at(-1)).toBe(`GET ${SYSTEM_PATH}`);
    expect(machine.state()).toBe('off');
  });

  it('sends nothing when it throws, and its error is the result', async () => {
    const { agent, target, device, machine } = await bench();
    const notSent = new AgentError('NotSent', { device: 'x', plug: '', asked: 'power off', answered: 'the lease is over' });
    const thrown = await failure(
      agent.set(
        target({
          beforeSend: () => {
            throw notSent;
          },
        }),
        'off',
      ),
    );
    expect(thrown).toBe(notSent);
    expect((await agent.read(target())).state).toBe('on');
    expect(device.requests.some((request) => request.startsWith('POST') && request.includes('Reset'))).toBe(false);
    expect(machine.edges).toEqual([]);
  });

  it('stands in the very turn of the write: the bytes are with the socket when the turn ends', async () => {
    const { agent, target, device, server } = await bench({ faults: { closesConnections: true } });
    let turnEnded = false;
    let resetBeforeTurnEnd: boolean | undefined;
    const before = server.connections();
    await agent.set(
      target({
        beforeSend: () => {
          setImmediate(() => {
            turnEnded = true;
          });
          resetBeforeTurnEnd = !turnEnded && !device.requests.some((request) => request.includes('ComputerSystem.Reset'));
        },
      }),
      'off',
    );
    expect(resetBeforeTurnEnd).toBe(true);
    // The device closes every connection, so the reset needed a new one, which was up and trusted before the check.
    expect(server.connections()).toBeGreaterThan(before + 1);
  });
});

describe('sessions and passwords', () => {
  it('refuses a wrong password with the words of the device, without trying it a second way', async () => {
    const { agent, target, events } = await bench({}, { password: 'wrong password 1' });
    const error = await failure(agent.read(target()));
    expect(error.kind).toBe('Refused');
    expect(error.message).toContain('401');
    expect(events.filter((event) => event.action === 'login')).toHaveLength(1);
  });

  it('never shows the password, not even when the device echoes it', async () => {
    const { agent, target, device } = await bench();
    device.faults = { failures: [{ path: SYSTEM_PATH, status: 403, message: `user admin:${BENCH_PASSWORD} may not` }] };
    const error = await failure(agent.read(target()));
    expect(error.message).toContain('may not');
    expect(JSON.stringify(error) + error.message).not.toContain(BENCH_PASSWORD);
    expect(error.stack).not.toContain(BENCH_PASSWORD);
  });

  it('logs in again once when the session is over, before a read and before a reset', async () => {
    const { agent, target, device, machine } = await bench();
    await agent.read(target());
    device.accounts.endAll();
    expect((await agent.read(target())).state).toBe('on');
    device.accounts.endAll();
    await agent.set(target(), 'off');
    expect(machine.state()).toBe('off');
    expect(device.accounts.createdSessions).toBe(3);
  });

  it('checks identity and lease anew when the session ends between identity and reset', async () => {
    const { agent, target, device, machine, events } = await bench();
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
    const { agent, target, device } = await bench({ faults: { hidesSessionLocation: true } });
    await agent.read(target());
    await agent.read(target());
    await agent.set(target(), 'off');
    expect(device.accounts.createdSessions).toBe(1);
  });

  it('falls back to basic authentication where there are no sessions, or none to spare', async () => {
    const without = await bench({ tree: { hasSessions: false } });
    expect((await without.agent.read(without.target())).state).toBe('on');
    const full = await bench({
      faults: { failures: [{ method: 'POST', path: SESSIONS_PATH, status: 503, message: 'RAC0218: maximum number of sessions' }] },
    });
    await full.agent.set(full.target(), 'off');
    expect(full.machine.state()).toBe('off');
  });

  it('uses basic authentication, or sessions, alone when told so', async () => {
    const basic = await bench({}, { auth: 'basic' });
    await basic.agent.set(basic.target(), 'off');
    expect(basic.device.accounts.createdSessions).toBe(0);
    const session = await bench({ faults: { failures: [{ method: 'POST', path: SESSIONS_PATH, status: 404 }] } }, { auth: 'session' });
    expect((await failure(session.agent.read(session.target()))).kind).toBe('Refused');
  });
});

describe('trust', () => {
  it.each(['foreign', 'expired', 'other-host'] as const)('refuses a %s certificate before the password is sent', async (certificate) => {
    const { agent, target, device } = await bench({ certificate });
    const error = await failure(agent.read(target()));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain('ssl_fingerprint');
    expect(device.requests).toEqual([]);
  });

  it('trusts exactly a pinned certificate', async () => {
    const pinned = await bench({ certificate: 'foreign' });
    const colons = pinned.fingerprint.toUpperCase().replace(/..(?=.)/g, '$&:');
    const parameters = { ...pinned.parameters, ssl_fingerprint: colons };
    expect((await pinned.agent.read(pinned.target({ parameters }))).state).toBe('on');
    const other = { ...pinned.parameters, ssl_fingerprint: 'ab'.repeat(32) };
    const error = await failure(pinned.agent.read(pinned.target({ parameters: other })));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain(pinned.fingerprint);
  });

  it.each(['0', 'no', 'off', 'false', 'No', 'OFF'])('still checks the certificate with ssl_insecure=%s', async (value) => {
    const { agent, target } = await bench({ certificate: 'foreign' }, { ssl_insecure: value });
    expect((await failure(agent.read(target()))).kind).toBe('Misconfigured');
  });

  it('checks nothing with ssl_insecure=1, and refuses words that are no boolean', async () => {
    const insecure = await bench({ certificate: 'expired' }, { ssl_insecure: '1', ca: undefined });
    expect((await insecure.agent.read(insecure.target())).state).toBe('on');
    const unclear = await bench({}, { ssl_insecure: 'perhaps' });
    expect((await failure(unclear.agent.read(unclear.target()))).kind).toBe('Misconfigured');
  });

  it('speaks plain HTTP only when told', async () => {
    const { agent, target } = await bench({ certificate: 'plain' });
    expect((await agent.read(target())).state).toBe('on');
  });
});

describe('several systems', () => {
  const otherSystems = { HGX: '11111111-2222-3333-4444-555555555555' };

  it('refuses to guess and lists them', async () => {
    const { agent, target, events } = await bench({ tree: { otherSystems } });
    const error = await failure(agent.set(target(), 'off'));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain('/redfish/v1/Systems/1, /redfish/v1/Systems/HGX');
    expect(events.some((event) => event.action === 'set')).toBe(false);
  });

  it.each([{ systems_uri: SYSTEM_PATH }, { system_uuid: BENCH_UUID }, { serial: 'DRILL0001' }])('takes the one that %o names', async (choice) => {
    const { agent, target, machine } = await bench({ tree: { otherSystems } }, choice);
    await agent.set(target(), 'off');
    expect(machine.state()).toBe('off');
  });

  it('takes the one that the plug names, and refuses a name that is not there', async () => {
    const { agent, target } = await bench({ tree: { otherSystems } });
    expect((await agent.read(target({ plug: '1' }))).state).toBe('on');
    const error = await failure(agent.read(target({ plug: '2' })));
    expect(error.kind).toBe('Misconfigured');
    expect((await failure(agent.read(target({ plug: 'HGX' })))).message).toContain(otherSystems.HGX);
  });

  it('refuses a path, a UUID or a serial that is not there', async () => {
    for (const choice of [{ systems_uri: '/redfish/v1/Systems/9' }, { system_uuid: '99999999-2222-3333-4444-555555555555' }, { serial: 'X' }]) {
      const { agent, target } = await bench({ tree: { otherSystems } }, choice);
      expect((await failure(agent.read(target()))).kind).toBe('Misconfigured');
    }
  });
});

describe('time and trouble', () => {
  it('gives a device up that accepts connections and says nothing', async () => {
    const { agent, target, device } = await bench({ faults: { isSilent: true } }, { login_timeout: '0.3' });
    const started = performance.now();
    const error = await failure(agent.set(target(), 'off'));
    expect(error.kind).toBe('Unreachable');
    expect(performance.now() - started).toBeLessThan(2_000);
    device.faults = {};
    expect((await agent.read(target())).state).toBe('on');
  });

  it('ends at its deadline when requests are never answered, and says that the set is unclear once it was sent', async () => {
    const { agent, target, device } = await bench();
    await agent.read(target());
    device.faults = { isMute: true };
    expect((await failure(agent.read(target({ deadlineMs: 200 })))).kind).toBe('Timeout');
    device.faults = {};
    const mute = (): void => {
      device.faults = { isMute: true };
    };
    expect((await agent.set(target({ deadlineMs: 300, beforeSend: mute }), 'off')).result).toBe('unclear');
  });

  it('ends at its deadline when the body comes drop by drop', async () => {
    const { agent, target, device } = await bench();
    await agent.read(target());
    device.faults = { dripMs: 20 };
    const started = performance.now();
    expect((await failure(agent.read(target({ deadlineMs: 300 })))).kind).toBe('Timeout');
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it('ends when the caller gives up, and sends nothing for a caller who gave up before', async () => {
    const { agent, target, device } = await bench();
    await agent.read(target());
    const controller = new AbortController();
    device.faults = { isMute: true };
    const reading = failure(agent.read(target({ signal: controller.signal })));
    controller.abort();
    expect((await reading).kind).toBe('NotSent');
    device.faults = {};
    const asked = device.requests.length;
    expect((await failure(agent.set(target({ signal: controller.signal }), 'off'))).kind).toBe('NotSent');
    expect(device.requests).toHaveLength(asked);
  });

  it('calls a closed port unreachable', async () => {
    const { agent, target, server } = await bench();
    await server.close();
    expect((await failure(agent.read(target()))).kind).toBe('Unreachable');
    open.shift();
  });

  it('opens a new connection when the kept one was cut', async () => {
    const { agent, target, server } = await bench();
    await agent.read(target());
    server.cut();
    expect((await agent.read(target())).state).toBe('on');
  });

  it('calls HTTP 500 for a read unreachable', async () => {
    const { agent, target } = await bench({ faults: { failures: [{ path: SYSTEM_PATH, status: 500 }] } });
    expect((await failure(agent.read(target()))).kind).toBe('Unreachable');
  });

  it('never overlaps two calls on one device', async () => {
    const { agent, target, server, device, ...bmc } = await bench();
    await Promise.all([agent.read(target()), agent.set(target(), 'off'), agent.read(target()), agent.read(target())]);
    expect(server.connections()).toBe(1);
    expect(device.accounts.createdSessions).toBe(1);
    expect(resets({ ...bmc, server, device })).toBe(1);
  });

  it('refuses incomplete parameters without touching the device', async () => {
    const { agent, target, server } = await bench({}, { password: undefined });
    const error = await failure(agent.set(target(), 'off'));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain('password is missing');
    expect(server.connections()).toBe(0);
  });
});
