import { afterEach, describe, expect, it } from 'vitest';
import { TIMES_OUT_AT } from '../../src/controllers/machine-remediation/names.ts';
import { NODE_FENCE_STOPS } from '../../src/ports/resources.ts';
import { HOST_MACHINES, hostMachineName, HOSTS_NAMESPACE } from '../../src/testbed/operators/host-fleet.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';
import { ShellWorld } from './shell-world.ts';
import type { Replica } from './shell-world.ts';

let world: ShellWorld;

afterEach(async () => {
  await world.end();
});

/** A controller that is about to take the node of a Machine that somebody asks it to remediate. */
async function failed(): Promise<Replica> {
  world = await ShellWorld.create();
  const replica = world.start();
  await world.pass(30 * SECOND_MS);
  world.hardware('n1').isBroken = true;
  await world.pass(MINUTE_MS);
  await world.ask('n1');
  return replica;
}

describe('a controller of Machines', { timeout: 60_000 }, () => {
  it('sends nothing that it decided upon while it led: its Lease ended while the write was on its way', async () => {
    const replica = await failed();
    expect(replica.writes).toEqual([]);
    let onTheWay = 0;
    replica.onTheWay = () => {
      onTheWay += 1;
      replica.leadership.isLeading = false;
    };
    await world.pass(5 * MINUTE_MS);
    expect(onTheWay, 'something was to be written').toBeGreaterThan(0);
    expect(replica.writes).toEqual([]);
  });

  it('switches nothing off against a stop that came between its look and its write', async () => {
    const replica = await failed();
    replica.onTheWay = async () => {
      if (replica.writes.length > 0) return;
      await world.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'stop' }, spec: { node: 'n1', reason: 'I look at it' } });
      delete replica.onTheWay;
    };
    await world.pass(5 * MINUTE_MS);
    expect(replica.writes[0], 'it takes the node first').toContain('/leases');
    expect(replica.writes.filter((write) => write.includes('/baremetalhosts/'))).toEqual([]);
    expect(replica.remediation.problems().join()).toContain('I look at it');
  });

  it('deletes no Machine against a stop that came between its look and its write', async () => {
    const replica = await failed();
    const place = { namespace: HOSTS_NAMESPACE };
    const ownerReferences = [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineSet', name: 's', uid: 'u', controller: true }];
    await world.operator.mergePatch(HOST_MACHINES, hostMachineName('n1'), { metadata: { ownerReferences } }, place);
    await world.pass(5 * MINUTE_MS);
    const overMs = Date.parse((await world.machine('n1'))?.metadata.annotations?.[TIMES_OUT_AT] ?? '');
    const { controllers } = world;
    const request = controllers.request.bind(controllers);
    let isStopped = false;
    controllers.request = async (asked) => {
      const answer = await request(asked);
      if (isStopped || !asked.path.endsWith('/nodefencestops') || world.clock.wallMs() <= overMs) return answer;
      isStopped = true;
      await world.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'stop' }, spec: { node: 'n1', reason: 'I look at it' } });
      return answer;
    };
    await world.pass(30 * MINUTE_MS);
    expect([isStopped, (await world.machine('n1')) !== undefined]).toEqual([true, true]);
    await world.operator.remove(NODE_FENCE_STOPS, 'stop');
    await world.pass(MINUTE_MS);
    expect(await world.machine('n1')).toBeUndefined();
    expect(replica.events.at(-1)).toContain('MachineDeleted');
  });

  it('sends nothing that it decided upon once it was closed, as when another comes that serves the kind', async () => {
    const replica = await failed();
    let closing: Promise<void> | undefined;
    replica.onTheWay = async () => {
      closing ??= replica.remediation.close();
      for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
    };
    await world.pass(MINUTE_MS);
    expect(closing, 'something was to be written').toBeDefined();
    expect(replica.writes).toEqual([]);
  });
});
