import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PRESERVE } from '../../src/controllers/preservation/names.ts';
import { MACHINES } from '../../src/ports/machines.ts';
import { NODES } from '../../src/ports/resources.ts';
import { NAMESPACE, ShellWorld } from './shell-world.ts';
import type { Replica } from './shell-world.ts';

let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

describe('a preservation controller', () => {
  it('sends nothing that it decided upon while it led: its Lease ended while the write was on its way', async () => {
    await world.add('m1', { node: { [PRESERVE]: 'now' } });
    const replica = world.start();
    let onTheWay = 0;
    replica.onTheWay = () => {
      onTheWay += 1;
      replica.leadership.isLeading = false;
    };
    await world.pass(5_000);
    expect(onTheWay, 'something was to be written').toBeGreaterThan(0);
    expect(replica.writes).toEqual([]);
  });
});

/** It leads from the moment at which its watches bring nothing any more. */
async function deafLeader(): Promise<Replica> {
  const replica = world.start({ isLeading: false });
  await world.pass(2_000);
  replica.deafen();
  replica.leadership.isLeading = true;
  replica.controller.wake();
  return replica;
}

describe('a preservation controller whose watches are deaf', () => {
  it('does not delete a Machine again and again that its finalizer keeps, and tells it once', async () => {
    await world.add('m1', { phase: 'Terminating' });
    await world.machines.operator.mergePatch(MACHINES, 'm1', { metadata: { finalizers: ['machine.sapcloud.io/mcm'] } }, { namespace: NAMESPACE });
    await world.nodes.operator.remove(NODES, 'node-of-m1');
    const replica = await deafLeader();
    await world.pass(60_000);
    const deleted = replica.writes.filter((write) => write.startsWith('DELETE'));
    expect(deleted).toHaveLength(1);
    expect(replica.events.filter((event) => event.includes('MachineDeleted'))).toHaveLength(1);
    expect(replica.problems.filter((problem) => problem.includes('Machine m1 is deleted, and its watch does not show it'))).toHaveLength(1);
  });

  it('does not ask for a fence again and again', async () => {
    await world.add('m1', { phase: 'Terminating', ready: 'Unknown' });
    const replica = await deafLeader();
    await world.pass(60_000);
    expect(replica.writes.length).toBeLessThan(10);
    expect(new Set(replica.events).size).toBe(replica.events.length);
    expect(replica.problems.filter((problem) => problem.includes('is asked for, and its watch does not show it'))).toHaveLength(1);
  });
});
