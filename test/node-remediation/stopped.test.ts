import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODE_FENCE_STOPS } from '../../src/ports/resources.ts';
import { MACHINES, NAMESPACE, ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

async function ownerIsAsked(): Promise<boolean> {
  const machine = await world.own.operator.get(MACHINES, 'm', NAMESPACE);
  return machine?.status?.conditions?.some(({ type, status }) => type === 'OwnerRemediated' && status === 'False') === true;
}

describe('a person’s stop of the node of a request', { timeout: 60_000 }, () => {
  it.each([
    ['the node', { node: 'n', reason: 'look' }],
    ['all', { all: true, reason: 'look' }],
  ])('keeps its Machine from its owner, who would replace it, loudly: of %s', async (_what, spec) => {
    await world.addNode('n');
    const owner = await world.addMachine('m', 'n');
    const { events } = world.start();
    await world.request({ name: 'm', owner, spec: { strategy: 'escalate', retryLimit: 0, timeoutSeconds: 100 } });
    await world.pass(5 * SECOND_MS);
    await world.fenced('n', { state: 'final', outcome: 'recovered', timeline: { finalAt: world.now() } });
    await world.pass(10 * SECOND_MS);
    expect(await world.phase('m')).toBe('Succeeded');
    await world.own.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'wait' }, spec });
    await world.ready('n', 'Unknown');
    await world.pass(5 * MINUTE_MS);
    await world.letGo('n');
    await world.pass(5 * MINUTE_MS);
    expect([await world.phase('m'), await ownerIsAsked()]).toEqual(['Succeeded', false]);
    expect(events.join()).toContain('is not asked to replace it: the stop wait is active: look');
    await world.own.operator.remove(NODE_FENCE_STOPS, 'wait');
    await world.pass(2 * MINUTE_MS);
    expect([await world.phase('m'), await ownerIsAsked()]).toEqual(['Failed', true]);
  });
});
