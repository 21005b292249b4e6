import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODE_FENCES } from '../../src/ports/resources.ts';
import { ShellWorld } from './shell-world.ts';

const MINUTE_MS = 60_000;
const NODE = 'node-of-m1';
const EVENT = 'Machine m1 Warning PreservationProblem';

let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

describe('a fence that failed under a machine that is to go', () => {
  async function failed(): Promise<void> {
    await world.add('m1', { phase: 'Terminating', ready: 'Unknown' });
    await world.fenced(NODE, 'running', 'none');
    const fence = await world.fence(NODE);
    if (fence?.status === undefined) throw new Error('no fence');
    await world.nodes.operator.replaceStatus(NODE_FENCES, { ...fence, status: { ...fence.status, state: 'error' } });
  }

  it('is an Event of the Machine, once for as long as it stands', async () => {
    await failed();
    const { events, controller } = world.start();
    await world.pass(3 * MINUTE_MS, 2_000);
    expect(events.filter((event) => event === EVENT)).toHaveLength(1);
    expect(controller.problems()).toEqual([expect.stringContaining(`the fence of node ${NODE} has ended in error`)]);
    await world.fenced(NODE);
    await world.pass(5_000);
    expect(controller.problems()).toEqual([]);
    expect(await world.machine('m1')).toBeUndefined();
  });

  it('stays told while the fence begins anew, and is none of a replica that does not lead', async () => {
    await failed();
    const fence = await world.fence(NODE);
    if (fence?.status === undefined) throw new Error('no fence');
    await world.nodes.operator.replaceStatus(NODE_FENCES, { ...fence, status: { ...fence.status, state: 'new', restarts: 1 } });
    const { events, controller } = world.start({ isLeading: false });
    await world.pass(5_000);
    expect(controller.problems()).toHaveLength(1);
    expect(events).toEqual([]);
  });
});
