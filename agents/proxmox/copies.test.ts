import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { AgentContext, PowerAgent, Target } from '../../src/ports/agents.ts';
import { proxmoxCloud, pveOf } from '../../src/testbed/devices/cloud/proxmox.ts';
import { environmentOf, failureOf, JumpingClock, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { proxmox } from './definition.ts';

describe('a machine that proxmox found by its UUID', () => {
  let cloud: CloudHarness;
  let agent: PowerAgent;
  let clock: JumpingClock;
  const target = (change: Partial<Target>): Target => {
    const [uuid = ''] = cloud.uuids;
    return cloud.target({ plug: uuid, identity: { node: 'a', systemUUID: uuid }, ...change });
  };

  beforeEach(async () => {
    cloud = await startCloudHarness(proxmoxCloud);
    clock = new JumpingClock();
    const created = await proxmox.create({ clock, host: environmentOf(cloud.service.variables) } as unknown as AgentContext);
    if (created.kind !== 'power') throw new Error('not a power agent');
    agent = created;
    cloud.machines[0]?.off('set');
  });

  afterEach(async () => {
    await agent.close?.();
    await cloud.service.close();
  });

  it.each([
    ['a fence a minute later', {}, 61_000],
    ['a probe ten minutes later', { isProbe: true as const }, 601_000],
  ])('is refused to %s once a restored copy bears it too: the node may run there', async (_who, change, aheadMs) => {
    expect(await agent.read(target(change))).toMatchObject({ state: 'off', identity: 'verified' });
    pveOf(cloud.service).oddities = { twin: 'uuid' };
    clock.aheadMs = aheadMs;
    expect((await failureOf(agent.read(target(change)))).message).toContain('2 machines are');
  });

  it('is found without another look at each machine while the last one is fresh', async () => {
    const looks = (): number => cloud.service.requests.filter((name) => name === 'GET config').length;
    await agent.read(target({}));
    const before = looks();
    await agent.read(target({}));
    expect(looks() - before, 'its own configuration alone').toBe(1);
  });
});
