import { afterEach, describe, expect, it } from 'vitest';

import { AgentHarnesses, agentFailure } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import { outletPath, type OutletOptions } from '../../src/testbed/devices/bmc/rack-pdu.ts';
import { RedfishAgent } from './agent.ts';

const harnesses = new AgentHarnesses((clock) => new RedfishAgent(clock));
afterEach(() => harnesses.closeAll());

const OUTLETS: readonly OutletOptions[] = [
  { id: 'A1', label: 'worker-1 left' },
  { id: 'A2', label: 'worker-2', isMetered: true },
  { id: 'A3', label: 'twice' },
  { id: 'A4', label: 'twice', isLocked: true },
  { id: 'A5', isSwitched: false },
];

function start(parameters: Readonly<Record<string, string>> = {}) {
  return harnesses.start({ pdus: { 1: OUTLETS } }, { resource: 'outlet', ...parameters });
}

describe('outlets of a rack PDU', () => {
  it.each(['A1', 'worker-1 left', 'Outlet A1', outletPath('1', 'A1')])('are switched and read back by %s, no others', async (plug) => {
    const { agent, target, outlets, device } = await start();
    const outlet = target({ plug });
    expect(await agent.read(outlet)).toMatchObject({ state: 'on', identity: 'unverified' });
    expect(await agent.set(outlet, 'off')).toMatchObject({ result: 'accepted' });
    expect(await agent.read(outlet)).toMatchObject({ state: 'off' });
    await agent.set(outlet, 'on');
    expect(device.commands).toEqual([
      { plug: 'A1', wanted: 'off' },
      { plug: 'A1', wanted: 'on' },
    ]);
    expect(Object.values(outlets).every((each) => each.state() === 'on')).toBe(true);
  });

  it('are not off while they measure a current', async () => {
    const { agent, target, device } = await start();
    const outlet = target({ plug: 'A2' });
    await agent.set(outlet, 'off');
    expect((await agent.read(outlet)).witness).toMatchObject({ state: 'off', detail: 'CurrentAmps=0' });
    device.faults = { leakAmps: 0.8 };
    expect(await agent.read(outlet)).toMatchObject({ state: 'off', witness: { state: 'on', detail: 'CurrentAmps=0.8' } });
  });

  describe('that are switched as a group', () => {
    const GROUP = '/redfish/v1/PowerEquipment/RackPDUs/1/OutletGroups/G1';
    const behind = (...ids: readonly string[]) => ({ Outlets: ids.map((id) => ({ '@odata.id': outletPath('1', id) })) });
    const group = (links: unknown) => ({
      '@odata.type': '#OutletGroup.v1_2_0.OutletGroup',
      '@odata.id': GROUP,
      Id: 'G1',
      PowerState: 'Off',
      Links: links,
      Actions: { '#OutletGroup.PowerControl': { target: `${GROUP}/Actions/OutletGroup.PowerControl` } },
    });
    const readOf = async (links: unknown, off: readonly string[], leakAmps?: number) => {
      const { agent, target, device } = await harnesses.start({ pdus: { 1: OUTLETS }, extra: { [GROUP]: group(links) } }, { resource: 'outlet' });
      for (const plug of off) await agent.set(target({ plug }), 'off');
      if (leakAmps !== undefined) device.faults = { leakAmps };
      return agent.read(target({ plug: GROUP }));
    };

    it('are off where each of them is, by its own state and current', async () => {
      const reading = await readOf(behind('A1', 'A2'), ['A1', 'A2']);
      expect(reading).toMatchObject({ state: 'off', witness: { state: 'off', detail: 'A1 PowerState=Off, A2 PowerState=Off CurrentAmps=0' } });
    });

    it.each([
      ['one is on', behind('A1', 'A3'), ['A1'], undefined, 'on'],
      ['one still feeds somebody', behind('A1', 'A2'), ['A1', 'A2'], 0.8, 'on'],
      ['one is not shown', behind('A1', 'A9'), ['A1'], undefined, 'unknown'],
      ['one has no link', { Outlets: [{ '@odata.id': outletPath('1', 'A1') }, {}] }, ['A1'], undefined, 'unknown'],
      ['none is named', behind(), [], undefined, 'unknown'],
      ['not all are named', { ...behind('A1'), 'Outlets@odata.count': 2 }, ['A1'], undefined, 'unknown'],
      ['nothing is said of them', undefined, [], undefined, 'unknown'],
    ] as const)('are not off, whatever the group says, where %s', async (_what, links, off, leakAmps, state) => {
      expect(await readOf(links, off, leakAmps)).toMatchObject({ state: 'off', witness: { state } });
    });
  });

  it('are refused where they are locked, or no switched outlets, with nothing sent', async () => {
    const { agent, target, device } = await start();
    expect((await agentFailure(agent.set(target({ plug: 'A4' }), 'off'))).message).toContain('PowerControlLocked=true');
    expect(await agentFailure(agent.set(target({ plug: 'A5' }), 'off'))).toMatchObject({ kind: 'Refused' });
    expect(await agentFailure(agent.diagnose(target({ plug: 'A1' })))).toMatchObject({ kind: 'Misconfigured' });
    expect(device.commands).toEqual([]);
  });

  it('are never guessed: no plug, a name that nobody has, a name that two have', async () => {
    const { agent, target } = await start();
    for (const [plug, words] of [
      ['', 'plug is missing'],
      ['A9', 'no outlet is called A9'],
      ['twice', `more than one outlet is called twice; there are ${outletPath('1', 'A3')}, ${outletPath('1', 'A4')}`],
    ] as const) {
      const error = await agentFailure(agent.read(target({ plug })));
      expect(error.kind).toBe('Misconfigured');
      expect(error.message).toContain(words);
    }
  });

  it('are not taken by a name where not all are looked at: the rest may hold another one of that name', async () => {
    const many = Array.from({ length: 130 }, (_, index) => ({ id: `B${index}`, label: index === 0 || index === 129 ? 'worker-7' : `rack ${index}` }));
    const { agent, target, device, outlets } = await harnesses.start({ pdus: { 1: many } }, { resource: 'outlet' });
    for (const call of [agent.read(target({ plug: 'worker-7' })), agent.set(target({ plug: 'worker-7' }), 'off')]) {
      const error = await agentFailure(call);
      expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringContaining('too many to look at the name of each')]);
    }
    expect(device.commands).toEqual([]);
    await agent.set(target({ plug: 'B129' }), 'off');
    expect(outlets[outletPath('1', 'B129')]?.state()).toBe('off');
  });

  it('are not taken by a name where the pages come to no end', async () => {
    const { agent, target, device } = await start();
    const tree = device.tree as Record<string, Record<string, unknown>>;
    const path = '/redfish/v1/PowerEquipment/RackPDUs/1/Outlets';
    for (let page = 0; page < 20; page += 1)
      tree[page === 0 ? path : `${path}/page${page}`] = {
        Members: page === 0 ? [{ '@odata.id': outletPath('1', 'A1') }] : [],
        'Members@odata.nextLink': `${path}/page${page + 1}`,
      };
    expect((await agentFailure(agent.set(target({ plug: 'worker-1 left' }), 'off'))).message).toContain('too many to look at the name of each');
    expect(device.commands).toEqual([]);
  });

  it('are looked up anew when a name has moved to another outlet', async () => {
    const { agent, target, device, outlets } = await start();
    const outlet = target({ plug: 'worker-1 left' });
    await agent.read(outlet);
    const tree = device.tree as Record<string, Record<string, unknown>>;
    Object.assign(tree[outletPath('1', 'A1')] ?? {}, { UserLabel: 'empty' });
    Object.assign(tree[outletPath('1', 'A5')] ?? {}, { UserLabel: 'empty too' });
    Object.assign(tree[outletPath('1', 'A2')] ?? {}, { UserLabel: 'worker-1 left' });
    await agent.read(outlet);
    await agent.set(outlet, 'off');
    expect(outlets[outletPath('1', 'A2')]?.state()).toBe('off');
    expect(outlets[outletPath('1', 'A1')]?.state()).toBe('on');
  });

  it('of several PDUs need the PDU named', async () => {
    const { agent, target } = await harnesses.start({ pdus: { 1: OUTLETS, 2: OUTLETS } }, { resource: 'outlet' });
    const error = await agentFailure(agent.read(target({ plug: 'A1' })));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain('the device has 2 PDUs (/redfish/v1/PowerEquipment/RackPDUs/1, /redfish/v1/PowerEquipment/RackPDUs/2)');
    const named = await harnesses.start({ pdus: { 1: OUTLETS, 2: OUTLETS } }, { resource: 'outlet', pdu: '2' });
    await named.agent.set(named.target({ plug: 'A1' }), 'off');
    expect(named.outlets[outletPath('2', 'A1')]?.state()).toBe('off');
    expect(named.outlets[outletPath('1', 'A1')]?.state()).toBe('on');
  });

  it.each([
    [null, 'unknown'],
    ['absent', 'unknown'],
    ['off', 'unknown'],
    ['PoweringOff', 'pending'],
  ] as const)('take PowerState %j for %s', async (shows, state) => {
    const { agent, target, device } = await start();
    device.faults = { shows };
    expect((await agent.read(target({ plug: 'A1' }))).state).toBe(state);
  });

  it('are listed with their labels and states', async () => {
    const { agent, target } = await start();
    await agent.set(target({ plug: 'A2' }), 'off');
    expect(await agent.list(target())).toEqual([
      { plug: 'A1', alias: 'worker-1 left', state: 'on' },
      { plug: 'A2', alias: 'worker-2', state: 'off' },
      { plug: 'A3', alias: 'twice', state: 'on' },
      { plug: 'A4', alias: 'twice', state: 'on' },
      { plug: 'A5', alias: 'Outlet A5', state: 'on' },
    ]);
  });
});
