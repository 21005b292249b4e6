import { afterEach, describe, expect, it } from 'vitest';

import { SnmpDevice } from '../../src/testbed/devices/snmp/snmp-device.ts';
import { Tree } from '../../src/testbed/devices/snmp/tree.ts';
import { AgentError, type Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { fcSwitch } from '../fc-switch/definition.ts';
import { EthernetSwitchAgent } from './agent.ts';

const clock = new SystemClock();
const COMMUNITY = 'a community that writes';

interface Row {
  index: number;
  name: string;
  alias: string;
  admin: number;
  oper: number;
  /** What a SET makes of ifOperStatus; absent: it follows. */
  stays?: number;
}

const open: { agent: EthernetSwitchAgent; device: SnmpDevice }[] = [];

afterEach(async () => {
  for (const { agent, device } of open.splice(0)) {
    await agent.close();
    await device.close();
  }
});

async function scene(rows: Row[]) {
  const tree = new Tree();
  tree.put('1.3.6.1.2.1.1.3.0', { read: () => ({ integer: Math.floor(clock.monotonicMs() / 10) }) });
  const put = (row: Row): void => {
    tree.put(`1.3.6.1.2.1.2.2.1.2.${row.index}`, { read: () => ({ text: `description of ${row.name}` }) });
    tree.put(`1.3.6.1.2.1.2.2.1.7.${row.index}`, {
      read: () => ({ integer: row.admin }),
      set: (value) => {
        row.admin = value;
        row.oper = row.stays ?? value;
        return 0;
      },
    });
    tree.put(`1.3.6.1.2.1.2.2.1.8.${row.index}`, { read: () => ({ integer: row.oper }) });
    tree.put(`1.3.6.1.2.1.31.1.1.1.1.${row.index}`, { read: () => ({ text: row.name }) });
    tree.put(`1.3.6.1.2.1.31.1.1.1.18.${row.index}`, { read: () => ({ text: row.alias }) });
  };
  rows.forEach(put);
  const device = await SnmpDevice.start({ tree, clock, writeCommunity: COMMUNITY });
  const agent = new EthernetSwitchAgent(clock);
  open.push({ agent, device });
  const target = (plug: string, parameters: Record<string, string> = {}, changes: Partial<Target> = {}): Target => ({
    plug,
    device: `127.0.0.1:${device.port}`,
    parameters: { ip: '127.0.0.1', ipport: String(device.port), community: COMMUNITY, port_alias: '{node}', ...parameters },
    identity: { node: 'worker-1' },
    signal: new AbortController().signal,
    deadlineMs: 30_000,
    beforeSend: () => undefined,
    ...changes,
  });
  return { agent, device, target };
}

function port(changes: Partial<Row> = {}): Row {
  return { index: 7, name: 'Ethernet7', alias: 'worker-1 eth0', admin: 1, oper: 1, ...changes };
}

async function failure(promise: Promise<unknown>): Promise<AgentError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof AgentError) return error;
  throw new Error(`no AgentError: ${String(error)}`);
}

