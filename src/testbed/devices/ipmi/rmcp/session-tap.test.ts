import { describe, expect, it } from 'vitest';

import { eventsOf, type Said } from './device-events.ts';
import { SessionTap } from './session-tap.ts';
import { TestConsole } from './test-console.ts';
import { testDevice } from './test-device.ts';

function tapped(passwords: Record<string, string> = { admin: 'secret' }) {
  const { device } = testDevice();
  const heard: (Said & { session: string })[] = [];
  const asked: number[] = [];
  let names = 0;
  const tap = new SessionTap(passwords, () => `heard ${(names += 1)}`, {
    onLogin: (session, answer) => heard.push({ action: 'login', answer: String(answer), session }),
    onRequest: (_session, { command }) => asked.push(command),
    onResponse: (session, request, response) => heard.push(...eventsOf(request, response).map((event) => ({ ...event, session }))),
  });
  const handle = (datagram: Buffer): Buffer | undefined => {
    tap.fromConsole(datagram);
    const answer = device.handle(datagram);
    if (answer !== undefined) tap.fromBmc(answer);
    return answer;
  };
  return { handle, heard, asked, device };
}

describe('whoever listens in between a console and its BMC', () => {
  it.each([3, 17])('understands all that is said with suite %i, by session', (suiteID) => {
    const { handle, heard, asked } = tapped();
    const first = new TestConsole(handle, { suiteID });
    expect(first.logIn()).toBe(0);
    first.ask(0x06, 0x37);
    first.ask(0x06, 0x3b, [4]);
    const second = new TestConsole(handle, { suiteID });
    expect(second.logIn()).toBe(0);
    first.ask(0x00, 0x02, [0]);
    second.ask(0x00, 0x01);
    second.ask(0x00, 0x02, [1]);
    expect(heard.map(({ session, action, want, answer }) => `${session}: ${action} ${want ?? ''} ${answer}`)).toEqual([
      'heard 1: login  0',
      'heard 1: identity  00 12345678-9abc-4def-8123-456789abcdef',
      'heard 2: login  0',
      'heard 1: set off 00 down',
      'heard 2: read  00 off',
      'heard 2: set on d4 up',
    ]);
    expect(asked).toEqual([0x37, 0x3b, 0x02, 0x01, 0x02]);
  });

  it('hears a refused login, and nothing of a session whose password it does not know', () => {
    const { handle, heard } = tapped({});
    expect(new TestConsole(handle, { username: 'nobody' }).logIn()).toBe(0x0d);
    const known = new TestConsole(handle);
    expect(known.logIn()).toBe(0);
    expect(known.ask(0x00, 0x01)?.[0]).toBe(0);
    expect(heard.map(({ action, answer }) => `${action} ${answer}`)).toEqual(['login 13', 'login 0']);
  });
});
