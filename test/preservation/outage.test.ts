import { expect, it } from 'vitest';
import { Way } from '../way.ts';
import { ShellWorld } from './shell-world.ts';

async function phaseOf(world: ShellWorld): Promise<string | undefined> {
  return (await world.machine('m'))?.status?.currentStatus?.phase;
}

const OUTAGE_MS = 15 * 60_000;

it(
  'an outage of the API server is no silence of the machines: their timeouts begin anew behind it, and end all the same',
  { timeout: 60_000 },
  async () => {
    const world = await ShellWorld.create();
    const way = new Way(world.nodes.transport);
    world.nodes.transport = way.transport;
    await world.add('m', { set: 's', ready: 'True' });
    world.start();
    await world.pass(3_000);
    await world.ready('node-of-m', 'Unknown');
    await world.pass(3_000);
    expect(await phaseOf(world)).toBe('Unknown');

    way.cut();
    for (let leftMs = OUTAGE_MS; leftMs > 0; leftMs -= 1_000) await world.clock.advance(1_000);
    way.mend();
    await world.pass(20_000);
    expect(await phaseOf(world), 'its kubelet is not heard yet').toBe('Unknown');
    await world.ready('node-of-m', 'True');
    await world.pass(60_000);
    expect(await phaseOf(world)).toBe('Running');

    await world.ready('node-of-m', 'Unknown');
    await world.pass(9 * 60_000);
    expect(await phaseOf(world)).toBe('Unknown');
    await world.pass(2 * 60_000);
    expect(await phaseOf(world), 'a silence that was heard ends as ever').not.toBe('Unknown');
    await world.end();
  },
);
