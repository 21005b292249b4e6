import { afterEach, describe, expect, it } from 'vitest';

import { AgentHarnesses, agentFailure, HARNESS_UUID } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import { SYSTEM_PATH } from '../../src/testbed/devices/bmc/tree.ts';
import { RedfishAgent } from './agent.ts';

const harnesses = new AgentHarnesses((clock) => new RedfishAgent(clock));
afterEach(() => harnesses.closeAll());

describe('reading', () => {
  it('reads on and off with verified identity, the Chassis as witness and the time of the device', async () => {
    const { agent, target, machine } = await harnesses.start();
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
    const { agent, target } = await harnesses.start({ faults: { shows }, state: 'off' });
    expect((await agent.read(target())).state).toBe(state);
  });

  it('reports a Chassis that disagrees, stays silent about its power later, or cannot be read', async () => {
    const { agent, target, device } = await harnesses.start({ state: 'off', faults: { chassisShows: 'On' } });
    expect((await agent.read(target())).witness).toMatchObject({ state: 'on' });
    device.faults = { chassisShows: 'absent' };
    expect((await agent.read(target())).witness).toMatchObject({ state: 'unknown' });
    device.faults = { failures: [{ path: '/redfish/v1/Chassis/1U', status: 500 }] };
    expect((await agent.read(target())).witness).toMatchObject({ state: 'unknown' });
  });

  it('keeps a Chassis that always says On as a witness, and names chassis_witness=no with what is given up by it', async () => {
    const { agent, target } = await harnesses.start({ state: 'off', faults: { chassisShows: 'On' } });
    const { state, witness } = await agent.read(target());
    expect([state, witness?.state]).toEqual(['off', 'on']);
    expect(witness?.waiver).toMatch(/chassis_witness=no .*ComputerSystem alone/u);
    expect(witness?.waiver).not.toContain('known of');
    const known = await harnesses.start({ state: 'off', faults: { chassisShows: 'On' } });
    Object.assign(known.device.tree[SYSTEM_PATH] ?? {}, { Manufacturer: 'Sushy Emulator' });
    expect((await known.agent.read(known.target())).witness?.waiver).toContain('known of sushy-tools: ');
    const agreeing = await harnesses.start({ faults: { chassisShows: 'On' } });
    const { witness: other } = await agreeing.agent.read(agreeing.target());
    expect([other?.state, other?.waiver]).toEqual(['on', undefined]);
  });

  it('has no witness where the Chassis shows no power, is shared, or is not wanted', async () => {
    const without = await harnesses.start({ faults: { chassisShows: 'absent' } });
    expect((await without.agent.read(without.target())).witness).toBeUndefined();
    const unwanted = await harnesses.start({}, { chassis_witness: 'no' });
    expect((await unwanted.agent.read(unwanted.target())).witness).toBeUndefined();
  });

  it('gives garbage as unknown, never as off', async () => {
    const { agent, target, device } = await harnesses.start({ state: 'off' });
    expect((await agent.read(target())).state).toBe('off');
    device.faults = { garbage: true };
    const reading = await agent.read(target());
    expect(reading).toMatchObject({ state: 'unknown', identity: 'unverified' });
    expect(reading.detail).toContain('no JSON');
  });

  it('gives an empty slot as unknown, whatever power it shows', async () => {
    const { agent, target, device } = await harnesses.start();
    Object.assign(device.tree[SYSTEM_PATH] ?? {}, { PowerState: 'Off', UUID: null, Status: { State: 'Absent' } });
    expect(await agent.read(target())).toMatchObject({ state: 'unknown', detail: expect.stringContaining('Status.State=Absent') as string });
    expect((await agentFailure(agent.set(target(), 'off'))).message).toContain('Status.State=Absent); nothing was sent');
    expect(device.commands).toEqual([]);
  });

  it('calls a device that speaks garbage from the start unreachable', async () => {
    const { agent, target } = await harnesses.start({ faults: { garbage: true } }, { auth: 'basic' });
    expect(await agentFailure(agent.read(target()))).toMatchObject({ kind: 'Unreachable' });
  });

  it('does not read more than 4 MB', async () => {
    const { agent, target, device } = await harnesses.start();
    await agent.read(target());
    device.faults = { paddingBytes: 5_000_000 };
    const error = await agentFailure(agent.read(target()));
    expect(error.kind).toBe('Unreachable');
    expect(error.message).toContain('bytes');
  });

  it('keeps one connection and one session for many reads, and ends the session at close', async () => {
    const { agent, target, server, device } = await harnesses.start();
    for (let round = 0; round < 10; round += 1) await agent.read(target());
    expect(server.connections()).toBe(1);
    expect(device.accounts.createdSessions).toBe(1);
    await agent.close();
    expect(device.accounts.openSessions).toBe(0);
  });
});

