import { afterEach, describe, expect, it } from 'vitest';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

let world: ShellWorld;

afterEach(async () => {
  await world.end();
});

describe('a Machine that needs remediation', { timeout: 60_000 }, () => {
  it('is not switched off while it is preserved, and its Node goes all the same where that begins after its off', async () => {
    const preserved = [{ reason: 'preserved', policy: 'preservation', message: 'preserved on request' }] as const;
    world = await ShellWorld.create();
    world.storm = preserved;
    const { warnings } = world.start();
    await world.pass(30 * SECOND_MS);
    world.hardware('n1').isBroken = true;
    await world.pass(MINUTE_MS);
    await world.ask('n1');
    await world.pass(10 * MINUTE_MS);
    expect(world.hardware('n1').offs).toBe(0);
    expect(warnings.at(-1)).toBe('Machine metal3/machine-n1: waits: preserved, preserved on request');
    world.storm = [];
    for (let tries = 0; tries < 60 && world.hardware('n1').isOn; tries += 1) await world.pass(SECOND_MS);
    world.storm = preserved;
    await world.pass(2 * MINUTE_MS);
    expect(await world.node('n1')).toBeUndefined();
    expect(world.hardware('n1')).toMatchObject({ isOn: true, offs: 1 });
  });
});
