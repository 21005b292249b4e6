import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PRESERVE } from '../../src/controllers/preservation/names.ts';
import { ShellWorld } from './shell-world.ts';

let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

describe('a preservation controller', () => {
  it('sends nothing that it decided upon while it led: its Lease ended while the write was on its way', async () => {
    await world.add('m1', { node: { [PRESERVE]: 'now' } });
    const replica = world.start();
    let onTheWay = 0;
    replica.onTheWay = () => {
      onTheWay += 1;
      replica.leadership.isLeading = false;
    };
    await world.pass(5_000);
    expect(onTheWay, 'something was to be written').toBeGreaterThan(0);
    expect(replica.writes).toEqual([]);
  });
});
