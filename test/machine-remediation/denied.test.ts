import { afterEach, describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../src/ports/api-transport.ts';
import { hostMachineName, hostName } from '../../src/testbed/operators/host-fleet.ts';
import { ShellWorld } from './shell-world.ts';
import type { Replica } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

let world: ShellWorld;

afterEach(async () => {
  await world.end();
});

/** The kubelet of n1 has said nothing for a minute, and somebody asks. */
async function failed(denies: (request: ApiRequest) => boolean): Promise<Replica> {
  world = await ShellWorld.create();
  const replica = world.start();
  await world.pass(30 * SECOND_MS);
  world.hardware('n1').isBroken = true;
  await world.pass(MINUTE_MS);
  world.deny(denies);
  await world.ask('n1');
  return replica;
}

describe('a right that machine remediation lacks', { timeout: 60_000 }, () => {
  it.each<[string, (request: ApiRequest) => boolean]>([
    ['to patch a host', ({ method, path }) => method === 'PATCH' && path.includes('baremetalhosts')],
    ['to read a host', ({ method, path }) => method === 'GET' && path.endsWith(`baremetalhosts/${hostName('n1')}`)],
    ['to read a Machine', ({ method, path }) => method === 'GET' && path.endsWith(`machines/${hostMachineName('n1')}`) && !path.includes('metal3m')],
    ['to delete a Node', ({ method, path }) => method === 'DELETE' && path.includes('/nodes/')],
    ['to patch a Machine', ({ method, path }) => method === 'PATCH' && path.includes('/machines/')],
    ['to take node leases', ({ method, path }) => method === 'POST' && path.includes('/medik8s-leases/')],
  ])('%s is told once on the Machine, with what gives it, and it goes on without a restart when it is given', async (_right, denies) => {
    const { events } = await failed(denies);
    await world.pass(3 * MINUTE_MS);
    const told = events.filter((event) => event.includes('RemediationBlocked'));
    expect(told).toEqual([expect.stringMatching(/^Machine machine-n1 .*kubectl apply -k config\/(machine-remediation|medik8s)/)]);
    world.deny();
    world.hardware('n1').isBroken = false;
    await world.pass(5 * MINUTE_MS);
    expect(await world.left('n1')).toEqual([]);
    expect(world.hardware('n1')).toMatchObject({ isOn: true, offs: 1 });
  });

  it.each<[string, (request: ApiRequest) => boolean]>([
    ['to read its Node', ({ method, path }) => method === 'GET' && path.endsWith('/nodes/n1')],
    ['to delete its Node', ({ method, path }) => method === 'DELETE' && path.endsWith('/nodes/n1')],
  ])('%s leaves its host off, which is told every half hour with what gives it', async (_right, denies) => {
    const { events, remediation } = await failed(() => false);
    for (let left = 60; left > 0 && world.hardware('n1').isOn; left -= 1) await world.pass(SECOND_MS);
    world.deny(denies);
    const told = (): string[] => events.filter((event) => event.includes('RemediationBlocked'));
    await world.pass(3 * MINUTE_MS);
    const leftOff = /LeftOff: BareMetalHost .*host-n1 is held off.*forbidden.*kubectl apply -k config\/machine-remediation/;
    expect(told()).toEqual([expect.stringMatching(leftOff)]);
    await world.pass(24 * MINUTE_MS);
    expect(told()).toHaveLength(1);
    await world.pass(36 * MINUTE_MS);
    expect(told()).toHaveLength(3);
    expect(remediation.problems()).toEqual([expect.stringMatching(leftOff)]);
    expect(world.hardware('n1')).toMatchObject({ isOn: false, offs: 1 });
    world.deny();
    world.hardware('n1').isBroken = false;
    await world.pass(5 * MINUTE_MS);
    expect(await world.left('n1')).toEqual([]);
    expect([world.hardware('n1').isOn, remediation.problems(), told().length]).toEqual([true, [], 3]);
  });
});
