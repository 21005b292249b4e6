import { redfish } from '../../agents/redfish/definition.ts';
import { HARNESS_UUID, startBmcHarness } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import type { HarnessOptions, BmcHarness } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import type { BmcFaults } from '../../src/testbed/devices/bmc/faults.ts';
import { outletPath } from '../../src/testbed/devices/bmc/rack-pdu.ts';
import { RESET_PATH, SESSIONS_PATH, SYSTEM_PATH } from '../../src/testbed/devices/bmc/tree.ts';
import type { Behaviour, FaultProfile, DeviceFixture } from './fault-profile.ts';

/** What is wrong with the device, for each behaviour that is more than a wrong parameter. */
const FAULTS: Readonly<Partial<Record<Behaviour, BmcFaults>>> = {
  slow: { answerDelayMs: 2_000, offDelayMs: 8_000, onDelayMs: 8_000 },
  'accepts-and-lies': { ignoresReset: true },
  'hangs-mid-answer': { stallsBody: true },
  garbage: { noise: true },
  truncated: { garbage: true },
  'state-unknown': { shows: 'Paused', chassisShows: 'Paused' },
  'state-null': { shows: null, chassisShows: null },
  'flips-back-on': { restoresAfterMs: 500 },
  restarts: { restartsOnOff: 60_000 },
  'session-limit': {
    failures: [{ method: 'POST', path: SESSIONS_PATH, status: 503, message: 'RAC0218: The maximum number of user sessions is reached.' }],
  },
  'rate-limited': { requestsPerSecond: 3 },
  'one-plug-stuck': { stuckOutlets: ['2'] },
  'late-after-deadline': { commandDelayMs: 6_000, offDelayMs: 6_000, onDelayMs: 6_000 },
};

/** Login and identity cost a slow device one answer each: what is left of 8 s is for the state. */
const SLOW = { auth: 'basic', systems_uri: SYSTEM_PATH, chassis_witness: 'no' };

function parametersOf(behaviour: Behaviour, bmc: BmcHarness): Record<string, string> {
  if (behaviour === 'wrong-credentials') return { ...bmc.parameters, password: 'another password' };
  return behaviour === 'slow' ? { ...bmc.parameters, ...SLOW } : bmc.parameters;
}

function optionsOf(behaviour: Behaviour, isOn: boolean): HarnessOptions {
  const faults = FAULTS[behaviour] ?? {};
  const pending = behaviour === 'state-pending' ? { shows: isOn ? 'PoweringOff' : 'PoweringOn' } : {};
  return {
    state: isOn ? 'on' : 'off',
    faults: { ...faults, ...pending },
    ...(behaviour === 'wrong-certificate' ? { certificate: 'foreign' } : {}),
  };
}

function fixtureOf(bmc: BmcHarness, facts: Pick<DeviceFixture, 'parameters' | 'plugs' | 'identity' | 'flows'>): DeviceFixture {
  return {
    ...facts,
    commands: () => bmc.device.commands,
    leftOpen: () => ({ sessions: bmc.device.accounts.openSessions, connections: bmc.server.open(), processes: 0 }),
    close: () => bmc.close(),
  };
}

/** Off, and the port that it had closed. */
async function unreachable(bmc: BmcHarness): Promise<void> {
  await bmc.close();
}

/** A machine behind a BMC with these faults, and what its method says besides. */
async function oddBmc(isOn: boolean, faults: BmcFaults, own: (bmc: BmcHarness) => Record<string, string>): Promise<DeviceFixture> {
  const bmc = await startBmcHarness({ state: isOn ? 'on' : 'off', faults });
  return fixtureOf(bmc, {
    parameters: { ...bmc.parameters, ...own(bmc) },
    plugs: [''],
    identity: { node: 'a', systemUUID: HARNESS_UUID },
    flows: () => bmc.machine.state() === 'on',
  });
}

/** A BMC of several systems; `plug` names one of them. */
async function systemNamed(isOn: boolean, plug: string): Promise<DeviceFixture> {
  const otherSystems = { HGX: '11111111-2222-3333-4444-555555555555' };
  const bmc = await startBmcHarness({ state: isOn ? 'on' : 'off', tree: { otherSystems } });
  return fixtureOf(bmc, {
    parameters: bmc.parameters,
    plugs: [plug],
    identity: { node: 'a', systemUUID: HARNESS_UUID },
    flows: () => bmc.machine.state() === 'on',
  });
}

