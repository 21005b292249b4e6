import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from 'vitest';

import { AgentError } from '../../src/ports/agents.ts';
import type { Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { ExecFabricAgent, ExecPowerAgent, FenceProgramRunner } from './agent.ts';
import type { AddressCheck } from '../shared/address/address-check.ts';
import { ProgramFolder } from '../shared/process/program-folder.ts';
import { FenceCatalogue } from './catalogue.ts';
import { FakeFenceAgent } from './testing/fake-fence-agent.ts';
import type { FakeDevice } from './testing/fake-fence-agent.ts';

const PASSWORD = 'tr0ub4dor&3 = "x"';
const disposed: FakeFenceAgent[] = [];
afterEach(() => {
  for (const fake of disposed.splice(0)) fake.dispose();
});

function start(device: FakeDevice = {}, check?: AddressCheck) {
  const fake = new FakeFenceAgent(device);
  disposed.push(fake);
  const runner = new FenceProgramRunner(
    'fence_fake',
    new FenceCatalogue(new ProgramFolder({ kind: 'folder', path: fake.folder })),
    new SystemClock(),
    check,
  );
  const target = (changes: Partial<Target> = {}): Target => ({
    plug: '1',
    device: '192.0.2.1',
    parameters: { ip: '192.0.2.1', username: 'admin', password: PASSWORD },
    identity: { node: 'worker-1' },
    signal: new AbortController().signal,
    deadlineMs: 60_000,
    beforeSend: () => undefined,
    ...changes,
  });
  return { fake, target, agent: new ExecPowerAgent(runner), fabric: new ExecFabricAgent(runner) };
}

async function failureOf(promise: Promise<unknown>): Promise<AgentError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AgentError)) throw new Error('it did not fail with an AgentError', { cause: error });
  expect(error.message).not.toContain('tr0ub4dor');
  return error;
}

