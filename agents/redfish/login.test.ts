import { afterEach, describe, expect, it } from 'vitest';

import { AgentHarnesses, agentFailure, askedAfterRest, type AgentHarness } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import { SESSIONS_PATH, SYSTEM_PATH } from '../../src/testbed/devices/bmc/tree.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { RedfishAgent } from './agent.ts';

const OLD_PATH = '/redfish/v1/Sessions';
const [USUAL, NAMED, ROOT, SYSTEM] = [`POST ${SESSIONS_PATH}`, `POST ${OLD_PATH}`, 'GET /redfish/v1', `GET ${SYSTEM_PATH}`];

const clock = new ManualClock();
const harnesses = new AgentHarnesses(() => new RedfishAgent(clock));
afterEach(() => harnesses.closeAll());

const asked = (harness: AgentHarness<RedfishAgent>, work: () => Promise<unknown>): Promise<string[]> => askedAfterRest(clock, harness, work);

describe('a device that was never asked', () => {
  it('is logged in at where DSP0266 puts sessions, without its root', async () => {
    const { agent, target, device } = await harnesses.start({ tree: { hasChassis: false } }, { systems_uri: SYSTEM_PATH });
    await agent.read(target());
    expect(device.requests).toEqual([USUAL, SYSTEM]);
  });

  it('is asked for its root first where that stands elsewhere', async () => {
    const { agent, target, device } = await harnesses.start({}, { systems_uri: SYSTEM_PATH, redfish_uri: '/redfish' });
    await agent.read(target());
    expect(device.requests.slice(0, 2)).toEqual(['GET /redfish', USUAL]);
  });

  it('is given a wrong password once', async () => {
    for (const sessionsPath of [SESSIONS_PATH, `${SESSIONS_PATH}/`]) {
      const { agent, target, device } = await harnesses.start({ tree: { sessionsPath } }, { password: 'wrong', systems_uri: SYSTEM_PATH });
      expect((await agentFailure(agent.read(target()))).kind).toBe('Refused');
      expect(device.requests).toEqual([USUAL, ROOT]);
    }
  });
});

describe('a device that opens sessions elsewhere', () => {
  it.each([400, 401, 403, 404, 405, 500])(
    'and answers %d where most do, is logged in at where its root says, and only there from then on',
    async (status) => {
      const harness = await harnesses.start({ tree: { sessionsPath: OLD_PATH, hasChassis: false } }, { systems_uri: SYSTEM_PATH });
      const { agent, target, device } = harness;
      device.faults = { failures: [{ method: 'POST', path: SESSIONS_PATH, status }] };
      await agent.read(target());
      expect(device.requests).toEqual([USUAL, ROOT, NAMED, SYSTEM]);
      expect(await asked(harness, () => agent.read(target()))).toEqual([NAMED, SYSTEM]);
    },
  );

  it('is not given a wrong password at both again', async () => {
    const harness = await harnesses.start({ tree: { sessionsPath: OLD_PATH } }, { password: 'wrong', systems_uri: SYSTEM_PATH });
    const refused = async (): Promise<void> => expect((await agentFailure(harness.agent.read(harness.target()))).kind).toBe('Refused');
    await refused();
    expect(await asked(harness, refused)).toEqual([ROOT, NAMED]);
  });

  it('with a slash at the end is logged in at there where it knows no other', async () => {
    const { agent, target, device } = await harnesses.start(
      { tree: { sessionsPath: `${SESSIONS_PATH}/`, hasChassis: false } },
      { systems_uri: SYSTEM_PATH },
    );
    device.faults = { failures: [{ method: 'POST', path: SESSIONS_PATH, status: 404, times: 1 }] };
    await agent.read(target());
    expect(device.requests).toEqual([USUAL, ROOT, USUAL, SYSTEM]);
  });
});
