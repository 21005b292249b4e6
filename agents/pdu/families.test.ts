import { afterEach, describe, expect, it } from 'vitest';

import { PduDevice } from '../../src/testbed/devices/snmp/pdu-device.ts';
import { PDU_KINDS } from '../../src/testbed/devices/snmp/pdu-kinds.ts';
import type { Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { PduAgent } from './agent.ts';
import { FAMILIES } from './families.ts';

const clock = new SystemClock();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function start(kind: string): Promise<{ device: PduDevice; agent: PduAgent; target: (plug: string, more?: Record<string, string>) => Target }> {
  const device = await PduDevice.start({
    kind,
    clock,
    outlets: [
      { number: 1, name: 'db-1' },
      { number: 2, name: 'db-2' },
      { number: 12, name: 'db-12' },
    ],
  });
  const agent = new PduAgent(clock);
  closing.push(
    () => agent.close(),
    () => device.close(),
  );
  return {
    device,
    agent,
    target: (plug, more = {}) => ({
      plug,
      device: `127.0.0.1:${device.port}`,
      parameters: { ip: '127.0.0.1', ipport: String(device.port), community: 'private', ...more },
      identity: { node: 'db-2' },
      signal: new AbortController().signal,
      deadlineMs: 20_000,
      beforeSend: () => undefined,
    }),
  };
}

describe('every family', () => {
  it('has an emulator that was written apart from its table', () => {
    expect(Object.keys(PDU_KINDS)).toEqual(FAMILIES.map(({ name }) => name));
  });

  for (const version of ['1', '2c']) {
    it.each(FAMILIES.map(({ name }) => name))(
      `%s is found by its sysObjectID, and switches the outlet that is meant and no other, by SNMP ${version}`,
      async (kind) => {
        const { device, agent, target } = await start(kind);
        const on = (): number[] => device.outlets.all.filter((outlet) => device.outlets.isOn(outlet)).map(({ number }) => number);
        const given = target('2', { snmp_version: version });
        expect((await agent.read(given)).state).toBe('on');
        expect(await agent.set(given, 'off')).toMatchObject({ result: 'accepted' });
        expect(on()).toEqual([1, 12]);
        expect((await agent.read(given)).state).toBe('off');
        expect((await agent.read(target('12', { snmp_version: version }))).state).toBe('on');
        await agent.set(given, 'on');
        expect(on()).toEqual([1, 2, 12]);
        expect((await agent.read(given)).state).toBe('on');
        expect(device.outlets.commands.map(({ outlet, wanted }) => `${outlet.number} ${wanted}`)).toEqual(['2 off', '2 on']);
      },
    );
  }

  it.each(FAMILIES.filter(({ label }) => label !== undefined).map(({ name }) => name))('%s takes outlets by their names', async (kind) => {
    const { device, agent, target } = await start(kind);
    const given = target('db-2', { outlet_name: '{node}' });
    await agent.set(given, 'off');
    expect(device.outlets.isOn(device.outlet(2))).toBe(false);
    expect(await agent.read(given)).toMatchObject({ state: 'off', identity: 'verified' });
    expect(device.outlets.commands).toHaveLength(1);
  });

  it.each(FAMILIES.map(({ name }) => name))('%s calls every value unknown that its MIB does not have for on, off or pending', async (kind) => {
    const { device, agent, target } = await start(kind);
    const family = FAMILIES.find(({ name }) => name === kind)!;
    const meant = [...family.state.on, ...family.state.off, ...(family.state.pending ?? [])];
    for (const value of [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 42, 2_147_483_647].filter((one) => !meant.includes(one))) {
      device.breakOutlet(1, { shows: value });
      expect([value, (await agent.read(target('1'))).state]).toEqual([value, 'unknown']);
    }
    expect(device.outlets.commands).toEqual([]);
  });

  it.each(FAMILIES.map(({ name }) => name))('%s lists its outlets', async (kind) => {
    const { device, agent, target } = await start(kind);
    device.outlets.switchByHand(device.outlet(12), false);
    const list = await agent.list(target(''));
    expect(list.map(({ state }) => state)).toEqual(['on', 'on', 'off']);
    expect(list.map(({ plug }) => plug.split('/').at(-1))).toEqual(['1', '2', '12']);
    expect(list.map(({ alias }) => alias)).toEqual(kind === 'eaton-pulizzi' ? [undefined, undefined, undefined] : ['db-1', 'db-2', 'db-12']);
  });
});