describe('a fence agent of ClusterLabs', { timeout: 120_000 }, () => {
  it('reads, switches off and on, a fresh process each time', async () => {
    const { fake, agent, target } = start();
    expect(await agent.read(target())).toEqual({ state: 'on', detail: 'Status: ON', identity: 'unverified' });
    expect(await agent.set(target(), 'off')).toEqual({ result: 'accepted', detail: 'Success: Powered OFF (exit code 0)', isSent: true });
    expect(await agent.read(target())).toMatchObject({ state: 'off', detail: 'Status: OFF' });
    expect(await agent.set(target(), 'on')).toMatchObject({ result: 'accepted' });
    expect(fake.calls).toEqual(['status 1', 'off 1', 'status 1', 'on 1']);
  });

  it('is given the address that was checked in the place of a name, but where a certificate or a host key is known by the name', async () => {
    const asked: string[] = [];
    const { fake, agent, target } = start({}, (address) => void asked.push(address));
    const told = async (more: Record<string, string>): Promise<string | undefined> => {
      await agent.read(target({ parameters: { ip: 'localhost', username: 'admin', password: PASSWORD, ...more } }));
      return fake.stdin.findLast((line) => line.startsWith('ip='));
    };
    expect([await told({ ssl_insecure: 'yes' }), await told({}), await told({ ssl_insecure: 'yes', ssh: 'yes' })]).toEqual([
      `ip=${asked[0] ?? ''}`,
      'ip=localhost',
      'ip=localhost',
    ]);
    expect(asked[0]).toMatch(/^(?:127\.|::1)/);
    expect(await told({ ssl_insecure: 'yes', ip: '192.0.2.9' })).toBe('ip=192.0.2.9');
  });

  it('is told everything on its stdin, by the names of its own metadata, without false booleans', async () => {
    const { fake, agent, target } = start();
    const parameters = { ipaddr: '192.0.2.9', username: 'admin', passwd: PASSWORD, ssl_insecure: 'no', missing_as_off: '0', unheard_of: 'x' };
    await agent.read(target({ parameters, plug: 'outlet 4' }));
    expect(fake.stdin).toEqual([
      'action=status',
      'plug=outlet 4',
      'ip=192.0.2.9',
      'username=admin',
      `password=${PASSWORD}`,
      'retry_on=0',
      'power_timeout=57',
    ]);
  });

  it('asks for leave right before the program is started that changes something, and starts nothing without', async () => {
    const { fake, agent, target } = start();
    const refused = new AgentError('NotSent', { device: '', plug: '', asked: '', answered: 'a stop stands' });
    const beforeSend = (): void => {
      throw refused;
    };
    await expect(agent.set(target({ beforeSend }), 'off')).rejects.toBe(refused);
    await expect(agent.diagnose(target({ beforeSend }))).rejects.toBe(refused);
    expect(await agent.read(target({ beforeSend }))).toMatchObject({ state: 'on' });
    expect(fake.calls).toEqual(['status 1']);
  });

  it.each([
    ['an exit code of 2 alone', 'echo "python3: cannot open file" >&2; exit 2'],
    ['words that the code denies', 'echo "Status: OFF"; exit 0'],
    ['a code that the words deny', 'echo "Status: ON"; exit 2'],
    ['both words', 'echo "Status: OFF"; echo "Status: ON"; exit 2'],
    ['another case', 'echo "Status: off"; exit 2'],
    ['more words', 'echo "Status: OFF (pending)"; exit 2'],
    ['an unknown state', 'echo "Status: UNKNOWN"; exit 2'],
    ['no words', 'exit 0'],
    ['an internal code', 'exit 8'],
    ['a signal', 'kill -9 $$'],
    ['garbage', 'head -c 200000 /dev/urandom; echo; echo "Status: OFF"; exit 2'],
  ])('%s is no state', async (_what, status) => {
    const { agent, target } = start({ status });
    expect(await agent.read(target())).toMatchObject({ state: 'unknown', identity: 'unverified' });
  });

  it('may be believed by its code alone where the admin says that it prints nothing', async () => {
    const { agent, target } = start({ status: 'if [ "$plug" = 1 ]; then exit 2; fi; echo "Status: ON"; exit 2' });
    const parameters = { ip: 'x', password: 'x', status_by: 'code' };
    expect(await agent.read(target({ parameters }))).toMatchObject({ state: 'off' });
    expect(await agent.read(target({ parameters, plug: '2' }))).toMatchObject({ state: 'unknown' });
  });

  it.each([
    ['its interpreter cannot read', 'sh -c "if then"; exit 2'],
    ['a tool of it complains', 'ls /nonexistent/at-all'],
    ['it says more than nothing', 'echo "no such outlet"; exit 2'],
  ])('is not off by its code alone where %s', async (_what, status) => {
    const { agent, target } = start({ status });
    expect((await agent.read(target({ parameters: { ip: 'x', password: 'x', status_by: 'code' } }))).state).toBe('unknown');
  });

  it.each([
    ['Unreachable', 'echo "Unable to connect/login to fencing device" >&2; exit 1'],
    ['Unreachable', 'echo "Connection timed out" >&2; exit 1'],
    ['Refused', 'echo "Failed: The user does not have the correct privileges to do the requested action." >&2; exit 1'],
    ['Misconfigured', 'echo "Failed: You have to enter plug number or machine identification" >&2; exit 1'],
  ])('%s, in its own words', async (kind, status) => {
    const { agent, target } = start({ status });
    const error = await failureOf(agent.read(target()));
    expect(error.kind).toBe(kind);
    expect(status).toContain(error.facts.answered.split(' (exit')[0]);
  });

  it('never repeats a secret, wherever the agent says it', async () => {
    const { agent, target } = start({ login: `echo "login with ${PASSWORD.replaceAll('"', '\\"')} failed: Connection refused" >&2; exit 1` });
    const error = await failureOf(agent.read(target()));
    expect(error.facts.answered).toBe('login with *** failed: Connection refused (exit code 1)');
  });
});

describe('a set', { timeout: 120_000 }, () => {
  it('that is given up before its program is started was not sent', async () => {
    const { fake, agent, target } = start();
    let asked = 0;
    const error = await failureOf(agent.set(target({ signal: AbortSignal.abort(), beforeSend: () => void (asked += 1) }), 'off'));
    expect(error.kind).toBe('NotSent');
    expect([asked, fake.calls]).toEqual([0, []]);
  });

  it('is no success because the agent says so', async () => {
    const { agent, target } = start({ off: 'echo "Success: Powered OFF"' });
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(await agent.read(target())).toMatchObject({ state: 'on' });
  });

  it('that the agent calls a failure is unclear: it may have been sent', async () => {
    const { agent, target } = start({ off: 'turn off; echo "Failed: Timed out waiting to power OFF" >&2; exit 1' });
    const detail = 'Failed: Timed out waiting to power OFF (exit code 1)';
    expect(await agent.set(target(), 'off')).toEqual({ result: 'unclear', detail, isSent: true });
    expect(await agent.read(target())).toMatchObject({ state: 'off' });
  });

  it.each([
    ['and that is all', '', 'accepted'],
    ['and fails to log out', '; echo "permission denied" >&2; exit 1', 'unclear'],
  ])('that the program finds needless was not sent: it says so, %s', async (_what, end, result) => {
    const { agent, target } = start({ off: `echo "Success: Already OFF"${end}` });
    expect(await agent.set(target(), 'off')).toMatchObject({ result, isSent: false });
  });

  it.each(['echo "Unable to connect/login to fencing device" >&2; exit 1', 'echo "Powered OFF, Success: Already OFF or so"', 'exit 0'])(
    'of which the program does not say whether it was sent leaves that open: %s',
    async (off) => {
      const { agent, target } = start({ off });
      expect((await agent.set(target(), 'off')).isSent).toBeUndefined();
    },
  );

  it('of off is known to be skipped by the program where the plug is off already', () => {
    expect(start().agent.skipsWhatIsOff).toBe(true);
  });

  it('that is refused for lack of privilege says so', async () => {
    const { agent, target } = start({ off: 'echo "HTTP 403 Forbidden" >&2; exit 1' });
    expect(await failureOf(agent.set(target(), 'off'))).toMatchObject({ kind: 'Refused', facts: { answered: 'HTTP 403 Forbidden (exit code 1)' } });
  });

  it('ends at its deadline with everything that the agent started, and is unclear', async () => {
    const { fake, agent, target } = start({ off: '(sleep 5; touch late; turn off) & wait' });
    const startedAt = performance.now();
    expect(await agent.set(target({ deadlineMs: 2_000 }), 'off')).toMatchObject({
      result: 'unclear',
      detail: expect.stringContaining('killed at the deadline') as string,
    });
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 6_500 - (performance.now() - startedAt))));
    expect(existsSync(join(fake.folder, 'late'))).toBe(false);
    expect(fake.power('1')).toBe('on');
  });
});

