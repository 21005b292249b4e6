import { afterEach, describe, expect, it, vi } from 'vitest';

import { AgentHarnesses, agentFailure, HARNESS_UUID } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import { CHASSIS_PATH, RESET_PATH, SYSTEM_PATH } from '../../src/testbed/devices/bmc/tree.ts';
import { RedfishAgent } from './agent.ts';

const harnesses = new AgentHarnesses((clock) => new RedfishAgent(clock));
afterEach(() => harnesses.closeAll());

describe('a reset whose effect is not known', () => {
  it.each([408, 409, 500, 502, 503, 504])('is unclear at HTTP %i, also while the machine is on: it may come late', async (status) => {
    const { agent, target, machine } = await harnesses.start({ faults: { failures: [{ method: 'POST', path: RESET_PATH, status }] } });
    expect((await agent.set(target(), 'off')).result).toBe('unclear');
    expect(machine.state()).toBe('on');
  });

  it('is not sent again when the connection is cut before its answer', async () => {
    const { agent, target, device, server } = await harnesses.start({ faults: { commandDelayMs: 60_000 } });
    const outcome = agent.set(target(), 'off');
    await vi.waitFor(() => expect(device.commands).toHaveLength(1), { timeout: 10_000 });
    server.cut();
    expect((await outcome).result).toBe('unclear');
    expect(device.commands).toHaveLength(1);
  });
});

describe('what a device shows', () => {
  it('is no machine where two Systems bear the mark that was given', async () => {
    const { agent, target, device } = await harnesses.start({ tree: { otherSystems: { Twin: HARNESS_UUID } } }, { system_uuid: HARNESS_UUID });
    const error = await agentFailure(agent.set(target(), 'off'));
    expect(error).toMatchObject({ kind: 'Misconfigured', message: expect.stringContaining('more than one ComputerSystem') as string });
    expect(device.commands).toEqual([]);
  });

  it('is no witness where the Chassis holds other machines too: it stays on for them', async () => {
    const { agent, target, device } = await harnesses.start({ state: 'off', faults: { chassisShows: 'On' } });
    const both = [SYSTEM_PATH, '/redfish/v1/Systems/Other'].map((path) => ({ '@odata.id': path }));
    Object.assign(device.tree[CHASSIS_PATH] ?? {}, { Links: { ComputerSystems: both } });
    const reading = await agent.read(target());
    expect(reading.state).toBe('off');
    expect(reading.witness).toBeUndefined();
  });

  it('is no Off while its Manager says that it is starting, however often it is asked', async () => {
    const manager = { Status: { State: 'Starting' } };
    const { agent, target } = await harnesses.start({ state: 'off', extra: { '/redfish/v1/Managers/BMC': manager } });
    for (let look = 1; look <= 3; look += 1)
      expect(await agent.read(target()), `look ${look}`).toMatchObject({
        state: 'unknown',
        detail: expect.stringContaining('its Manager is starting') as string,
      });
    manager.Status.State = 'Enabled';
    expect(await agent.read(target())).toMatchObject({ state: 'off' });
  });
});
