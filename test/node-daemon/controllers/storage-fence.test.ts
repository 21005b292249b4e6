import { afterEach, describe, expect, it } from 'vitest';

import type { CheckFound, NodeCheck } from '../../../src/ports/node-checks.ts';
import { CONFIG_MAPS } from '../../../src/ports/resources.ts';
import { FencedWorld } from './fenced-world.ts';
import { NAMESPACE } from './world.ts';

const NODES = ['node-a', 'node-b', 'node-c', 'node-d'];
const AT_ONCE = 'isolation_delay=0s\npower_management_delay=0s\n';
const FOUND: Readonly<Record<'reachable' | 'lost', CheckFound>> = {
  reachable: { health: 'ok', sentence: 'reachable' },
  lost: { health: 'problem', sentence: 'lost' },
};

describe('a node that fails while daemons say what they know of the storage', { timeout: 60_000 }, () => {
  /** What the probe of each node finds. */
  const storage = new Map<string, 'reachable' | 'lost'>();
  let fenced: FencedWorld;
  afterEach(async () => {
    storage.clear();
    await fenced.end();
  });

  async function begin(when: string): Promise<void> {
    fenced = await FencedWorld.start(NODES, AT_ONCE, new Map(), [], (node) => {
      const run = (): Promise<CheckFound> => Promise.resolve(FOUND[storage.get(node) ?? 'reachable']);
      const check: NodeCheck = { name: 'storage', intervalMs: 5_000, deadlineMs: 2_000, run };
      return { checks: [check], options: { fencesItself: false } };
    });
    const data = { 'config.properties': `policy_name=storage-reachable\nwhen=${when}\n` };
    await fenced.world.operator.create(CONFIG_MAPS, { metadata: { name: 'fence-policy-storage-reachable', namespace: NAMESPACE }, data });
    // Each has said what it knows.
    await fenced.world.run(40_000, 500);
  }

  function cutOff(): void {
    for (const other of ['192.0.2.1', 'api', ...NODES.slice(1)]) fenced.world.cut.add(`node-a>${other}`);
    fenced.machines.get('node-a')?.partition();
  }

  async function heldBy(): Promise<string | undefined> {
    const hold = (await fenced.fence('node-a'))?.status?.hold;
    const holds = hold === undefined ? [] : [hold, ...(hold.besides ?? [])];
    return holds.find(({ policy }) => policy === 'storage-reachable')?.reason;
  }

  const isOff = (): Promise<boolean> => Promise.resolve(fenced.sets.includes('off node-a'));
  const isHeldBy = (reason: string) => async (): Promise<boolean> => (await heldBy()) === reason;

  it('is held where its peers lost the storage too, until one of them reaches it again', async () => {
    for (const node of NODES) storage.set(node, 'lost');
    await begin('storage-unreachable');
    cutOff();
    expect(await fenced.after(120_000, isHeldBy('storage-unreachable'))).toBeDefined();
    await fenced.world.run(120_000, 500);
    expect([await heldBy(), fenced.sets]).toEqual(['storage-unreachable', []]);

    storage.set('node-c', 'reachable');
    expect(await fenced.after(90_000, isOff)).toBeDefined();
  });

  it('is fenced at once where its peers reach the storage', async () => {
    storage.set('node-a', 'lost');
    await begin('storage-unreachable');
    cutOff();
    expect(await fenced.after(90_000, isOff)).toBeDefined();
  });

  it('is held while it says that it alone lost the storage, and fenced when it says nothing any more', async () => {
    storage.set('node-a', 'lost');
    await begin('host-unreachable');
    // Its kubelet is gone, and its daemon is not.
    fenced.machines.get('node-a')?.partition();
    expect(await fenced.after(120_000, isHeldBy('host-unreachable'))).toBeDefined();
    await fenced.world.run(120_000, 500);
    expect([await heldBy(), fenced.sets]).toEqual(['host-unreachable', []]);

    cutOff();
    expect(await fenced.after(60_000, isOff)).toBeDefined();
  });
});
