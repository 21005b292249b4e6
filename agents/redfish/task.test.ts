import { afterEach, describe, expect, it } from 'vitest';

import { AgentHarnesses, agentFailure } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import type { BmcFaults } from '../../src/testbed/devices/bmc/faults.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { RedfishAgent } from './agent.ts';

const MONITOR = 'GET /redfish/v1/TaskService/TaskMonitors/1';

const clock = new ManualClock();
const harnesses = new AgentHarnesses(() => new RedfishAgent(clock));
afterEach(() => harnesses.closeAll());

async function start(faults: BmcFaults) {
  const harness = await harnesses.start({ faults: { resetStatus: 202, ...faults } });
  const looks = (): number => harness.device.requests.filter((request) => request === MONITOR).length;
  /** A set, while time goes on. */
  const set = async (): Promise<unknown> => {
    let isOver = false;
    const outcome = harness.agent
      .set(harness.target({ deadlineMs: 600_000 }), 'off')
      .catch((error: unknown) => error)
      .finally(() => (isOver = true));
    await expect
      .poll(
        async () => {
          await clock.advance(100);
          return isOver;
        },
        { timeout: 15_000, interval: 20 },
      )
      .toBe(true);
    return outcome;
  };
  return { ...harness, looks, set };
}

describe('the task of an accepted reset', () => {
  it('is looked at when Retry-After says, and refuses the set in its own words', async () => {
    const { looks, set } = await start({ taskState: 'Exception', ignoresReset: true });
    expect(await set()).toMatchObject({ kind: 'Refused', message: expect.stringContaining('The power supply refused.') as string });
    expect(looks()).toBe(1);
  });

  it('that goes on is accepted, and told beside the reads once it failed', async () => {
    const { agent, target, device, looks, set } = await start({ taskState: 'Running', ignoresReset: true });
    expect(await set()).toMatchObject({ result: 'accepted' });
    device.faults = { ...device.faults, taskState: 'Exception' };
    await clock.advance(200);
    expect((await agent.read(target())).detail).toContain('PowerState=On, task Exception: Base.1.8.InternalError: The power supply refused.');
    expect((await agent.read(target())).detail).toContain('task Exception');
    expect(looks()).toBe(2);
  });

  it('is let alone once the state is as wanted, or when it ended well', async () => {
    const off = await start({ taskState: 'Running' });
    expect(await off.set()).toMatchObject({ result: 'accepted' });
    await clock.advance(1_000);
    expect((await off.agent.read(off.target())).detail).toBe('PowerState=Off');
    expect(off.looks()).toBe(1);
    const ended = await start({ taskState: 'Completed', ignoresReset: true });
    expect(await ended.set()).toMatchObject({ result: 'accepted' });
    await clock.advance(1_000);
    expect((await ended.agent.read(ended.target())).detail).toBe('PowerState=On');
    expect(ended.looks()).toBe(1);
  });

  it('of an earlier set says nothing of the next', async () => {
    const { agent, target, device, set } = await start({ taskState: 'Exception', ignoresReset: true });
    await set();
    device.faults = { ignoresReset: true };
    await agent.set(target(), 'off');
    expect((await agent.read(target())).detail).toBe('PowerState=On');
    expect((await agentFailure(agent.set(target({ identity: { node: 'b', systemUUID: '11111111-2222-3333-4444-555555555555' } }), 'off'))).kind).toBe(
      'Misconfigured',
    );
  });
});
