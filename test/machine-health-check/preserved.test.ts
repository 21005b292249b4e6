import { afterEach, describe, expect, it } from 'vitest';
import { MACHINES, ShellWorld } from './shell-world.ts';

let world: ShellWorld;

afterEach(async () => {
  await world.end();
});

async function failed(template: boolean): Promise<ReturnType<ShellWorld['start']>> {
  world = await ShellWorld.create();
  await world.template();
  await world.check('check', { template });
  await world.add('m1', { unreadySeconds: 400 });
  world.preserved.set('node-of-m1', 'preserved on request');
  const replica = world.start();
  await world.pass(10_000);
  return replica;
}

describe('a failed machine that is preserved', { timeout: 60_000 }, () => {
  it('is not handed to its owner, who would delete it, and is when that is over', async () => {
    const { controller } = await failed(false);
    expect(await world.conditions(MACHINES, 'm1')).toEqual([]);
    expect(controller.problems().join()).toContain('its machine is preserved: preserved on request');
    world.preserved.clear();
    await world.pass(61_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain('OwnerRemediated=False/WaitingForRemediation');
  });

  it('is asked for all the same where there is a template: whoever serves the request heeds it', async () => {
    await failed(true);
    expect(await world.request('m1')).toBeDefined();
  });
});