describe('several systems', () => {
  const otherSystems = { HGX: '11111111-2222-3333-4444-555555555555' };

  it('refuses to guess and lists them', async () => {
    const { agent, target, events } = await harnesses.start({ tree: { otherSystems } });
    const error = await agentFailure(agent.set(target(), 'off'));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain('/redfish/v1/Systems/1, /redfish/v1/Systems/HGX');
    expect(events.some((event) => event.action === 'set')).toBe(false);
  });

  it.each([{ systems_uri: SYSTEM_PATH }, { system_uuid: HARNESS_UUID }, { serial: 'DRILL0001' }])('takes the one that %o names', async (choice) => {
    const { agent, target, machine } = await harnesses.start({ tree: { otherSystems } }, choice);
    await agent.set(target(), 'off');
    expect(machine.state()).toBe('off');
  });

  it('takes the one that the plug names, and refuses a name that is not there', async () => {
    const { agent, target } = await harnesses.start({ tree: { otherSystems } });
    expect((await agent.read(target({ plug: '1' }))).state).toBe('on');
    const error = await agentFailure(agent.read(target({ plug: '2' })));
    expect(error.kind).toBe('Misconfigured');
    expect((await agentFailure(agent.read(target({ plug: 'HGX' })))).message).toContain(otherSystems.HGX);
  });

  it('refuses a path, a UUID or a serial that is not there', async () => {
    for (const choice of [{ systems_uri: '/redfish/v1/Systems/9' }, { system_uuid: '99999999-2222-3333-4444-555555555555' }, { serial: 'X' }]) {
      const { agent, target } = await harnesses.start({ tree: { otherSystems } }, choice);
      expect((await agentFailure(agent.read(target()))).kind).toBe('Misconfigured');
    }
  });
});

describe('a machine that is configured by a mark', () => {
  it.each([
    [{ system_uuid: '99999999-2222-3333-4444-555555555555' }, '1'],
    [{ serial: 'X' }, '1'],
    [{ systems_uri: SYSTEM_PATH, system_uuid: '99999999-2222-3333-4444-555555555555' }, ''],
    [{ systems_uri: SYSTEM_PATH, serial: 'X' }, ''],
  ])('is no other one, whatever path or plug is given besides: %o', async (choice, plug) => {
    const { agent, target, device } = await harnesses.start({}, choice);
    expect((await agentFailure(agent.read(target({ plug })))).kind).toBe('Misconfigured');
    expect((await agentFailure(agent.set(target({ plug }), 'off'))).kind).toBe('Misconfigured');
    expect(device.commands).toEqual([]);
  });

  it.each([{ serial: 'DRILL0001' }, { system_uuid: HARNESS_UUID }])('is not the one that took its place since it was found: %o', async (choice) => {
    const { agent, target, device } = await harnesses.start({}, choice);
    const unknown = { identity: { node: 'a' } };
    await agent.read(target(unknown));
    Object.assign(device.tree[SYSTEM_PATH] ?? {}, { UUID: '11111111-2222-3333-4444-555555555555', SerialNumber: 'DRILL0002' });
    expect((await agentFailure(agent.read(target(unknown)))).kind).toBe('Misconfigured');
    expect((await agentFailure(agent.set(target(unknown), 'off'))).kind).toBe('Misconfigured');
    expect(device.commands).toEqual([]);
  });

  it('is named by its plug: the end of its path, the path, or its Id where that is another', async () => {
    const { agent, target, device } = await harnesses.start({ tree: { otherSystems: { HGX: '11111111-2222-3333-4444-555555555555' } } });
    Object.assign(device.tree[SYSTEM_PATH] ?? {}, { Id: 'System.Embedded.1' });
    for (const plug of ['1', SYSTEM_PATH, 'System.Embedded.1']) expect((await agent.read(target({ plug }))).identity).toBe('verified');
    expect((await agentFailure(agent.read(target({ plug: 'nobody' })))).message).toContain('no ComputerSystem is called nobody');
    const again = await harnesses.start({ tree: { otherSystems: { HGX: '11111111-2222-3333-4444-555555555555' } } });
    for (const path of [SYSTEM_PATH, '/redfish/v1/Systems/HGX']) Object.assign(again.device.tree[path] ?? {}, { Id: 'Self' });
    expect((await agentFailure(again.agent.read(again.target({ plug: 'Self' })))).kind).toBe('Misconfigured');
  });

  it('may show no mark while it is off', async () => {
    const { agent, target, device, machine } = await harnesses.start({}, { serial: 'DRILL0001' });
    await agent.set(target(), 'off');
    await expect.poll(() => machine.state()).toBe('off');
    Object.assign(device.tree[SYSTEM_PATH] ?? {}, { SerialNumber: '' });
    expect((await agent.read(target())).state).toBe('off');
  });
});

