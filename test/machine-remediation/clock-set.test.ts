import { afterEach, describe, expect, it } from 'vitest';
import { POWERED_OFF } from '../../src/controllers/machine-remediation/names.ts';
import { HOST_MACHINES, hostMachineName, HOSTS_NAMESPACE } from '../../src/testbed/operators/host-fleet.ts';
import { ShellWorld } from './shell-world.ts';
import type { Replica } from './shell-world.ts';
import { MINUTE_MS } from './world.ts';

const OWNER = [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineSet', name: 's', uid: 'u', controller: true }];
let world: ShellWorld;

afterEach(() => world.end());

/** Power-cycled, on, and its Node does not come back. */
async function waitedFor(): Promise<[Replica, Replica]> {
  world = await ShellWorld.create();
  await world.operator.mergePatch(HOST_MACHINES, hostMachineName('n1'), { metadata: { ownerReferences: OWNER } }, { namespace: HOSTS_NAMESPACE });
  const replicas: [Replica, Replica] = [world.start(), world.start({ isLeading: false })];
  // Long enough that no time is given anew because the start of the process lies in it.
  await world.pass(90 * MINUTE_MS);
  world.hardware('n1').isBroken = true;
  await world.pass(MINUTE_MS);
  await world.ask('n1');
  await world.pass(3 * MINUTE_MS);
  expect([(await world.machine('n1'))?.metadata.annotations?.[POWERED_OFF], world.hardware('n1').isOn]).toEqual([expect.any(String), true]);
  return replicas;
}

describe('a node that is to come back is given its twenty minutes', { timeout: 120_000 }, () => {
  it.each([
    ['an hour ahead', 60 * MINUTE_MS],
    ['a day back', -24 * 60 * MINUTE_MS],
  ])('where the wall clock is set %s meanwhile, and its Machine is replaced then', async (_words, byMs) => {
    await waitedFor();
    world.clock.jumpWall(byMs);
    await world.pass(14 * MINUTE_MS);
    expect(await world.machine('n1')).toBeDefined();
    await world.pass(7 * MINUTE_MS);
    expect(await world.machine('n1')).toBeUndefined();
  });

  it('less what its Machine was paused: no time runs then', async () => {
    await waitedFor();
    const paused = (value: string | null) => world.annotate(HOST_MACHINES, hostMachineName('n1'), { 'cluster.x-k8s.io/paused': value });
    await paused('');
    await world.pass(60 * MINUTE_MS);
    await paused(null);
    await world.pass(14 * MINUTE_MS);
    expect(await world.machine('n1')).toBeDefined();
    await world.pass(7 * MINUTE_MS);
    expect(await world.machine('n1')).toBeUndefined();
  });

  it('where a replica takes over whose clock is fifteen minutes ahead, and its Machine is replaced then', async () => {
    const [leader, standby] = await waitedFor();
    leader.leadership.isLeading = false;
    world.clock.jumpWall(15 * MINUTE_MS);
    standby.leadership.isLeading = true;
    standby.remediation.wake();
    await world.pass(14 * MINUTE_MS);
    expect(await world.machine('n1')).toBeDefined();
    await world.pass(7 * MINUTE_MS);
    expect(await world.machine('n1')).toBeUndefined();
  });
});
