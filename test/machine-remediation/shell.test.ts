import { afterEach, describe, expect, it } from 'vitest';
import { HOLD, LOCK_HOLDER, POWERED_OFF } from '../../src/controllers/machine-remediation/names.ts';
import { HARD } from '../../src/controllers/shared/baremetal-host/reboot.ts';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

let world: ShellWorld;

afterEach(async () => {
  await world.end();
});

describe('a Machine that needs remediation', { timeout: 60_000 }, () => {
  it('is switched off by its host, its Node is deleted and comes back with its labels, and nothing is left behind', async () => {
    world = await ShellWorld.create();
    const { events, warnings } = world.start();
    await world.pass(30 * SECOND_MS);
    const before = await world.node('n1');
    world.hardware('n1').isBroken = true;
    await world.pass(MINUTE_MS);
    await world.ask('n1');
    await world.pass(2 * SECOND_MS);
    expect((await world.host('n1'))?.metadata.annotations).toMatchObject({ [HOLD]: HARD });
    expect(await world.holder('n1')).toBe(LOCK_HOLDER);
    await world.pass(20 * SECOND_MS);
    expect(world.hardware('n1')).toMatchObject({ isOn: true, offs: 1 });
    expect(await world.node('n1')).toBeUndefined();
    expect((await world.machine('n1'))?.metadata.annotations?.[POWERED_OFF]).toBeDefined();
    world.hardware('n1').isBroken = false;
    await world.pass(2 * MINUTE_MS);
    const after = await world.node('n1');
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(after?.metadata.labels).toMatchObject({ zone: 'a' });
    expect(await world.left('n1')).toEqual([]);
    expect(await world.holder('n1')).toBeUndefined();
    expect(world.hardware('n2').offs).toBe(0);
    expect(warnings).toEqual([]);
    expect(events.map((event) => event.split(' ').slice(0, 4).join(' '))).toEqual([
      'BareMetalHost host-n1 Normal PowerOffRequested',
      'Node n1 Normal NodeDeleted',
      'BareMetalHost host-n1 Normal PowerOnRequested',
      'Node n1 Normal NodeRestored',
      'Machine machine-n1 Normal Remediated',
    ]);
  });
});
