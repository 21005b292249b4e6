import { afterEach, describe, expect, it } from 'vitest';
import { definitionsOfOthers } from '../shipped.ts';
import type { Lease } from '../../src/ports/objects.ts';
import { LEASES } from '../../src/ports/resources.ts';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const SLOW = 60_000;
let world: ShellWorld;

async function create(scene: Parameters<typeof ShellWorld.create>[0] = {}): Promise<void> {
  world = await ShellWorld.create(scene);
}

afterEach(async () => {
  await world.end();
});

describe('who owns the kind', { timeout: SLOW }, () => {
  const lease = { metadata: { name: 'controller-leader-election-capm3', namespace: 'default' } };
  const spec = () => ({
    holderIdentity: 'capm3-1',
    renewTime: new Date(world.clock.wallMs()).toISOString().replace('Z', '000Z'),
    leaseDurationSeconds: 15,
  });

  it('nobody’s before the kinds are installed; ours in the minute after', async () => {
    await create({ isInstalled: false });
    const { remediation } = world.start();
    await world.pass(MINUTE_MS);
    expect(remediation.reflectors).toEqual([]);
    await world.install();
    await world.request();
    await world.pass(2 * MINUTE_MS);
    expect(await world.phase()).not.toBe('');
  });

  it('Metal3’s where its controller runs, also one that comes later', async () => {
    await create();
    const { remediation } = world.start();
    await world.pass(2 * SECOND_MS);
    expect(remediation.reflectors.map(({ name }) => name)).toEqual([
      'metal3remediations.infrastructure.cluster.x-k8s.io',
      'metal3remediationtemplates.infrastructure.cluster.x-k8s.io',
      'baremetalhosts.metal3.io',
    ]);
    await world.own.operator.create<Lease>(LEASES, { ...lease, spec: spec() });
    await world.pass(15 * SECOND_MS);
    expect(remediation.reflectors).toEqual([]);
    await world.request();
    await world.pass(MINUTE_MS);
    expect(await world.phase()).toBe('');
  });

  it('Metal3’s where the definition is, unless somebody says that it will not come back', async () => {
    await create({ isInstalled: false });
    await world.install(definitionsOfOthers('metal3-remediation-crd').slice(0, 1));
    const auto = world.start();
    const own = world.start({ more: { metal3Remediation: 'own' } });
    await world.pass(2 * MINUTE_MS);
    expect([auto.remediation.reflectors.length, own.remediation.reflectors.length]).toEqual([0, 3]);
  });
});
