import { afterEach, describe, expect, it } from 'vitest';
import { PRESERVE } from '../../src/controllers/preservation/names.ts';
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
