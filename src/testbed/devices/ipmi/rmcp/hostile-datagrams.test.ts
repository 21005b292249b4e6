import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parsePacket } from './packet.ts';
import { SessionTap } from './session-tap.ts';
import { testDevice } from './test-device.ts';

const HEADERS = [Buffer.alloc(0), Buffer.from('0600ff07', 'hex'), Buffer.from('0600ff0706', 'hex'), Buffer.from('0600ff06000011be80', 'hex')];
const bytes = fc.uint8Array({ maxLength: 120 }).map((array) => Buffer.from(array));
const handshake = fc
  .tuple(fc.constantFrom(0x10, 0x12, 0x14, 0xc0, 0x00), fc.uint8Array({ maxLength: 60 }))
  .map(([type, payload]) => Buffer.concat([Buffer.from([6, 0, 0xff, 7, 6, type, 0, 0, 0, 0, 0, 0, 0, 0, payload.length, 0]), payload]));
/** Open Session Request, RAKP 1 and 3 (IPMI 2.0, table 13-16). */
const LOGIN_TYPES = [0x10, 0x12, 0x14];
const datagrams = fc.oneof(
  fc.tuple(fc.constantFrom(...HEADERS), bytes).map(([header, rest]) => Buffer.concat([header, rest])),
  handshake,
);

describe('hostile datagrams', () => {
  it('never make a BMC throw, open a session or switch anything', () => {
    fc.assert(
      fc.property(fc.array(datagrams, { maxLength: 8 }), (received) => {
        const { device, machine } = testDevice();
        for (const datagram of received) device.handle(datagram);
        expect(device.login.sessions.active).toHaveLength(0);
        expect(machine.edges).toHaveLength(0);
      }),
      { numRuns: 300 },
    );
  });

  it('never switch anything when they are a true off, changed in any one byte or cut anywhere', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), fc.boolean(), (place, flip, isCut) => {
        const { loggedIn, machine, device } = testDevice();
        const console = loggedIn();
        console.ask(0x06, 0x3b, [4]);
        const off = console.datagram(0x00, 0x02, [0]);
        // The RMCP header is covered by no code: only its version and class are looked at.
        const index = 4 + (place % (off.length - 4));
        const changed = isCut ? off.subarray(0, index) : Buffer.from(off.map((byte, at) => (at === index ? byte ^ flip : byte)));
        const answer = device.handle(changed);
        // Another type of payload may make a message of a login of it, which is answered to anybody.
        expect(LOGIN_TYPES.includes((changed[5] ?? 0) & 0x3f) ? undefined : answer).toBeUndefined();
        expect(machine.edges).toHaveLength(0);
        expect(console.send(off)?.[0]).toBe(0);
        expect(machine.edges).toHaveLength(1);
      }),
      { numRuns: 200 },
    );
  });

  it('are no riddle to whoever listens in', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), datagrams), { maxLength: 8 }), (heard) => {
        const said: string[] = [];
        const note = (session: string): void => void said.push(session);
        const tap = new SessionTap({ admin: 'secret' }, () => 'session', { onLogin: () => undefined, onRequest: note, onResponse: note });
        for (const [isFromConsole, datagram] of heard) {
          if (isFromConsole) tap.fromConsole(datagram);
          else tap.fromBmc(datagram);
        }
        expect(said).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('are not taken for packets when they are cut short', () => {
    const { loggedIn } = testDevice();
    const whole = loggedIn().datagram(0x00, 0x01, []);
    for (let length = 0; length < 16; length += 1) expect(parsePacket(whole.subarray(0, length))).toBeUndefined();
    expect(parsePacket(whole)).toMatchObject({ kind: 'session', isEncrypted: true, isAuthenticated: true });
  });
});
