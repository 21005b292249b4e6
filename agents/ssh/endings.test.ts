import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { AgentError, type Parameters, type Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { startCommandServer, type CommandServer, type Ending } from '../../src/testbed/devices/ssh/command-server.ts';
import { SshAgent } from './agent.ts';

describe('a command over SSH', { timeout: 60_000 }, () => {
  let server: CommandServer;
  let agent: SshAgent;
  let endings: Record<string, Ending>;

  beforeEach(async () => {
    endings = {};
    server = await startCommandServer((command) => endings[command] ?? { stderr: 'not found', code: 127 });
    agent = new SshAgent(new SystemClock());
  });
  afterEach(async () => {
    await agent.close();
    await server.close();
  });

  function target(parameters: Parameters = {}, changes: Partial<Target> = {}): Target {
    return {
      plug: '',
      device: `127.0.0.1:${server.port}`,
      parameters: {
        ip: '127.0.0.1',
        ipport: String(server.port),
        username: 'fence',
        password: 'any',
        known_hosts: server.knownHosts,
        command: 'restart',
        ...parameters,
      },
      identity: { node: 'worker-1' },
      signal: new AbortController().signal,
      deadlineMs: 30_000,
      beforeSend: () => undefined,
      ...changes,
    };
  }

  it('is accepted at code 0 with nothing read back, and refused at any other, in the words of its stderr', async () => {
    endings = { restart: { stdout: 'restarted', code: 0 } };
    expect(await agent.run(target())).toEqual({ result: 'accepted', detail: 'code 0: restarted; not read back' });
    expect(await agent.confirm(target())).toBe(false);
    endings = { restart: { stdout: 'trying', stderr: 'no such unit', code: 5 } };
    await expect(agent.run(target())).rejects.toMatchObject({ kind: 'Refused', facts: { answered: 'code 5: no such unit' } });
  });

  it('is refused when a signal ended it', async () => {
    endings = { restart: { signal: 'KILL' } };
    await expect(agent.run(target())).rejects.toMatchObject({ kind: 'Refused', facts: { answered: 'ended by SIGKILL' } });
  });

  it('is unclear when the device tells no end of it', async () => {
    endings = { restart: { stdout: 'starting', ends: 'without a word' } };
    expect(await agent.run(target({ confirm_command: 'state' }))).toEqual({ result: 'unclear', detail: 'no code was told: code none: starting' });
    expect(server.commands, 'it is not confirmed by what another command says').toEqual(['restart']);
  });

  it('is sent once when its answer is lost', async () => {
    endings = { restart: { ends: 'cut off' } };
    await expect(agent.run(target())).rejects.toMatchObject({ kind: 'Unreachable' });
    expect(server.commands).toEqual(['restart']);
  });

  it.each([
    ['active', true],
    ['other lines\nactive\nmore', true],
    ['inactive', false],
    ['active (failed)', false],
    ['', false],
  ])('is confirmed by one whole line that confirm_output matches: %j', async (stdout, isConfirmed) => {
    endings = { restart: { code: 0 }, state: { stdout, code: 0 } };
    expect(await agent.confirm(target({ confirm_command: 'state', confirm_output: 'active|running' }))).toBe(isConfirmed);
  });

  it('is confirmed by no answer of a command that failed, or that said more than is read', async () => {
    const asked = target({ confirm_command: 'state', confirm_output: 'active' });
    endings = { state: { stdout: 'active', code: 3 } };
    expect(await agent.confirm(asked)).toBe(false);
    endings = { state: { stdout: `active\n${'x'.repeat(400_000)}`, code: 0 } };
    expect(await agent.confirm(asked)).toBe(false);
  });

  it('is not sent when the lease is lost in the turn of the send', async () => {
    endings = { restart: { code: 0 } };
    const lost = new AgentError('NotSent', { device: '', plug: '', asked: '', answered: 'no lease' });
    const beforeSend = (): void => {
      throw lost;
    };
    await expect(agent.run(target({}, { beforeSend }))).rejects.toBe(lost);
    expect(server.commands).toEqual([]);
  });

  it('is confirmed by confirm_command at code 0 only, and never by a command that is not there', async () => {
    endings = { restart: { code: 0 }, state: { code: 1 } };
    await expect(agent.run(target({ confirm_command: 'state' }))).rejects.toMatchObject({ kind: 'Unreachable' });
    endings = { restart: { code: 0 }, state: { stdout: 'up', code: 0 } };
    expect(await agent.run(target({ confirm_command: 'state' }))).toEqual({ result: 'accepted', detail: 'code 0; read back: code 0: up' });
    expect(server.commands).toEqual(['restart', 'state', 'restart', 'state']);
  });
});
