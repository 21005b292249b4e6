import { expect, it } from 'vitest';
import { HOLD } from '../../src/controllers/machine-remediation/names.ts';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

it('a new leader counts what the one before it has switched off, before it asks the storm policies of anybody', async () => {
  const world = await ShellWorld.create({ nodes: ['n1', 'n2'] });
  const first = world.start();
  await world.ask('n2');
  for (let second = 0; second < 60 && world.hardware('n2').offs === 0; second += 1) await world.pass(SECOND_MS);
  expect(world.counted.at(-1)).toEqual(['n2']);
  await first.close();
  world.counted = [];
  await world.ask('n1');
  world.start();
  await world.pass(10 * SECOND_MS);
  expect([world.counted.length > 0, world.counted[0]]).toEqual([true, ['n2']]);
  await world.pass(20 * MINUTE_MS);
  expect([world.hardware('n1').offs, world.hardware('n2').offs, await world.left('n1'), await world.left('n2')]).toEqual([1, 1, [], []]);
  await world.end();
});

it('a host that does not obey counts for as long as an off may take, and keeps nobody else waiting then', async () => {
  const world = await ShellWorld.create({ nodes: ['n1', 'n2'] });
  world.isBmcDead = true;
  world.start();
  await world.ask('n1');
  await world.pass(9 * MINUTE_MS);
  await world.ask('n2');
  await world.pass(5 * SECOND_MS);
  expect(world.counted.at(-1)).toContain('n1');
  await world.pass(5 * MINUTE_MS);
  // What has ended counts for `rate` alone.
  expect(world.offs?.all.get('n1')?.kind).toBe('over');
  expect(await world.left('n1')).toContain(HOLD);
  await world.end();
});
