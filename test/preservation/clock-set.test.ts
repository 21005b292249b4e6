import { afterEach, describe, expect, it } from 'vitest';
import { NODE_EXPIRY, PRESERVE } from '../../src/controllers/preservation/names.ts';
import type { ApiRequest } from '../../src/ports/api-transport.ts';
import { ShellWorld } from './shell-world.ts';

const NODE = 'node-of-m1';
const MINUTE_MS = 60_000;

let world: ShellWorld;

afterEach(() => world.end());

/** How often the pods of the node were listed, as each drain does at least once. */
function countDrains(): () => number {
  const { transport } = world.nodes;
  let count = 0;
  world.nodes.transport = {
    request: (request: ApiRequest) => {
      if (request.query?.['fieldSelector'] === `spec.nodeName=${NODE}`) count += 1;
      return transport.request(request);
    },
    watch: (request, sink) => transport.watch(request, sink),
  };
  return () => count;
}

async function preserved(): Promise<string | undefined> {
  return (await world.node(NODE)).status.conditions?.find(({ type }) => type === 'Preserved')?.message;
}

describe.each([
  ['ten minutes behind', -10 * MINUTE_MS],
  ['a day behind', -24 * 60 * MINUTE_MS],
  ['ten minutes ahead', 10 * MINUTE_MS],
])('a clock that is %s of the one by which the failure was written', (_words, aheadMs) => {
  it('drains the node once, and says so', async () => {
    world = await ShellWorld.create();
    await world.add('m1', { phase: 'Failed', ready: 'False', node: { [PRESERVE]: 'when-failed' }, timeout: '300h' });
    await world.addPod('web', NODE);
    world.clock.jumpWall(aheadMs);
    const drains = countDrains();
    const { writes } = world.start();
    await world.pass(5 * MINUTE_MS);
    expect(await preserved()).toMatch(/^Preserved node drained successfully/u);
    expect(drains()).toBeLessThan(4);
    expect(writes.length).toBeLessThan(10);
  });
});

describe('a machine whose node is silent for some seconds', () => {
  /** Leader and standby, whose clock is that of the leader and `aheadMs`. */
  async function silent(aheadMs: number, isTakenOver: boolean): Promise<void> {
    world = await ShellWorld.create();
    await world.add('m1');
    const leader = world.start();
    const standby = isTakenOver ? world.start({ isLeading: false }) : undefined;
    await world.pass(11 * MINUTE_MS);
    await world.ready(NODE, 'Unknown');
    await world.pass(5_000);
    expect((await world.machine('m1'))?.status?.currentStatus?.phase).toBe('Unknown');
    world.clock.jumpWall(aheadMs);
    if (standby === undefined) return;
    await leader.close();
    standby.leadership.isLeading = true;
    standby.controller.wake();
  }

  it.each([
    ['the clock is set ahead meanwhile', 60 * MINUTE_MS, false],
    ['the clock is set back meanwhile', -60 * MINUTE_MS, false],
    ['a replica takes over whose clock is ahead', 15 * MINUTE_MS, true],
  ])('is given its ten minutes, and fails then: %s', async (_words, aheadMs, isTakenOver) => {
    await silent(aheadMs, isTakenOver);
    await world.pass(9 * MINUTE_MS);
    expect((await world.machine('m1'))?.status?.currentStatus?.phase).toBe('Unknown');
    await world.pass(2 * MINUTE_MS);
    expect((await world.machine('m1'))?.status?.currentStatus?.phase ?? 'gone').not.toBe('Unknown');
  });
});

it.each([
  ['a day ahead', 24 * 60 * MINUTE_MS],
  ['a minute ahead', MINUTE_MS],
])('a node without a machine that failed before this process began, by a clock that is %s, is given its ten minutes', async (_words, aheadMs) => {
  world = await ShellWorld.create();
  await world.addNode(NODE, { node: { [PRESERVE]: 'when-failed' } });
  world.clock.jumpWall(aheadMs);
  await world.ready(NODE, 'False');
  world.clock.jumpWall(-aheadMs);
  world.start();
  await world.pass(9 * MINUTE_MS);
  expect((await world.node(NODE)).metadata.annotations).not.toHaveProperty([NODE_EXPIRY]);
  await world.pass(2 * MINUTE_MS);
  expect((await world.node(NODE)).metadata.annotations).toHaveProperty([NODE_EXPIRY]);
});

it('a node without a machine is given its ten minutes where the clock is set ahead meanwhile, and is preserved then', async () => {
  world = await ShellWorld.create();
  await world.addNode(NODE, { node: { [PRESERVE]: 'when-failed' } });
  world.start();
  await world.pass(11 * MINUTE_MS);
  await world.ready(NODE, 'False');
  await world.pass(5_000);
  world.clock.jumpWall(60 * MINUTE_MS);
  await world.pass(9 * MINUTE_MS);
  expect((await world.node(NODE)).metadata.annotations).not.toHaveProperty([NODE_EXPIRY]);
  await world.pass(2 * MINUTE_MS);
  expect((await world.node(NODE)).metadata.annotations).toHaveProperty([NODE_EXPIRY]);
});
