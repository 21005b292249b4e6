import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { run } from '../../src/testbed/devices/ipmi/test-process.ts';
import { startTestServer } from '../../src/testbed/devices/ipmi/rmcp/test-server.ts';
import { type Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { IpmiAgent } from './agent.ts';
import { fakeIpmitool, type FakeAnswers } from './testing/fake-ipmitool.ts';
import { areProgramsThere, PASSWORD, shellsOf, startSimulator, type Simulator } from './testing/ipmi-simulator.ts';
import { failure } from './testing/failure.ts';

const GUID = 'a123456789abcdefa123456789000001';
const cleanUp: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

describe.skipIf(!areProgramsThere)("by ourselves, against OpenIPMI's simulator", { timeout: 60_000 }, () => {
  let bmc: Simulator;
  const agent = new IpmiAgent(new SystemClock(), { path: '/nonexistent' });
  const target = (parameters: Record<string, string> = {}, changes: Partial<Target> = {}): Target =>
    bmc.target({ parameters: { ...bmc.target().parameters, transport: 'native', ...parameters }, ...changes });

  beforeAll(async () => {
    bmc = await startSimulator(GUID);
  });
  afterEach(() => {
    for (const fault of ['lie', 'slow', 'fail_get', 'fail_set'] as const) bmc.fault(fault, undefined);
    bmc.turn('on');
  });
  afterAll(async () => {
    await agent.close();
    await bmc.dispose();
  });

  it('the machine is proven, switched off and on', async () => {
    const identity = { node: 'worker-1', systemUUID: 'a1234567-89ab-cdef-a123-456789000001' };
    expect(await agent.read(target({}, { identity }))).toEqual({
      ...{ state: 'on', detail: 'Chassis Power is on', identity: 'verified' },
      boot: { id: '1', cause: '', startMaxMs: 180_000 },
    });
    expect(await agent.set(target({}, { identity }), 'off')).toEqual({ result: 'accepted', detail: 'Chassis Power Control: Down/Off' });
    expect(bmc.power()).toBe('off');
    expect(await agent.read(target())).toMatchObject({ state: 'off' });
    expect(await agent.set(target(), 'on')).toMatchObject({ result: 'accepted' });
    expect(bmc.power()).toBe('on');
    expect(shellsOf(bmc.port)).toEqual([]);
  });

  it('faults are told in words', async () => {
    bmc.fault('fail_get', '');
    expect(await agent.read(target())).toMatchObject({
      state: 'unknown',
      detail: expect.stringContaining('Get Chassis Power Status failed: ') as string,
    });
    bmc.fault('fail_get', undefined);
    bmc.fault('fail_set', '');
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'unclear' });
    bmc.fault('fail_set', undefined);
    bmc.fault('lie', '');
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(await agent.read(target())).toMatchObject({ state: 'on' });
    expect(await failure(agent.diagnose(target()))).toMatchObject({ kind: 'Refused' });
  });

  it.each([
    ['the wrong password', { password: 'wrong-and-secret' }, 'Refused', 'the password is wrong'],
    ['a user that is not there', { username: 'nobody' }, 'Refused', 'unauthorized name (0x0d)'],
    [
      'a suite that it does not take',
      { cipher: '17' },
      'Misconfigured',
      'set cipher=3; the BMC answered Open Session with: invalid authentication algorithm (0x04)',
    ],
  ])('%s is told from all else', async (_what, parameters, kind, words) => {
    const error = await failure(agent.read(target(parameters)));
    expect(error).toMatchObject({ kind });
    expect(error.message).toContain(words);
    for (const secret of [PASSWORD, 'wrong-and-secret']) expect(error.message).not.toContain(secret);
  });

  it('an empty event log is said to be empty', async () => {
    const native = new IpmiAgent(new SystemClock());
    cleanUp.push(() => native.close());
    const [empty] = await native.failureDiagnostics(target({ transport: 'native' }));
    expect(Buffer.from(empty?.content ?? []).toString()).toBe('the event log is empty\n');
  });

  it.each(['native', 'ipmitool'])('the event log is shown by transport %s, its newest entries', async (transport) => {
    const both = new IpmiAgent(new SystemClock());
    cleanUp.push(() => both.close());
    const record = '0x00 0x00 0x02 0x00 0x00 0x00 0x00 0x20 0x00 0x04 0x01 0x30 0x01 0x09 0xff 0xff';
    const options = ['-I', 'lanplus', '-H', '127.0.0.1', '-p', String(bmc.port), '-U', 'admin', '-E', '-C', '3'];
    await run('ipmitool', [...options, 'raw', '0x0a', '0x44', ...record.split(' ')], '', { IPMI_PASSWORD: PASSWORD });
    const [diagnostic] = await both.failureDiagnostics(target({ transport }));
    const lines = Buffer.from(diagnostic?.content ?? [])
      .toString()
      .trimEnd()
      .split('\n');
    expect(lines.at(-1)).toMatch(/^0x[0-9a-f]{4} \S+ .*Temperature 0x30 asserted: event 0x01, data 09 ff ff$/);
  });
});

