import { afterEach, describe, expect, it } from 'vitest';
import type { FreshSince } from '../../src/controllers/machine-health-check/snapshot.ts';
import { ago, checkObject, clusterObject, machineObject, nodeConditionsOf, NOW_MS } from './objects.ts';
import { MACHINES, ShellWorld } from './shell-world.ts';
import { Way } from '../way.ts';
import { World } from './world.ts';

const SLOW = 60_000;
const FAILED = 'HealthCheckSucceeded=False/UnhealthyNode';
let world: ShellWorld;

async function begin(): Promise<Way> {
  world = await ShellWorld.create();
  const way = new Way(world.transport);
  world.transport = way.transport;
  await world.check();
  return way;
}

afterEach(async () => {
  await world.end();
});

describe('an outage of the API server is no silence of the machines', { timeout: SLOW }, () => {
  it('a machine whose node was silent for three seconds before it is given its whole time behind it, and fails then', async () => {
    const way = await begin();
    await world.add('m1');
    world.start();
    await world.pass(3_000);
    await world.ready('m1', 'Unknown');
    await world.pass(3_000);
    way.cut();
    await world.pass(15 * 60_000, 5_000);
    way.mend();
    await world.pass(60_000, 2_000);
    expect(await world.conditions(MACHINES, 'm1'), 'its kubelet is not heard yet').not.toContain(FAILED);
    await world.pass(5 * 60_000, 2_000);
    expect(await world.conditions(MACHINES, 'm1'), 'a silence that was heard ends as ever').toContain(FAILED);
  });

  it('nor is the time before a process began, which may have been one', async () => {
    await begin();
    await world.add('m1', { unreadySeconds: 3_600 });
    world.start({ hasWatchedForLong: false });
    await world.pass(60_000, 2_000);
    expect(await world.conditions(MACHINES, 'm1')).toEqual([]);
    await world.pass(5 * 60_000, 2_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain(FAILED);
  });

  it('the startup timeout begins anew too, and the conditions of the Machine for whoever watches that', () => {
    const machineConditions = [{ type: 'EtcdPodHealthy', status: 'False', timeoutSeconds: 300 }];
    const own = { type: 'EtcdPodHealthy', status: 'False' as const, reason: 'Crashed', lastTransitionTime: ago(4_000) };
    const scene = (freshSinceMs?: FreshSince): World =>
      new World({
        checks: [checkObject('mhc', { checks: { unhealthyMachineConditions: machineConditions } })],
        clusters: [clusterObject()],
        machines: [machineObject('young', { nodeName: null, ageSeconds: 4_000 }), machineObject('ill', { conditions: [own] })],
        nodes: { 'node-of-ill': nodeConditionsOf('True', 4_000) },
        ...(freshSinceMs !== undefined && { freshSinceMs }),
      });
    const failed = (of: World): string[] => {
      of.settle();
      return ['young', 'ill'].filter((name) => of.condition(name, 'HealthCheckSucceeded')?.status === 'False');
    };
    expect(failed(scene())).toEqual(['young', 'ill']);
    expect(failed(scene({ machine: NOW_MS - 10_000, node: 0 }))).toEqual([]);
    expect(failed(scene({ machine: 0, node: NOW_MS - 10_000 })), 'a Machine that was heard all the while').toEqual(['ill']);
    expect(failed(scene({ machine: NOW_MS - 601_000, node: NOW_MS - 601_000 }))).toEqual(['young', 'ill']);
  });

  it('a Node that is gone and a person’s mark need no timer: they are found as ever', () => {
    const world = new World({
      checks: [checkObject('mhc')],
      clusters: [clusterObject()],
      machines: [machineObject('gone'), machineObject('marked', { annotations: { 'cluster.x-k8s.io/remediate-machine': '' } })],
      nodes: { 'node-of-marked': nodeConditionsOf('True', 4_000) },
      freshSinceMs: { machine: NOW_MS, node: NOW_MS },
    });
    world.settle();
    expect(['gone', 'marked'].map((name) => world.condition(name, 'HealthCheckSucceeded')?.reason)).toEqual([
      'NodeDeleted',
      'HasRemediateAnnotation',
    ]);
  });
});
