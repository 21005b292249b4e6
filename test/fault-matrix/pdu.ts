import { readFileSync } from 'node:fs';

import { pdu } from '../../agents/pdu/definition.ts';
import type { OutletFaults } from '../../src/testbed/devices/snmp/outlets.ts';
import { PduDevice } from '../../src/testbed/devices/snmp/pdu-device.ts';
import type { SnmpFaults } from '../../src/testbed/devices/snmp/snmp-device.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { testFaultProfile } from './harness.ts';
import type { Behaviour, DeviceFixture } from './fault-profile.ts';

const clock = new SystemClock();
const COMMUNITY = 'a community that writes';
const READER = 'a community that reads';

/** Vendors in turn, so that the fault matrix meets inverted values, chains, seconds in place of states, and metered outlets. */
const KINDS: Readonly<Partial<Record<Behaviour, string>>> = {
  honest: 'apc-rpdu2',
  slow: 'apc-rpdu',
  'accepts-and-lies': 'eaton-g3',
  refuses: 'raritan',
  'state-unknown': 'apc-masterswitch',
  'state-null': 'cyberpower-epdu',
  'state-pending': 'cyberpower-epdu2',
  'flips-back-on': 'geist',
  'wrong-machine': 'sentry3',
  'one-plug-stuck': 'sentry4',
  'rate-limited': 'hpe-pdu3',
};

