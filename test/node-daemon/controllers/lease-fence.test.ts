import { afterEach, describe, expect, it } from 'vitest';

import { areaBytes, encodeHeader } from '../../../src/domain/node-daemon/storage-lease/layout.ts';
import type { LeaseHeader } from '../../../src/domain/node-daemon/storage-lease/layout.ts';
import { StorageLease } from '../../../src/node/checks/storage-lease.ts';
import { MemoryDisk } from '../../../src/node/checks/testing/memory-disk.ts';
import { CONFIG_MAPS } from '../../../src/ports/resources.ts';
import { FencedWorld } from './fenced-world.ts';
import { NAMESPACE } from './world.ts';

const HEADER: LeaseHeader = { sectorSize: 512, slots: 16, id: '0a1b2c3d-0000-4000-8000-00000000000f', cluster: 'prod' };
const NODES = ['node-a', 'node-b', 'node-c', 'node-d'];
const AT_ONCE = 'isolation_delay=0s\npower_management_delay=0s\n';

describe('a node that is cut off, and renews its slot on shared storage', () => {
  const disks = new Map<string, MemoryDisk>();
  let fenced: FencedWorld;
  afterEach(async () => {
    await fenced.end();
  });

  async function cutOff(fencesItself: boolean): Promise<void> {
    const bytes = new Uint8Array(areaBytes(HEADER));
    bytes.set(encodeHeader(HEADER));
    for (const node of NODES) disks.set(node, new MemoryDisk(bytes));
    fenced = await FencedWorld.start(NODES, AT_ONCE, new Map(), [], (node, bootID, clock) => {
      const own = { node, bootID, systemUUID: `u-${node}`, intervalMs: 5_000, path: '/dev/shared', cluster: 'prod' };
      const lease = new StorageLease(clock, disks.get(node)!, own);
      return { checks: [lease.check], slots: lease, options: { fencesItself } };
    });
    const data = { 'config.properties': 'policy_name=storage-reachable\nwhen=lease-alive\n' };
    await fenced.world.operator.create(CONFIG_MAPS, { metadata: { name: 'fence-policy-storage-reachable', namespace: NAMESPACE }, data });
    for (const other of ['192.0.2.1', 'api', ...NODES.slice(1)]) fenced.world.cut.add(`node-a>${other}`);
    fenced.machines.get('node-a')?.partition();
  }

  async function isHeld(): Promise<boolean> {
    const hold = (await fenced.fence('node-a'))?.status?.hold;
    const holds = hold === undefined ? [] : [hold, ...(hold.besides ?? [])];
    return holds.some(({ policy, message }) => policy === 'storage-reachable' && message.includes('still renews its lease'));
  }

  const isOff = (): Promise<boolean> => Promise.resolve(fenced.sets.includes('off node-a'));

  it('is held for as long as it does, and fenced when its slot stands still: by its BMC, never by the slot', async () => {
    await cutOff(false);
    expect(await fenced.after(120_000, isHeld)).toBeDefined();
    await fenced.world.run(300_000, 500);
    expect([await isHeld(), fenced.sets]).toEqual([true, []]);

    disks.get('node-a')!.fault = { kind: 'silent', forMs: 3_000 };
    expect(await fenced.after(60_000, isOff)).toBeGreaterThan(5_000);
    const proofs = async (): Promise<string[]> => ((await fenced.fence('node-a'))?.status?.evidence ?? []).map(({ kind }) => kind);
    expect(await fenced.after(60_000, async () => (await proofs()).length > 0)).toBeDefined();
    expect(await proofs()).toEqual(['power-off']);
  });

  it('is fenced when it took itself down, which ends its slot', async () => {
    await cutOff(true);
    expect(await fenced.after(120_000, isHeld)).toBeDefined();
    expect(await fenced.after(120_000, isOff)).toBeDefined();
    expect(fenced.world.machines.get('node-a')?.daemon.status().phase).not.toBe('kept');
  });

  it('is fenced at once where the policy does not ask for its slot', async () => {
    disks.clear();
    fenced = await FencedWorld.start(NODES, AT_ONCE, new Map(), [], () => ({ options: { fencesItself: false } }));
    for (const other of ['192.0.2.1', 'api', ...NODES.slice(1)]) fenced.world.cut.add(`node-a>${other}`);
    fenced.machines.get('node-a')?.partition();
    expect(await fenced.after(60_000, isOff)).toBeDefined();
  });
});
