import { spawn, spawnSync } from 'node:child_process';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { AgentError, type Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { IpmiAgent } from './agent.ts';
import { freePort, until } from './testing/ipmi-simulator.ts';

/** The BMC of pyghmi, which nobody here wrote: Debian's `python3-pyghmi` (or pip), on the PATH or named by this variable. It speaks suite 3 only. */
const FAKE_BMC = process.env['NODEFENCE_FAKEBMC'] ?? 'fakebmc';
const isThere = spawnSync(FAKE_BMC, ['--help'], { stdio: 'ignore' }).status === 0;
const transports = ['native', 'ipmitool'].filter((name) => name === 'native' || spawnSync('which', [name], { stdio: 'ignore' }).status === 0);

describe.skipIf(!isThere)('against pyghmi', { timeout: 60_000 }, () => {
  const cleanUp: (() => Promise<void>)[] = [];
  let port = 0;
  const agent = new IpmiAgent(new SystemClock());

  const target = (parameters: Record<string, string>): Target => ({
    plug: '',
    device: `127.0.0.1:${port}`,
    parameters: { ip: '127.0.0.1', ipport: String(port), username: 'admin', password: 'password', cipher: '3', ...parameters },
    identity: { node: 'a' },
    signal: new AbortController().signal,
    deadlineMs: 20_000,
    beforeSend: () => undefined,
  });

  async function failure(call: Promise<unknown>): Promise<AgentError> {
    const error: unknown = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error instanceof AgentError) return error;
    throw new Error(`no AgentError: ${String(error)}`);
  }

  beforeAll(async () => {
    port = await freePort();
    const child = spawn(FAKE_BMC, ['--port', String(port)], { stdio: 'ignore' });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    cleanUp.push(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    await until(async () => (await agent.read(target({})).catch(() => undefined)) !== undefined, 'fakebmc');
  }, 60_000);

  afterAll(async () => {
    await agent.close();
    for (const step of cleanUp.splice(0).reverse()) await step();
  });

  it.each(transports)('switches on and off and reads it back by %s', async (transport) => {
    await agent.set(target({ transport }), 'on');
    expect(await agent.read(target({ transport }))).toMatchObject({ state: 'on', identity: 'unverified' });
    await agent.set(target({ transport }), 'off');
    expect(await agent.read(target({ transport }))).toMatchObject({ state: 'off' });
  });

  it.each([...transports, 'auto'])('names cipher=3 where suite 17 was asked for, by %s', async (transport) => {
    const error = await failure(agent.read(target({ transport, cipher: '17' })));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain('does not take cipher suite 17: set cipher=3');
  });

  it.each(transports)('does not take an unknown user for a matter of privilege, by %s', async (transport) => {
    const error = await failure(agent.read(target({ transport, username: 'nobody' })));
    expect(error.kind).toBe('Unreachable');
    expect(error.message).toContain('check that the BMC knows the user');
    expect(error.message).not.toContain('set privlvl');
  });

  it('tells a wrong password', async () => {
    const error = await failure(agent.read(target({ transport: 'native', password: 'wrong' })));
    expect(error).toMatchObject({ kind: 'Refused' });
    expect(error.message).toContain('the password is wrong');
  });
});
