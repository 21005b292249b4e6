import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODE_FENCE_STOPS } from '../../src/ports/resources.ts';
import { DEADLOCK } from './configurations.ts';
import { RemedyShellWorld, SECOND_MS } from './shell-world.ts';

let world: RemedyShellWorld;

beforeEach(async () => {
  world = await RemedyShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

describe('what remedies say of a node', () => {
  it('is written also when a watch of reports that lags shows the same, of before', async () => {
    const replica = world.start();
    const words = async (): Promise<string | undefined> => (await world.remedies('a'))?.positions?.[0]?.message;
    const stopAgain = async (before: string, name: string): Promise<void> => {
      await world.operator.remove(NODE_FENCE_STOPS, before);
      await world.stop({ node: 'a' }, name);
      await world.pass(8 * SECOND_MS);
    };
    await world.stop({ node: 'a' }, 'one');
    await world.addNode('a');
    await world.configure(DEADLOCK);
    await world.pass(6 * SECOND_MS);
    await world.says('a', { KernelDeadlock: 'True' });
    await world.pass(33 * SECOND_MS);
    const first = await words();
    replica.deafTo.add('nodefencereports');
    await stopAgain('one', 'two');
    expect([first, await words()]).toEqual(['held: the stop one is active: a look', 'held: the stop two is active: a look']);
    await stopAgain('two', 'one');
    expect(await words()).toBe(first);
  });
});
