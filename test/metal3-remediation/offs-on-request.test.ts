import { expect, it } from 'vitest';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

it.each([
  ['here', false, ['begun', 'over']],
  ['in a workload cluster', true, [undefined, undefined]],
])('a host counts for the storm policies from the off until its hold is taken away, where its Node is %s', async (_where, isFar, kinds) => {
  const world = await ShellWorld.create({ isFar });
  world.start();
  await world.request();
  const kind = (): string | undefined => world.offs.all.get('n')?.kind;
  for (let second = 0; second < 60 && (await world.holds()).length === 0; second += 1) await world.pass(SECOND_MS);
  const held = kind();
  await world.pass(4 * MINUTE_MS);
  expect([[held, kind()], await world.holds(), world.host.machine.offs]).toEqual([kinds, [], 1]);
  await world.end();
});
