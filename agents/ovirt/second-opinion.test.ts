import { spawn, spawnSync } from 'node:child_process';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { PowerAgent } from '../../src/ports/agents.ts';
import { engineOf, ovirtCloud, USER } from '../../src/testbed/devices/cloud/ovirt.ts';
import { environmentOf, powerAgentIn, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { ovirt } from './definition.ts';

/** Debian puts it where only root looks. */
const ENVIRONMENT = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
const isHere = process.env['CI'] === 'true' || spawnSync('fence_rhevm', ['-o', 'metadata'], { stdio: 'ignore', env: ENVIRONMENT }).status === 0;
/** Exit codes of a `status` (FenceAgentAPI): 0 on, 2 off. */
const STATUS_CODES = { on: 0, off: 2 } as const;

describe.skipIf(!isHere)('fence_rhevm of ClusterLabs as a second opinion (apt-get install fence-agents)', { timeout: 60_000 }, () => {
  let cloud: CloudHarness;
  let agent: PowerAgent;

  beforeEach(async () => {
    cloud = await startCloudHarness(ovirtCloud);
    agent = await powerAgentIn(ovirt, environmentOf(cloud.service.variables));
  });

  afterEach(async () => {
    await agent.close?.();
    await cloud.service.close();
  });

  async function theirs(action: string): Promise<{ code: number | null; words: string }> {
    const child = spawn('fence_rhevm', [], { stdio: ['pipe', 'pipe', 'pipe'], env: ENVIRONMENT });
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => said.push(String(text)));
    const { port } = new URL(cloud.service.url);
    const { password } = engineOf(cloud.service);
    const named = { action, ip: '127.0.0.1', ipport: port, username: USER, password, plug: 'a', power_wait: '0', api_path: '/ovirt-engine/api' };
    child.stdin.end(
      Object.entries(named)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    );
    const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
    return { code, words: said.join('') };
  }

  it('reads what we set, and we read what it sets', async () => {
    for (const state of ['off', 'on'] as const) {
      await agent.set(cloud.target(), state);
      await expect.poll(async () => (await agent.read(cloud.target())).state).toBe(state);
      expect(await theirs('status')).toMatchObject({ code: STATUS_CODES[state] });
    }
    for (const state of ['off', 'on'] as const) {
      expect(await theirs(state)).toMatchObject({ code: 0 });
      expect((await agent.read(cloud.target())).state).toBe(state);
    }
    expect(cloud.machines[1]?.state(), 'the other machine').toBe('on');
  });

  it('lists the same machines', async () => {
    const ours = (await agent.list?.(cloud.target()))?.map(({ alias }) => alias);
    expect((await theirs('list')).words).toMatch(/^a,/mu);
    expect(ours).toEqual(['a', 'b']);
  });
});
