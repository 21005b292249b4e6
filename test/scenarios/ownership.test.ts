import { describe, expect } from 'vitest';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { MEDIK8S_LEASE_NAMESPACE } from '../../src/manifests/access.ts';
import type { Lease } from '../../src/ports/objects.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { installMedik8s, leaseOut, nodeLease } from './medik8s.ts';
import type { Configuration } from './configuration.ts';
import { scenario } from './scenario.ts';
import type { World } from './world.ts';
import { until } from './waiting.ts';

const HONOURING = { nodeLeaseNamespace: MEDIK8S_LEASE_NAMESPACE, timeoutMs: 90_000 };

function leaseWrites({ witness }: World): ApiEvent[] {
  return witness.controllerWrites().filter(({ namespace }) => namespace === MEDIK8S_LEASE_NAMESPACE);
}

describe.concurrent('a node lease of medik8s', () => {
  scenario('of somebody else keeps the node from being fenced until it is over; then it is taken and given back', HONOURING, async (play) => {
    const { world, operator } = play;
    await installMedik8s(world);
    await leaseOut(world, 'a', 8);
    world.machine('a').panic();
    const held = await operator.sees('a', 'held', ({ hold }) => hold?.policy === 'medik8s-lease');
    expect(held.message).toContain('Lease medik8s-leases/node-a of node-maintenance is held');
    expect([world.witness.cordons('a').length, world.witness.deviceEvents('a').length, leaseWrites(world).length]).toEqual([0, 0, 0]);
    await operator.seesRecovery('a');
    await until('the lease is given back', async () => ((await nodeLease(world, 'a')) === undefined ? true : undefined));
    const [taken, ...later] = leaseWrites(world);
    expect((taken?.object as Lease | undefined)?.spec).toMatchObject({ holderIdentity: 'nodefence', leaseTransitions: 4 });
    const writes = world.witness.controllerWrites();
    expect(writes.indexOf(taken as ApiEvent)).toBeLessThan(writes.indexOf(world.witness.cordons('a')[0] as ApiEvent));
    expect(later.map(({ verb }) => verb)).toEqual(['delete']);
  });

  const slow = { ...HONOURING, wrote: (files: Configuration) => files.set({ power_management_delay: '3s' }) };
  scenario('that appears between the isolation and the off stops the off', slow, async ({ world, operator }) => {
    await installMedik8s(world, 'read');
    world.machine('a').panic();
    await operator.sees('a', 'isolated', ({ timeline }) => timeline.isolatedAt !== undefined);
    await leaseOut(world, 'a', 8);
    await operator.sees('a', 'held', ({ hold }) => hold?.policy === 'medik8s-lease');
    expect(world.witness.sets('a')).toEqual([]);
    await operator.seesRecovery('a');
  });

  scenario('is honoured where the controller may only read it, and then keeps nobody from fencing', HONOURING, async ({ world, operator }) => {
    await installMedik8s(world, 'read');
    world.machine('a').panic();
    await operator.seesRecovery('a');
    expect([leaseWrites(world), await nodeLease(world, 'a')]).toEqual([[], undefined]);
  });

  scenario(
    'keeps every node from being fenced where the controller may not read it, until config/medik8s is applied',
    HONOURING,
    async ({ world, operator }) => {
      await installMedik8s(world, 'none');
      world.machine('a').panic();
      const held = await operator.sees('a', 'held', ({ hold }) => hold?.policy === 'medik8s-lease');
      expect(held.hold?.message).toContain('may not read its Leases, which say whose a node is: kubectl apply -k config/medik8s');
      expect([world.witness.cordons('a').length, world.witness.deviceEvents('a').filter(({ action }) => action === 'set').length]).toEqual([0, 0]);
      await sendShipped(world.transport, ['medik8s']);
      await operator.seesRecovery('a');
    },
  );

  scenario('needs no namespace', HONOURING, async ({ world, operator }) => {
    world.machine('a').panic();
    await operator.seesRecovery('a');
    expect(leaseWrites(world)).toEqual([]);
  });
});
