import { Socket } from 'node:net';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { AgentError } from '../../../src/ports/agents.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { Call } from '../call.ts';
import type { CallTarget } from '../call.ts';
import { SshConnections } from './connections.ts';
import type { SshConnection } from './connection.ts';
import { parseKnownHosts } from './host-trust.ts';
import type { HostTrust } from './host-trust.ts';
import type { SshSettings } from './parameters.ts';
import { isSshdThere, PASSPHRASE, startOpenSshd } from './testing/open-sshd.ts';
import type { OpenSshd } from './testing/open-sshd.ts';
import { testTarget } from './testing/target.ts';

const clock = new SystemClock();
const TIMEOUT_MS = 90_000;

if (!isSshdThere && process.env['CI'] === 'true') throw new Error('Debian package openssh-server is missing');

function knownHosts(text: string): HostTrust {
  const parsed = parseKnownHosts(text);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return { kind: 'known-hosts', entries: parsed.entries };
}

describe.skipIf(!isSshdThere)('SSH with the server of OpenSSH', { timeout: TIMEOUT_MS }, () => {
  let sshd: OpenSshd;
  const connections = new SshConnections(clock);

  beforeAll(async () => {
    sshd = await startOpenSshd();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await connections.close();
    await sshd.stop();
  });

  function settings(changes: Partial<SshSettings> = {}): SshSettings {
    return {
      host: '127.0.0.1',
      port: sshd.port,
      username: sshd.username,
      password: undefined,
      privateKey: sshd.privateKey,
      passphrase: undefined,
      trust: knownHosts(sshd.knownHosts.ed25519),
      legacyAlgorithms: false,
      loginTimeoutMs: 20_000,
      ...changes,
    };
  }

  async function run<T>(
    work: (connection: SshConnection, call: Call<CallTarget>) => Promise<T>,
    changes: Partial<SshSettings> = {},
    target: Partial<CallTarget> = {},
  ): Promise<T> {
    const call = new Call(clock, testTarget(target), 'a command');
    try {
      return await connections.run(call, settings(changes), (connection) => work(connection, call));
    } finally {
      call.release();
    }
  }

  async function failure(promise: Promise<unknown>): Promise<AgentError> {
    const error: unknown = await promise.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof AgentError)) throw new Error(`no AgentError: ${String(error)}`);
    return error;
  }

  const echo = (connection: SshConnection, call: Call<CallTarget>) => connection.exec(call, 'echo out; echo err >&2; exit 3');

  it('runs a command, and tells its output and its code', async () => {
    expect(await run(echo)).toEqual({ code: 3, signal: undefined, stdout: 'out\n', stderr: 'err\n', isCut: false });
  });

  it('writes the input of a command', async () => {
    expect(await run((connection, call) => connection.exec(call, 'cat', { input: 'a secret' }))).toMatchObject({ code: 0, stdout: 'a secret' });
  });

  it('tells the signal that ended a command', async () => {
    expect(await run((connection, call) => connection.exec(call, 'kill -9 $$'))).toMatchObject({ code: undefined, signal: 'SIGKILL' });
  });

  it('keeps the beginning of endless output', async () => {
    const answer = await run((connection, call) => connection.exec(call, 'head -c 2000000 /dev/zero'));
    expect(answer.isCut).toBe(true);
    expect(answer.stdout).toHaveLength(256 * 1024);
  });

  it.each(['ed25519', 'rsa', 'hashed'] as const)('trusts a host by a line of known_hosts: %s', async (kind) => {
    expect(await run(echo, { trust: knownHosts(sshd.knownHosts[kind]) })).toMatchObject({ code: 3 });
  });

  it('trusts the pinned fingerprint that ssh-keygen shows', async () => {
    expect(await run(echo, { trust: { kind: 'pinned', fingerprints: [sshd.fingerprint] } })).toMatchObject({ code: 3 });
  });

  it('shows no credential to a host that it does not know', async () => {
    const error = await failure(run(echo, { trust: { kind: 'pinned', fingerprints: ['SHA256:nobody'] } }));
    expect(error.kind).toBe('Misconfigured');
    expect(error.facts.answered).toContain(sshd.fingerprint);
  });

  it('opens a key that is locked by a passphrase', async () => {
    expect(await run(echo, { privateKey: sshd.lockedKey, passphrase: PASSPHRASE })).toMatchObject({ code: 3 });
  });

  it('says that the passphrase is wrong, without it', async () => {
    const error = await failure(run(echo, { privateKey: sshd.lockedKey, passphrase: 'no such phrase' }));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toMatch(/private key/i);
    expect(error.message).not.toContain('no such phrase');
  });

  it('is refused with the key of a stranger', async () => {
    const error = await failure(run(echo, { privateKey: sshd.strangersKey }));
    expect(error).toMatchObject({ kind: 'Refused' });
    expect(error.facts.answered).toContain('publickey');
  });

  it('says which credentials a host accepts when it has none of them', async () => {
    const error = await failure(run(echo, { privateKey: undefined, password: 'tr0ub4dor' }));
    expect(error).toMatchObject({ kind: 'Refused' });
    expect(error.facts.answered).toContain('accepts publickey only');
    expect(error.message).not.toContain('tr0ub4dor');
  });

  it('ends a command at the deadline, and leaves no connection', async () => {
    const error = await failure(run((connection, call) => connection.exec(call, 'sleep 60'), { loginTimeoutMs: 20_001 }, { deadlineMs: 1_500 }));
    expect(error.kind).toBe('Timeout');
    await connections.close();
    await vi.waitFor(() => expect(sshd.connections()).toBe(0), { timeout: 20_000 });
  });

  it('leaves no connection after close', async () => {
    await run(echo);
    expect(sshd.connections()).toBe(1);
    await connections.close();
    await vi.waitFor(() => expect(sshd.connections()).toBe(0), { timeout: 20_000 });
  });

  it('leaves no connection of a call that was logging in while all were closed', async () => {
    const own = new SshConnections(clock);
    const call = new Call(clock, testTarget(), 'a command');
    let made: SshConnection | undefined;
    const answer = own.run(call, settings(), (connection) => {
      made = connection;
      return connection.exec(call, 'true');
    });
    await own.close();
    expect(await answer).toMatchObject({ code: 0 });
    call.release();
    await vi.waitFor(() => expect(made?.isLost).toBe(true), { timeout: 20_000 });
  });

  it('keeps the connection of a call under way when one behind it cannot wait any longer', async () => {
    const own = new SshConnections(clock);
    const [first, second] = [new Call(clock, testTarget(), 'first'), new Call(clock, testTarget({ deadlineMs: 300 }), 'second')];
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const answer = own.run(first, settings(), async (connection) => {
      await held;
      return connection.exec(first, 'true');
    });
    const late = await failure(own.run(second, settings(), (connection) => connection.exec(second, 'true')));
    letGo();
    expect(late.kind).toBe('Timeout');
    expect(await answer).toMatchObject({ code: 0 });
    for (const call of [first, second]) call.release();
    await own.close();
  });

  it('uses one connection for calls that follow each other, and for calls at once', async () => {
    await Promise.all([run(echo), run(echo), run(echo)]);
    await run(echo);
    expect(sshd.connections()).toBe(1);
  });

  it('says where nobody listens', async () => {
    const error = await failure(run(echo, { port: 1, trust: { kind: 'insecure' } }));
    expect(error).toMatchObject({ kind: 'Unreachable' });
    expect(error.facts.answered).toContain('ECONNREFUSED');
  });

  it('asks the gate in the turn in which the command is written', async () => {
    await run(echo);
    let turn = 'before';
    const turns: string[] = [];
    const write = vi.spyOn(Socket.prototype, 'write');
    try {
      const gate = (): void => {
        turn = 'of the gate';
        write.mockClear();
        queueMicrotask(() => {
          turn = 'after';
          turns.push(write.mock.calls.length > 0 ? 'written by the end of the turn' : 'not written');
        });
      };
      await run((connection, call) => connection.exec(call, 'true', { gate }));
    } finally {
      write.mockRestore();
    }
    expect(turns).toEqual(['written by the end of the turn']);
    expect(turn).toBe('after');
  });

  it('sends no command when the gate forbids it', async () => {
    const marker = `${sshd.folder}/ran`;
    const gate = (): void => {
      throw new AgentError('NotSent', { device: 'switch', plug: '', asked: 'it', answered: 'no lease' });
    };
    const error = await failure(run((connection, call) => connection.exec(call, `touch ${marker}`, { gate })));
    expect(error.kind).toBe('NotSent');
    expect(await run((connection, call) => connection.exec(call, `test -e ${marker}`))).toMatchObject({ code: 1 });
  });
});
