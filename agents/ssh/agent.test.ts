import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

import { AgentError, type Parameters, type Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { isSshdThere, startOpenSshd, type OpenSshd } from '../shared/ssh/testing/open-sshd.ts';
import { SshAgent } from './agent.ts';
import { ssh } from './definition.ts';

const TIMEOUT_MS = 90_000;

if (!isSshdThere && process.env['CI'] === 'true') throw new Error('Debian package openssh-server is missing');

describe.skipIf(!isSshdThere)('a command over SSH, with the server of OpenSSH', { timeout: TIMEOUT_MS }, () => {
  let sshd: OpenSshd;
  const agent = new SshAgent(new SystemClock());

  beforeAll(async () => {
    sshd = await startOpenSshd();
  }, TIMEOUT_MS);
  afterEach(async () => {
    await agent.close();
    await vi.waitFor(() => expect(sshd.connections()).toBe(0), { timeout: 20_000 });
  });
  afterAll(() => sshd.stop());

  function target(parameters: Parameters, changes: Partial<Target> = {}): Target {
    return {
      plug: '',
      device: `127.0.0.1:${sshd.port}`,
      parameters: {
        ip: '127.0.0.1',
        ipport: String(sshd.port),
        username: sshd.username,
        private_key: sshd.privateKey,
        known_hosts: sshd.knownHosts.ed25519,
        ...parameters,
      },
      identity: { node: 'worker-1' },
      signal: new AbortController().signal,
      deadlineMs: 30_000,
      beforeSend: () => undefined,
      ...changes,
    };
  }

  async function failure(promise: Promise<unknown>): Promise<AgentError> {
    const error: unknown = await promise.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error instanceof AgentError) return error;
    throw new Error(`no AgentError: ${String(error)}`);
  }

  it('is accepted at code 0, and claims no more', async () => {
    expect(await agent.run(target({ command: 'echo restarted' }))).toEqual({ result: 'accepted', detail: 'code 0: restarted; not read back' });
    expect(await agent.confirm(target({ command: 'true' }))).toBe(false);
  });

  it('is refused at any other code, in the words of the command', async () => {
    const error = await failure(agent.run(target({ command: 'echo "Unit kubelet.service not found." >&2; exit 5' })));
    expect(error).toMatchObject({ kind: 'Refused' });
    expect(error.facts.answered).toBe('code 5: Unit kubelet.service not found.');
  });

  it('is refused when a signal ended the command', async () => {
    expect((await failure(agent.run(target({ command: 'kill -9 $$' })))).facts.answered).toBe('ended by SIGKILL');
  });

  it('believes the second command where there is one', async () => {
    const file = join(sshd.folder, 'state');
    const confirmed = { command: `echo active > ${file}`, confirm_command: `cat ${file}`, confirm_output: 'active' };
    expect(await agent.confirm(target(confirmed))).toBe(false);
    expect(await agent.run(target(confirmed))).toMatchObject({ result: 'accepted', detail: 'code 0; read back: code 0: active' });
    expect(await agent.confirm(target(confirmed))).toBe(true);
    const lying = { ...confirmed, command: `echo inactive > ${file}` };
    expect(await failure(agent.run(target(lying)))).toMatchObject({ kind: 'Unreachable' });
    expect(await agent.confirm(target(lying))).toBe(false);
  });

  it('believes no second command that failed, or that said more than is read', async () => {
    const confirm = (command: string): Promise<boolean> =>
      agent.confirm(target({ command: 'true', confirm_command: command, confirm_output: 'active' }));
    expect(await confirm('echo active')).toBe(true);
    expect(await confirm('echo active; exit 3')).toBe(false);
    expect(await confirm("echo active; head -c 400000 /dev/zero | tr '\\0' x")).toBe(false);
  });

  it('sends nothing when the lease is lost in the turn of the send', async () => {
    const file = join(sshd.folder, 'never');
    const beforeSend = (): void => {
      throw new AgentError('NotSent', { device: '', plug: '', asked: '', answered: 'no lease' });
    };
    expect(await failure(agent.run(target({ command: `touch ${file}` }, { beforeSend })))).toMatchObject({ kind: 'NotSent' });
    expect(existsSync(file)).toBe(false);
  });

  it('takes one line as it is: what the shell makes of it is what the admin wrote', async () => {
    const file = join(sshd.folder, 'quoted');
    await agent.run(target({ command: `printf '%s' "it's \\$HOME" > ${file}` }));
    expect(readFileSync(file, 'utf8')).toBe("it's $HOME");
  });

  it('ends with its call, not with the command', async () => {
    expect(await failure(agent.run(target({ command: 'sleep 30' }, { deadlineMs: 1_500 })))).toMatchObject({ kind: 'Timeout' });
  });
});

describe('the parameters of a command over SSH', () => {
  const whole = { ip: 'worker-1', username: 'fence', password: 'x', known_hosts: 'insecure', command: 'true' };

  it('are complete with a host, an account, a credential, a host key and a command', () => {
    expect(ssh.check(whole, true)).toEqual([]);
    for (const name of ['ip', 'username', 'password', 'known_hosts', 'command'])
      expect(ssh.check({ ...whole, [name]: '' }, true).map(({ parameter }) => parameter)).toContain(name);
  });

  it('need no Secret where it is not at hand', () => {
    expect(ssh.check({ ip: 'worker-1', command: 'true' }, false)).toEqual([]);
  });

  it.each([
    [{ command: 'a\nb' }, 'command'],
    [{ confirm_output: 'a' }, 'confirm_output'],
    [{ confirm_command: 'a', confirm_output: '(' }, 'confirm_output'],
    [{ known_hosts: 'anybody' }, 'known_hosts'],
    [{ host_key_fingerprint: 'SHA256:short' }, 'host_key_fingerprint'],
    [{ host_key_fingerprint: `SHA256:${'a'.repeat(43)}` }, 'known_hosts'],
    [{ private_key: 'no key' }, 'private_key'],
    [{ ipport: '70000' }, 'ipport'],
    [{ ip: '-oProxyCommand=x' }, 'ip'],
  ])('%j has a problem with %s', (changes, parameter) => {
    expect(ssh.check({ ...whole, ...changes }, true).map((problem) => problem.parameter)).toContain(parameter);
  });

  it('are refused where nothing says whose key the host shows, and where the first one is to be believed', () => {
    const { known_hosts: _known, ...anybody } = whole;
    for (const more of [{}, { trust_on_first_use: 'yes' }])
      expect(ssh.check({ ...anybody, ...more }, true).map(({ parameter }) => parameter)).toEqual(['known_hosts']);
  });

  it('name one queue for one machine', () => {
    expect(ssh.deviceKey({ ip: 'Worker-1', command: 'true' })).toBe('worker-1:22');
    expect(ssh.deviceKey({ ipaddr: '[fd00::1]', ipport: '0022' })).toBe('[fd00::1]:22');
  });
});
