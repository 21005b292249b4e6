import { afterEach, describe, expect, it } from 'vitest';
import { externalFleet } from './fleet.ts';
import { NAMESPACE } from './objects.ts';
import { CHECKS, MACHINES, ShellWorld } from './shell-world.ts';

const PAUSED = 'cluster.x-k8s.io/paused';
const SUCCEEDED = 'HealthCheckSucceeded';
const ILL = `${SUCCEEDED}=False/UnhealthyNode`;

describe('a check that is paused in the midst of a remediation', () => {
  it('leaves its request, and nobody goes on by what it said: that is unknown until it looks again', () => {
    const world = externalFleet({ a: 'failed', b: 'well' });
    const words = (): unknown[] => ['a', 'b'].map((name) => world.condition(name, SUCCEEDED)?.status);
    world.settle();
    expect([words(), world.requestNames()]).toEqual([['False', 'True'], ['a']]);
    world.editCheck('mhc', { metadata: { annotations: { [PAUSED]: '' } } });
    world.settle();
    expect([words(), world.requestNames()]).toEqual([['Unknown', 'True'], ['a']]);
    world.editCheck('mhc', { metadata: { annotations: { [PAUSED]: null } } });
    world.settle();
    expect([words(), world.requestNames()]).toEqual([['False', 'True'], ['a']]);
  });
});

describe('what a check has said of a machine', () => {
  let world: ShellWorld;

  afterEach(async () => {
    await world.end();
  });

  /** Two failed machines, both of which are remediated. */
  async function remediated(): Promise<ReturnType<ShellWorld['start']>> {
    world = await ShellWorld.create();
    await world.template();
    await world.check('check', { template: true });
    for (const name of ['m1', 'm2']) await world.add(name, { unreadySeconds: 400 });
    const replica = world.start();
    await world.pass(5_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain(ILL);
    return replica;
  }

  it('is unknown when the check is deleted: its node would be power-cycled again by it, and its owner replace it', async () => {
    await remediated();
    await world.operator.remove(CHECKS, 'check', { namespace: NAMESPACE });
    await world.pass(5_000);
    for (const name of ['m1', 'm2']) expect(await world.conditions(MACHINES, name)).toContain(`${SUCCEEDED}=Unknown/NoHealthCheck`);
    expect(await world.request('m1'), 'what was begun is brought to its end by whoever serves it').toBeDefined();
  });

  it('is so too where a controller crashed meanwhile, and never saw the check', async () => {
    const { close } = await remediated();
    await close();
    await world.operator.remove(CHECKS, 'check', { namespace: NAMESPACE });
    world.start();
    await world.pass(5_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain(`${SUCCEEDED}=Unknown/NoHealthCheck`);
  });

  it('is unknown of a machine that is to be skipped from then on, stands of one that is paused, and is said by another check', async () => {
    await remediated();
    await world.annotate(MACHINES, 'm1', { 'cluster.x-k8s.io/skip-remediation': '' });
    await world.annotate(MACHINES, 'm2', { [PAUSED]: '' });
    await world.pass(5_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain(`${SUCCEEDED}=Unknown/NoHealthCheck`);
    expect(await world.conditions(MACHINES, 'm2')).toContain(ILL);
    await world.check('other');
    await world.operator.remove(CHECKS, 'check', { namespace: NAMESPACE });
    await world.annotate(MACHINES, 'm1', { 'cluster.x-k8s.io/skip-remediation': null });
    await world.pass(5_000);
    expect((await world.conditions(MACHINES, 'm1')).filter((each) => each.startsWith(SUCCEEDED))).toEqual([ILL]);
  });
});
