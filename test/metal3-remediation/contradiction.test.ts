import { expect, it } from 'vitest';
import { HOLD, MINUTE_MS, World } from './world.ts';

it('a host that is off, and is another’s by what its Node says now, is not left off, and nothing more is done', () => {
  const world = new World({ servesOutOfService: true });
  for (let round = 0; !world.kinds().includes('NodeOutOfService'); round += 1) {
    if (round > 100) throw new Error('its Node was never tainted');
    if (world.step(1) === 0) world.pass(5_000);
  }
  if (typeof world.node === 'object') world.node = { ...world.node, providerID: 'metal3://metal/other/mm' };
  world.run(2 * MINUTE_MS);
  expect([...world.problems].join()).toContain('nothing is done');
  expect(world.operator).toMatchObject({ offs: 1, isOn: true });
  expect(world.operator.annotations[HOLD]).toBeUndefined();
  expect(world.node).toMatchObject({ taints: [] });
});
