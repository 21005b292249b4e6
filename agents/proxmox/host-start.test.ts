import { expect, it } from 'vitest';

import { proxmoxCloud, pveOf } from '../../src/testbed/devices/cloud/proxmox.ts';
import { environmentOf, powerAgentIn, startCloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { proxmox } from './definition.ts';

it.each([
  ['starts with its host, while that starts all of its machines', { runs: 'startall', onboot: true }, 'pending'],
  ['starts with its host, which has started all', { onboot: true }, 'off'],
  ['does not start with its host', { runs: 'startall' }, 'off'],
] as const)('a stopped machine that %s', async (_what, odd, state) => {
  const cloud = await startCloudHarness(proxmoxCloud);
  const agent = await powerAgentIn(proxmox, environmentOf(cloud.service.variables));
  try {
    cloud.machines[0]?.off('set');
    pveOf(cloud.service).oddities = odd;
    expect(await agent.read(cloud.target())).toMatchObject({ state });
  } finally {
    await agent.close?.();
    await cloud.service.close();
  }
});
