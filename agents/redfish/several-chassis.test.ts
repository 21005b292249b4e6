import { afterEach, expect, it } from 'vitest';
import { AgentHarnesses } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import { CHASSIS_PATH, SYSTEM_PATH } from '../../src/testbed/devices/bmc/tree.ts';
import { RedfishAgent } from './agent.ts';

/** Not below Chassis, so that the emulated device leaves its power as it stands. */
const SECOND = '/redfish/v1/Enclosures/Drives';
const harnesses = new AgentHarnesses((clock) => new RedfishAgent(clock));
afterEach(() => harnesses.closeAll());

it.each(['first', 'last'])('of several Chassis each is a witness: the one that contradicts is told, also as the %s', async (place) => {
  const second = { '@odata.id': SECOND, PowerState: 'On', Links: { ComputerSystems: [{ '@odata.id': SYSTEM_PATH }] } };
  const { agent, target, device } = await harnesses.start({ state: 'off', extra: { [SECOND]: second } });
  const links = [CHASSIS_PATH, SECOND].map((path) => ({ '@odata.id': path }));
  Object.assign(device.tree[SYSTEM_PATH] ?? {}, { Links: { Chassis: place === 'first' ? links.toReversed() : links } });
  expect(await agent.read(target())).toMatchObject({ state: 'off', witness: { source: SECOND, state: 'on' } });
});
