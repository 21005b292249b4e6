import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { AgentError } from '../../../src/ports/agents.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { Call, type CallTarget } from '../call.ts';
import { SnmpClient } from './client.ts';
import type { AuthenticationProtocol, PrivacyProtocol, SnmpSettings } from './settings.ts';

const SNMPD = '/usr/sbin/snmpd';
const SWITCH = '1.3.6.1.4.1.99999.1.0';
const SYSTEM = '1.3.6.1.2.1.1';
const AUTHENTICATION = 'authentication password';
const PRIVACY = 'privacy password';

/** Net-SNMP's daemon is nobody of ours: what it accepts as a version, user, key and digest is right. */
const isHere = process.env['CI'] === 'true' || hasProgram();

function hasProgram(): boolean {
  try {
    execFileSync(SNMPD, ['-v'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const USERS: readonly { name: string; authentication: AuthenticationProtocol; privacy: PrivacyProtocol }[] = [
  { name: 'md5des', authentication: 'MD5', privacy: 'DES' },
  { name: 'shaaes', authentication: 'SHA', privacy: 'AES' },
  { name: 'sha224aes', authentication: 'SHA-224', privacy: 'AES' },
  { name: 'sha256aes', authentication: 'SHA-256', privacy: 'AES' },
  { name: 'sha384aes', authentication: 'SHA-384', privacy: 'AES' },
  { name: 'sha512aes', authentication: 'SHA-512', privacy: 'AES-256' },
  { name: 'blumenthal', authentication: 'SHA', privacy: 'AES-256' },
  { name: 'reeder', authentication: 'SHA', privacy: 'AES-256-C' },
];

async function freePort(): Promise<number> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return port;
}

const clock = new SystemClock();

function callOf(deadlineMs = 20_000): Call<CallTarget> {
  return new Call(clock, { device: 'snmpd', plug: '', signal: new AbortController().signal, deadlineMs }, 'a test');
}

async function failure(promise: Promise<unknown>): Promise<AgentError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof AgentError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

describe.skipIf(!isHere)('the SNMP client against Net-SNMP (Debian: snmpd)', () => {
  let folder = '';
  let port = 0;
  let daemon: ChildProcess | undefined;
  const clients: SnmpClient[] = [];

  function client(security: SnmpSettings['security'], tryMs = 2_000): SnmpClient {
    const made = new SnmpClient({ host: '127.0.0.1', port, family: undefined, tryMs, security }, clock);
    clients.push(made);
    return made;
  }

  function userOf(name: string, change: { authentication?: string; privacy?: string } = {}): SnmpSettings['security'] {
    const user = USERS.find((one) => one.name === name) ?? { authentication: 'SHA-256' as const, privacy: 'AES' as const };
    return {
      version: '3',
      name,
      context: '',
      authentication: { protocol: user.authentication, password: change.authentication ?? AUTHENTICATION },
      privacy: { protocol: user.privacy, password: change.privacy ?? PRIVACY },
    };
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'snmpd-'));
    port = await freePort();
    const lines = [
      `agentaddress udp:127.0.0.1:${port}`,
      'rwcommunity writer',
      'rocommunity reader',
      ...USERS.map(({ name, authentication, privacy }) => `createUser ${name} ${authentication} "${AUTHENTICATION}" ${privacy} "${PRIVACY}"`),
      ...USERS.map(({ name }) => `rwuser ${name} priv`),
      `override -rw .${SWITCH} integer 1`,
    ];
    writeFileSync(join(folder, 'snmpd.conf'), `${lines.join('\n')}\n`);
    daemon = spawn(SNMPD, ['-f', '-LF', 'w', join(folder, 'log'), '-C', '-c', join(folder, 'snmpd.conf'), '-I', '-smux'], {
      stdio: 'ignore',
      env: { ...process.env, SNMP_PERSISTENT_DIR: join(folder, 'state'), MIBS: '' },
    });
    const asked = client({ version: '2c', community: 'reader' }, 200);
    for (let tries = 0; ; tries++) {
      try {
        await asked.get(callOf(), [SWITCH]);
        return;
      } catch (error) {
        if (tries > 100) throw new Error(`snmpd does not answer: ${readFileSync(join(folder, 'log'), 'utf8')}`, { cause: error });
        await pause(200);
      }
    }
  }, 90_000);

  afterAll(async () => {
    for (const one of clients) await one.close();
    daemon?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const securities: readonly [string, () => SnmpSettings['security']][] = [
    ['SNMP 1', () => ({ version: '1', community: 'writer' })],
    ['SNMP 2c', () => ({ version: '2c', community: 'writer' })],
    ...USERS.map(({ name, authentication, privacy }): [string, () => SnmpSettings['security']] => [
      `SNMP 3 with ${authentication} and ${privacy}`,
      () => userOf(name),
    ]),
  ];

  it.each(securities)('sets, reads and walks by %s', async (_name, security) => {
    const asked = client(security());
    let sent = 0;
    for (const integer of [7, 8]) {
      expect(await asked.set(callOf(), [{ oid: SWITCH, integer }], () => (sent += 1))).toMatchObject({ result: 'accepted' });
      expect(await asked.get(callOf(), [SWITCH, `${SWITCH}.9`, `${SYSTEM}.2.0`])).toEqual([
        { kind: 'integer', integer },
        undefined,
        { kind: 'oid', oid: '1.3.6.1.4.1.8072.3.2.10' },
      ]);
    }
    expect(sent).toBe(2);
    const rows = await asked.walk(callOf(), SYSTEM, 200);
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.map(({ index }) => index)).toContain('2.0');
    expect(await asked.present(callOf(), [SYSTEM, '1.3.6.1.4.1.318'])).toEqual([true, false]);
  });

  it('sends nothing when the lease check throws', async () => {
    const asked = client(userOf('sha256aes'));
    await asked.set(callOf(), [{ oid: SWITCH, integer: 3 }], () => undefined);
    const forbidden = new AgentError('NotSent', { device: '', plug: '', asked: '', answered: 'no lease' });
    const refusal = asked.set(callOf(), [{ oid: SWITCH, integer: 4 }], () => {
      throw forbidden;
    });
    await expect(refusal).rejects.toBe(forbidden);
    expect(await asked.get(callOf(), [SWITCH])).toEqual([{ kind: 'integer', integer: 3 }]);
  });

  it.each([
    ['2c' as const, /noAccess \(6\)/],
    ['1' as const, /noSuchName \(2\)/],
  ])('is refused in the words of the device where the community of SNMP %s may only read', async (version, words) => {
    const error = await failure(client({ version, community: 'reader' }).set(callOf(), [{ oid: SWITCH, integer: 2 }], () => undefined));
    expect(error.kind).toBe('Refused');
    expect(error.message).toMatch(words);
  });

  it('is refused where the type is not what the object takes', async () => {
    const error = await failure(client(userOf('sha256aes')).set(callOf(), [{ oid: `${SYSTEM}.5.0`, integer: 2 }], () => undefined));
    expect(error.message).toMatch(/^Refused: .*(wrongType|notWritable)/);
  });

  it.each([
    ['a wrong password', userOf('sha256aes', { authentication: 'another password' }), /usmStatsWrongDigests/, 'Refused'],
    ['a user that the device does not know', userOf('nobody'), /usmStatsUnknownUserNames/, 'Refused'],
    ['a wrong privacy password, to which Net-SNMP is silent', userOf('sha256aes', { privacy: 'another password' }), /no answer/, 'Unreachable'],
    ['a wrong community, to which every device is silent', { version: '2c' as const, community: 'wrong one' }, /wrong community/, 'Unreachable'],
  ])('names %s and never the secret', async (_name, security, words, kind) => {
    const error = await failure(client(security, 300).get(callOf(), [SWITCH]));
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(words);
    expect(error.message).not.toMatch(/password"|another password|wrong one|privacy password$/);
  });

  it('names more rows than it is allowed to take', async () => {
    expect((await failure(client({ version: '2c', community: 'reader' }).walk(callOf(), '1.3.6.1.2.1', 40))).message).toMatch(/more than 40 rows/);
  });

  it('says that nobody listens there', async () => {
    const asked = new SnmpClient(
      { host: '127.0.0.1', port: await freePort(), family: undefined, tryMs: 500, security: { version: '1', community: 'x' } },
      clock,
    );
    const error = await failure(asked.get(callOf(), [SWITCH]));
    await asked.close();
    expect(error.message).toMatch(/^Unreachable: .*ECONNREFUSED/);
  });
});
