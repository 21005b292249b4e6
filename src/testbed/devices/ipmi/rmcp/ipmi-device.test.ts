import { describe, expect, it } from 'vitest';

import { COMPLETION } from './commands.ts';
import { buildMessage } from './message.ts';
import { buildPlain, buildUnsigned, PAYLOAD } from './packet.ts';
import { testDevice, TEST_UUID } from './test-device.ts';
import type { TestConsole } from './test-console.ts';

const CHASSIS = 0x00;
const APP = 0x06;
const STATUS = 0x01;
const CONTROL = 0x02;
const DOWN = 0;
const UP = 1;
const CYCLE = 2;
const DIAG = 4;

function asAdministrator(console: TestConsole): TestConsole {
  expect(console.ask(APP, 0x3b, [4])).toEqual(Buffer.from([0, 4]));
  return console;
}

describe('an emulated IPMI BMC', () => {
  it.each([3, 17])('lets a user with the right password in with suite %i, shows its machine and switches it', (suiteID) => {
    const { loggedIn, machine, events } = testDevice();
    const console = asAdministrator(loggedIn({ suiteID }));
    expect(console.ask(CHASSIS, STATUS)).toEqual(Buffer.from([0, 1, 0, 0]));
    expect(console.ask(APP, 0x37)?.subarray(1).reverse().toString('hex')).toBe(TEST_UUID.replaceAll('-', ''));
    expect(console.ask(CHASSIS, CONTROL, [DOWN])).toEqual(Buffer.from([0]));
    expect(console.ask(CHASSIS, STATUS)).toEqual(Buffer.from([0, 0, 0, 0]));
    expect(console.ask(CHASSIS, CONTROL, [UP])).toEqual(Buffer.from([0]));
    expect(machine.edges.map(({ state }) => state)).toEqual(['off', 'on']);
    expect(events.map(({ action, want, answer, session }) => [action, want, answer, session])).toEqual([
      ['login', undefined, '00', 'session 1'],
      ['read', undefined, '00 on', 'session 1'],
      ['identity', undefined, `00 ${TEST_UUID}`, 'session 1'],
      ['set', 'off', '00 down', 'session 1'],
      ['read', undefined, '00 off', 'session 1'],
      ['set', 'on', '00 up', 'session 1'],
    ]);
  });

  it('keeps out a wrong password, an unknown user, a privilege above one’s own and a wrong Kg', () => {
    expect(testDevice().console({ password: 'guess' }).logIn()).toBe(0x0f);
    expect(testDevice().console({ username: 'nobody' }).logIn()).toBe(0x0d);
    expect(testDevice().console({ username: 'viewer', privilege: 4 }).logIn()).toBe(0x0a);
    expect(testDevice({ kg: 'key of the bmc' }).console().logIn()).toBe(0x0f);
    expect(testDevice({ kg: 'key of the bmc' }).console({ kg: 'key of the bmc' }).logIn()).toBe(0);
  });

  it('refuses a proof that is not the password’s, and the session stays shut', () => {
    const { console, events } = testDevice();
    const stranger = console();
    expect(stranger.open()).toBe(0);
    const known = console();
    expect(known.logIn()).toBe(0);
    expect(stranger.finish(Buffer.alloc(20, 1))).toBe(-1);
    known.keys = undefined;
    expect(known.finish(Buffer.alloc(20, 1))).toBe(0x0f);
    expect(events.filter(({ answer }) => answer === '00')).toHaveLength(1);
  });

  it.each([
    ['no authentication', [0, 0, 0]],
    ['no integrity', [1, 0, 0]],
    ['no encryption', [1, 1, 0]],
    ['MD5', [2, 2, 1]],
  ])('refuses a suite with %s', (_what, algorithms) => {
    expect(testDevice().console().open(algorithms)).toBe(0x11);
  });

  it('switches nothing below operator, and grants no more than the user has', () => {
    const { loggedIn, machine, events } = testDevice();
    const viewer = loggedIn({ username: 'viewer', privilege: 2 });
    expect(viewer.ask(APP, 0x3b, [4])?.[0]).toBe(0x81);
    expect(viewer.ask(CHASSIS, CONTROL, [DOWN])?.[0]).toBe(COMPLETION.privilegeTooLow);
    expect(viewer.ask(CHASSIS, STATUS)?.[0]).toBe(0);
    const operator = loggedIn({ username: 'operator', privilege: 3 });
    expect(operator.ask(CHASSIS, CONTROL, [DOWN])?.[0]).toBe(COMPLETION.privilegeTooLow);
    expect(operator.ask(APP, 0x3b, [3])?.[0]).toBe(0);
    expect(operator.ask(CHASSIS, CONTROL, [DOWN])?.[0]).toBe(0);
    expect(machine.edges).toHaveLength(1);
    expect(events.filter(({ action }) => action === 'set').map(({ answer }) => answer)).toEqual(['d4 down', 'd4 down', '00 down']);
  });

  it('takes each sequence number once: a replayed off does nothing', () => {
    const { loggedIn, machine } = testDevice();
    const console = asAdministrator(loggedIn());
    const off = console.datagram(CHASSIS, CONTROL, [DOWN]);
    expect(console.send(off)?.[0]).toBe(0);
    expect(console.ask(CHASSIS, CONTROL, [UP])?.[0]).toBe(0);
    expect(console.send(off)).toBeUndefined();
    expect(console.send(console.datagram(CHASSIS, CONTROL, [DOWN], console.sequence + 100))).toBeUndefined();
    expect(console.send(console.datagram(CHASSIS, CONTROL, [DOWN], 0))).toBeUndefined();
    expect(machine.state()).toBe('on');
  });

  it('answers no command with a wrong code, without a code, or from a session that is over', () => {
    const { loggedIn, machine, device } = testDevice();
    const console = asAdministrator(loggedIn());
    const off = console.datagram(CHASSIS, CONTROL, [DOWN]);
    off.writeUInt8(off.readUInt8(off.length - 1) ^ 1, off.length - 1);
    expect(console.send(off)).toBeUndefined();
    const message = { to: 0x20, from: 0x81, netFn: CHASSIS, toLun: 0, fromLun: 0, sequence: 1, command: CONTROL, data: Buffer.from([DOWN]) };
    for (const stranger of [buildPlain(buildMessage(message)), buildUnsigned(PAYLOAD.message, buildMessage(message))]) {
      expect(device.handle(stranger)).toBeUndefined();
    }
    const id = Buffer.alloc(4);
    id.writeUInt32LE(console.systemID);
    expect(console.ask(APP, 0x3c, [...id])?.[0]).toBe(0);
    expect(console.ask(CHASSIS, CONTROL, [DOWN])).toBeUndefined();
    expect(machine.edges).toHaveLength(0);
  });

  it('opens a bounded number of sessions, and takes them back when they are unused for a minute', () => {
    const { console, loggedIn, clock, device } = testDevice({ sessionsMax: 2 });
    const first = loggedIn();
    loggedIn();
    expect(console().logIn()).toBe(0x01);
    clock.pass(59_000);
    expect(first.ask(CHASSIS, STATUS)?.[0]).toBe(0);
    clock.pass(2_000);
    expect(console().logIn()).toBe(0);
    expect(device.login.sessions.active).toHaveLength(2);
    expect(first.ask(CHASSIS, STATUS)?.[0]).toBe(0);
  });

  it('drops the oldest handshake, not an open session, when strangers knock without end', () => {
    const { console, loggedIn } = testDevice();
    const open = loggedIn();
    for (let knock = 0; knock < 100; knock += 1) expect(console().open()).toBe(0);
    expect(open.ask(CHASSIS, STATUS)?.[0]).toBe(0);
    expect(console().logIn()).toBe(0);
  });

  it('throws everybody out when its password is changed', () => {
    const { console, loggedIn, device } = testDevice();
    const old = loggedIn();
    device.login.changePassword('admin', 'another');
    expect(old.ask(CHASSIS, STATUS)).toBeUndefined();
    expect(console().logIn()).toBe(0x0f);
    expect(console({ password: 'another' }).logIn()).toBe(0);
  });

  it('cycles as an off and an on, and refuses that while the machine is off', () => {
    const { loggedIn, machine, events } = testDevice();
    const console = asAdministrator(loggedIn());
    expect(console.ask(CHASSIS, CONTROL, [CYCLE])?.[0]).toBe(0);
    expect(machine.edges.map(({ state }) => state)).toEqual(['off', 'on']);
    console.ask(CHASSIS, CONTROL, [DOWN]);
    expect(console.ask(CHASSIS, CONTROL, [CYCLE])?.[0]).toBe(COMPLETION.notInThisState);
    const sets = events.filter(({ action }) => action === 'set').map(({ want, answer }) => `${want ?? 'nothing'}: ${answer}`);
    expect(sets).toEqual(['off: 00 cycle', 'on: 00 cycle', 'off: 00 down', 'off: d5 cycle', 'on: d5 cycle']);
  });

  it('records a diagnostic interrupt that switches nothing, and answers unknown commands in words of the specification', () => {
    const { loggedIn, machine, events } = testDevice();
    const console = asAdministrator(loggedIn());
    expect(console.ask(CHASSIS, CONTROL, [DIAG])?.[0]).toBe(0);
    expect(console.ask(CHASSIS, CONTROL, [9])?.[0]).toBe(COMPLETION.invalidField);
    expect(console.ask(CHASSIS, CONTROL)?.[0]).toBe(COMPLETION.tooShort);
    expect(console.ask(0x2c, 0x3e, [0])?.[0]).toBe(COMPLETION.invalidCommand);
    expect(machine.edges).toHaveLength(0);
    expect(events.filter(({ action }) => action === 'set')[0]).toMatchObject({ answer: '00 diag' });
    expect(events.filter(({ action }) => action === 'set')[0]).not.toHaveProperty('want');
  });
});

