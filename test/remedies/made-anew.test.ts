import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODES } from '../../src/ports/resources.ts';
import { DEADLOCK } from './configurations.ts';
import { RemedyShellWorld, SECOND_MS } from './shell-world.ts';

const ONE_REMEDY = DEADLOCK.replace('    remedy2: [{name: replace}, {period: 1m}]\n', '');

let world: RemedyShellWorld;

beforeEach(async () => {
  world = await RemedyShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

/** A node with a deadlock whose one attempt has failed, so that a person is asked. */
async function handedOver(): Promise<void> {
  await world.addNode('a');
  await world.configure(ONE_REMEDY);
  await world.pass(6 * SECOND_MS);
  await world.says('a', { KernelDeadlock: 'True' });
  await world.pass(33 * SECOND_MS);
  const [job] = await world.jobs();
  await world.ends(job!, 'Failed');
  await world.pass(70 * SECOND_MS);
  expect(await world.position('a')).toBe('handed-over 1');
}

/** `betweenMs`: how long there is no Node of that name. */
async function madeAnew(betweenMs: number): Promise<void> {
  await world.operator.remove(NODES, 'a');
  if (betweenMs > 0) await world.pass(betweenMs);
  await world.addNode('a');
}

describe('a Node that is made anew under its name', () => {
  it.each([
    ['at once', 0],
    ['after a while', 20 * SECOND_MS],
  ])('begins with its first attempt, %s: nothing of the one before is left', async (_when, betweenMs) => {
    world.start();
    await handedOver();
    await madeAnew(betweenMs);
    await world.pass(12 * SECOND_MS);
    expect(await world.remedies('a')).toBeUndefined();
    await world.says('a', { KernelDeadlock: 'True' });
    await world.pass(33 * SECOND_MS);
    expect(await world.position('a')).toBe('running repair 1');
  });

  it('begins with its first attempt where the watch shows it in place of the one before', async () => {
    const { deafTo } = world.start();
    await handedOver();
    deafTo.add('nodes');
    await world.operator.remove(NODES, 'a');
    deafTo.delete('nodes');
    await world.addNode('a');
    await world.pass(12 * SECOND_MS);
    expect(await world.remedies('a')).toBeUndefined();
  });

  it('does so also where another controller takes over that never saw the one before', async () => {
    const first = world.start();
    await handedOver();
    await first.close();
    await madeAnew(0);
    await world.says('a', { KernelDeadlock: 'True' });
    world.start();
    await world.pass(40 * SECOND_MS);
    expect(await world.position('a')).toBe('running repair 1');
  });

  it('is no reason to forget where it is the same one, under another controller', async () => {
    const first = world.start();
    await handedOver();
    await first.close();
    world.start();
    await world.pass(40 * SECOND_MS);
    expect(await world.position('a')).toBe('handed-over 1');
  });

  it('has no Job of the one before beside it', async () => {
    world.start();
    await world.addNode('a');
    await world.configure(ONE_REMEDY);
    await world.pass(6 * SECOND_MS);
    await world.says('a', { KernelDeadlock: 'True' });
    await world.pass(33 * SECOND_MS);
    expect(await world.jobs()).toHaveLength(1);
    await madeAnew(0);
    await world.pass(12 * SECOND_MS);
    expect([await world.jobs(), await world.remedies('a')]).toEqual([[], undefined]);
  });

  it('is not fenced by what a remedy asked for the one before', async () => {
    world.start();
    await world.addNode('a');
    await world.configure(DEADLOCK.replace('{name: repair}', '{name: fence}'));
    await world.pass(6 * SECOND_MS);
    await world.says('a', { KernelDeadlock: 'True' });
    await world.pass(40 * SECOND_MS);
    expect((await world.fence('a'))?.spec.requestedBy?.kind).toBe('RemedyConfiguration');
    await madeAnew(0);
    await world.pass(12 * SECOND_MS);
    expect((await world.fence('a'))?.spec.requestedBy).toBeUndefined();
    expect(await world.remedies('a')).toBeUndefined();
  });
});
