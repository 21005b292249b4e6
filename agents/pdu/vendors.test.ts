import { afterEach, describe, expect, it } from 'vitest';

import { PduDevice } from '../../src/testbed/devices/snmp/pdu-device.ts';
import type { Outlet } from '../../src/testbed/devices/snmp/outlets.ts';
import { SnmpDevice } from '../../src/testbed/devices/snmp/snmp-device.ts';
import { Tree } from '../../src/testbed/devices/snmp/tree.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { PduAgent } from './agent.ts';
import { targetOf } from './testing/fixture.ts';

const clock = new SystemClock();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Harness {
  device: PduDevice;
  agent: PduAgent;
  target: (plug?: string, more?: Record<string, string>) => ReturnType<typeof targetOf>;
}

async function start(kind: string, outlets: readonly (Partial<Outlet> & { number: number })[] = [{ number: 1 }, { number: 2 }]): Promise<Harness> {
  const device = await PduDevice.start({ kind, outlets, clock });
  const agent = new PduAgent(clock);
  closing.push(
    () => agent.close(),
    () => device.close(),
  );
  return { device, agent, target: (plug = '1', more = {}) => targetOf(device.port, plug, { community: 'private', ...more }) };
}

/** Those whose outlets show nothing but a state are in `families.test.ts`; what else these have to agree is tried here. */
const METERED = { panduit: 'pdug5OutletCurrent', enlogic: 'pduOutletMeteredStatusCurrent', aten: 'outletIntegerCurrent', gude: 'spCurrent' } as const;

describe.each(Object.entries(METERED))('%s', (kind, source) => {
  it('is not believed that shows the command as its state while the current flows on', async () => {
    const { device, agent, target } = await start(kind);
    device.breakOutlet(1, { showsCommand: true });
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(await agent.read(target())).toMatchObject({ state: 'off', witness: { source, state: 'on', detail: '1300 mA' } });
    device.breakOutlet(1, {});
    await agent.set(target(), 'off');
    expect(await agent.read(target())).toMatchObject({ state: 'off', witness: { source, state: 'off', detail: '0 mA' } });
  });
});

describe.each(['panduit', 'enlogic', 'iboot-pdu', 'aten', 'gude'])('%s', (kind) => {
  it('is on while another outlet went off in its place, while it waits, and where it refuses', async () => {
    const { device, agent, target } = await start(kind);
    device.breakOutlet(1, { switchesInstead: 2 });
    await agent.set(target(), 'off');
    expect(await agent.read(target())).toMatchObject({ state: 'on' });
    expect((await agent.read(target('2'))).state).toBe('off');
    device.breakOutlet(1, { isPending: true });
    await agent.set(target(), 'off');
    expect(['on', 'pending']).toContain((await agent.read(target())).state);
    device.breakOutlet(1, {});
    device.faults = { setStatus: 17 };
    await expect(agent.set(target(), 'off')).rejects.toThrow(/notWritable \(17\)/u);
    expect((await agent.read(target())).state).toBe('on');
  });
});

describe('a Panduit', () => {
  it('is pending, not off, while a delayed off counts down', async () => {
    const { device, agent, target } = await start('panduit');
    device.breakOutlet(1, { isPending: true });
    expect(await agent.read(target())).toMatchObject({ state: 'pending', detail: 'pdug5OutletControlStatus=3' });
  });

  it('has the same outlet number on each unit of a chain, and switches that of the unit that is meant', async () => {
    const { device, agent, target } = await start('panduit', [
      { unit: 1, number: 1 },
      { unit: 2, number: 1 },
    ]);
    await agent.set(target('2/1'), 'off');
    expect(device.outlets.all.map((outlet) => device.outlets.isOn(outlet))).toEqual([true, false]);
    await expect(agent.set(target('1'), 'off')).rejects.toThrow(/2 outlets 1: 1\/1 .*2\/1/u);
  });
});

