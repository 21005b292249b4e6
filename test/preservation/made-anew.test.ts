import { describe, expect, it } from 'vitest';
import { LAST_APPLIED, PRESERVE, PRESERVED_TAINT, TAKEN_FROM } from '../../src/controllers/preservation/names.ts';
import { annotate, fleet, pass, phases } from './fleet.ts';
import { node, NOW_MS } from './world.ts';
import type { World } from './world.ts';

/** Its Node goes and is there again, as a kubelet registers it: without the annotation. */
function madeAnew(word: string, isSeenGone = false): World {
  const world = fleet({ members: [{ name: 'a', phase: 'Failed', node: word }] });
  world.settle();
  world.nodes = [];
  if (isSeenGone) world.settle();
  world.nodes = [node('node-of-a', { uid: 'anew', ready: 'False', readySinceMs: NOW_MS })];
  world.done.length = 0;
  world.settle();
  return world;
}

const eventsOf = (world: World): string[] => world.done.flatMap((action) => ('event' in action ? [action.event.message] : []));

describe('a machine whose Node is made anew under its name, without the annotation that the one before had', () => {
  it.each([
    ['now', true],
    ['when-failed', true],
    ['when-failed', false],
  ])('stays preserved (%s, seen gone in between: %s), and the word is on the Machine', (word, isSeenGone) => {
    const world = madeAnew(word, isSeenGone);
    expect(phases(world)).toEqual({ a: 'Failed:Preserved' });
    expect(world.node('node-of-a').taints).toEqual([PRESERVED_TAINT]);
    expect(world.machine('a').annotations).toEqual({ [PRESERVE]: word });
    expect(eventsOf(world).join()).toContain(`${word} of the one before stands on the Machine now`);
    pass(world, 71.9);
    expect(phases(world)).toEqual({ a: 'Failed:Preserved' });
    pass(world, 0.1);
    expect(phases(world)).toEqual({ a: 'deleted' });
  });

  it('goes when the word is removed there', () => {
    const world = madeAnew('now');
    annotate(world, 'a', undefined, 'machine');
    world.settle();
    expect(phases(world)).toEqual({ a: 'deleted' });
  });

  it('has one word when the Node is given its annotation again', () => {
    const world = madeAnew('now');
    annotate(world, 'a', 'when-failed');
    world.settle();
    expect(world.machine('a').annotations).toEqual({ [LAST_APPLIED]: 'when-failed', [TAKEN_FROM]: 'anew' });
    annotate(world, 'a', undefined);
    world.settle();
    expect(phases(world)).toEqual({ a: 'deleted' });
  });

  it('is not preserved automatically where that was refused', () => {
    const world = fleet({ members: [{ name: 'a', node: 'false' }], max: 1 });
    world.settle();
    world.nodes = [node('node-of-a', { uid: 'anew', ready: 'True', readySinceMs: NOW_MS })];
    world.settle();
    expect(world.machine('a').annotations).toEqual({ [PRESERVE]: 'false' });
  });
});

describe('a machine whose Node was deleted', () => {
  it.each(['Running', 'Unknown'] as const)('is told in phase %s: it is neither judged nor sent off any more', (phase) => {
    const world = fleet({ members: [{ name: 'a', phase }] });
    world.settle();
    world.nodes = [];
    const { problems } = world.settle();
    expect(problems).toEqual([`Machine shoot/a: node "node-of-a" not found, so it stays ${phase}: delete the Machine if it is to go with its Node`]);
    pass(world, 72);
    expect(phases(world)).toEqual({ a: phase });
  });

  it.each([
    ['of a real MCM', { scene: { mode: 'observe' as const } }],
    ['that has none yet', { members: [{ name: 'a', hasNode: false }] }],
  ])('is not told of one %s', (_what, more) => {
    const world = fleet({ members: [{ name: 'a' }], ...more });
    world.nodes = [];
    expect(world.settle().problems).toEqual([]);
  });
});