/** A machine behind a BMC. */
export const bmcs: FaultProfile = {
  agent: redfish,
  cannot: { 'one-plug-stuck': 'a ComputerSystem is one plug; two outlets of a PDU show it, see the outlets' },
  words: {
    'accepts-and-lies': /PowerState=O(n|ff)/u,
    refuses: /HTTP 403: .*Insufficient privilege/u,
    'wrong-credentials': /HTTP 401: .*invalid user name or password/u,
    'wrong-certificate': /not trusted: .*(self-signed|unable to|certificate)/u,
    unreachable: /ECONNREFUSED/u,
    'hangs-mid-answer': /no (complete )?answer within 4000 ms/u,
    garbage: /no JSON/u,
    truncated: /no JSON/u,
    'state-unknown': /PowerState=Paused/u,
    'state-null': /PowerState=null/u,
    'state-pending': /PowerState=Powering/u,
    'flips-back-on': /PowerState=On/u,
    restarts: /the device restarted/u,
    'wrong-machine': new RegExp(HARNESS_UUID, 'u'),
    'session-limit': /RAC0218/u,
    'rate-limited': /HTTP 429: .*Too many requests|PowerState=/u,
    'late-after-deadline': /PowerState=|no (complete )?answer within 4000 ms/u,
  },
  oddities: [
    {
      name: 'shows several systems, of which plug names the one that is meant',
      like: 'honest',
      spawn: (isOn) => systemNamed(isOn, '1'),
    },
    {
      name: 'shows several systems, of which plug names that of another machine',
      like: 'wrong-machine',
      words: /11111111-2222-3333-4444-555555555555/u,
      spawn: (isOn) => systemNamed(isOn, 'HGX'),
    },
    {
      name: 'opens no session before it has seen a login',
      like: 'wrong-credentials',
      words: /set auth=basic/u,
      spawn: (isOn) => oddBmc(isOn, { failures: [{ path: '/redfish/v1', status: 401 }] }, () => ({ auth: 'auto' })),
    },
    {
      name: 'has no sessions, closes each connection and is known by a pinned certificate',
      like: 'honest',
      spawn: (isOn) =>
        oddBmc(isOn, { closesConnections: true, failures: [{ method: 'POST', path: SESSIONS_PATH, status: 405 }] }, (bmc) => ({
          ssl_fingerprint: bmc.fingerprint,
        })),
    },
    {
      name: 'has a Chassis that always says On',
      like: 'flips-back-on',
      words: /Chassis.*PowerState=On.*chassis_witness=no/u,
      spawn: (isOn) => oddBmc(isOn, { chassisShows: 'On' }, () => ({})),
    },
  ],
  async spawn(behaviour, isOn) {
    const options = optionsOf(behaviour, isOn);
    if (behaviour === 'refuses')
      options.faults = { failures: [{ method: 'POST', path: RESET_PATH, status: 403, message: 'Insufficient privilege to perform the operation.' }] };
    const bmc = await startBmcHarness(options);
    if (behaviour === 'unreachable') await unreachable(bmc);
    const systemUUID = behaviour === 'wrong-machine' ? '4c4c4544-0030-5210-8047-c6c04f5a4333' : HARNESS_UUID;
    return fixtureOf(bmc, {
      parameters: parametersOf(behaviour, bmc),
      plugs: [''],
      identity: { node: 'a', systemUUID },
      flows: () => bmc.machine.state() === 'on',
    });
  },
};

/** Outlets of a rack PDU that speaks Redfish. */
export const outlets: FaultProfile = {
  agent: redfish,
  cannot: { 'wrong-machine': 'an outlet does not show whose machine hangs on it; its identity is unverified' },
  words: {
    ...bmcs.words,
    refuses: /PowerControlLocked=true/u,
    'one-plug-stuck': /PowerState=O(n|ff)/u,
  },
  async spawn(behaviour, isOn) {
    const plugs = behaviour === 'one-plug-stuck' ? ['1', '2'] : ['1'];
    const isLocked = behaviour === 'refuses';
    const bmc = await startBmcHarness({ ...optionsOf(behaviour, isOn), pdus: { A: plugs.map((id) => ({ id, isMetered: true, isLocked })) } });
    if (behaviour === 'unreachable') await unreachable(bmc);
    const slow = behaviour === 'slow' ? { auth: 'basic' } : {};
    const { systems_uri: _uri, ...parameters } = parametersOf(behaviour, bmc) as Record<string, string> & { systems_uri?: string };
    return fixtureOf(bmc, {
      parameters: { ...parameters, ...slow, resource: 'outlet' },
      plugs: behaviour === 'slow' ? [outletPath('A', '1')] : plugs,
      identity: { node: 'a' },
      flows: (plug) => bmc.outlets[plug.startsWith('/') ? plug : outletPath('A', plug)]?.state() === 'on',
    });
  },
};