describe('an Enlogic', () => {
  it('is unknown, and sent nothing, where the object of its command does not know the state', async () => {
    const { device, agent, target } = await start('enlogic');
    device.outlets.switchByHand(device.outlet(1), false);
    device.breakOutlet(1, { showsElsewhere: 7 });
    expect((await agent.read(target())).state).toBe('unknown');
    await expect(agent.set(target(), 'off')).rejects.toThrow(/state unknown \(.*pduOutletSwitchedControlCommand=7\); nothing was sent/u);
    expect(device.commands).toEqual([]);
  });

  it('is not off where one of its two objects says on', async () => {
    const { device, agent, target } = await start('enlogic');
    device.breakOutlet(1, { shows: 0, showsElsewhere: 2 });
    expect((await agent.read(target())).state).toBe('unknown');
    expect((await agent.list(target(''))).map(({ state }) => state)).toEqual(['unknown', 'on']);
  });

  it('is sent nothing by a number where the row says that it is of another outlet', async () => {
    const { device, agent, target } = await start('enlogic', [{ number: 1, rowSays: 2, name: 'db' }]);
    await expect(agent.set(target(), 'off')).rejects.toThrow(/row 1\.1 is of outlet 2, and 1 is meant/u);
    expect(device.commands).toEqual([]);
    expect((await agent.read(target('db'))).state).toBe('on');
  });

  it('is not witnessed by the current of a row that bears the number of another outlet', async () => {
    const { agent, target } = await start('enlogic', [{ number: 1, meteredNumber: 2 }]);
    await agent.set(target(), 'off');
    const { state, witness } = await agent.read(target());
    expect([state, witness]).toEqual(['off', undefined]);
  });
});

describe('an iBoot-PDU', () => {
  it('is on while its relay is, whatever it says was commanded', async () => {
    const { device, agent, target } = await start('iboot-pdu');
    device.breakOutlet(1, { isStuck: true });
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(await agent.read(target())).toMatchObject({ state: 'on', detail: 'outletActualStatus=1, outletStatus=0' });
  });

  it.each([
    [2, 'pending'],
    [3, 'pending'],
    [4, 'pending'],
    [1, 'unknown'],
  ])('is not off while its relay is off and outletStatus is %i', async (showsElsewhere, state) => {
    const { device, agent, target } = await start('iboot-pdu');
    device.breakOutlet(1, { shows: 0, showsElsewhere });
    expect((await agent.read(target())).state).toBe(state);
  });

  it('switches by number only where it has row 0, and by name always', async () => {
    const { device, agent, target } = await start('iboot-pdu', [
      { number: 2, name: 'db-2' },
      { number: 3, name: 'db-3' },
    ]);
    await expect(agent.set(target('2'), 'off')).rejects.toThrow(
      /has no row 0, .*which outlet 2 is, is not told; write a name: row 1 "db-2", row 2 "db-3"/u,
    );
    expect(device.commands).toEqual([]);
    await agent.set(target('db-3'), 'off');
    expect(device.outlets.all.map((outlet) => device.outlets.isOn(outlet))).toEqual([true, false]);
    expect((await agent.list(target(''))).map(({ plug, alias, state }) => [plug, alias, state])).toEqual([
      ['row 1', 'db-2', 'on'],
      ['row 2', 'db-3', 'off'],
    ]);
  });

  it('of the generation before, an iBootBar, is refused with what it lacks', async () => {
    const tree = new Tree();
    tree.put('1.3.6.1.2.1.1.2.0', { read: () => ({ oid: '1.3.6.1.4.1.1418.4' }) });
    tree.put('1.3.6.1.4.1.1418.4.3.1.3.0', { read: () => ({ integer: 0 }) });
    const device = await SnmpDevice.start({ tree, clock, writeCommunity: 'private' });
    const agent = new PduAgent(clock);
    closing.push(
      () => agent.close(),
      () => device.close(),
    );
    const target = targetOf(device.port, '1', { community: 'private' });
    await expect(agent.read(target)).rejects.toThrow(
      /iBootBar .*is not switched: its outletStatus may be no more than what was commanded, it has no status of the physical outlet/u,
    );
    await expect(agent.set(target, 'off')).rejects.toThrow(/is not switched/u);
    expect(device.sets).toEqual([]);
  });
});

