import { describe, expect, it } from 'vitest';
import { PRESERVE, SCALE_DOWN_DISABLED } from '../../src/controllers/preservation/names.ts';
import { MACHINES } from '../../src/ports/machines.ts';
import { DEFINITIONS, NAMESPACE, ShellWorld } from './shell-world.ts';

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

  it.each([
    ['machinesets', 'MachineSet'],
    ['machinedeployments', 'MachineDeployment'],
  ])('what is said on a Machine is a guard for as long as %s are not heard', async (plural, kind) => {
    const world = await ShellWorld.create({ isSplit: true });
    await world.add('kept', { ready: 'False', machine: { [PRESERVE]: 'now' } });
    await world.add('silent', { ready: 'False' });
    await world.machines.operator.remove(DEFINITIONS, `${plural}.machine.sapcloud.io`);
    const { controller, writes } = world.start();
    await world.pass(5_000);
    expect(controller.guardOf('node-of-kept')).toMatchObject({ guard: 'isolate-and-hold', cause: 'user' });
    // One that is silent may be preserved automatically.
    expect(controller.guardOf('node-of-silent')).toBe('unknown');
    expect(controller.problems()).toEqual([]);
    await world.pass(5 * 60_000, 5_000);
    expect(controller.guardOf('node-of-kept')).toMatchObject({ guard: 'isolate-and-hold', cause: 'user' });
    expect(controller.guardOf('node-of-silent')).toBeUndefined();
    expect(controller.problems()).toEqual([expect.stringContaining(`the API server has not listed ${kind}: `)]);
    await world.annotateMachine('kept', { [PRESERVE]: 'false' });
    await world.pass(5_000);
    expect(controller.guardOf('node-of-kept')).toBeUndefined();
    expect(writes).toEqual([]);
    await world.end();
  });
});
