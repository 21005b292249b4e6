import { afterEach, describe, expect, it } from 'vitest';

import { SnmpDevice } from '../../src/testbed/devices/snmp/snmp-device.ts';
import { Tree } from '../../src/testbed/devices/snmp/tree.ts';
import { PduDevice, type PduDeviceOptions } from '../../src/testbed/devices/snmp/pdu-device.ts';
import { AgentError } from '../../src/ports/agents.ts';
import type { Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { PduAgent } from './agent.ts';
import { targetOf } from './testing/fixture.ts';

const clock = new SystemClock();
const COMMUNITY = 'a community of the tests';
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

type Start = Omit<PduDeviceOptions, 'clock' | 'writeCommunity'>;

async function start(
  options: Start,
): Promise<{ device: PduDevice; agent: PduAgent; target: (plug: string, more?: Record<string, string>) => Target }> {
  const device = await PduDevice.start({ ...options, clock, writeCommunity: COMMUNITY });
  const agent = new PduAgent(clock);
  closing.push(
    () => agent.close(),
    () => device.close(),
  );
  return { device, agent, target: (plug, more = {}) => targetOf(device.port, plug, { community: COMMUNITY, snmp_timeout: '3', ...more }) };
}

async function failure(promise: Promise<unknown>): Promise<AgentError> {
  const error: unknown = await promise.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AgentError)) throw error;
  expect(error.message).not.toContain(COMMUNITY);
  return error;
}

const CHAIN: Start = {
  kind: 'apc-rpdu2',
  outlets: [
    { unit: 1, number: 1, name: 'a' },
    { unit: 1, number: 2, name: 'b' },
    { unit: 2, number: 1, name: 'c' },
    { unit: 2, number: 3, name: 'd' },
  ],
};

