import { describe, expect, it } from 'vitest';
import { PRESERVE } from '../../src/controllers/preservation/names.ts';
import { PODS } from '../../src/ports/resources.ts';
import { ShellWorld } from './shell-world.ts';

const NODE = 'node-of-m1';

interface Story {
  name: string;
  tell: (world: ShellWorld) => Promise<void>;
  /** How long until everything that follows from it is done. */
  lastsMs: number;
}

const STORIES: Story[] = [
  {
    name: 'a failed machine is preserved, drained and cordoned',
    tell: async (world) => {
      await world.add('m1', { phase: 'Failed', ready: 'False', node: { [PRESERVE]: 'when-failed' }, timeout: '1h' });
      await world.addPod('web', NODE);
    },
    lastsMs: 20_000,
  },
  {
    name: 'a machine that is preserved by now is released when its time is over',
    tell: (world) => world.add('m1', { node: { [PRESERVE]: 'now' }, timeout: '15s' }),
    lastsMs: 60_000,
  },
  {
    name: 'a failed machine is preserved until its time is over, sent off, proven off and deleted',
    tell: async (world) => {
      await world.add('m1', { phase: 'Failed', ready: 'False', machine: { [PRESERVE]: 'when-failed' }, timeout: '15s' });
      await world.addPod('web', NODE);
    },
    lastsMs: 90_000,
  },
  {
    name: 'a preserved machine recovers',
    tell: async (world) => {
      await world.add('m1', { phase: 'Failed', ready: 'False', machine: { [PRESERVE]: 'when-failed' }, timeout: '1h' });
      const first = world.start();
      await world.pass(5_000);
      await first.close();
      await world.ready(NODE, 'True');
    },
    lastsMs: 20_000,
  },
];

/** What stands at the end, without what no two runs have in common. */
async function ending(world: ShellWorld): Promise<unknown> {
  const machine = await world.machine('m1');
  const { metadata, spec, status } = await world.node(NODE);
  const fence = await world.fence(NODE);
  const current = machine?.status?.currentStatus;
  const text = JSON.stringify({
    machine: machine && { annotations: machine.metadata.annotations, phase: current?.phase, expiry: current?.preserveExpiryTime },
    node: { annotations: metadata.annotations, unschedulable: spec.unschedulable, taints: spec.taints?.map(({ key }) => key) },
    condition: status.conditions?.filter(({ type }) => type === 'Preserved').map(({ status: is, reason, message }) => ({ is, reason, message })),
    fence: fence && { state: fence.status?.state, ending: fence.spec.ending, by: fence.spec.requestedBy?.name },
    pods: (await world.nodes.operator.list(PODS)).map((pod) => pod.metadata.name),
  });
  return JSON.parse(text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'then'));
}

/** A fence that is asked for ends in a proven off. */
async function play(world: ShellWorld, lastsMs: number, isOver: () => boolean = () => false): Promise<void> {
  for (let left = lastsMs; left > 0 && !isOver(); left -= 500) {
    await world.pass(500);
    if ((await world.fence(NODE))?.status?.state === 'new') await world.fenced(NODE);
  }
}

/** The first replica dies with its write number `last`, which was `lost` or `unanswered`; another one begins where it left. */
async function run({ tell, lastsMs }: Story, last = Infinity, how: 'lost' | 'unanswered' = 'lost'): Promise<{ end: unknown; writes: string[] }> {
  const world = await ShellWorld.create();
  await tell(world);
  const first = world.start({ fate: (_write, number) => (number < last ? 'done' : number === last ? how : 'lost') });
  await play(world, lastsMs, () => first.writes.length >= last);
  await first.close();
  const second = world.start();
  await play(world, lastsMs);
  const found = { end: await ending(world), writes: [...first.writes] };
  expect(second.controller.problems()).toEqual([]);
  await world.end();
  return found;
}

describe.each(STORIES)('$name', (story) => {
  it.each(['lost', 'unanswered'] as const)('comes to the same end whichever write was the last of a replica, and it was %s', async (how) => {
    const calm = await run(story);
    expect(calm.writes.length).toBeGreaterThan(2);
    for (let last = 1; last <= calm.writes.length; last += 1) {
      const { end } = await run(story, last, how);
      expect(end, `after ${calm.writes[last - 1] ?? ''}, number ${String(last)}`).toEqual(calm.end);
    }
  });
});
