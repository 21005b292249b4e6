import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ShellWorld } from './shell-world.ts';
import { SECOND_MS } from './world.ts';

let world: ShellWorld;
beforeEach(async () => {
  world = await ShellWorld.create();
});
afterEach(() => world.end());

describe('a request', () => {
  it.each([
    [1, []],
    [4, ['RemediationCannotStart']],
  ])('of which %i writes in a row are lost is told of from the second on, once', async (lost, expected) => {
    await world.addNode('n');
    let left = lost;
    const { events } = world.start({ fate: (write) => (write.endsWith('/nodefences') && left-- > 0 ? 'lost' : 'done') });
    await world.request();
    await world.pass(10 * SECOND_MS);
    expect(await world.fence('n')).toBeDefined();
    expect(events.map((event) => event.split(' ')[3] ?? '').filter((reason) => /CannotStart|Stalled/.test(reason))).toEqual(expected);
  });
});