describe('the outlet that a plug means', () => {
  it('is of the unit that is written, in a chain', async () => {
    const { device, agent, target } = await start(CHAIN);
    await agent.set(target('2/1'), 'off');
    expect(device.outlets.all.map((outlet) => device.outlets.isOn(outlet))).toEqual([true, true, false, true]);
    await agent.set(target('1', { switch: '1' }), 'off');
    expect(device.outlets.all.map((outlet) => device.outlets.isOn(outlet))).toEqual([false, true, false, true]);
  });

  it('is witnessed by a current of its own unit only: the row of another unit with the same outlet number says nothing of it', async () => {
    for (const kind of ['apc-rpdu2', 'cyberpower-epdu2']) {
      const outlets = [
        { unit: 1, number: 1, meteredUnit: 1 },
        { unit: 2, number: 1, meteredUnit: 1 },
      ];
      const { agent, target } = await start({ kind, outlets, isOn: false });
      expect((await agent.read(target('1/1'))).witness).toMatchObject({ state: 'off' });
      expect(await agent.read(target('2/1'))).toMatchObject({ state: 'off' });
      expect((await agent.read(target('2/1'))).witness).toBeUndefined();
    }
  });

  it('may leave out the unit where one only has that number, and is refused with both where two have it', async () => {
    const { device, agent, target } = await start(CHAIN);
    expect((await agent.read(target('3'))).state).toBe('on');
    const error = await failure(agent.set(target('1'), 'off'));
    expect(error.message).toMatch(/^Misconfigured: .*2 outlets 1: 1\/1 "a", 2\/1 "c"/);
    expect(device.commands).toEqual([]);
  });

  it('is refused where two bear the name, where none does, and where no such number is', async () => {
    const { device, agent, target } = await start({
      kind: 'sentry3',
      outlets: [1, 2, 3].map((number) => ({ number, name: number === 1 ? 'web' : 'db' })),
    });
    expect((await failure(agent.set(target('db'), 'off'))).message).toMatch(/2 outlets named "db": 1\/1\/2 "db", 1\/1\/3 "db"/);
    expect((await failure(agent.set(target('mail'), 'off'))).message).toMatch(/no outlet named "mail"; it has 1\/1\/1 "web"/);
    expect((await failure(agent.set(target('1/1/9'), 'off'))).message).toMatch(/no outlet 1\/1\/9: outletStatus\.1\.1\.9 is missing/);
    expect((await failure(agent.set(target(' '), 'off'))).message).toMatch(/plug is missing/);
    expect(device.commands).toEqual([]);
  });

  it('follows its name when people move it, and is refused when the name is gone', async () => {
    const { device, agent, target } = await start({
      kind: 'cyberpower-epdu',
      outlets: [
        { number: 1, name: 'web' },
        { number: 2, name: 'db' },
      ],
    });
    expect((await agent.read(target('db'))).state).toBe('on');
    device.outlet(1).name = 'db';
    device.outlet(2).name = 'web';
    await agent.set(target('db'), 'off');
    expect(device.commands.map(({ outlet }) => outlet.number)).toEqual([1]);
    device.outlet(1).name = 'spare';
    expect((await failure(agent.set(target('db'), 'off'))).kind).toBe('Misconfigured');
    expect(device.commands).toHaveLength(1);
  });

  it('follows its row when the units of a chain come up in another order', async () => {
    const { device, agent, target } = await start(CHAIN);
    expect((await agent.read(target('2/1'))).state).toBe('on');
    const [first, , third] = device.outlets.all;
    if (first === undefined || third === undefined) throw new Error('no such outlets');
    [first.unit, third.unit] = [2, 1];
    await agent.set(target('2/1'), 'off');
    expect(device.commands.map(({ outlet }) => outlet)).toEqual([first]);
  });

  it('is not written to where the device does not let it be switched', async () => {
    const tree = new Tree();
    const enterprise = '1.3.6.1.4.1.534.6.6.7';
    tree.put('1.3.6.1.2.1.1.2.0', { read: () => ({ oid: enterprise }) });
    for (const [column, value] of [
      [2, 1],
      [3, -1],
      [9, 2],
    ] as const)
      tree.put(`${enterprise}.6.6.1.${column}.0.1`, { read: () => ({ integer: value }), set: () => 0 });
    const device = await SnmpDevice.start({ tree, clock, writeCommunity: COMMUNITY });
    const agent = new PduAgent(clock);
    closing.push(
      () => agent.close(),
      () => device.close(),
    );
    const target = targetOf(device.port, '1', { community: COMMUNITY, snmp_timeout: '3' });
    expect(await agent.read(target)).toMatchObject({ state: 'on' });
    expect((await failure(agent.set(target, 'off'))).message).toMatch(/outletControlSwitchable=2: the device does not let this outlet be switched/);
    expect(device.sets).toEqual([]);
  });

  it('is told by a probe not to be the only one that bears the name of the node, where no method switches the others', async () => {
    const outlets = [1, 2, 3, 4].map((number) => ({ number, name: number === 4 ? 'worker-10' : 'worker-1' }));
    const { agent, target } = await start({ kind: 'cyberpower-epdu', outlets });
    const probed = async (...plugs: string[]) => {
      const switched = plugs.map((plug) => ({ plug, parameters: {} }));
      return (await agent.read({ ...target('1', { outlet_name: '{node}' }), isProbe: true, switched })).overlooked;
    };
    expect(await probed('1', '3')).toBe(
      'outlet 2 is named "worker-1" as well, and no method switches it off: name it in plug=, or give it another name',
    );
    expect(await probed('1')).toContain('outlet 2, 3 is named');
    expect([await probed('1', '2', '3'), await probed()]).toEqual([undefined, undefined]);
    expect(await agent.read({ ...target('1'), switched: [{ plug: '1', parameters: {} }] })).not.toHaveProperty('overlooked');
    expect(await agent.read({ ...target('4'), isProbe: true, switched: [{ plug: '4', parameters: {} }] })).not.toHaveProperty('overlooked');
  });

  it('must bear the name that outlet_name says, in each call', async () => {
    const { device, agent, target } = await start({ kind: 'eaton-g3', outlets: [{ number: 1, name: 'worker-1 ' }] });
    const given = target('1', { outlet_name: '{node}' });
    expect(await agent.read(given)).toMatchObject({ identity: 'verified' });
    device.outlet(1).name = 'worker-2';
    expect((await failure(agent.set(given, 'off'))).message).toMatch(/^Misconfigured: .*is named "worker-2", but outlet_name is "worker-1"/);
    expect(device.commands).toEqual([]);
  });
});

