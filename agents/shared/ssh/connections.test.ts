import { afterEach, describe, expect, it, vi } from 'vitest';

import { AgentError } from '../../../src/ports/agents.ts';
import { ManualClock } from '../../../src/runtime/manual-clock.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { Call } from '../call.ts';
import type { ExecAnswer } from './connection.ts';
import { SshConnections } from './connections.ts';
import type { SshSettings } from './parameters.ts';
import { startCommandServer, type CommandServer, type Ending } from '../../../src/testbed/devices/ssh/command-server.ts';
import { testTarget } from './testing/target.ts';

const ENDINGS: Readonly<Record<string, Ending>> = {
  works: { stdout: 'done', code: 0 },
  hangs: { ends: 'never' },
  breaks: { ends: 'cut off' },
};
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Harness {
  server: CommandServer;
  connections: SshConnections;
  settings: SshSettings;
  run: (command: string, change?: Partial<SshSettings>, deadlineMs?: number) => Promise<ExecAnswer>;
}

async function harness(clock: Clock = new SystemClock()): Promise<Harness> {
  const server = await startCommandServer((command) => ENDINGS[command] ?? { code: 127 });
  const connections = new SshConnections(clock);
  closing.push(
    () => connections.close(),
    () => server.close(),
  );
  const settings: SshSettings = {
    host: '127.0.0.1',
    port: server.port,
    username: 'fence',
    password: 'any',
    privateKey: undefined,
    passphrase: undefined,
    trust: { kind: 'insecure' },
    legacyAlgorithms: false,
    loginTimeoutMs: 20_000,
  };
  const run: Harness['run'] = async (command, change = {}, deadlineMs = 30_000) => {
    const call = new Call(clock, testTarget({ deadlineMs }), command);
    try {
      return await connections.run(call, { ...settings, ...change }, (connection) => connection.exec(call, command));
    } finally {
      call.release();
    }
  };
  return { server, connections, settings, run };
}

describe('a connection over SSH that is kept', { timeout: 60_000 }, () => {
  it('serves the calls that follow, one at a time', async () => {
    const { server, run } = await harness();
    await Promise.all([run('works'), run('works')]);
    await run('works');
    expect(server.commands).toHaveLength(3);
    expect(server.opened()).toBe(1);
  });

  it.each([
    ['a command that did not end in time', 'hangs', 'Timeout'],
    ['a connection that was cut', 'breaks', 'Unreachable'],
  ])('is let go after %s: a late answer is never that to another command', async (_what, command, kind) => {
    const { server, run } = await harness();
    await run('works');
    await expect(run(command, {}, 1_000)).rejects.toMatchObject({ kind });
    await vi.waitFor(() => expect(server.connections()).toBe(0), { timeout: 10_000 });
    expect(await run('works')).toMatchObject({ code: 0, stdout: 'done' });
    expect(server.opened()).toBe(2);
  });

  it('is let go when the work on it failed, whatever the reason', async () => {
    const { server, connections, settings, run } = await harness();
    const call = new Call(new SystemClock(), testTarget(), 'it');
    const failed = connections.run(call, settings, () => Promise.reject(call.error('Refused', 'no')));
    await expect(failed).rejects.toBeInstanceOf(AgentError);
    call.release();
    await vi.waitFor(() => expect(server.connections()).toBe(0), { timeout: 10_000 });
    await run('works');
    expect(server.opened()).toBe(2);
  });

  it('is of one account: another login has its own', async () => {
    const { server, run } = await harness();
    await run('works');
    await run('works', { username: 'somebody' });
    await run('works', { password: 'another' });
    expect(server.opened()).toBe(3);
  });

  it('that the device closed meanwhile is replaced', async () => {
    const { server, connections, settings, run } = await harness();
    let isLost = (): boolean => false;
    const call = new Call(new SystemClock(), testTarget(), 'it');
    await connections.run(call, settings, (connection) => {
      isLost = () => connection.isLost;
      return connection.exec(call, 'works');
    });
    call.release();
    await server.close();
    await vi.waitFor(() => expect(isLost()).toBe(true), { timeout: 10_000 });
    await expect(run('works')).rejects.toMatchObject({ kind: 'Unreachable', message: expect.stringContaining('ECONNREFUSED') as string });
  });

  it('ends ten seconds after its last use, not before', async () => {
    const clock = new ManualClock();
    const { server, run } = await harness(clock);
    await run('works');
    await clock.advance(9_000);
    await run('works');
    await clock.advance(9_999);
    await run('works');
    expect(server.opened()).toBe(1);
    await clock.advance(10_000);
    await vi.waitFor(() => expect(server.connections()).toBe(0), { timeout: 10_000 });
    await run('works');
    expect(server.opened()).toBe(2);
  });
});
