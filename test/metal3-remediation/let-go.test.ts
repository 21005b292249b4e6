import { afterEach, expect, it } from 'vitest';
import { MEDIK8S_LEASE_NAMESPACE } from '../../src/manifests/access.ts';
import { BARE_METAL_HOSTS } from '../../src/ports/metal3.ts';
import type { Lease } from '../../src/ports/objects.ts';
import { LEASES } from '../../src/ports/resources.ts';
import { NAMESPACE, ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

let world: ShellWorld;

afterEach(async () => {
  await world.end();
});

/** Begun, with a finalizer, on a host that its operator leaves alone; then somebody else takes the node for an hour. */
async function begun(): Promise<void> {
  world = await ShellWorld.create();
  world.start();
  const annotations = { 'baremetalhost.metal3.io/paused': '' };
  await world.own.operator.mergePatch(BARE_METAL_HOSTS, 'host', { metadata: { annotations } }, { namespace: NAMESPACE });
  await world.request();
  await world.pass(20 * SECOND_MS);
  expect([(await world.found())?.metadata.finalizers?.length, await world.lock()]).toEqual([1, undefined]);
  const spec = { holderIdentity: 'node-maintenance', leaseDurationSeconds: 3_600 };
  await world.own.operator.create<Lease>(LEASES, { metadata: { name: 'node-n', namespace: MEDIK8S_LEASE_NAMESPACE }, spec });
  await world.pass(MINUTE_MS);
}

it('a remediation of which nothing stands anywhere is let go when it is deleted, whoever has its node', { timeout: 60_000 }, async () => {
  await begun();
  await world.delete();
  await world.pass(10 * SECOND_MS);
  expect(await world.found()).toBeUndefined();
  expect((await world.lock())?.spec.holderIdentity, 'and the node stays theirs').toBe('node-maintenance');
});
