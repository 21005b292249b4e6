import { describe, expect, it } from 'vitest';
import { NODE_UID } from '../../src/controllers/node-remediation/names.ts';
import { LEASES, NODE_LEASE_NAMESPACE, NODES } from '../../src/ports/resources.ts';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, node, ownerMachine, request, SECOND_MS, World } from './world.ts';

const NEVER_OFF = { sentMs: 10 * SECOND_MS };
const SPEC = { timeoutSeconds: 300 };

/** Another Node has the name from now on. */
function madeAnew(world: World, facts: Parameters<typeof node>[0] = {}): void {
  world.node = node({ uid: 'uid-n-2', ...facts });
  world.nodeSeenMs = world.nowMs;
}

/** Taken up, and waiting: as many are under way as may be. */
function waiting(): World {
  const world = new World({ request: request({}, SPEC) });
  world.inFlight = { count: 1, limit: 1 };
  world.run(MINUTE_MS);
  expect([world.own.phase, world.fences]).toEqual(['', 0]);
  return world;
}

describe('a request whose Node is made anew under its name', () => {
  it.each([
    ['Ready', true, 0, 'Stopped'],
    ['not Ready', false, 1, 'Succeeded'],
  ])('before it was fenced, fences the other one only if that is not healthy in time: %s', (_how, isReady, fences, phase) => {
    const world = waiting();
    madeAnew(world, { isReady });
    world.inFlight = { count: 0, limit: 1 };
    world.run(4 * MINUTE_MS);
    expect(world.fences).toBe(0);
    expect([...world.problems].join()).toContain('node n was made anew since it was asked for: it is fenced only if it is not healthy after 300 s');
    world.run(6 * MINUTE_MS);
    expect([world.fences, world.own.phase]).toEqual([fences, phase]);
  });

  it('fences another one that its health check finds ill in time', () => {
    const ill = { type: 'HealthCheckSucceeded', status: 'False', reason: 'UnhealthyNode' } as const;
    const world = new World({ machine: ownerMachine({ name: 'n', namespace: 'machines', conditions: [ill] }), request: request({}, SPEC) });
    world.inFlight = { count: 1, limit: 1 };
    world.run(MINUTE_MS);
    madeAnew(world, { isReady: true });
    world.inFlight = { count: 0 };
    world.run(4 * MINUTE_MS);
    expect(world.fences).toBe(0);
    world.run(2 * MINUTE_MS);
    expect(world.fences).toBe(1);
  });

  it('does not try again on the other one whose predecessor was not proven off', () => {
    const world = new World({ request: request({}, SPEC), courses: [{ finalMs: 60 * SECOND_MS, outcome: 'node-gone' }] });
    world.until('Fencing');
    world.pass(20 * SECOND_MS);
    madeAnew(world, { isReady: true });
    world.run(30 * MINUTE_MS);
    expect([world.fences, world.own.phase]).toEqual([1, 'Stopped']);
  });

  it('has succeeded where the one that was asked for was proven off, and is gone', () => {
    const world = new World({ request: request({}, SPEC), courses: [{ offMs: 30 * SECOND_MS, finalMs: 60 * SECOND_MS, outcome: 'node-gone' }] });
    world.until('Fencing');
    world.pass(40 * SECOND_MS);
    madeAnew(world, { isReady: true });
    world.run(2 * MINUTE_MS);
    expect(world.own).toMatchObject({ phase: 'Succeeded' });
  });

  it.each([
    ['has not begun', undefined],
    ['has begun with the other one', 'uid-n-2'],
  ])('lets a fence go that %s', (_how, nodeUID) => {
    const world = new World({ request: request({}, SPEC), courses: [NEVER_OFF] });
    world.until('Fencing');
    madeAnew(world, { isReady: true });
    const { nodeUID: _before, ...fence } = world.fence!;
    world.fence = { ...fence, ...(nodeUID !== undefined && { nodeUID }) };
    world.run(MINUTE_MS);
    expect(world.kinds()).toContain('withdraw-fence');
    world.run(10 * MINUTE_MS);
    expect([world.fences, world.own.phase]).toEqual([1, 'Stopped']);
  });

  it('takes no success of the other one for its own', () => {
    const world = new World({ request: request({}, SPEC), courses: [{ offMs: 30 * SECOND_MS, finalMs: 60 * SECOND_MS, outcome: 'recovered' }] });
    world.until('Fencing');
    world.fence = { ...world.fence!, nodeUID: 'uid-n-2', isFinal: true, outcome: 'recovered' };
    world.step();
    expect(world.own.phase).not.toBe('Succeeded');
    expect(world.kinds().at(-1)).toBe('withdraw-fence');
  });

  it('of DeleteNode, whose Node is gone, leaves the other one there', () => {
    const spec = { strategy: 'fence', nodeRemoval: 'DeleteNode' };
    const world = new World({ request: request({}, spec), courses: [{ offMs: 30 * SECOND_MS, finalMs: 60 * SECOND_MS, outcome: 'fenced-off' }] });
    world.until('Recovering');
    world.fence = { ...world.fence!, nodeUID: 'uid-n-1' };
    madeAnew(world);
    world.run(2 * MINUTE_MS);
    expect(world.kinds()).not.toContain('delete-node');
    expect(world.own.phase).toBe('Succeeded');
  });
});

describe('the annotation of a request that is taken up', () => {
  it('says whose Node was asked for, across controllers, until another one is fenced', async () => {
    const world = await ShellWorld.create();
    const uid = async (): Promise<string | undefined> => (await world.own.operator.get(NODES, 'n'))?.metadata.uid;
    const asked = async (): Promise<string | undefined> => (await world.found('n'))?.metadata.annotations?.[NODE_UID];
    const fences = (): number => writes.filter((write) => write === 'POST /apis/ha.k8s.io/v1/nodefences').length;
    await world.addNode('n');
    const before = await uid();
    const { writes, close } = world.start();
    await world.request({ name: 'n', spec: { timeoutSeconds: 300 } });
    await world.pass(5 * SECOND_MS);
    await world.fenced('n', {});
    expect([await asked(), fences()]).toEqual([before, 1]);
    await world.own.operator.remove(NODES, 'n');
    await world.own.operator.remove(LEASES, 'n', { namespace: NODE_LEASE_NAMESPACE });
    await world.addNode('n');
    await world.fenced('n', { state: 'final', outcome: 'node-gone', timeline: { finalAt: world.now() } });
    await world.pass(6 * SECOND_MS);
    await world.letGo('n');
    await world.pass(MINUTE_MS);
    await close();
    const successor = world.start();
    await world.pass(4 * MINUTE_MS);
    expect([await asked(), await world.fence('n')]).toEqual([before, undefined]);
    await world.pass(2 * MINUTE_MS);
    expect([await asked(), (await world.fence('n'))?.spec.requestedBy?.name]).toEqual([await uid(), 'n']);
    await successor.close();
    await world.end();
  });
});
