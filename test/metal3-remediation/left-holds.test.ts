import { afterEach, describe, expect, it } from 'vitest';
import { BARE_METAL_HOSTS } from '../../src/ports/metal3.ts';
import { NODE_FENCE_STOPS, NODES } from '../../src/ports/resources.ts';
import { NAMESPACE, REMEDIATIONS, ShellWorld } from './shell-world.ts';
import type { Replica } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

let world: ShellWorld;

afterEach(async () => {
  await world.end();
});

/** Its host is off for a remediation that is removed by force then; `minor`: of Kubernetes, from 28 on its Node is tainted. */
async function removedByForce(minor = 27, end: (replica: Replica) => unknown = () => undefined): Promise<Replica> {
  world = await ShellWorld.create({ minor });
  if (minor >= 28) await world.attach();
  const replica = world.start();
  await world.request();
  const isTainted = async (): Promise<boolean> => (await world.node())?.spec.taints?.some(({ key }) => key.includes('out-of-service')) === true;
  const isSo = async (): Promise<boolean> => (minor >= 28 ? isTainted() : !world.host.machine.isOn);
  for (let second = 0; second < 120 && !(await isSo()); second += 1) await world.pass(SECOND_MS);
  expect(world.host.machine.isOn).toBe(false);
  await end(replica);
  const { operator } = world.own;
  await operator.mergePatch(REMEDIATIONS, 'm', { metadata: { finalizers: null } }, { namespace: NAMESPACE });
  await operator.remove(REMEDIATIONS, 'm', { namespace: NAMESPACE });
  return replica;
}

describe('a host that is held off by a Metal3Remediation that was removed by force, or is another since it was moved', { timeout: 60_000 }, () => {
  it('is let on', async () => {
    const { events } = await removedByForce();
    await world.pass(MINUTE_MS);
    expect([world.host.machine.isOn, await world.holds()]).toEqual([true, []]);
    expect(events.join()).toContain('the Metal3Remediation that held it off is gone');
  });

  it('and none is of one that is there', async () => {
    world = await ShellWorld.create();
    const replica = world.start();
    await world.pass(5 * SECOND_MS);
    // The watch of remediations is behind: it shows none.
    replica.isDeaf = (path) => path.endsWith('/metal3remediations');
    await world.pass(SECOND_MS);
    const { metadata } = await world.request();
    const annotations = { [`reboot.metal3.io/metal3-remediation-${metadata.uid ?? ''}`]: '{"mode":"hard"}' };
    await world.own.operator.mergePatch(BARE_METAL_HOSTS, 'host', { metadata: { annotations } }, { namespace: NAMESPACE });
    await world.pass(30 * SECOND_MS);
    expect(await world.holds()).toEqual(Object.keys(annotations));
  });

  it('is let on by a controller that comes later', async () => {
    await removedByForce(27, (replica) => replica.close());
    await world.pass(MINUTE_MS);
    expect(world.host.machine.isOn).toBe(false);
    world.start();
    await world.pass(MINUTE_MS);
    expect([world.host.machine.isOn, await world.holds()]).toEqual([true, []]);
  });

  it('stays off while its Node is tainted out of service, loudly, and no longer', async () => {
    const { warnings } = await removedByForce(28);
    await world.pass(3 * MINUTE_MS);
    expect(world.host.machine.isOn).toBe(false);
    expect(warnings.join()).toMatch(/LeftOff: BareMetalHost host is held off by .* and its node n is tainted/);
    await world.site.operator.mergePatch(NODES, 'n', { spec: { taints: null } });
    await world.pass(2 * MINUTE_MS);
    expect([world.host.machine.isOn, await world.holds()]).toEqual([true, []]);
  });

  it('stays off while a person’s stop stands, loudly, and no longer', async () => {
    const { warnings } = await removedByForce(27, () =>
      world.own.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'stop' }, spec: { all: true, reason: 'a look' } }),
    );
    await world.pass(2 * MINUTE_MS);
    expect(world.host.machine.isOn).toBe(false);
    expect(warnings.join()).toContain('that is gone, and stays so: the stop stop is active: a look');
    await world.own.operator.remove(NODE_FENCE_STOPS, 'stop');
    await world.pass(2 * MINUTE_MS);
    expect(world.host.machine.isOn).toBe(true);
  });
});
