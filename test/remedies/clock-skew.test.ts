import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODES } from '../../src/ports/resources.ts';
import { DEADLOCK } from './configurations.ts';
import { MINUTE_MS, RemedyShellWorld, SECOND_MS } from './shell-world.ts';

const HOUR_MS = 60 * MINUTE_MS;
let world: RemedyShellWorld;

beforeEach(async () => {
  world = await RemedyShellWorld.create();
  await world.addNode('a');
  await world.configure(DEADLOCK);
});

afterEach(() => world.end());

/** Posted by a monitor whose clock is an hour behind. */
async function posted(status: 'True' | 'False' = 'True'): Promise<void> {
  const lastHeartbeatTime = new Date(world.clock.wallMs() - HOUR_MS).toISOString();
  const node = await world.operator.get(NODES, 'a');
  const kept = (node?.status.conditions ?? []).filter(({ type }) => type !== 'KernelDeadlock');
  const conditions = [
    ...kept,
    { type: 'KernelDeadlock', status, reason: 'x', message: '', lastHeartbeatTime, lastTransitionTime: lastHeartbeatTime },
  ];
  await world.operator.mergePatch(NODES, 'a', { status: { conditions } }, { subresource: 'status' });
}

describe('a condition that is posted by a clock an hour behind ours', () => {
  it('is answered as soon as it was renewed before our eyes and stood for its period, and nothing is told of it', async () => {
    await posted();
    const replica = world.start();
    await world.pass(MINUTE_MS);
    expect(await world.position('a')).toBeUndefined();
    await posted();
    await world.pass(35 * SECOND_MS);
    expect(await world.position('a')).toBe('running repair 1');
    expect([replica.problems(), replica.events.filter((each) => each.includes('RemedyWaits'))]).toEqual([[], []]);
  });

  it.each(['stood before we looked', 'came while we looked'])('and %s, and is not renewed, is told of once, with what to do', async (when) => {
    if (when === 'stood before we looked') await posted();
    const replica = world.start();
    await world.pass(10 * SECOND_MS);
    if (when === 'came while we looked') await posted();
    await world.pass(4 * MINUTE_MS);
    expect(replica.problems()).toEqual([]);
    await world.pass(20 * MINUTE_MS);
    expect(await world.jobs()).toEqual([]);
    expect(replica.problems().join()).toMatch(/^a: KernelDeadlock=True: .* too old .* check that what posts it runs on the node/u);
    expect(replica.events.filter((each) => each.includes('RemedyWaits'))).toHaveLength(1);
    await posted('False');
    await world.pass(MINUTE_MS);
    expect(replica.problems()).toEqual([]);
  });
});
