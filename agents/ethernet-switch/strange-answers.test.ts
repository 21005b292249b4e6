import { Duplex, PassThrough } from 'node:stream';

import type { ClientChannel } from 'ssh2';
import { afterEach, describe, expect, it } from 'vitest';

import type { Outcome } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { Call } from '../shared/call.ts';
import { readPort } from '../shared/interfaces/if-mib.ts';
import type { PortView } from '../shared/interfaces/port-view.ts';
import type { SnmpClient } from '../shared/snmp/client.ts';
import type { SshConnection } from '../shared/ssh/connection.ts';
import { Dialogue } from '../shared/ssh/dialogue.ts';
import { testTarget } from '../shared/ssh/testing/target.ts';
import { CommandLine } from './command-line.ts';
import { ethernetSwitch } from './definition.ts';
import type { DialectName } from './dialects.ts';

const open: Call<ReturnType<typeof testTarget>>[] = [];
afterEach(() => {
  for (const call of open.splice(0)) call.release();
});

function callOf(): Call<ReturnType<typeof testTarget>> {
  const call = new Call(new SystemClock(), testTarget({ deadlineMs: 5_000 }), 'port');
  open.push(call);
  return call;
}

/** A switch that says these words to these lines, each with its prompt; to any other line its first prompt. */
class Scripted {
  readonly typed: string[] = [];
  readonly #connection: SshConnection;
  readonly #lines = new CommandLine();
  readonly #name: DialectName;

  constructor(name: DialectName, prompt: string, script: Readonly<Record<string, string>>) {
    this.#name = name;
    const channel: Duplex = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        const line = chunk.toString().trim();
        this.typed.push(line);
        // A password is not echoed.
        channel.push(`${line.startsWith('tr0ub4dor') ? '' : line}\r\n${script[line] ?? prompt}`);
        done();
      },
    });
    channel.push(prompt);
    const dialogue = new Dialogue(Object.assign(channel, { stderr: new PassThrough() }) as unknown as ClientChannel, []);
    this.#connection = { dialogue: () => Promise.resolve(dialogue), secrets: [] } as unknown as SshConnection;
  }

  read(port: string): Promise<PortView> {
    return this.#lines.read(this.#connection, callOf(), this.#name, port);
  }

  close(port: string, enablePassword?: string): Promise<Outcome> {
    return this.#lines.set(this.#connection, callOf(), this.#name, port, { wanted: 'closed', enablePassword, beforeSend: () => undefined });
  }
}

describe('a port that the switch shows', () => {
  const shown = (name: string): string => `${name} is administratively down, line protocol is down\r\nsw1#`;

  it.each([
    ['Gi1/0/7', 'GigabitEthernet1/0/7'],
    ['gigabitethernet1/0/7', 'GigabitEthernet1/0/7'],
  ])('is the one that was asked for where %s is written out as %s', async (asked, name) => {
    expect(await new Scripted('ios', 'sw1#', { [`show interfaces ${asked}`]: shown(name) }).read(asked)).toMatchObject({ name, state: 'closed' });
  });

  it.each([
    ['Gi1/0/7', 'GigabitEthernet1/0/17'],
    ['Gi1/0/7', 'GigabitEthernet2/0/7'],
    ['Gi1/0/7', 'TenGigabitEthernet1/0/7'],
    ['Gi1/0/7', 'GigabitEthernet1/0/7.1'],
  ])('is no answer for %s where it is %s', async (asked, name) => {
    const reading = new Scripted('ios', 'sw1#', { [`show interfaces ${asked}`]: shown(name) }).read(asked);
    await expect(reading).rejects.toMatchObject({ kind: 'Unreachable', message: expect.stringContaining(`shows ${name}`) as string });
  });
});

describe('a change at the command line', () => {
  it('is unclear where Junos does not say that the commit is complete', async () => {
    const lines = { 'configure private': 'me@sw1# ', 'set interfaces ge-0/0/7 disable': 'me@sw1# ' };
    const said = (words: string): Scripted => new Scripted('junos', 'me@sw1> ', { ...lines, commit: `${words}\r\nme@sw1# ` });
    expect(await said('commit complete').close('ge-0/0/7')).toMatchObject({ result: 'accepted' });
    expect(await said('warning: the commit goes on in the background').close('ge-0/0/7')).toMatchObject({ result: 'unclear' });
  });

  it('is not typed where the switch did not enter the mode in which things are changed', async () => {
    const scripted = new Scripted('ios', 'sw1#', {});
    await expect(scripted.close('Gi1/0/7')).rejects.toMatchObject({ kind: 'Refused', message: expect.stringContaining('is at sw1#') as string });
    expect(scripted.typed).not.toContain('shutdown');
  });

  it('shows no second password, also where the switch quotes it', async () => {
    const script = { enable: 'Password: ', tr0ub4dor: '% tr0ub4dor is no secret of mine\r\nsw1>' };
    const error: unknown = await new Scripted('ios', 'sw1>', script).close('Gi1/0/7', 'tr0ub4dor').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ kind: 'Refused', message: expect.stringContaining('*** is no secret of mine') as string });
    expect(String(error)).not.toContain('tr0ub4dor');
  });
});

describe('a port by the IF-MIB', () => {
  it('is none whose index became another one between its name and its state', async () => {
    const text = (name: string): object => ({ kind: 'text', text: name, bytes: Buffer.from(name) });
    const read = (nameThen: string): ReturnType<typeof readPort> => {
      const client = {
        walk: () => Promise.resolve([{ index: '7', value: text('Eth7') }]),
        getWithBoot: () =>
          Promise.resolve({
            values: [text(nameThen), { kind: 'integer', integer: 2 }, { kind: 'integer', integer: 2 }, text('worker-1'), text(nameThen)],
          }),
      };
      return readPort(client as unknown as SnmpClient, callOf(), 'Eth7', { kind: 'any', bootMaxMs: 180_000 });
    };
    expect(await read('Eth7')).toMatchObject({ index: '7', state: 'closed' });
    await expect(read('Eth8')).rejects.toMatchObject({ kind: 'Unreachable', message: expect.stringContaining('is changing its ports') as string });
  });
});

describe('a switch over SSH', () => {
  it('needs an account, which may come of the Secret', () => {
    const parameters = { transport: 'ssh', dialect: 'ios', ip: 'switch-1', password: 'x', known_hosts: 'insecure' };
    expect(ethernetSwitch.check(parameters, true)).toEqual([{ parameter: 'username', message: 'is missing: SSH needs one' }]);
    expect(ethernetSwitch.check(parameters, false)).toEqual([]);
    expect(ethernetSwitch.check({ ...parameters, username: 'fence' }, true)).toEqual([]);
  });
});