const WIRE: Readonly<Partial<Record<Behaviour, SnmpFaults>>> = {
  slow: { latencyMs: 2_000 },
  // It answers what it is, and nothing after that.
  'hangs-mid-answer': { mutesAfter: 1 },
  garbage: { garbage: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n') },
  truncated: { keepsBytes: 24 },
  'rate-limited': { dropsEvery: 3 },
  'late-after-deadline': { setLatencyMs: 6_000 },
};

const OUTLET: Readonly<Partial<Record<Behaviour, OutletFaults>>> = {
  slow: { actsAfterMs: 8_000 },
  'accepts-and-lies': { isStuck: true },
  'state-unknown': { shows: 4 },
  'state-null': { shows: null },
  'state-pending': { isPending: true },
  'flips-back-on': { flipsBackAfterMs: 500 },
  restarts: { restartsOnOff: 60_000 },
};

/** Sockets of this machine that are connected to the port: the device itself cannot see them. */
function socketsTo(port: number): number {
  const hexadecimal = port.toString(16).toUpperCase().padStart(4, '0');
  const lines = readFileSync('/proc/net/udp', 'utf8').split('\n').slice(1);
  return lines.filter((line) => line.trim().split(/\s+/)[2]?.endsWith(`:${hexadecimal}`) === true).length;
}

/** An outlet that only some vendors have. */
async function oddOutlet(kind: string, isOn: boolean, faults: OutletFaults): Promise<DeviceFixture> {
  const device = await PduDevice.start({
    kind,
    clock,
    isOn,
    writeCommunity: COMMUNITY,
    outlets: [{ number: 1, name: 'db-1', faults }, { number: 2 }],
  });
  return fixtureOf(device, { ip: '127.0.0.1', ipport: String(device.port), community: COMMUNITY }, ['1']);
}

function fixtureOf(device: PduDevice, parameters: DeviceFixture['parameters'], plugs: readonly string[]): DeviceFixture {
  const { port } = device;
  return {
    parameters,
    plugs,
    identity: { node: 'worker-7' },
    flows: (plug) => device.outlets.isOn(device.outlet(Number(plug))),
    commands: () => device.commands.map(({ outlet, wanted }) => ({ plug: String(outlet.number), wanted })),
    leftOpen: () => ({ sessions: 0, connections: socketsTo(port), processes: 0 }),
    close: () => device.close(),
  };
}

testFaultProfile({
  agent: pdu,
  cannot: {
    'wrong-certificate': 'SNMP has no certificates; a wrong key of SNMP 3 is in the tests of the client',
    'session-limit': 'SNMP over UDP has no sessions that could be used up',
  },
  words: {
    'accepts-and-lies': /outletControlStatus=[01]/u,
    refuses: /noAccess \(6\)/u,
    'wrong-credentials': /no answer by SNMP 2c .*wrong community/u,
    unreachable: /ECONNREFUSED/u,
    'hangs-mid-answer': /no answer by SNMP 2c/u,
    garbage: /no SNMP message/u,
    truncated: /24 bytes that are no SNMP message/u,
    'state-unknown': /sPDUOutletCtl=4/u,
    'state-null': /ePDUOutletStatusOutletState=\(null/u,
    'state-pending': /CommandPending=1/u,
    'flips-back-on': /pduOutletSwitchState=1/u,
    restarts: /its sysUpTime started again/u,
    'wrong-machine': /the outlet is named "db-1", but outlet_name is "worker-7"/u,
    // A SET that was dropped is not sent again.
    'rate-limited': /no answer by SNMP 2c|pdu3OutletControlStatus=/u,
    'one-plug-stuck': /method-2: st4OutletState=/u,
    'late-after-deadline': /no answer|State=/u,
  },
  oddities: [
    {
      name: 'is a Panduit that shows its command as its state while the current flows on',
      like: 'flips-back-on',
      words: /pdug5OutletCurrent.*1300 mA/u,
      spawn: (isOn) => oddOutlet('panduit', isOn, isOn ? { showsCommand: true } : {}),
    },
    {
      name: 'is an Enlogic that shows its command as its state while the current flows on',
      like: 'flips-back-on',
      words: /pduOutletMeteredStatusCurrent.*1300 mA/u,
      spawn: (isOn) => oddOutlet('enlogic', isOn, isOn ? { showsCommand: true } : {}),
    },
    {
      name: 'is an Enlogic that cannot tell the state of its outlet',
      like: 'state-unknown',
      words: /pduOutletSwitchedControlCommand=7/u,
      spawn: (isOn) => oddOutlet('enlogic', isOn, { showsElsewhere: 7 }),
    },
    {
      name: 'is an iBoot-PDU whose relay does not do what its outletStatus says',
      like: 'accepts-and-lies',
      words: /outletActualStatus=[01]/u,
      spawn: (isOn) => oddOutlet('iboot-pdu', isOn, { isStuck: true }),
    },
    {
      name: 'is an ATEN that waits 3 s, pending, before it does what it is told',
      like: 'honest',
      spawn: (isOn) => oddOutlet('aten', isOn, { actsAfterMs: 3_000 }),
    },
    {
      name: 'is an ATEN that shows its command as its state while the current flows on',
      like: 'flips-back-on',
      words: /outletIntegerCurrent.*1300 mA/u,
      spawn: (isOn) => oddOutlet('aten', isOn, isOn ? { showsCommand: true } : {}),
    },
    {
      name: 'is a Gude that is set to switch the outlet on again 1 s after an off',
      like: 'flips-back-on',
      words: /PortRepowerTime=1/u,
      spawn: (isOn) => oddOutlet('gude', isOn, { repowersAfterS: 1 }),
    },
    {
      name: 'is a Gude that shows its command as its state while the current flows on',
      like: 'flips-back-on',
      words: /spCurrent.*1300 mA/u,
      spawn: (isOn) => oddOutlet('gude', isOn, isOn ? { showsCommand: true } : {}),
    },
  ],
  async spawn(behaviour, isOn) {
    const isPair = behaviour === 'one-plug-stuck';
    const device = await PduDevice.start({
      kind: KINDS[behaviour] ?? 'apc-rpdu2',
      clock,
      isOn,
      writeCommunity: COMMUNITY,
      readCommunity: READER,
      outlets: [1, 2, 3].map((number) => ({
        number,
        name: `db-${number}`,
        faults: { ...OUTLET[behaviour], isStuck: OUTLET[behaviour]?.isStuck ?? (isPair && number === 2) },
      })),
      ...(WIRE[behaviour] === undefined ? {} : { faults: WIRE[behaviour] }),
    });
    const { port } = device;
    const community = behaviour === 'refuses' ? READER : behaviour === 'wrong-credentials' ? 'a community of nobody' : COMMUNITY;
    const parameters = {
      ip: '127.0.0.1',
      ipport: String(port),
      community,
      ...(behaviour === 'wrong-machine' ? { outlet_name: '{node}' } : {}),
    };
    const fixture = fixtureOf(device, parameters, isPair ? ['1', '2'] : ['1']);
    if (behaviour !== 'unreachable') return fixture;
    await device.close();
    return { ...fixture, close: async () => undefined };
  },
});
