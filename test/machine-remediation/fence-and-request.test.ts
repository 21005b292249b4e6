import { afterEach, describe, expect, it } from 'vitest';
import { REQUEST } from '../../src/controllers/machine-remediation/names.ts';
import { fenceName } from '../../src/domain/node-fence.ts';
import { NODE_FENCES } from '../../src/ports/resources.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { finalStatus, ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const DAY_MS = 24 * 60 * MINUTE_MS;
let world: ShellWorld;

afterEach(() => world.end());

/** A fence that is open; what is answered ends it by a clock that is so far from ours. */
async function opened(): Promise<(aheadMs?: number) => Promise<void>> {
  world = await ShellWorld.create();
  const fence = await world.operator.create<NodeFence>(NODE_FENCES, { metadata: { name: fenceName('n1') }, spec: { node: 'n1' } });
  return async (aheadMs = 0) => {
    const finalAt = new Date(world.clock.wallMs() + aheadMs).toISOString();
    await world.operator.replaceStatus(NODE_FENCES, { ...fence, status: finalStatus({ outcome: 'recovered', timeline: { finalAt } }) });
    await world.pass(10 * SECOND_MS);
  };
}

describe('a request and a fence that brought the node back are put in order without a clock', () => {
  it.each([
    ['a day back', -DAY_MS],
    ['a day ahead', DAY_MS],
  ])('the fence is the later one, though our clock is set %s meanwhile', async (_words, byMs) => {
    const end = await opened();
    const { events } = world.start();
    await world.ask('n1');
    await world.pass(MINUTE_MS);
    world.clock.jumpWall(byMs);
    await end();
    await world.pass(2 * MINUTE_MS);
    expect([await world.left('n1'), world.hardware('n1').offs]).toEqual([[], 0]);
    expect(events.at(-1)).toBe('Machine machine-n1 Normal Remediated its node was brought back by NodeFence node-fence-n1');
  });

  it.each([
    ['a day ahead', DAY_MS],
    ['a day back', -DAY_MS],
  ])('the request is the later one, though the fence was ended by a clock that is %s', async (_words, aheadMs) => {
    const end = await opened();
    world.start();
    await world.pass(MINUTE_MS);
    await end(aheadMs);
    await world.ask('n1');
    await world.pass(2 * MINUTE_MS);
    expect(world.hardware('n1').offs).toBe(1);
  });

  it('by a replica that saw both come and leads afterwards, whatever its clock', async () => {
    const end = await opened();
    const [leader, standby] = [world.start(), world.start({ isLeading: false })];
    await world.ask('n1');
    await world.pass(MINUTE_MS);
    leader.leadership.isLeading = false;
    await end(-DAY_MS);
    standby.leadership.isLeading = true;
    standby.remediation.wake();
    await world.pass(2 * MINUTE_MS);
    expect([await world.left('n1'), world.hardware('n1').offs]).toEqual([[], 0]);
  });

  it('of which nobody saw the one that came first, a node that is Ready is left on, and it is said how to ask for it', async () => {
    const end = await opened();
    await world.ask('n1');
    await end(-MINUTE_MS);
    const { events } = world.start();
    await world.pass(2 * MINUTE_MS);
    expect([await world.left('n1'), world.hardware('n1').offs]).toEqual([[], 0]);
    expect(events.at(-1)).toContain('whether that was before it was asked for nobody saw: ask anew if it is still to be power-cycled');
    await world.ask('n1');
    await world.pass(2 * MINUTE_MS);
    expect(world.hardware('n1').offs).toBe(1);
  });

  it('a request of which a fence that ended before knows nothing is not taken for done when the process begins anew', async () => {
    const end = await opened();
    await end();
    const { close } = world.start();
    await world.pass(MINUTE_MS);
    world.hardware('n1').isBroken = true;
    await world.ask('n1');
    await world.pass(2 * SECOND_MS);
    await close();
    world.start();
    await world.pass(2 * MINUTE_MS);
    expect([(await world.left('n1')).includes(REQUEST), world.hardware('n1').offs]).toEqual([true, 1]);
  });
});
