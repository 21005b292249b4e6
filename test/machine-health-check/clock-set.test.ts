import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODES } from '../../src/ports/resources.ts';
import { CLUSTER, NAMESPACE } from './objects.ts';
import { CLUSTERS, MACHINES, ShellWorld } from './shell-world.ts';

const MINUTE_MS = 60_000;
const FAILED = 'HealthCheckSucceeded=False/UnhealthyNode';
const NOT_STARTED = 'HealthCheckSucceeded=False/NodeStartupTimeout';
let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create();
  await world.check();
});

afterEach(async () => {
  await world.end();
});

describe('a node that is not Ready for some seconds is given its whole time, and fails then', { timeout: 60_000 }, () => {
  it.each([
    ['an hour ahead', 60 * MINUTE_MS],
    ['six minutes ahead', 6 * MINUTE_MS],
    ['a day back', -24 * 60 * MINUTE_MS],
  ])('where the wall clock is set %s meanwhile', async (_words, byMs) => {
    await world.add('m1');
    world.start({ hasWatchedForLong: false });
    await world.pass(6 * MINUTE_MS, 2_000);
    await world.ready('m1', 'Unknown');
    await world.pass(3_000);
    world.clock.jumpWall(byMs);
    await world.pass(4 * MINUTE_MS, 2_000);
    expect(await world.conditions(MACHINES, 'm1')).not.toContain(FAILED);
    // What else changes of it begins nothing anew.
    await world.operator.mergePatch(NODES, 'node-of-m1', { metadata: { annotations: { seen: 'by somebody' } } });
    await world.pass(2 * MINUTE_MS, 2_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain(FAILED);
  });

  it.each([
    ['behind that of', 600],
    ['ahead of that of', -600],
  ])('where the clock of whoever wrote its condition is %s this controller', async (_words, seconds) => {
    await world.add('m1');
    world.start({ hasWatchedForLong: false });
    await world.pass(6 * MINUTE_MS, 2_000);
    await world.ready('m1', 'Unknown', seconds);
    await world.pass(4 * MINUTE_MS, 2_000);
    expect(await world.conditions(MACHINES, 'm1')).not.toContain(FAILED);
    await world.pass(2 * MINUTE_MS, 2_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain(FAILED);
  });

  it('where it stood so before this process began, and is dated a day ahead', async () => {
    await world.add('m1');
    await world.ready('m1', 'Unknown', -24 * 60 * 60);
    world.start({ hasWatchedForLong: false });
    await world.pass(4 * MINUTE_MS, 2_000);
    expect(await world.conditions(MACHINES, 'm1')).not.toContain(FAILED);
    // What else changes of it begins nothing anew.
    await world.operator.mergePatch(NODES, 'node-of-m1', { metadata: { annotations: { seen: 'by somebody' } } });
    await world.pass(3 * MINUTE_MS, 2_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain(FAILED);
  });

  it('and anew once it was Ready again, for however short a time', async () => {
    await world.add('m1');
    world.start({ hasWatchedForLong: false });
    await world.pass(6 * MINUTE_MS, 2_000);
    await world.ready('m1', 'Unknown');
    await world.pass(4 * MINUTE_MS, 2_000);
    await world.ready('m1', 'True');
    await world.ready('m1', 'Unknown');
    await world.pass(4 * MINUTE_MS, 2_000);
    expect(await world.conditions(MACHINES, 'm1')).not.toContain(FAILED);
  });
});

describe('a machine whose node has not come yet is given its whole time', { timeout: 60_000 }, () => {
  it.each([
    ['there before this process', true, 24 * 60 * MINUTE_MS],
    ['there before this process, made by a clock that is a day ahead', true, 0, -24 * 3_600],
    ['made since, before the clock was set', false, 60 * MINUTE_MS],
  ])('%s', async (_words, isThere, byMs, ageSeconds = 3_600) => {
    const make = (): Promise<void> => world.add('m1', { nodeName: null, ageSeconds });
    if (isThere) await make();
    world.start({ hasWatchedForLong: false });
    await world.pass((isThere ? 1 : 11) * MINUTE_MS, 2_000);
    if (!isThere) await make();
    world.clock.jumpWall(byMs);
    await world.pass(8 * MINUTE_MS, 2_000);
    expect(await world.conditions(MACHINES, 'm1')).toEqual([]);
    await world.pass(3 * MINUTE_MS, 2_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain(NOT_STARTED);
  });

  it.each([
    ['a day ahead', -24 * 3_600],
    ['a day back', 24 * 3_600],
  ])('after its Cluster was ready too, by a clock that is %s', async (_words, ageSeconds) => {
    const gate = (status: 'True' | 'False'): object => {
      const lastTransitionTime = new Date(world.clock.wallMs() - ageSeconds * 1_000).toISOString().replace(/\.\d{3}Z$/, 'Z');
      const conditions = ['ControlPlaneInitialized', 'InfrastructureReady'].map((type) => ({
        type,
        status,
        reason: type,
        message: '',
        lastTransitionTime,
      }));
      return { status: { conditions } };
    };
    const place = { namespace: NAMESPACE, subresource: 'status' as const };
    await world.operator.mergePatch(CLUSTERS, CLUSTER, gate('False'), place);
    await world.add('m1', { nodeName: null, ageSeconds: 3_600 });
    world.start({ hasWatchedForLong: false });
    await world.pass(11 * MINUTE_MS, 2_000);
    await world.operator.mergePatch(CLUSTERS, CLUSTER, gate('True'), place);
    await world.pass(8 * MINUTE_MS, 2_000);
    expect(await world.conditions(MACHINES, 'm1')).not.toContain(NOT_STARTED);
    // What else changes of it begins nothing anew.
    await world.operator.mergePatch(CLUSTERS, CLUSTER, { metadata: { annotations: { seen: 'by somebody' } } }, { namespace: NAMESPACE });
    await world.pass(3 * MINUTE_MS, 2_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain(NOT_STARTED);
  });
});
