import { afterEach, describe, expect, it } from 'vitest';

import { AgentHarnesses, agentFailure, HARNESS_UUID } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import { RESET_PATH, SESSIONS_PATH, SYSTEM_PATH } from '../../src/testbed/devices/bmc/tree.ts';
import { AgentError } from '../../src/ports/agents.ts';
import { RedfishAgent } from './agent.ts';

const harnesses = new AgentHarnesses((clock) => new RedfishAgent(clock));
afterEach(() => harnesses.closeAll());

describe('switching', () => {
  it('switches off with ForceOff by the advertised target, after the identity was read over the same session', async () => {
    const { agent, target, machine, events } = await harnesses.start();
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(machine.state()).toBe('off');
    const set = events.findIndex((event) => event.action === 'set');
    expect(events.slice(0, set).some((event) => event.action === 'identity' && event.session === events[set]?.session)).toBe(true);
    expect(await agent.set(target(), 'on')).toMatchObject({ result: 'accepted' });
    expect(machine.edges.map((edge) => edge.state)).toEqual(['off', 'on']);
  });

  it('refuses another machine before anything is sent, and names both', async () => {
    const { agent, target, events } = await harnesses.start();
    const other = '4c4c4544-0030-5210-8047-c6c04f5a4333';
    const wrong = target({ identity: { node: 'a', systemUUID: other } });
    const error = await agentFailure(agent.set(wrong, 'off'));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain(HARNESS_UUID);
    expect(error.message).toContain(other);
    expect((await agentFailure(agent.read(wrong))).kind).toBe('Misconfigured');
    expect(events.some((event) => event.action === 'set')).toBe(false);
  });

  it('accepts the UUID in capitals and in the byte order of SMBIOS', async () => {
    const { agent, target } = await harnesses.start();
    const swapped = '55759438-4277-4834-3784-823347823834';
    for (const systemUUID of [HARNESS_UUID.toUpperCase(), swapped]) {
      expect((await agent.read(target({ identity: { node: 'a', systemUUID } }))).identity).toBe('verified');
    }
  });

  it('says that an identity is unverified where the device shows none or none is recorded', async () => {
    const { agent, target } = await harnesses.start({ tree: { uuid: null } });
    expect((await agent.read(target())).identity).toBe('unverified');
    const known = await harnesses.start();
    expect((await known.agent.read(known.target({ identity: { node: 'a' } }))).identity).toBe('unverified');
  });

  it.each(['inline', 'action-info', 'absent'] as const)('sends ForceOff where the allowed types are %s', async (allowable) => {
    const { agent, target, machine } = await harnesses.start({ tree: { allowable } });
    await agent.set(target(), 'off');
    expect(machine.state()).toBe('off');
  });

  it.each(['inline', 'action-info'] as const)(
    'refuses a device without ForceOff (%s): neither a graceful shutdown nor the power button fences',
    async (allowable) => {
      const tree = { allowable, resetTypes: ['On', 'GracefulShutdown', 'PushPowerButton', 'ForceRestart'] };
      const { agent, target, events } = await harnesses.start({ tree });
      const error = await agentFailure(agent.set(target(), 'off'));
      expect(error.kind).toBe('Refused');
      expect(error.message).toContain('GracefulShutdown');
      expect(events.some((event) => event.action === 'set')).toBe(false);
    },
  );

  it('switches on with ForceOn where On is not offered', async () => {
    const { agent, target, machine } = await harnesses.start({ state: 'off', tree: { resetTypes: ['ForceOff', 'ForceOn'] } });
    await agent.set(target(), 'on');
    expect(machine.state()).toBe('on');
  });

  it('gives no verdict of its own when a device accepts and stays on', async () => {
    const { agent, target, machine } = await harnesses.start({ faults: { ignoresReset: true, resetStatus: 200 } });
    expect((await agent.set(target(), 'off')).result).toBe('accepted');
    expect((await agent.read(target())).state).toBe('on');
    expect(machine.edges).toEqual([]);
  });

  it('takes 400 "already off" for unclear when the state read again is off, and for a refusal when it is not', async () => {
    const { agent, target, device } = await harnesses.start({ state: 'off', faults: { refusesWhenInState: true } });
    const outcome = await agent.set(target(), 'off');
    expect(outcome.result).toBe('unclear');
    expect(outcome.detail).toContain('InvalidOperationForSystemState');
    device.faults = { failures: [{ method: 'POST', path: RESET_PATH, status: 400, message: 'Blade is in maintenance.' }] };
    device.faults = { ...device.faults, shows: 'On', chassisShows: 'On' };
    const error = await agentFailure(agent.set(target(), 'off'));
    expect(error.kind).toBe('Refused');
    expect(error.message).toContain('Blade is in maintenance.');
  });

  it.each([403, 404, 405, 501])('takes HTTP %i for a refusal, with the words of the device', async (status) => {
    const { agent, target } = await harnesses.start({
      faults: { failures: [{ method: 'POST', path: RESET_PATH, status, message: 'Insufficient privilege.' }] },
    });
    const error = await agentFailure(agent.set(target(), 'off'));
    expect(error.kind).toBe('Refused');
    expect(error.facts.answered).toContain('Insufficient privilege.');
  });

  it.each([409, 500, 503])('takes HTTP %i for unclear: the effect may have come all the same', async (status) => {
    const { agent, target, machine } = await harnesses.start({
      faults: { failures: [{ method: 'POST', path: RESET_PATH, status, withEffect: true }] },
    });
    expect((await agent.set(target(), 'off')).result).toBe('unclear');
    expect(machine.state()).toBe('off');
  });

  it('follows a task for its error only', async () => {
    const good = await harnesses.start({ faults: { resetStatus: 202 } });
    expect((await good.agent.set(good.target(), 'off')).result).toBe('accepted');
    const bad = await harnesses.start({ faults: { resetStatus: 202, taskState: 'Exception', ignoresReset: true } });
    const error = await agentFailure(bad.agent.set(bad.target(), 'off'));
    expect(error.kind).toBe('Refused');
    expect(error.message).toContain('The power supply refused.');
    const running = await harnesses.start({ faults: { resetStatus: 202, taskState: 'Running' } });
    expect((await running.agent.set(running.target(), 'off')).result).toBe('accepted');
  });

  it('repeats a reset once with the ETag that the device wants', async () => {
    const { agent, target, machine, events } = await harnesses.start({ faults: { wantsEtag: true } });
    let checks = 0;
    await agent.set(target({ beforeSend: () => (checks += 1) }), 'off');
    expect(machine.state()).toBe('off');
    expect(events.filter((event) => event.action === 'set').map((event) => event.answer)).toEqual(['412', '204']);
    expect(checks).toBe(2);
  });
});

