import { spawn } from 'node:child_process';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { SystemClock } from '../../src/runtime/system-clock.ts';
import { IpmiAgent } from './agent.ts';
import { areProgramsThere, freePort, PASSWORD, read, shellsOf, startSimulator, until, type Simulator } from './testing/ipmi-simulator.ts';
import { failure } from './testing/failure.ts';

describe.skipIf(!areProgramsThere)("trouble with OpenIPMI's simulator", { timeout: 90_000 }, () => {
  let bmc: Simulator;
  let agent: IpmiAgent;
  const cleanUp: (() => Promise<void> | void)[] = [];

  beforeAll(async () => {
    bmc = await startSimulator();
    agent = new IpmiAgent(new SystemClock());
  });
  afterEach(async () => {
    for (const step of cleanUp.splice(0).reverse()) await step();
    bmc.turn('on');
  });
  afterAll(async () => {
    await agent.close();
    await bmc.dispose();
  });

  it('says what a wrong password may be, without it, and leaves no shell', async () => {
    const parameters = { ...bmc.target().parameters, password: 'wrong-and-secret' };
    const error = await failure(agent.set(bmc.target({ parameters }), 'off'));
    // Refused where the BMC's answer came at once; on a busy machine it cannot be told from silence.
    expect(['Refused', 'Unreachable']).toContain(error.kind);
    expect(error.message).toContain('Unable to establish IPMI v2 / RMCP+ session');
    expect(error.message).not.toContain('wrong-and-secret');
    await until(() => shellsOf(bmc.port).length === 0, 'the end of the shell');
    expect(bmc.power()).toBe('on');
  });

  it('names the cipher suite that a BMC does not take', async () => {
    const { cipher: _cipher, ...parameters } = bmc.target().parameters;
    const error = await failure(agent.read(bmc.target({ parameters })));
    expect(error).toMatchObject({ kind: 'Misconfigured' });
    expect(error.message).toContain('set cipher=3');
  });

  it('ends with the deadline when nobody listens, and leaves no shell', async () => {
    const port = await freePort();
    const target = bmc.target({ deadlineMs: 1_000, parameters: { ...bmc.target().parameters, ipport: String(port) } });
    expect(await failure(agent.read(target))).toMatchObject({ kind: 'Timeout' });
    await until(() => shellsOf(port).length === 0, 'the end of the shell');
  });

  it('finds a port where nobody listens unreachable, when there is time to find out', async () => {
    const target = bmc.target({ parameters: { ...bmc.target().parameters, ipport: String(await freePort()) } });
    const error = await failure(agent.read(target));
    expect(error).toMatchObject({ kind: 'Unreachable' });
    expect(error.message).toContain('no session with the BMC');
  });

  it('ends with the abort signal, in the middle of a silent login', async () => {
    const port = await freePort();
    const controller = new AbortController();
    const target = bmc.target({ signal: controller.signal, parameters: { ...bmc.target().parameters, ipport: String(port) } });
    const promise = failure(agent.read(target));
    await until(() => shellsOf(port).length === 1, 'a shell');
    controller.abort();
    expect(await promise).toMatchObject({ kind: 'NotSent' });
    await until(() => shellsOf(port).length === 0, 'the end of the shell');
  });

  it('ends with the deadline when a BMC falls silent, kills the shell, and starts afresh when it speaks again', async () => {
    await agent.read(bmc.target());
    const [before] = shellsOf(bmc.port);
    bmc.signal('SIGSTOP');
    cleanUp.push(() => bmc.signal('SIGCONT'));
    expect(await failure(agent.read(bmc.target({ deadlineMs: 1_000 })))).toMatchObject({ kind: 'Timeout' });
    await until(() => shellsOf(bmc.port).length === 0, 'the end of the shell');
    bmc.signal('SIGCONT');
    expect(await agent.read(bmc.target())).toMatchObject({ state: 'on' });
    expect(shellsOf(bmc.port)).not.toContain(before);
  });

  it('sends no off when the BMC falls silent before it has shown its GUID again', async () => {
    await agent.read(bmc.target());
    bmc.signal('SIGSTOP');
    cleanUp.push(() => bmc.signal('SIGCONT'));
    let asked = 0;
    const target = bmc.target({ deadlineMs: 1_000, beforeSend: () => (asked += 1) });
    expect(await failure(agent.set(target, 'off'))).toMatchObject({ kind: 'Timeout' });
    expect(asked).toBe(0);
  });

  it.each(['read', 'set'] as const)('opens a new session for a %s when the BMC was restarted and forgot the old one', async (what) => {
    await agent.read(bmc.target());
    const before = shellsOf(bmc.port);
    await bmc.stop();
    await bmc.start();
    const answer = what === 'set' ? await agent.set(bmc.target(), 'off') : await agent.read(bmc.target());
    expect(answer).toMatchObject(what === 'set' ? { result: 'accepted' } : { state: 'on' });
    expect(shellsOf(bmc.port)).not.toEqual(before);
    expect(bmc.calls().filter((call) => call === 'set power 0')).toHaveLength(what === 'set' ? 1 : 0);
  });

  it('shows no secret in the command line, environment or open files of a shell', async () => {
    await agent.read(bmc.target());
    const [pid] = shellsOf(bmc.port);
    if (pid === undefined) throw new Error('no shell');
    expect(read(`/proc/${pid}/cmdline`)).not.toContain(PASSWORD);
    const names = read(`/proc/${pid}/environ`)
      .split('\0')
      .filter((entry) => entry !== '')
      .map((entry) => entry.split('=')[0]);
    expect(names.sort()).toEqual(['HOME', 'INPUTRC', 'LANG', 'LC_ALL', 'PATH', 'PWD', 'TERM']);
  });

  it('ends its shells, and their sessions at the BMC, when it is closed; and works again', async () => {
    await agent.read(bmc.target());
    await agent.close();
    expect(shellsOf(bmc.port)).toEqual([]);
    expect(await agent.read(bmc.target())).toMatchObject({ state: 'on' });
  });

  it.each(['an idle shell', 'a shell in the middle of a command'])(
    'leaves no ipmitool behind when its own process is killed with %s',
    async (what) => {
      const target = bmc.target();
      const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
      const script = `
      import { IpmiAgent } from ${module('./agent.ts')};
      import { SystemClock } from ${module('../../src/runtime/system-clock.ts')};
      const agent = new IpmiAgent(new SystemClock());
      const target = { plug: '', device: 'bmc', identity: { node: 'n' }, deadlineMs: 60_000, signal: new AbortController().signal, beforeSend() {} };
      process.stdin.setEncoding('utf8').on('data', async (text) => {
        await agent.read({ ...target, parameters: JSON.parse(text) }).catch(() => undefined);
        process.stdout.write('read\\n');
      });`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'ignore'] });
      cleanUp.push(() => void child.kill('SIGKILL'));
      await agent.close();
      // Two shells: the later one may hold the terminal of the earlier, and must not keep it alive.
      for (const parameters of [{ ...target.parameters, username: 'oper', password: 'operpw', privlvl: 'operator' }, target.parameters]) {
        const isRead = new Promise((resolve) => child.stdout.once('data', resolve));
        child.stdin.write(JSON.stringify(parameters));
        await isRead;
      }
      if (what !== 'an idle shell') {
        bmc.signal('SIGSTOP');
        cleanUp.push(() => bmc.signal('SIGCONT'));
        child.stdin.write(JSON.stringify(target.parameters));
      }
      expect(shellsOf(bmc.port)).toHaveLength(2);
      child.kill('SIGKILL');
      await until(() => shellsOf(bmc.port).length === 0, 'the end of both shells');
    },
  );
});

