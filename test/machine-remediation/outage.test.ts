import { afterEach, describe, expect, it } from 'vitest';
import { GAVE_UP, POWERED_OFF } from '../../src/controllers/machine-remediation/names.ts';
import { HOST_MACHINES, hostMachineName, HOSTS_NAMESPACE } from '../../src/testbed/operators/host-fleet.ts';
import { Way } from '../way.ts';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const OWNER = [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineSet', name: 's', uid: 'u', controller: true }];
let world: ShellWorld;

afterEach(async () => {
  await world.end();
});

async function begin(): Promise<Way> {
  world = await ShellWorld.create();
  const way = new Way(world.controllers);
  world.controllers = way.transport;
  await world.operator.mergePatch(HOST_MACHINES, hostMachineName('n1'), { metadata: { ownerReferences: OWNER } }, { namespace: HOSTS_NAMESPACE });
  world.start();
  await world.pass(30 * SECOND_MS);
  return way;
}

async function annotations(): Promise<Readonly<Record<string, string>>> {
  return (await world.machine('n1'))?.metadata.annotations ?? {};
}

/** Power-cycled and waited for, and not heard from then on until its time would have been over. */
async function waitedForUnobserved(): Promise<void> {
  const way = await begin();
  world.hardware('n1').isBroken = true;
  await world.pass(MINUTE_MS);
  await world.ask('n1');
  await world.pass(3 * MINUTE_MS);
  expect([(await annotations())[POWERED_OFF], world.hardware('n1').isOn]).toEqual([expect.any(String), true]);
  way.cut();
  await world.pass(30 * MINUTE_MS);
  way.mend();
}

describe('an outage of the API server', { timeout: 120_000 }, () => {
  it('is no silence of a node that is to come back: behind it the Machine is given its whole time anew', async () => {
    await waitedForUnobserved();
    await world.pass(15 * MINUTE_MS);
    expect(await world.machine('n1'), 'it could not be heard').toBeDefined();
    world.hardware('n1').isBroken = false;
    await world.pass(2 * MINUTE_MS);
    expect(await world.left('n1')).toEqual([]);
    expect(await world.node('n1')).toBeDefined();
  });

  it('and no more than that', async () => {
    await waitedForUnobserved();
    await world.pass(22 * MINUTE_MS);
    expect(await world.machine('n1')).toBeUndefined();
  });

  it('is no failure of the operator to prove an off: nothing is given up before its time was heard', async () => {
    const way = await begin();
    world.hardware('n1').isLying = true;
    await world.ask('n1');
    await world.pass(MINUTE_MS);
    way.cut();
    await world.pass(15 * MINUTE_MS);
    way.mend();
    await world.pass(8 * MINUTE_MS);
    expect((await annotations())[GAVE_UP]).toBeUndefined();
    await world.pass(4 * MINUTE_MS);
    expect((await annotations())[GAVE_UP]).toContain('a sign of life of the node came after it');
  });
});