describe('trust', () => {
  it.each(['foreign', 'expired', 'other-host'] as const)('refuses a %s certificate before the password is sent', async (certificate) => {
    const { agent, target, device } = await harnesses.start({ certificate });
    const error = await agentFailure(agent.read(target()));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain('ssl_fingerprint');
    expect(device.requests).toEqual([]);
  });

  it('trusts exactly a pinned certificate', async () => {
    const pinned = await harnesses.start({ certificate: 'foreign' });
    const colons = pinned.fingerprint.toUpperCase().replace(/..(?=.)/g, '$&:');
    const parameters = { ...pinned.parameters, ssl_fingerprint: colons };
    expect((await pinned.agent.read(pinned.target({ parameters }))).state).toBe('on');
    const other = { ...pinned.parameters, ssl_fingerprint: 'ab'.repeat(32) };
    const error = await agentFailure(pinned.agent.read(pinned.target({ parameters: other })));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain(pinned.fingerprint);
  });

  it('tells when a certificate ends, signed or pinned, on the first read and on a kept connection', async () => {
    const { agent, target, parameters, fingerprint } = await harnesses.start();
    const { ca: _ca, ...others } = parameters;
    for (const given of [parameters, { ...others, ssl_fingerprint: fingerprint }]) {
      const [first, second] = [await agent.read(target({ parameters: given })), await agent.read(target({ parameters: given }))];
      expect(Date.parse(first.certificateExpiresAt ?? '')).toBeGreaterThan(Date.now());
      expect(second.certificateExpiresAt).toBe(first.certificateExpiresAt);
    }
  });

  it.each(['0', 'no', 'off', 'false', 'No', 'OFF'])('still checks the certificate with ssl_insecure=%s', async (value) => {
    const { agent, target } = await harnesses.start({ certificate: 'foreign' }, { ssl_insecure: value });
    expect((await agentFailure(agent.read(target()))).kind).toBe('Misconfigured');
  });

  it('checks nothing with ssl_insecure=1, and refuses words that are no boolean', async () => {
    const insecure = await harnesses.start({ certificate: 'expired' }, { ssl_insecure: '1', ca: undefined });
    expect((await insecure.agent.read(insecure.target())).state).toBe('on');
    const unclear = await harnesses.start({}, { ssl_insecure: 'perhaps' });
    expect((await agentFailure(unclear.agent.read(unclear.target()))).kind).toBe('Misconfigured');
  });

  it('speaks plain HTTP only when told', async () => {
    const { agent, target } = await harnesses.start({ certificate: 'plain' });
    expect((await agent.read(target())).state).toBe('on');
  });
});
