import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TraceEvent } from '../../../laws/trace.ts';
import { SystemClock } from '../../../runtime/system-clock.ts';
import { SystemRandom } from '../../../runtime/system-random.ts';
import { createAuthority } from '../../certificates.ts';
import { startBmcServer } from '../../devices/bmc/bmc-server.ts';
import type { BmcFaults } from '../../devices/bmc/faults.ts';
import { MemoryMachine } from '../../devices/bmc/power-backend.ts';
import { RedfishDevice } from '../../devices/bmc/redfish-device.ts';
import { resourceTree } from '../../devices/bmc/tree.ts';
import { startTestServer } from '../../devices/ipmi/rmcp/test-server.ts';
import { IpmiPower } from './ipmi-power.ts';
import { BmcPower } from './host-power.ts';
import type { HostDevice } from './host-power.ts';

const authority = createAuthority('test bed');
const ADMIN = { username: 'admin', password: 'secret' };

interface Site {
  protocol: HostDevice['protocol'];
  port: number;
  machine: MemoryMachine;
  refuse(): void;
  close(): Promise<void>;
}

async function redfish(faults: BmcFaults = {}): Promise<Site> {
  const machine = new MemoryMachine('on');
  const device = new RedfishDevice({
    clock: new SystemClock(),
    random: new SystemRandom(),
    node: 'a',
    users: { [ADMIN.username]: ADMIN.password },
    tree: resourceTree({ uuid: null }),
    backend: machine,
    faults,
  });
  const { port, close } = await startBmcServer(device, { certificate: authority.issue({ commonName: 'bmc', hosts: ['127.0.0.1'] }) });
  const refuse = (): void => device.accounts.changePassword(ADMIN.username, 'another');
  return { protocol: 'redfish', port, machine, refuse, close };
}

async function ipmi(): Promise<Site> {
  const { port, machine, device, close } = await startTestServer();
  return { protocol: 'ipmi', port, machine, refuse: () => device.login.changePassword(ADMIN.username, 'another'), close };
}

describe.each([
  ['redfish', redfish],
  ['ipmi', ipmi],
] as const)('the power of a host by %s', (_, start) => {
  let site: Site;
  let power: BmcPower;
  const told: TraceEvent[] = [];

  beforeEach(async () => {
    told.length = 0;
    site = await start();
    const host = { protocol: site.protocol, host: '127.0.0.1', port: site.port, ...ADMIN, caPem: authority.certificatePem };
    power = new BmcPower({ a: host }, { clock: new SystemClock(), trace: (event) => told.push(event) });
  });
  afterEach(() => site.close());

  it('is read and switched', async () => {
    expect(await power.read('a')).toBe('on');
    await power.set('a', 'off');
    expect([site.machine.state(), await power.read('a')]).toEqual(['off', 'off']);
    await power.set('a', 'on');
    expect([site.machine.state(), await power.read('a')]).toEqual(['on', 'on']);
  });

  it('is told in the trace, set by set, with the device', async () => {
    await power.set('a', 'off');
    await power.read('a');
    expect(told).toEqual([expect.objectContaining({ kind: 'operator', node: 'a', device: `127.0.0.1:${String(site.port)}`, want: 'off' })]);
  });

  it('fails aloud where the BMC has another password, and switches nothing', async () => {
    site.refuse();
    await expect(power.set('a', 'off')).rejects.toThrow(/HTTP 401|status|password/);
    await expect(power.read('a')).rejects.toThrow(/HTTP 401|status|password/);
    expect([site.machine.state(), told.length]).toEqual(['on', 1]);
  });

  it('knows no other node', async () => {
    await expect(power.read('b')).rejects.toThrow('no BMC of b');
  });
});

it('takes no power state for granted that a Redfish service does not show', async () => {
  const site = await redfish({ shows: 'PoweringOff' });
  const host: HostDevice = { protocol: 'redfish', host: '127.0.0.1', port: site.port, ...ADMIN, caPem: authority.certificatePem };
  const power = new BmcPower({ a: host }, { clock: new SystemClock(), trace: () => undefined });
  expect(await power.read('a')).toBe('unknown');
  await site.close();
});

it('gives up an IPMI BMC that says nothing, and hears one whose first answer is lost', async () => {
  const server = await startTestServer();
  const address = { host: '127.0.0.1', port: server.port, ...ADMIN, caPem: '' };
  server.wire.hears = () => (server.heard.length === 1 ? [] : server.answers.slice(-1));
  expect(await new IpmiPower(address, 5_000).read()).toBe('on');
  server.wire.arrives = () => false;
  await expect(new IpmiPower(address, 50).read()).rejects.toThrow('does not answer');
  await server.close();
});
