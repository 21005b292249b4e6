import { afterEach, beforeEach, expect, describe, it } from 'vitest';
import { TIMED_OUT } from '../../src/controllers/node-remediation/names.ts';
import { NODES } from '../../src/ports/resources.ts';
import { NAMESPACE, REQUESTS, ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

/** Fenced for good; `meanwhile` happens while its device is read last of all before its Node goes. */
async function fencedOff(meanwhile: () => Promise<unknown>): Promise<void> {
  const { readAnew } = world.device;
  world.device.readAnew = async () => {
    await meanwhile();
    return readAnew();
  };
  await world.addNode('n');
  world.start();
  await world.request({ spec: { strategy: 'fence', nodeRemoval: 'DeleteNode' } });
  await world.pass(5 * SECOND_MS);
  const off = { evidence: world.proof(), journal: [] };
  await world.fenced('n', off);
  await world.pass(6 * SECOND_MS);
  await world.fenced('n', { ...off, state: 'final', outcome: 'fenced-off', timeline: { finalAt: world.now() } });
  await world.pass(2 * MINUTE_MS);
}

describe('a Node that was to go for good, whose device is read last of all', () => {
  it('stays when its request is taken back meanwhile, and its machine is brought back', async () => {
    await fencedOff(() => world.delete());
    expect(world.device.reads).toBe(1);
    expect(await world.own.operator.get(NODES, 'n')).toBeDefined();
    expect((await world.fence('n'))?.metadata.deletionTimestamp).toBeDefined();
  });

  it('stays when its health check gives the request up meanwhile', async () => {
    await fencedOff(() =>
      world.own.operator.mergePatch(REQUESTS, 'n', { metadata: { annotations: { [TIMED_OUT]: 'now' } } }, { namespace: NAMESPACE }),
    );
    expect(world.device.reads).toBe(1);
    expect(await world.own.operator.get(NODES, 'n')).toBeDefined();
  });

  it('goes when nothing happens', async () => {
    await fencedOff(() => Promise.resolve());
    expect(await world.own.operator.get(NODES, 'n')).toBeUndefined();
  });
});
