import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import { createAuthority } from '../../src/testbed/certificates.ts';
import { AgentHarnesses, agentFailure, askedAfterRest, HARNESS_UUID, type AgentHarness } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import { RESET_PATH, SESSIONS_PATH, SYSTEM_PATH } from '../../src/testbed/devices/bmc/tree.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { RedfishAgent } from './agent.ts';

const SYSTEMS = 'GET /redfish/v1/Systems';
const STRANGER = '11111111-2222-3333-4444-555555555555';

const clock = new ManualClock();
const harnesses = new AgentHarnesses(() => new RedfishAgent(clock));
afterEach(() => harnesses.closeAll());

const asked = (harness: AgentHarness<RedfishAgent>, work: () => Promise<unknown>): Promise<string[]> => askedAfterRest(clock, harness, work);

describe('a device that was asked before', () => {
  it('is asked again over the resumed TLS session, with the certificate that it showed, and without its root', async () => {
    const harness = await harnesses.start({ tree: { hasChassis: false } }, { systems_uri: SYSTEM_PATH });
    const { agent, target, server } = harness;
    const { certificateExpiresAt } = await agent.read(target());
    expect(server.resumed()).toBe(0);
    const again = await asked(harness, async () => expect(await agent.read(target())).toMatchObject({ state: 'on', certificateExpiresAt }));
    expect(again).toEqual([`POST ${SESSIONS_PATH}`, `GET ${SYSTEM_PATH}`]);
    expect(server.resumed()).toBe(1);
    expect(certificateExpiresAt).toBeDefined();
  });

  it('is asked for its machine where that was, as long as the machine there shows that it is the one', async () => {
    const harness = await harnesses.start({ tree: { hasChassis: false } });
    const { agent, target, device } = harness;
    await agent.read(target());
    expect(await asked(harness, async () => expect((await agent.read(target())).identity).toBe('verified'))).toEqual([
      `POST ${SESSIONS_PATH}`,
      `GET ${SYSTEM_PATH}`,
    ]);
    const set = await asked(harness, () => agent.set(target(), 'off'));
    expect(set).toEqual([`POST ${SESSIONS_PATH}`, `GET ${SYSTEM_PATH}`, `POST ${RESET_PATH}`]);
    Object.assign(device.tree[SYSTEM_PATH] ?? {}, { UUID: null });
    const silent = await asked(harness, async () => expect((await agent.read(target())).identity).toBe('unverified'));
    expect(silent).toContain(SYSTEMS);
    expect(await asked(harness, () => agent.read(target()))).toContain(SYSTEMS);
  });

  it.each([{ plug: '' }, { plug: '1' }])('that has another machine there now is switched by nobody (%o)', async (plugged) => {
    const harness = await harnesses.start();
    const { agent, target, device } = harness;
    await agent.read(target(plugged));
    Object.assign(device.tree[SYSTEM_PATH] ?? {}, { UUID: STRANGER });
    const requests = await asked(harness, async () => expect((await agentFailure(agent.set(target(plugged), 'off'))).kind).toBe('Misconfigured'));
    expect(requests).toContain(SYSTEMS);
    expect(device.commands).toEqual([]);
    Object.assign(device.tree[SYSTEM_PATH] ?? {}, { UUID: HARNESS_UUID });
    await asked(harness, async () => expect((await agent.read(target(plugged))).identity).toBe('verified'));
  });

  it('is looked for anew each time where it does not show which machine it is', async () => {
    const harness = await harnesses.start({ tree: { uuid: null } });
    const { agent, target } = harness;
    await agent.read(target());
    for (let time = 0; time < 2; time += 1) {
      const requests = await asked(harness, async () => expect((await agent.read(target())).identity).toBe('unverified'));
      expect(requests.filter((request) => request === `GET ${SYSTEM_PATH}`)).toHaveLength(1);
      expect(requests).toContain(SYSTEMS);
    }
  });

  it('is found again by probes where it does not show which machine it is, and looked for anew by a fence', async () => {
    const harness = await harnesses.start({ tree: { uuid: null, hasChassis: false } });
    const { agent, target, device } = harness;
    const probe = (): Promise<unknown> => agent.read(target({ isProbe: true }));
    expect(await asked(harness, probe)).toContain(SYSTEMS);
    expect(await asked(harness, probe)).toEqual([`POST ${SESSIONS_PATH}`, `GET ${SYSTEM_PATH}`]);
    expect(await asked(harness, () => probe().then(() => agent.set(target(), 'off')))).toContain(SYSTEMS);
    expect(device.commands).toHaveLength(1);
    Object.assign(device.tree[SYSTEM_PATH] ?? {}, { UUID: STRANGER });
    const swapped = await asked(harness, async () => expect((await agentFailure(agent.read(target({ isProbe: true })))).kind).toBe('Misconfigured'));
    expect(swapped).toContain(SYSTEMS);
  });

  it('is looked for anew by a probe where the machine there bears another mark, and once an hour', async () => {
    const moved = '/redfish/v1/Systems/2';
    const harness = await harnesses.start({ tree: { uuid: null, otherSystems: { 2: STRANGER } } }, { serial: 'DRILL0001' });
    const { agent, target, device } = harness;
    Object.assign(device.tree[moved] ?? {}, { UUID: null });
    const probe = (): Promise<unknown> => agent.read(target({ isProbe: true }));
    await probe();
    expect(await asked(harness, probe)).not.toContain(SYSTEMS);
    Object.assign(device.tree[SYSTEM_PATH] ?? {}, { SerialNumber: 'another' });
    Object.assign(device.tree[moved] ?? {}, { SerialNumber: 'DRILL0001' });
    expect(await asked(harness, probe)).toEqual(expect.arrayContaining([SYSTEMS, `GET ${moved}`]));
    expect(await asked(harness, probe)).toEqual(expect.not.arrayContaining([SYSTEMS]));
    await clock.advance(3_600_000);
    expect(await asked(harness, probe)).toContain(SYSTEMS);
  });

  it('is asked for its machine at the slot to which that has moved', async () => {
    const moved = '/redfish/v1/Systems/2';
    const harness = await harnesses.start({ tree: { otherSystems: { 2: STRANGER } } }, { system_uuid: HARNESS_UUID });
    const { agent, target, device } = harness;
    await agent.read(target());
    Object.assign(device.tree[SYSTEM_PATH] ?? {}, { UUID: STRANGER });
    Object.assign(device.tree[moved] ?? {}, { UUID: HARNESS_UUID });
    const requests = await asked(harness, async () => expect((await agent.read(target())).identity).toBe('verified'));
    expect(requests.filter((request) => request === `GET ${moved}`)).toHaveLength(2);
    expect(await asked(harness, () => agent.read(target()))).toEqual(expect.arrayContaining([`GET ${moved}`]));
  });

  it('is looked through once an hour for whether one machine is meant, and one only', async () => {
    const harness = await harnesses.start();
    const { agent, target, device } = harness;
    await agent.read(target());
    const members = [{ '@odata.id': SYSTEM_PATH }, { '@odata.id': '/redfish/v1/Systems/2' }];
    Object.assign(device.tree['/redfish/v1/Systems'] ?? {}, { Members: members });
    expect(await asked(harness, () => agent.read(target()))).not.toContain(SYSTEMS);
    await clock.advance(3_600_000);
    await asked(harness, async () => expect((await agentFailure(agent.read(target({ isProbe: true })))).kind).toBe('Misconfigured'));
  });

  it('shows its certificate in each probe', async () => {
    const harness = await harnesses.start();
    const { agent, target, server } = harness;
    await agent.read(target());
    await asked(harness, () => agent.read(target({ isProbe: true })));
    expect(server.resumed()).toBe(0);
    await asked(harness, () => agent.read(target()));
    expect(server.resumed()).toBe(1);
  });

  it('is asked once an hour when its account ends, and at the next probe where it did not say', async () => {
    const accounts = '/redfish/v1/AccountService';
    const device = {
      extra: {
        '/redfish/v1': {
          Systems: { '@odata.id': '/redfish/v1/Systems' },
          Links: { Sessions: { '@odata.id': SESSIONS_PATH } },
          AccountService: { '@odata.id': accounts },
        },
        [accounts]: { Accounts: { '@odata.id': `${accounts}/Accounts` } },
        [`${accounts}/Accounts`]: { Members: [{ '@odata.id': `${accounts}/Accounts/2` }] },
        [`${accounts}/Accounts/2`]: { UserName: 'admin', PasswordExpiration: '2027-01-02T03:04:05Z' },
      },
      faults: { failures: [{ path: accounts, status: 503, times: 1 }] },
    };
    const harness = await harnesses.start(device, { systems_uri: SYSTEM_PATH });
    const endsAt = '2027-01-02T03:04:05.000Z';
    const probe = async (credentialExpiresAt: string | undefined): Promise<void> =>
      expect((await harness.agent.read(harness.target({ isProbe: true }))).credentialExpiresAt).toBe(credentialExpiresAt);
    const isAsked = (requests: readonly string[]): boolean => requests.some((request) => request.includes('AccountService'));
    await probe(undefined);
    expect(isAsked(await asked(harness, () => probe(endsAt)))).toBe(true);
    const again = await asked(harness, () => probe(endsAt));
    expect(again).not.toContain('GET /redfish/v1');
    expect(isAsked(again)).toBe(false);
    await clock.advance(3_600_000);
    expect(isAsked(await asked(harness, () => probe(endsAt)))).toBe(true);
  });

  it('shows its certificate anew an hour later', async () => {
    const harness = await harnesses.start();
    const { agent, target, server } = harness;
    await agent.read(target());
    await clock.advance(3_600_000);
    await asked(harness, () => agent.read(target()));
    expect([server.connections(), server.resumed()]).toEqual([2, 0]);
  });

  it('is asked for its certificate under another pin or another authority', async () => {
    const harness = await harnesses.start();
    const { agent, target, server, fingerprint, parameters } = harness;
    await agent.read(target());
    const { ca = '', ...rest } = parameters;
    expect(ca).not.toBe('');
    await asked(harness, () => agent.read(target({ parameters: { ...rest, ssl_fingerprint: fingerprint } })));
    await asked(harness, async () => {
      const wrong = { ...rest, ssl_fingerprint: 'ab'.repeat(32) };
      expect((await agentFailure(agent.read(target({ parameters: wrong })))).message).toContain('not the pinned');
      const other = { ...rest, ca: createAuthority('another').certificatePem };
      expect((await agentFailure(agent.read(target({ parameters: other })))).message).toContain('not trusted');
    });
    expect(server.resumed()).toBe(0);
    await asked(harness, () => agent.read(target({ parameters: { ...rest, ssl_fingerprint: fingerprint } })));
    expect(server.resumed()).toBe(1);
  });

  it('is looked for anew where it opened sessions before and does not now, and is given a refused password once', async () => {
    const harness = await harnesses.start({}, { systems_uri: SYSTEM_PATH });
    const { agent, target, device } = harness;
    await agent.read(target());
    device.faults = { failures: [{ method: 'POST', path: SESSIONS_PATH, status: 404, times: 1 }] };
    const moved = await asked(harness, () => agent.read(target()));
    expect(moved.slice(0, 3)).toEqual([`POST ${SESSIONS_PATH}`, 'GET /redfish/v1', `POST ${SESSIONS_PATH}`]);
    device.faults = { failures: [{ method: 'POST', path: SESSIONS_PATH, status: 401, times: 1 }] };
    const refused = await asked(harness, async () => expect((await agentFailure(agent.read(target()))).kind).toBe('Refused'));
    expect(refused.filter((request) => request === `POST ${SESSIONS_PATH}`)).toHaveLength(1);
  });
});

/** A way to a device that breaks off each connection whose greeting offers a TLS session (extension pre_shared_key). */
async function unresuming(port: number): Promise<{ port: number; broken: () => number; close: () => void }> {
  let broken = 0;
  const server = createServer((near: Socket) => {
    near.on('error', () => near.destroy());
    near.once('data', (greeting: Buffer) => {
      if (greeting.includes(Buffer.from([0x00, 0x29]), 200)) {
        broken += 1;
        near.destroy();
        return;
      }
      const far = connect(port, '127.0.0.1');
      far.on('error', () => near.destroy());
      far.write(greeting);
      near.pipe(far).pipe(near);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, broken: () => broken, close: () => server.close() };
}

describe('a device that breaks off where a session is offered', () => {
  it('is greeted anew at once without one', async () => {
    const harness = await harnesses.start();
    const { agent, target, server, parameters } = harness;
    const way = await unresuming(server.port);
    const through = target({ parameters: { ...parameters, ipport: String(way.port) } });
    await agent.read(through);
    expect(way.broken()).toBe(0);
    await asked(harness, async () => expect((await agent.read(through)).state).toBe('on'));
    expect([way.broken(), server.connections(), server.resumed()]).toEqual([1, 2, 0]);
    way.close();
  });
});