describe.skipIf(!areProgramsThere)('many BMCs', { timeout: 120_000 }, () => {
  it('are each switched off by their own shell, at the same time; those beyond the limit close what was used longest ago', async () => {
    const bmcs = await Promise.all(Array.from({ length: 20 }, () => startSimulator()));
    const agent = new IpmiAgent(new SystemClock(), { sessionsMax: 20 });
    const shells = () => bmcs.map((bmc) => shellsOf(bmc.port).length);
    try {
      const outcomes = await Promise.all(bmcs.map((bmc) => agent.set(bmc.target(), 'off')));
      expect(new Set(outcomes.map(({ result }) => result))).toEqual(new Set(['accepted']));
      const readings = await Promise.all(bmcs.map((bmc) => agent.read(bmc.target())));
      expect(readings.map(({ state }) => state)).toEqual(bmcs.map(() => 'off'));
      expect(bmcs.map((bmc) => bmc.power())).toEqual(bmcs.map(() => 'off'));
      expect(shells()).toEqual(bmcs.map(() => 1));
      const [first, second] = bmcs;
      if (first === undefined || second === undefined) throw new Error('no BMC');
      await agent.read(first.target());
      const { parameters } = first.target();
      await agent.read(first.target({ parameters: { ...parameters, username: 'oper', password: 'operpw', privlvl: 'operator' } }));
      await until(() => shellsOf(second.port).length === 0, 'the end of the oldest shell');
      expect(shellsOf(first.port)).toHaveLength(2);
    } finally {
      await agent.close();
      await Promise.all(bmcs.map((bmc) => bmc.dispose()));
    }
    expect(shells()).toEqual(bmcs.map(() => 0));
  });
});
