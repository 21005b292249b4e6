import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PRESERVE } from '../../src/controllers/preservation/names.ts';
import { MACHINE_SETS, MACHINES } from '../../src/ports/machines.ts';
import { NAMESPACE, ShellWorld } from './shell-world.ts';

let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create();
  for (const name of ['m1', 'm2', 'm3']) await world.add(name, { set: 's', ...(name === 'm1' && { node: { [PRESERVE]: 'now' } }) });
  await scaledTo(3);
});

afterEach(() => world.end());

async function scaledTo(replicas: number): Promise<void> {
  await world.machines.operator.mergePatch(MACHINE_SETS, 's', { spec: { replicas } }, { namespace: NAMESPACE });
}

async function phases(): Promise<Record<string, string | undefined>> {
  const names = ['m1', 'm2', 'm3'];
  const machines = await Promise.all(names.map((name) => world.machine(name)));
  return Object.fromEntries(names.map((name, index) => [name, machines[index]?.status?.currentStatus?.phase ?? 'gone']));
}

describe('a MachineSet that wants fewer replicas', () => {
  it('loses no more machines than that where one went together with its place, and the watch of Machines is behind', async () => {
    const replica = world.start();
    await world.pass(2_000);
    replica.deafen('/machines');
    await world.machines.operator.remove(MACHINES, 'm3', { namespace: NAMESPACE });
    await scaledTo(2);
    await world.pass(10_000);
    expect(await phases()).toEqual({ m1: 'Running', m2: 'Running', m3: 'gone' });
    await scaledTo(1);
    await world.pass(10_000);
    expect(await phases(), 'the one that is not preserved').toMatchObject({ m1: 'Running', m2: 'Terminating' });
  });

  it('loses all that are too many at once', async () => {
    world.start();
    await world.pass(2_000);
    await scaledTo(1);
    await world.pass(5_000);
    expect(await phases()).toEqual({ m1: 'Running', m2: 'Terminating', m3: 'Terminating' });
  });
});
