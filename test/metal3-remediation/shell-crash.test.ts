import { afterEach, describe, expect, it } from 'vitest';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

let world: ShellWorld;

afterEach(async () => {
  await world.end();
  expect(world.broken).toEqual([]);
});

/** A remediation whose controller dies at its n-th write; the next one comes ten seconds later. Returns how many writes the first one made. */
async function struck(number: number, fate: 'killed-before' | 'killed-after' | 'lost' | 'unanswered', minor: number): Promise<number> {
  world = await ShellWorld.create({ minor });
  let count = 0;
  const first = world.start({ fate: () => (++count === number ? fate : 'done') });
  await world.request();
  for (let second = 0; second < 360 && !first.isDead; second += 1) await world.pass(SECOND_MS);
  first.isDead = true;
  await world.pass(10 * SECOND_MS);
  const { warnings } = world.start();
  await world.pass(6 * MINUTE_MS);
  const told = { fate, number, warnings };
  expect([told, world.host.machine.isOn, await world.holds(), (await world.found())?.metadata.finalizers ?? []]).toEqual([told, true, [], []]);
  expect([told, world.host.machine.offs]).toEqual([told, 1]);
  expect((await world.node())?.spec.taints?.filter(({ key }) => key.includes('out-of-service')) ?? []).toEqual([]);
  expect((await world.node())?.metadata).toMatchObject({ labels: { zone: 'a' }, annotations: { cni: 'x' } });
  expect(await world.lock()).toBeUndefined();
  return count;
}

describe('a controller that dies at any of its writes', { timeout: 240_000 }, () => {
  it.each([
    ['killed-before', 27],
    ['killed-after', 27],
    ['killed-before', 28],
    ['killed-after', 28],
  ] as const)('leaves no host off, and power-cycles it once: %s each write, in a cluster of 1.%i', async (fate, minor) => {
    let writes = await struck(Infinity, fate, minor);
    expect(writes).toBeGreaterThan(10);
    for (let number = 1; number <= writes; number += 1) {
      await world.end();
      writes = Math.max(number, Math.min(writes, 40));
      await struck(number, fate, minor);
    }
  });
});
