import { afterEach, describe, expect, it } from 'vitest';
import { NODES } from '../../src/ports/resources.ts';
import { FixedWorkload, MACHINES, ShellWorld } from './shell-world.ts';

let world: ShellWorld;

async function begin(): Promise<void> {
  world = await ShellWorld.create();
}

afterEach(async () => {
  await world.end();
});

describe('a machine', () => {
  it('whose Node is gone is told as failed, in words that the definition of a Machine takes', async () => {
    await begin();
    await world.check();
    await world.add('m1');
    world.start();
    await world.pass(2_000);
    await world.operator.remove(NODES, 'node-of-m1');
    await world.pass(5_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain('HealthCheckSucceeded=False/NodeDeleted');
  });
});

describe('Nodes', () => {
  it('that may not be read are told on the check, with the cause and the remedy, once', async () => {
    await begin();
    await world.check();
    await world.add('m1');
    const workloads = new FixedWorkload();
    const { controller, events } = world.start({ workloads });
    await world.pass(5_000);
    expect(events).toEqual([]);
    workloads.why = 'Secret default/c1-kubeconfig may not be read; bind ClusterRole nodefence-workload-clusters in namespace default';
    workloads.show('unreachable');
    await world.pass(60_000);
    expect(events).toEqual(['MachineHealthCheck check Warning NodesUnreadable']);
    expect(controller.problems().join()).toContain(`the Nodes of its machines can not be read: ${workloads.why}. Nothing is concluded of them`);
    expect(controller.views()[0]?.problem).toContain(workloads.why);
  });
});