describe('a port by the IF-MIB', { timeout: 60_000 }, () => {
  it('is closed, read back and opened', async () => {
    const row = port();
    const { agent, target } = await scene([row, port({ index: 8, name: 'Ethernet71', alias: 'worker-2' })]);
    expect(await agent.read(target('Ethernet7'))).toMatchObject({ state: 'open', identity: 'verified' });
    expect(await agent.set(target('Ethernet7'), 'closed')).toMatchObject({ result: 'accepted' });
    expect(await agent.read(target('Ethernet7'))).toMatchObject({
      state: 'closed',
      detail: 'Ethernet7 ifIndex=7 ifAdminStatus=down(2) ifOperStatus=down(2)',
    });
    await agent.set(target('Ethernet7'), 'open');
    expect([row.admin, row.oper]).toEqual([1, 1]);
  });

  it('is never an interface of the switch itself, whatever led to it', async () => {
    const row = port({ name: 'mgmt0', alias: 'worker-1' });
    const { agent, target } = await scene([row]);
    for (const call of [
      () => agent.read(target('worker-1', { find_by: 'ifalias' })),
      () => agent.set(target('worker-1', { find_by: 'ifalias' }), 'closed'),
      () => agent.set(target('description of mgmt0'), 'closed'),
    ]) {
      const error = await failure(call());
      expect([error.kind, error.message.includes('an interface of the switch itself')]).toEqual(['Misconfigured', true]);
    }
    expect(row.admin).toBe(1);
  });

  it.each([
    [1, 1, 'open'],
    [1, 2, 'open'],
    [1, 6, 'open'],
    [1, 7, 'open'],
    [2, 2, 'closed'],
    [2, 7, 'closed'],
    [2, 1, 'pending'],
    [2, 5, 'pending'],
    [2, 6, 'unknown'],
    [2, 3, 'unknown'],
    [2, 4, 'unknown'],
    [2, 0, 'unknown'],
    [2, 8, 'unknown'],
    [3, 2, 'unknown'],
    [1, 3, 'unknown'],
    [0, 2, 'unknown'],
  ])('with ifAdminStatus %i and ifOperStatus %i is %s', async (admin, oper, state) => {
    const { agent, target } = await scene([port({ admin, oper })]);
    expect(await agent.read(target('Ethernet7'))).toMatchObject({ state });
  });

  it('that is configured down and stays up is pending', async () => {
    const { agent, target } = await scene([port({ stays: 1 })]);
    await agent.set(target('Ethernet7'), 'closed');
    expect(await agent.read(target('Ethernet7'))).toMatchObject({ state: 'pending' });
  });

  it('is found anew after its index went to another one', async () => {
    const [mine, other] = [port(), port({ index: 8, name: 'Ethernet8', alias: 'worker-2' })];
    const { agent, target } = await scene([mine, other]);
    await agent.read(target('Ethernet7'));
    [mine.name, other.name, mine.alias, other.alias] = ['Ethernet8', 'Ethernet7', 'worker-2', 'worker-1 eth0'];
    await agent.set(target('Ethernet7'), 'closed');
    expect([mine.admin, other.admin]).toEqual([1, 2]);
  });

  it('is found by its ifDescr too, and by its ifAlias where that is asked for', async () => {
    const { agent, target } = await scene([port()]);
    expect(await agent.read(target('description of Ethernet7'))).toMatchObject({ state: 'open' });
    expect(await agent.read(target('worker-1 eth0', { find_by: 'ifalias' }))).toMatchObject({ state: 'open' });
    expect(await failure(agent.read(target('worker-1 eth0')))).toMatchObject({ kind: 'Misconfigured' });
  });

  it('that shares its name with another one is not touched', async () => {
    const { agent, device, target } = await scene([port(), port({ index: 9 })]);
    const error = await failure(agent.set(target('Ethernet7'), 'closed'));
    expect(error).toMatchObject({ kind: 'Misconfigured' });
    expect(error.message).toContain('ifIndex 7, 9');
    expect(device.sets).toEqual([]);
  });

  it('of another machine, or of no known state, is not touched', async () => {
    for (const row of [port({ alias: 'worker-11' }), port({ oper: 4 })]) {
      const { agent, device, target } = await scene([row]);
      await failure(agent.set(target('Ethernet7'), 'closed'));
      expect(device.sets).toEqual([]);
    }
  });

  it('is not touched when the lease is lost in the turn of the send', async () => {
    const { agent, device, target } = await scene([port()]);
    const beforeSend = (): void => {
      throw new AgentError('NotSent', { device: '', plug: '', asked: '', answered: 'no lease' });
    };
    expect(await failure(agent.set(target('Ethernet7', {}, { beforeSend }), 'closed'))).toMatchObject({ kind: 'NotSent' });
    expect(device.sets).toEqual([]);
  });

  it('is listed with its alias and its state', async () => {
    const { agent, target } = await scene([port(), port({ index: 8, name: 'Ethernet8', alias: '', admin: 2, oper: 2 })]);
    expect(await agent.list(target(''))).toEqual([
      { plug: 'Ethernet7', alias: 'worker-1 eth0', state: 'open' },
      { plug: 'Ethernet8', state: 'closed' },
    ]);
  });
});

describe('a Cisco MDS over SNMP', { timeout: 60_000 }, () => {
  it('is closed by the ifName of its port', async () => {
    const row = port({ index: 0x1004000, name: 'fc1/7' });
    const { target } = await scene([row]);
    const agent = await fcSwitch.create({ cluster: {} as never, clock });
    if (agent.kind !== 'fabric') throw new Error('no fabric agent');
    await agent.set(target('fc1/7', { transport: 'snmp' }), 'closed');
    expect(await agent.read(target('fc1/7', { transport: 'snmp' }))).toMatchObject({ state: 'closed', identity: 'verified' });
    expect(row.admin).toBe(2);
    await agent.close?.();
  });

  it('tells the start of the switch with the state: one that restarts may show every port closed', async () => {
    const { target } = await scene([port({ index: 0x1004000, name: 'fc1/7' })]);
    const agent = await fcSwitch.create({ cluster: {} as never, clock });
    if (agent.kind !== 'fabric') throw new Error('no fabric agent');
    const { boot } = await agent.read(target('fc1/7', { transport: 'snmp', bmc_boot_time: '77' }));
    expect(boot).toMatchObject({ startMaxMs: 77_000, upMs: expect.any(Number) as number });
    await agent.close?.();
  });
});