describe('a read', { timeout: 120_000 }, () => {
  it('that takes too long is a timeout', async () => {
    const { agent, target } = start({ status: 'sleep 600' });
    expect(await failureOf(agent.read(target({ deadlineMs: 2_000 })))).toMatchObject({ kind: 'Timeout' });
  });

  it('ends when it is given up', async () => {
    const { fake, agent, target } = start({ status: 'sleep 600' });
    const controller = new AbortController();
    const failed = failureOf(agent.read(target({ signal: controller.signal })));
    const endsAt = performance.now() + 30_000;
    while (fake.calls.length === 0 && performance.now() < endsAt) await new Promise((resolve) => setTimeout(resolve, 10));
    controller.abort(new Error('enough'));
    expect(await failed).toMatchObject({ kind: 'NotSent' });
  });

  it.each(['1,2', '1"', '', 'a\nb'])('of plug %j is refused: one at a time', async (plug) => {
    const { fake, agent, target } = start();
    expect(await failureOf(agent.read(target({ plug })))).toMatchObject({ kind: 'Misconfigured' });
    expect(fake.calls).toEqual([]);
  });

  it('with a parameter that would make a missing machine off is refused', async () => {
    const { fake, agent, target } = start();
    const error = await failureOf(agent.read(target({ parameters: { ip: 'x', password: 'x', missing_as_off: 'yes' } })));
    expect(error).toMatchObject({ kind: 'Misconfigured', facts: { answered: expect.stringContaining('missing_as_off') as string } });
    expect(fake.calls).toEqual([]);
  });

  it('of a program that is gone says so', async () => {
    const { fake, agent, target } = start();
    fake.dispose();
    expect(await failureOf(agent.read(target()))).toMatchObject({
      kind: 'Misconfigured',
      facts: { answered: expect.stringMatching(/^there is no fence_fake in .*, the folder of --programs$/) as string },
    });
  });
});

describe('what else the agent offers', { timeout: 120_000 }, () => {
  it('lists plugs with their names and states', async () => {
    const { fake, agent, target } = start({ list: 'echo "NOTICE: nothing to see"; echo 1,one,ON; echo "2,two, too,OFF"; echo 3,,PENDING' });
    expect(await agent.list(target())).toEqual([
      { plug: '1', alias: 'one', state: 'on' },
      { plug: '2', alias: 'two, too', state: 'off' },
      { plug: '3', state: 'unknown' },
    ]);
    expect(fake.calls).toEqual(['list-status ']);
  });

  it('makes the kernel dump', async () => {
    const { fake, agent, target } = start();
    expect(await agent.diagnose(target())).toMatchObject({ result: 'accepted' });
    expect(fake.calls).toEqual(['diag 1']);
  });

  it('opens and closes a way where it cuts no power', async () => {
    const { fake, fabric, target } = start({ isFabric: true });
    expect(await fabric.read(target())).toMatchObject({ state: 'open' });
    await fabric.set(target(), 'closed');
    expect(await fabric.read(target())).toMatchObject({ state: 'closed' });
    await fabric.set(target(), 'open');
    expect(await fabric.list(target())).toContainEqual({ plug: '2', alias: 'two', state: 'closed' });
    expect(fake.calls).toEqual(['status 1', 'off 1', 'status 1', 'on 1', 'list-status ']);
  });
});
