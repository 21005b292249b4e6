import { afterEach, describe, expect, it } from 'vitest';
import type { Resource } from '../../src/ports/cluster.ts';
import type { OwnerReference, Pod } from '../../src/ports/objects.ts';
import { LEASES, NODE_FENCE_STOPS, NODE_LEASE_NAMESPACE, PODS } from '../../src/ports/resources.ts';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const SHOP = 'shop';
const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
let world: ShellWorld;

afterEach(async () => {
  expect(world.broken).toEqual([]);
  await world.end();
});

const isTainted = async (): Promise<boolean> => (await world.node())?.spec.taints?.some(({ key }) => key.includes('out-of-service')) === true;

async function standing(): Promise<string[]> {
  return (await world.site.operator.list(PODS)).map(({ metadata }) => metadata.name).sort();
}

/** On a Node whose cluster serves the taint, pods of these names and kinds of owners. */
async function create(isFar: boolean, pods: Record<string, string>): Promise<void> {
  world = await ShellWorld.create({ minor: 28, isFar });
  const { operator } = world.site;
  await operator.create(NAMESPACES, { metadata: { name: SHOP } });
  for (const [name, kind] of Object.entries(pods)) {
    const ownerReferences: OwnerReference[] = [{ apiVersion: 'apps/v1', kind, name: 'x', uid: 'x', controller: true }];
    const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } as Pod['spec'];
    await operator.create(PODS, { metadata: { name, namespace: SHOP, ownerReferences }, spec });
  }
}

/** Until the Node is tainted, as soon as that shows. */
async function untilTainted(): Promise<void> {
  for (let seconds = 0; seconds < 300 && !(await isTainted()); seconds += 1) await world.pass(SECOND_MS);
  expect(await isTainted()).toBe(true);
}

describe('the pods of a host that is proven off', { timeout: 60_000 }, () => {
  it.each([false, true])(
    'are deleted with the taint, in whichever cluster (%s): their replacements do not wait for the garbage collector',
    async (isFar) => {
      await create(isFar, { 'db-0': 'StatefulSet', 'web-0': 'ReplicaSet', agent: 'DaemonSet', static: 'Node' });
      const { warnings, writes } = world.start();
      await world.request();
      await untilTainted();
      await world.pass(2 * SECOND_MS);
      expect(await standing()).toEqual(['agent', 'static']);
      const order = writes.filter((write) => /nodes\/n|pods\//u.test(write));
      expect(order.findIndex((write) => write.includes('pods/'))).toBeGreaterThan(order.findIndex((write) => write.includes('nodes/n')));
      expect(warnings).toEqual([]);
    },
  );

  it('stay while it has not been proven', async () => {
    await create(false, { 'db-0': 'StatefulSet' });
    world.host.isRunning = false;
    world.start();
    await world.request();
    await world.pass(2 * MINUTE_MS);
    expect(await standing()).toEqual(['db-0']);
  });

  const stop = (): Promise<unknown> =>
    world.own.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'stop' }, spec: { all: true, reason: 'a person looks' } });
  const renew = (): Promise<unknown> =>
    world.own.operator.mergePatch(LEASES, 'n', { spec: { renewTime: '2027-06-01T00:00:00.000000Z' } }, { namespace: NODE_LEASE_NAMESPACE });

  it.each([
    ['a person stops it', stop],
    ['its node shows life', renew],
  ])('stay once %s, and are left to Kubernetes', async (_what, comesBetween) => {
    await create(false, { 'db-0': 'StatefulSet', 'db-1': 'StatefulSet' });
    let came: Promise<unknown> | undefined;
    // Between the taint and the look before the deletions.
    world.start({
      fate: (write) => {
        if (write.includes('nodes/n')) came ??= comesBetween();
        return 'done';
      },
    });
    await world.request();
    await untilTainted();
    await came;
    await world.pass(10 * SECOND_MS);
    expect(await standing()).toEqual(['db-0', 'db-1']);
  });
});
