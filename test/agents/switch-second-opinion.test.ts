import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from 'vitest';

import { EthernetSwitchAgent } from '../../agents/ethernet-switch/agent.ts';
import { areHere, freePort, runFenceAgent, startProgram } from '../../agents/pdu/testing/fixture.ts';
import { SnmpDevice } from '../../src/testbed/devices/snmp/snmp-device.ts';
import { Tree } from '../../src/testbed/devices/snmp/tree.ts';
import { AgentError, type Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';

const clock = new SystemClock();
const COMMUNITY = 'a-community-of-tests';
const IF_TABLE = '1.3.6.1.2.1.2.2.1';
const IF_X_TABLE = '1.3.6.1.2.1.31.1.1.1';
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function start(port: number): { agent: EthernetSwitchAgent; target: (plug: string) => Target } {
  const agent = new EthernetSwitchAgent(clock);
  closing.push(() => agent.close());
  const target = (plug: string): Target => ({
    plug,
    device: `127.0.0.1:${port}`,
    parameters: { ip: '127.0.0.1', ipport: String(port), community: COMMUNITY },
    identity: { node: 'worker-1' },
    signal: new AbortController().signal,
    deadlineMs: 60_000,
    beforeSend: () => undefined,
  });
  return { agent, target };
}

/** Ports 6 to 8 of a switch; 7 is Ethernet7. */
async function startSwitch(): Promise<{ port: number; admin: Map<number, number> }> {
  const tree = new Tree();
  const admin = new Map([6, 7, 8].map((index) => [index, 1]));
  for (const index of admin.keys()) {
    const status = { read: () => ({ integer: admin.get(index) ?? 0 }) };
    tree.put(`${IF_TABLE}.2.${index}`, { read: () => ({ text: `Ethernet${index}` }) });
    tree.put(`${IF_TABLE}.7.${index}`, { ...status, set: (value) => (admin.set(index, value), 0) });
    tree.put(`${IF_TABLE}.8.${index}`, status);
    tree.put(`${IF_X_TABLE}.1.${index}`, { read: () => ({ text: `Ethernet${index}` }) });
  }
  const device = await SnmpDevice.start({ tree, clock, writeCommunity: COMMUNITY });
  closing.push(() => device.close());
  return { port: device.port, admin };
}

describe.skipIf(!areHere('fence_ifmib', 'snmpget'))('fence_ifmib as a second opinion (Debian: fence-agents, snmp)', () => {
  it('reads what we set on a port, and we read what it sets', { timeout: 180_000 }, async () => {
    const { port, admin } = await startSwitch();
    const { agent, target } = start(port);
    const ask = (action: string): Promise<{ code: number | null; words: string }> =>
      runFenceAgent('fence_ifmib', { action, ip: '127.0.0.1', ipport: String(port), community: COMMUNITY, snmp_version: '2c', plug: '7' });
    for (const [state, code] of [
      ['closed', 2],
      ['open', 0],
    ] as const) {
      await agent.set(target('Ethernet7'), state);
      expect(await ask('status'), state).toMatchObject({ code });
    }
    for (const [action, state] of [
      ['off', 'closed'],
      ['on', 'open'],
    ] as const) {
      expect(await ask(action)).toMatchObject({ code: 0 });
      expect((await agent.read(target('Ethernet7'))).state).toBe(state);
    }
    expect([...admin.values()]).toEqual([1, 1, 1]);
  });
});

/** net-snmp's own agent with this machine's interfaces, which may be read and not written. */
async function startSnmpd(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-snmpd-'));
  const port = await freePort();
  writeFileSync(join(folder, 'snmpd.conf'), `rocommunity ${COMMUNITY} 127.0.0.1\n`);
  const argv = ['-f', '-Lo', '-C', '-c', join(folder, 'snmpd.conf'), '-p', join(folder, 'pid'), `udp:127.0.0.1:${port}`];
  const child = startProgram('snmpd', argv);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  closing.push(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  return port;
}

describe.skipIf(!areHere('snmpd'))("net-snmp's snmpd (Debian: snmpd)", () => {
  it("shows this machine's loopback as open, takes no SET of a reader, and has no port that it does not have", { timeout: 180_000 }, async () => {
    const { agent, target } = start(await startSnmpd());
    await expect.poll(async () => (await agent.read(target('lo')).catch(() => undefined))?.state, { timeout: 60_000 }).toBe('open');
    await expect(agent.set(target('lo'), 'closed')).rejects.toBeInstanceOf(AgentError);
    await expect(agent.read(target('no-such-port'))).rejects.toMatchObject({ kind: 'Misconfigured' });
    expect((await agent.read(target('lo'))).state).toBe('open');
  });
});