/** A BMC of ours that refuses suites, and an ipmitool that says what a test wants. */
async function startWithFake(answers: FakeAnswers, refusesSuites: boolean) {
  const bmc = await startTestServer();
  const fake = fakeIpmitool(answers);
  const agent = new IpmiAgent(new SystemClock(), { path: fake.path });
  cleanUp.push(
    bmc.close,
    () => fake.dispose(),
    () => agent.close(),
  );
  bmc.wire.hears = (answer) => {
    if (!refusesSuites || answer[5] !== 0x11) return [answer];
    const refused = Buffer.from(answer.subarray(0, 24));
    refused.writeUInt16LE(8, 14);
    refused[17] = 0x11;
    return [refused];
  };
  const target = (parameters: Record<string, string> = {}, changes: Partial<Target> = {}): Target => ({
    plug: '',
    device: 'bmc',
    parameters: { ip: '127.0.0.1', ipport: String(bmc.port), username: 'admin', password: 'secret', ...parameters },
    identity: { node: 'a' },
    signal: new AbortController().signal,
    deadlineMs: 20_000,
    beforeSend: () => undefined,
    ...changes,
  });
  return { bmc, fake, agent, target };
}

describe('transport auto', { timeout: 60_000 }, () => {
  it('is our own where the BMC takes it; no ipmitool is started', async () => {
    const { fake, agent, target } = await startWithFake({}, false);
    expect(await agent.read(target())).toMatchObject({ state: 'on' });
    expect(fake.commands()).toEqual([]);
  });

  it('is ipmitool where the BMC refuses the suite, and is not tried again with each call', async () => {
    const { bmc, fake, agent, target } = await startWithFake({}, true);
    expect(await agent.read(target())).toMatchObject({ state: 'on' });
    const before = bmc.heard.length;
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(fake.commands().filter((command) => command.startsWith('power'))).toEqual(['power off']);
    expect(bmc.heard.length).toBe(before);
  });

  it('says what both met where neither gets in', async () => {
    const { agent, target } = await startWithFake({ login: 'echo "Error: Unable to establish IPMI v2 / RMCP+ session"; exit 1' }, true);
    const error = await failure(agent.read(target()));
    expect(error.message).toContain('Unable to establish IPMI v2 / RMCP+ session');
    expect(error.message).toContain('by RMCP+ of our own: the BMC does not take cipher suite 17: set cipher=3');
  });

  it.each([
    ['a wrong password', { password: 'guess' }],
    ['a user that is not there', { username: 'nobody' }],
  ])('does not ask ipmitool about %s', async (_what, parameters) => {
    const { fake, agent, target } = await startWithFake({}, false);
    expect(await failure(agent.read(target(parameters)))).toMatchObject({ kind: 'Refused' });
    expect(fake.commands()).toEqual([]);
  });

  it('sends an off by one transport only, whatever becomes of it', async () => {
    const { bmc, fake, agent, target } = await startWithFake({}, false);
    await agent.read(target());
    bmc.wire.hears = () => [];
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'unclear' });
    expect(fake.commands()).toEqual([]);
    expect(bmc.events.filter(({ action }) => action === 'set')).toHaveLength(1);
  });
});

describe('verify_with=other', { timeout: 60_000 }, () => {
  it('shows what the other transport reads, as a witness', async () => {
    const { agent, target } = await startWithFake({ status: 'echo " 00 00 00"' }, false);
    expect(await agent.read(target({ verify_with: 'other' }))).toMatchObject({
      state: 'on',
      witness: { source: 'ipmitool', state: 'off', detail: expect.stringContaining('Chassis Power is off') as string },
    });
    expect(await agent.read(target({ verify_with: 'other', transport: 'ipmitool' }))).toMatchObject({
      state: 'off',
      witness: { source: 'native', state: 'on' },
    });
  });

  it('is no read where the other one cannot', async () => {
    const { agent, target } = await startWithFake({ status: 'exit 1' }, false);
    expect(await failure(agent.read(target({ verify_with: 'other' })))).toMatchObject({ kind: 'Unreachable' });
  });

  it('is no read either where the BMC refuses our own', async () => {
    const { agent, target } = await startWithFake({}, true);
    expect(await failure(agent.read(target({ verify_with: 'other' })))).toMatchObject({ kind: 'Misconfigured' });
  });

  it('agrees about a real BMC', async ({ skip }) => {
    skip(!areProgramsThere, 'ipmitool or ipmi_sim is not installed');
    const bmc = await startSimulator(GUID);
    const agent = new IpmiAgent(new SystemClock());
    cleanUp.push(
      () => bmc.dispose(),
      () => agent.close(),
    );
    const target = bmc.target({ parameters: { ...bmc.target().parameters, transport: 'auto', verify_with: 'other' } });
    await agent.set(target, 'off');
    expect(await agent.read(target)).toMatchObject({ state: 'off', witness: { source: 'ipmitool', state: 'off' } });
  });
});