describe('an off', () => {
  it('is not believed of a Raritan whose outlet still draws current by its own meter', async () => {
    const { device, agent, target } = await start({ kind: 'raritan', outlets: [{ number: 1 }, { number: 2 }] });
    await agent.set(target('1'), 'off');
    const source = 'measurementsOutletSensorValue rmsCurrent';
    expect(await agent.read(target('1'))).toMatchObject({ state: 'off', witness: { source, state: 'off', detail: '0 mA' } });
    device.outlets.switchByHand(device.outlet(1), true);
    device.breakOutlet(1, { shows: 8 });
    expect(await agent.read(target('1'))).toMatchObject({ state: 'off', witness: { source, state: 'on', detail: '1300 mA' } });
  });

  it('is not believed while current flows through a metered outlet', async () => {
    const { device, agent, target } = await start({ kind: 'geist', outlets: [{ number: 1 }] });
    await agent.set(target('1'), 'off');
    expect(await agent.read(target('1'))).toMatchObject({ state: 'off', witness: { source: 'pduOutletMeterCurrent', state: 'off', detail: '0 mA' } });
    device.outlets.switchByHand(device.outlet(1), true);
    device.breakOutlet(1, { shows: 2 });
    expect(await agent.read(target('1'))).toMatchObject({ state: 'off', witness: { state: 'on', detail: '1300 mA' } });
    expect((await agent.read(target('1', { current_witness: 'no' }))).witness).toBeUndefined();
  });

  it('that the current alone contradicts is told with what does without it, and with what that gives up', async () => {
    const { device, agent, target } = await start({ kind: 'geist', outlets: [{ number: 1 }] });
    await agent.set(target('1'), 'off');
    expect((await agent.read(target('1'))).witness?.waiver).toBeUndefined();
    device.outlets.switchByHand(device.outlet(1), true);
    device.breakOutlet(1, { shows: 2 });
    const { waiver } = (await agent.read(target('1', { off_current_max_ma: '60' }))).witness ?? {};
    expect(waiver).toContain('off_current_max_ma=60 is the most that counts as none');
    expect(waiver).toMatch(/only where the meter is broken, current_witness=no does without it, .*also where its relay is stuck$/u);
  });

  it('is pending while a command waits, and sent all the same', async () => {
    const { device, agent, target } = await start({ kind: 'apc-rpdu2', outlets: [{ number: 1 }] });
    device.breakOutlet(1, { isPending: true });
    expect((await agent.read(target('1'))).state).toBe('pending');
    await agent.set(target('1'), 'off');
    expect(device.commands).toHaveLength(1);
  });

  it('is never sent after an unknown state, without a lease, or twice when its answer is lost', async () => {
    const { device, agent, target } = await start({ kind: 'apc-masterswitch', outlets: [{ number: 1 }] });
    device.breakOutlet(1, { shows: 4 });
    expect((await failure(agent.set(target('1'), 'off'))).message).toMatch(/state unknown \(sPDUOutletCtl=4.*nothing was sent/);
    device.breakOutlet(1, {});
    const lost = new AgentError('NotSent', { device: '', plug: '', asked: 'off', answered: 'no lease' });
    const forbidden: Target = {
      ...target('1'),
      beforeSend: () => {
        throw lost;
      },
    };
    expect(await failure(agent.set(forbidden, 'off'))).toBe(lost);
    expect(device.commands).toEqual([]);
    device.faults = { setLatencyMs: 60_000 };
    expect(await agent.set(target('1'), 'off')).toMatchObject({ result: 'unclear', detail: expect.stringMatching(/no answer/) as string });
    expect(device.commands).toHaveLength(1);
  });

  it.each([
    [12, 'Refused', /inconsistentValue \(12\)/],
    [17, 'Refused', /notWritable \(17\)/],
    [16, 'Refused', /authorizationError \(16\)/],
  ])('is refused in the words of error-status %i', async (setStatus, kind, words) => {
    const { agent, target } = await start({ kind: 'raritan', outlets: [{ number: 1 }], faults: { setStatus } });
    const error = await failure(agent.set(target('1'), 'off'));
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(words);
  });

  it('is unclear where the device says that something went wrong', async () => {
    const { agent, target } = await start({ kind: 'raritan', outlets: [{ number: 1 }], faults: { setStatus: 5 } });
    expect(await agent.set(target('1'), 'off')).toMatchObject({ result: 'unclear', detail: expect.stringMatching(/genErr/) as string });
  });
});

describe('a reading', () => {
  it('tells the start of the device that answered', async () => {
    const { agent, target } = await start({ kind: 'tripplite', outlets: [{ number: 1 }] });
    const first = (await agent.read(target('1', { bmc_boot_time: '77' }))).boot;
    expect(first).toMatchObject({ startMaxMs: 77_000, upMs: expect.any(Number) as number });
    expect((await agent.read(target('1'))).boot?.id).toBe(first?.id);
  });

  it('is of its own login: a session that is kept serves no other', async () => {
    const { agent, target } = await start({ kind: 'tripplite', outlets: [{ number: 1 }], readCommunity: 'to be read with' });
    expect((await agent.read(target('1'))).state).toBe('on');
    await expect(agent.read({ ...target('1', { community: 'guessed' }), deadlineMs: 400 })).rejects.toMatchObject({
      kind: 'Unreachable',
      message: expect.stringContaining('no answer') as string,
    });
  });

  it('comes from the answer that was asked for, however often the device has to be asked', async () => {
    const { device, agent, target } = await start({ kind: 'hpe-pdu3', outlets: [{ number: 1 }], faults: { dropsEvery: 2 } });
    expect((await agent.read(target('1', { snmp_timeout: '0.3' }))).state).toBe('on');
    expect(device.requests).toBeGreaterThan(3);
  });

  it('ends with its call, and nothing stays open', async () => {
    const { agent, target } = await start({ kind: 'tripplite', outlets: [{ number: 1 }], faults: { isMute: true } });
    const controller = new AbortController();
    const reading = failure(agent.read({ ...target('1'), signal: controller.signal }));
    controller.abort();
    expect((await reading).kind).toBe('NotSent');
    expect((await failure(agent.read({ ...target('1'), deadlineMs: 400 }))).message).toMatch(/no answer by SNMP 2c/);
  });

  it('names what its parameters lack', async () => {
    const { agent, target } = await start({ kind: 'tripplite', outlets: [{ number: 1 }] });
    const wrong = { ...target('1'), parameters: { ip: '127.0.0.1', family: 'toaster' } };
    expect((await failure(agent.read(wrong))).message).toMatch(/^Misconfigured: .*family must be one of apc-rpdu2/);
    const poor = { ...target('1'), parameters: { ip: '127.0.0.1', username: 'u', snmp_sec_level: 'authPriv', password: 'long enough' } };
    expect((await failure(agent.read(poor))).message).toMatch(/snmp_priv_passwd is missing/);
  });
});

describe('a PDU without outlets', () => {
  it('says so where they are listed, and lists nothing as if that were all', async () => {
    const { agent, target } = await start({ kind: 'geist', outlets: [] });
    const error = await failure(agent.list(target('')));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toMatch(/has no outlets/u);
  });
});
