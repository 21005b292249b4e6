import { describe, expect, it } from 'vitest';
import { PRESERVE, SCALE_DOWN_DISABLED } from '../../src/controllers/preservation/names.ts';
import { MACHINES } from '../../src/ports/machines.ts';
import { NAMESPACE, ShellWorld } from './shell-world.ts';

describe('two clusters', () => {
  it('Machines and Nodes meet by name; each is written where it lives', async () => {
    const world = await ShellWorld.create({ isSplit: true });
    await world.add('m1', { phase: 'Failed', ready: 'False', machine: { [PRESERVE]: 'when-failed' } });
    world.start();
    await world.pass(5_000);
    const machine = await world.machines.operator.get(MACHINES, 'm1', NAMESPACE);
    expect(machine?.status?.currentStatus?.preserveExpiryTime).toBeDefined();
    const node = await world.node('node-of-m1');
    expect(node.spec.unschedulable).toBe(true);
    expect(node.metadata.annotations).toMatchObject({ [SCALE_DOWN_DISABLED]: 'true' });
    await world.end();
  });
});