describe('an emulated IPMI BMC with a fault', () => {
  it('says done and does nothing when it ignores what it accepts', () => {
    const { loggedIn, machine } = testDevice({ faults: { ignoresReset: true } });
    expect(asAdministrator(loggedIn()).ask(CHASSIS, CONTROL, [DOWN])).toEqual(Buffer.from([0]));
    expect(machine.state()).toBe('on');
  });

  it('switches late, and shows the old state until then', () => {
    const { loggedIn, machine, clock } = testDevice({ faults: { offDelayMs: 8_000 } });
    const console = asAdministrator(loggedIn());
    console.ask(CHASSIS, CONTROL, [DOWN]);
    clock.pass(7_999);
    expect(console.ask(CHASSIS, STATUS)?.[1]).toBe(1);
    clock.pass(1);
    expect(machine.state()).toBe('off');
    expect(console.ask(CHASSIS, STATUS)?.[1]).toBe(0);
  });

  it('cycles late in the right order', () => {
    const { loggedIn, machine, clock } = testDevice({ faults: { offDelayMs: 1_000 } });
    asAdministrator(loggedIn()).ask(CHASSIS, CONTROL, [CYCLE]);
    expect(machine.edges).toHaveLength(0);
    clock.pass(1_000);
    expect(machine.edges.map(({ state }) => state)).toEqual(['off', 'on']);
  });

  it('shows what it likes instead of the truth', () => {
    const { loggedIn, events } = testDevice({ faults: { shows: 'off' } });
    expect(loggedIn().ask(CHASSIS, STATUS)?.[1]).toBe(0);
    expect(events.at(-1)).toMatchObject({ action: 'read', shown: 'off' });
  });

  it('shows another machine’s GUID', () => {
    const { loggedIn, events } = testDevice({ faults: { wrongGuid: true } });
    loggedIn().ask(APP, 0x37);
    expect(events.at(-1)).toMatchObject({ action: 'identity', answer: '00 edcba987-6543-b210-7edc-ba9876543210' });
  });

  it('fails reads or sets with an unspecified error', () => {
    const { loggedIn, machine, device } = testDevice({ faults: { fails: 'get' } });
    const console = asAdministrator(loggedIn());
    expect(console.ask(CHASSIS, STATUS)).toEqual(Buffer.from([0xff]));
    device.faults = { fails: 'set' };
    expect(console.ask(CHASSIS, CONTROL, [DOWN])).toEqual(Buffer.from([0xff]));
    expect(console.ask(CHASSIS, STATUS)?.[0]).toBe(0);
    expect(machine.edges).toHaveLength(0);
  });

  it('refuses what is so already', () => {
    const { loggedIn } = testDevice({ faults: { refusesWhenInState: true } });
    const console = asAdministrator(loggedIn());
    expect(console.ask(CHASSIS, CONTROL, [UP])?.[0]).toBe(COMPLETION.notInThisState);
    expect(console.ask(CHASSIS, CONTROL, [DOWN])?.[0]).toBe(0);
  });

  it('falls silent within a session', () => {
    const { loggedIn, device, machine } = testDevice();
    const console = asAdministrator(loggedIn());
    device.faults = { isMute: true };
    expect(console.ask(CHASSIS, CONTROL, [DOWN])).toBeUndefined();
    expect(machine.edges).toHaveLength(0);
  });
});
