import { afterEach, describe, expect, it } from 'vitest';

import type { IpmiDeviceOptions } from '../../../src/testbed/devices/ipmi/rmcp/ipmi-device.ts';
import { startTestServer } from '../../../src/testbed/devices/ipmi/rmcp/test-server.ts';
import { TEST_UUID } from '../../../src/testbed/devices/ipmi/rmcp/test-device.ts';
import { type Target } from '../../../src/ports/agents.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { IpmiAgent } from '../agent.ts';
import { QuickClock } from '../testing/quick-clock.ts';
import { failure } from '../testing/failure.ts';

/** A wait of a second takes 20 ms where silence is what a test waits for. */
const TIMES = 50;

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** `times`: how many times faster than a clock's its waits are. */
async function start(options: Partial<IpmiDeviceOptions> = {}, times = 1) {
  const bmc = await startTestServer(options);
  const clock = new QuickClock(new SystemClock());
  clock.times = times;
  const agent = new IpmiAgent(clock, { path: '/nonexistent' });
  cleanUp.push(bmc.close, () => agent.close());
  const target = (parameters: Record<string, string> = {}): Target => ({
    plug: '',
    device: `127.0.0.1:${bmc.port}`,
    parameters: { ip: '127.0.0.1', ipport: String(bmc.port), username: 'admin', password: 'secret', transport: 'native', ...parameters },
    identity: { node: 'a', systemUUID: TEST_UUID },
    signal: new AbortController().signal,
    deadlineMs: 20_000 * TIMES,
    beforeSend: () => undefined,
  });
  const logins = () => bmc.events.filter(({ action }) => action === 'login').length;
  return { bmc, agent, target, logins };
}

describe('a session', { timeout: 60_000 }, () => {
  it('is opened in four round trips, and what a BMC tells strangers is not asked for', async () => {
    const { bmc, agent, target } = await start();
    await agent.set(target(), 'off');
    // Open Session, RAKP 1, RAKP 3 and the privilege; then GUID and off.
    expect(bmc.heard.length).toBe(6);
    expect(bmc.heard.filter(isPlain)).toEqual([]);
  });
});

describe('a BMC that is slow to open a session', { timeout: 60_000 }, () => {
  /** Every answer to a step of the handshake comes so late that the step was asked again; a repeated RAKP 1 voids the first. */
  async function slow(password = 'secret') {
    const harness = await start({ faults: { voidsRepeats: true } });
    const { bmc, target } = harness;
    bmc.wire.delaysMs = (answer) => (isOfHandshake(answer) ? 1_300 : 0);
    return { ...harness, read: () => harness.agent.read(target({ password })) };
  }

  it('is given more time, where a repetition voided what was said, and not told as a wrong password', async () => {
    const { read, logins } = await slow();
    expect(await read()).toMatchObject({ state: 'on', identity: 'verified' });
    expect(logins()).toBe(2);
  });

  it('is still told when the password is wrong: nothing had to be asked twice then', async () => {
    const { read } = await slow('not the secret');
    expect(await failure(read())).toMatchObject({ kind: 'Refused', message: expect.stringContaining('the password is wrong') as string });
  });

  it('is unreachable, with nothing concluded of the password, where even that was too little', async () => {
    const { bmc, agent, target } = await start({ faults: { voidsRepeats: true } });
    // Its network repeats every answer's question.
    bmc.wire.times = 2;
    const error = await failure(agent.read(target({ password: 'not the secret' })));
    expect(error.kind).toBe('Unreachable');
    expect(error.message).toMatch(/nothing is concluded of the password/u);
  });
});

describe('a BMC that opens no session', { timeout: 60_000 }, () => {
  it('is asked what it tells strangers while it is silent, in no more time, and told from one that is not there', async () => {
    const { bmc, agent, target } = await start({}, TIMES);
    bmc.wire.arrives = isPlain;
    const silent = await failure(agent.read(target()));
    expect(silent).toMatchObject({ kind: 'Unreachable' });
    expect(silent.message).toMatch(/stopped answering after Open Session .*raise ipmitool_timeout/u);
    // Open Session three times, and beside each repetition the question.
    expect(bmc.heard.map(isPlain)).toEqual([false, true, false, true, false]);
    bmc.wire.arrives = () => false;
    const absent = await failure(agent.read(target()));
    expect(absent).toMatchObject({ kind: 'Unreachable' });
    expect(absent.message).toMatch(/no answer from the BMC$/u);
  });

  it('is asked what it tells strangers when it refuses, to explain why', async () => {
    const { agent, target } = await start({ kg: 'key', faults: { opensSuite3: true } });
    const error = await failure(agent.read(target()));
    expect(error).toMatchObject({ kind: 'Misconfigured' });
    expect(error.message).toMatch(/set cipher=3; .*; it says that it has a key \(Kg\): give kg/u);
  });

  it('is told all the same where it does not tell strangers anything', async () => {
    const { bmc, agent, target } = await start({ faults: { opensSuite3: true } }, TIMES);
    bmc.wire.arrives = (datagram) => !isPlain(datagram);
    expect(await failure(agent.read(target()))).toMatchObject({ kind: 'Misconfigured' });
  });
});

describe('a BMC of suite 3 only', () => {
  it('that opens a session of suite 3 when asked for 17 is told with cipher=3', async () => {
    const { agent, target } = await start({ faults: { opensSuite3: true } });
    const error = await failure(agent.read(target()));
    expect(error).toMatchObject({ kind: 'Misconfigured' });
    expect(error.message).toMatch(/does not take cipher suite 17: set cipher=3/u);
    expect(await agent.read(target({ cipher: '3' }))).toMatchObject({ state: 'on' });
  });
});

describe('a user whom the BMC does not know', { timeout: 60_000 }, () => {
  it('and leaves without an answer is named as a possible cause of the silence', async () => {
    const { agent, target } = await start({ faults: { ignoresStrangers: true } }, TIMES);
    const error = await failure(agent.read(target({ username: 'nobody' })));
    expect(error.kind).toBe('Unreachable');
    expect(error.message).toMatch(/after RAKP 1; .*check that the BMC knows the user/u);
  });
});

/** IPMI 1.5, outside of any session. */
function isPlain(datagram: Buffer): boolean {
  return datagram[4] === 0;
}

/** Open Session, RAKP 2 and RAKP 4. */
function isOfHandshake(answer: Buffer): boolean {
  return [0x11, 0x13, 0x15].includes((answer[5] ?? 0) & 0x3f);
}