describe('a device that closes every connection', () => {
  const faults = { closesConnections: true };

  it('is known again by its session, or by its certificate, signed or pinned', async () => {
    for (const auth of ['session', 'basic']) {
      const { agent, target, machine } = await harnesses.start({ faults }, { auth });
      await agent.set(target(), 'off');
      expect(machine.state()).toBe('off');
      const pinned = await harnesses.start({ faults, certificate: 'foreign' }, { auth, ca: undefined });
      await pinned.agent.set(pinned.target({ parameters: { ...pinned.target().parameters, ssl_fingerprint: pinned.fingerprint } }), 'off');
      expect(pinned.machine.state()).toBe('off');
    }
  });

  it('is not switched where nothing ties its identity to the reset', async () => {
    const { agent, target, events } = await harnesses.start({ faults, certificate: 'plain' }, { auth: 'basic' });
    const error = await agentFailure(agent.set(target(), 'off'));
    expect(error.kind).toBe('Misconfigured');
    expect(events.some((event) => event.action === 'set')).toBe(false);
  });
});

describe('the lease check before a set', () => {
  it('comes after login and identity, once for one reset', async () => {
    const { agent, target, device, machine } = await harnesses.start();
    const seen: string[][] = [];
    await agent.set(target({ beforeSend: () => void seen.push([...device.requests]) }), 'off');
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain(`POST ${SESSIONS_PATH}`);
    expect(seen[0]?.at(-1)).toBe(`GET ${SYSTEM_PATH}`);
    expect(machine.state()).toBe('off');
  });

  it('comes after the identity was read again, where the allowed resets had to be fetched in between', async () => {
    const { agent, target, device } = await harnesses.start({ tree: { allowable: 'action-info' } });
    let seen: string[] = [];
    await agent.set(target({ beforeSend: () => void (seen = [...device.requests]) }), 'off');
    expect(seen).toContain(`GET ${SYSTEM_PATH}/ResetActionInfo`);
    expect(seen.at(-1)).toBe(`GET ${SYSTEM_PATH}`);
  });

  it('sends nothing when it throws, and its error is the result', async () => {
    const { agent, target, device, machine } = await harnesses.start();
    const notSent = new AgentError('NotSent', { device: 'x', plug: '', asked: 'power off', answered: 'the lease is over' });
    const thrown = await agentFailure(
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
    const { agent, target, device, server } = await harnesses.start({ faults: { closesConnections: true } });
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
