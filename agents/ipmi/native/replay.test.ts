import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestServer } from '../../../src/testbed/devices/ipmi/rmcp/test-server.ts';
import { TEST_UUID } from '../../../src/testbed/devices/ipmi/rmcp/test-device.ts';
import type { Target } from '../../../src/ports/agents.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { IpmiAgent } from '../agent.ts';
import { QuickClock } from '../testing/quick-clock.ts';

/** rqSeq comes round after so many. */
const ROUND = 64;
/** A wait of a second takes 20 ms where silence is what a test waits for. */
const TIMES = 50;

describe('what was said before', { timeout: 60_000 }, () => {
  let bmc: Awaited<ReturnType<typeof startTestServer>>;
  let clock: QuickClock;
  let agent: IpmiAgent;
  let target: Target;

  beforeEach(async () => {
    bmc = await startTestServer();
    clock = new QuickClock(new SystemClock());
    agent = new IpmiAgent(clock, { path: '/nonexistent' });
    target = {
      plug: '',
      device: `127.0.0.1:${bmc.port}`,
      parameters: { ip: '127.0.0.1', ipport: String(bmc.port), username: 'admin', password: 'secret', transport: 'native' },
      identity: { node: 'a', systemUUID: TEST_UUID },
      signal: new AbortController().signal,
      deadlineMs: 20_000 * TIMES,
      beforeSend: () => undefined,
    };
  });
  afterEach(async () => {
    await agent.close();
    await bmc.close();
  });

  it('a round of rqSeq ago is no answer to what is asked now', async () => {
    bmc.machine.off('set');
    expect((await agent.read(target)).state).toBe('off');
    const before = bmc.answers.length;
    expect((await agent.read(target)).state).toBe('off');
    // What is asked over the open session is one question for each read.
    expect(bmc.answers.length).toBe(before + 1);
    const [old] = bmc.answers.slice(-1);
    for (let asked = 1; asked < ROUND; asked += 1) await agent.read(target);
    bmc.machine.on('set');
    bmc.wire.hears = (answer) => (old === undefined ? [answer] : [old, answer]);
    expect((await agent.read(target)).state).toBe('on');
  });

  it('of the machine behind a session that is lost says nothing of the one behind the next', async () => {
    expect(await agent.read(target)).toMatchObject({ state: 'on', identity: 'verified' });
    // Another BMC has the address now, and its machine is off.
    bmc.device.login.sessions.endAll();
    bmc.device.faults = { wrongGuid: true };
    bmc.machine.off('set');
    clock.times = TIMES;
    await expect(agent.read(target)).rejects.toMatchObject({ kind: 'Misconfigured' });
    expect(bmc.events.filter(({ action }) => action === 'set')).toEqual([]);
  });
});