describe('an ATEN', () => {
  it('switches the outlet that is meant on both sides of the table that parts its scalars', async () => {
    const outlets = [1, 7, 8, 9, 10, 11, 42].map((number) => ({ number }));
    const { device, agent, target } = await start('aten', outlets);
    for (const number of [8, 9, 10, 42]) await agent.set(target(String(number)), 'off');
    expect(device.outlets.all.filter((outlet) => !device.outlets.isOn(outlet)).map(({ number }) => number)).toEqual([8, 9, 10, 42]);
    expect(await agent.read(target('9'))).toMatchObject({ state: 'off', detail: 'displayOutletStatus=1, outletStatus=1' });
  });

  it.each([
    [3, 'pending'],
    [4, 'pending'],
    [2, 'unknown'],
    [5, 'unknown'],
    [8, 'unknown'],
  ])('is not off while its table says off and its scalar %i', async (showsElsewhere, state) => {
    const { device, agent, target } = await start('aten');
    device.breakOutlet(1, { shows: 1, showsElsewhere });
    expect((await agent.read(target())).state).toBe(state);
  });

  it('is pending, not off, while it waits for the delay that was set on it', async () => {
    const { device, agent, target } = await start('aten');
    device.breakOutlet(1, { isPending: true });
    expect(await agent.read(target())).toMatchObject({ state: 'pending', detail: 'displayOutletStatus=3, outletStatus=3' });
  });

  it('is witnessed by no current where the model does not measure', async () => {
    const { device, agent, target } = await start('aten');
    await agent.set(target(), 'off');
    device.breakOutlet(1, { showsMilliamperes: -2_000_000 });
    const { state, witness } = await agent.read(target());
    expect([state, witness]).toEqual(['off', undefined]);
  });
});

describe('a Gude', () => {
  it('that is to switch an outlet on again by itself is sent no off, and one that is off there is not', async () => {
    const { device, agent, target } = await start('gude');
    device.breakOutlet(1, { repowersAfterS: 10 });
    await expect(agent.set(target(), 'off')).rejects.toThrow(/^Misconfigured: .*PortRepowerTime=10: the device would switch the outlet on again/u);
    expect(device.commands).toEqual([]);
    device.outlets.switchByHand(device.outlet(1), false);
    expect(await agent.read(target())).toMatchObject({ state: 'pending', detail: 'PortState=0, PortRepowerTime=10' });
    expect(await agent.set(target(), 'on')).toMatchObject({ result: 'accepted' });
    expect(await agent.read(target())).toMatchObject({ state: 'on' });
  });

  it('is witnessed by the meter of the outlet itself, whether its rows begin with 0 or with 1', async () => {
    for (const shift of [0, -1]) {
      const { agent, device, target } = await start(
        'gude',
        [1, 2, 3].map((number) => ({ number, meterRow: number + shift })),
      );
      await agent.set(target('2'), 'off');
      expect((await agent.read(target('2'))).witness).toMatchObject({ source: 'spCurrent', state: 'off' });
      device.breakOutlet(2, { showsCommand: true });
      device.outlets.switchByHand(device.outlet(2), true);
      for (const number of [1, 3]) device.outlets.switchByHand(device.outlet(number), false);
      await agent.set(target('2'), 'off');
      expect((await agent.read(target('2'))).witness).toMatchObject({ source: 'spCurrent', state: 'on', detail: '1300 mA' });
    }
  });

  it('is witnessed by no current that was not measured', async () => {
    const { device, agent, target } = await start('gude');
    await agent.set(target(), 'off');
    device.breakOutlet(1, { isUnmeasured: true });
    const { state, witness } = await agent.read(target());
    expect([state, witness]).toEqual(['off', undefined]);
  });

  it('of another model has its tables below an arc of its own, and one that does not tell its model is refused', async () => {
    const tree = new Tree();
    let id = '1.3.6.1.4.1.28507.64';
    tree.put('1.3.6.1.2.1.1.2.0', { read: () => ({ oid: id }) });
    tree.put('1.3.6.1.4.1.28507.64.1.3.1.2.1.3.1', { read: () => ({ integer: 1 }) });
    tree.put('1.3.6.1.4.1.28507.58.1.3.1.2.1.3.1', { read: () => ({ integer: 0 }) });
    const device = await SnmpDevice.start({ tree, clock, writeCommunity: 'private' });
    const agent = new PduAgent(clock);
    closing.push(
      () => agent.close(),
      () => device.close(),
    );
    expect((await agent.read(targetOf(device.port, '1', { community: 'private' }))).state).toBe('on');
    id = '1.3.6.1.4.1.8072.3.2.10';
    const forced = targetOf(device.port, '1', { community: 'private', family: 'gude' });
    await expect(agent.read(forced)).rejects.toThrow(/sysObjectID 1\.3\.6\.1\.4\.1\.8072\.3\.2\.10 does not say which model it is/u);
  });
});
