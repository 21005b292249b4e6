import { describe, expect, it } from 'vitest';
import { HOLD, OUT_OF_SERVICE, REQUEST } from '../../src/controllers/machine-remediation/names.ts';
import { MINUTE_MS, node, SECOND_MS, World } from './world.ts';

const FOREIGN = { key: OUT_OF_SERVICE.key, value: 'by-hand', effect: 'NoExecute' };

/** Off, and its labels are kept: the Node is to go. */
function off(scene: ConstructorParameters<typeof World>[0] = {}): World {
  const world = new World({ volumes: 2, ...scene });
  world.step();
  world.pass(MINUTE_MS);
  if (world.mode === 'incident') world.step();
  return world;
}

describe('a Node with volumes whose host is proven off', () => {
  it('is tainted out of service, and deleted when its volumes are detached', () => {
    const world = off();
    world.step();
    expect(world.node?.taints).toEqual([OUT_OF_SERVICE]);
    world.run(15 * SECOND_MS);
    expect(world.node).toBeDefined();
    expect(world.volumes).toBe(2);
    world.run(10 * SECOND_MS);
    expect(world.node).toBeUndefined();
    expect(world.kinds()).toEqual(['PowerOffRequested', 'annotate', 'NodeOutOfService', 'NodeDeleted', 'annotate', 'annotate', 'PowerOnRequested']);
    expect(world.problems).toEqual(new Set());
  });

  it('is deleted all the same when they are not detached in two minutes, and a person is told', () => {
    const world = off();
    world.detachMs = Infinity;
    world.run(2 * MINUTE_MS - 10 * SECOND_MS);
    expect(world.node).toBeDefined();
    world.run(20 * SECOND_MS);
    expect(world.node).toBeUndefined();
    expect([...world.problems]).toEqual([
      'Machine machines/m: node n is deleted while 2 volumes of it are still attached, after a wait of 120 s: the cluster may take six minutes to detach them',
    ]);
  });

  it('is waited for two minutes at most, also when somebody takes the taint away again and again', () => {
    const world = off();
    world.detachMs = Infinity;
    for (let round = 0; round < 30; round += 1) {
      world.run(5 * SECOND_MS);
      if (world.node !== undefined) world.node = { ...world.node, taints: [] };
    }
    expect(world.node).toBeUndefined();
  });

  it('is deleted at once, with a word, where the cluster does not know the taint', () => {
    const world = off();
    world.servesOutOfService = false;
    world.step();
    expect(world.node).toBeUndefined();
    expect([...world.problems]).toEqual([
      'Machine machines/m: node n is deleted while 2 volumes of it are still attached: the cluster may take six minutes to detach them',
    ]);
  });

  it('is deleted at once where no volume is attached', () => {
    const world = off({ volumes: 0 });
    world.step();
    expect(world.kinds()).toEqual(['PowerOffRequested', 'annotate', 'NodeDeleted']);
    expect(world.problems).toEqual(new Set());
  });

  it('is waited for when it is out of service by somebody else, whose taint stays his', () => {
    const world = off({ node: node({ taints: [FOREIGN] }) });
    expect(world.decide()).toMatchObject({ actions: [], phase: 'deleting-node' });
    world.unask();
    world.run(5 * SECOND_MS);
    expect(world.node?.taints).toEqual([FOREIGN]);
  });

  it('is not tainted while a hold stands', () => {
    const world = off();
    world.holds = [{ reason: 'storm', message: 'too many', isStop: false }];
    expect(world.decide()).toMatchObject({ actions: [], problems: ['Machine machines/m: waits: storm, too many'] });
  });

  it('keeps the taint while nobody can say whether the host is off, and is not deleted', () => {
    const world = off();
    world.step();
    world.operator.errorType = 'power management error';
    world.volumes = 0;
    expect(world.decide().actions).toEqual([]);
    expect(world.isOutOfService).toBe(true);
  });
});

describe('our taint on a Node that is not to go any more', () => {
  it('is taken back before the host is switched on, when nobody asks any more', () => {
    const world = off();
    world.step();
    world.unask();
    world.step();
    expect(world.isOutOfService).toBe(false);
    expect(world.operator.annotations[HOLD]).toBeDefined();
    world.run(MINUTE_MS);
    expect(world.operator).toMatchObject({ isOn: true });
    expect(world.node?.uid).toBe('uid-n-1');
  });

  it('is taken back when a sign of life comes after the off', () => {
    const world = off();
    world.step();
    if (world.node !== undefined) world.node = { ...world.node, lifeSeenMs: world.nowMs };
    world.step();
    expect(world.isOutOfService).toBe(false);
    expect(world.node).toBeDefined();
  });

  it('is taken back when its Machine is being deleted, or is gone', () => {
    for (const isGone of [false, true]) {
      const world = off();
      world.step();
      world.machine = isGone || world.machine === undefined ? undefined : { ...world.machine, isDeleting: true };
      world.run(MINUTE_MS);
      expect(world.isOutOfService).toBe(false);
      expect(world.operator.isOn).toBe(true);
    }
  });

  it('is taken back where hold and request were taken away behind our back', () => {
    const world = off();
    world.step();
    world.operator.annotations = {};
    world.machine = world.machine && { ...world.machine, annotations: { 'metal3.io/BareMetalHost': 'metal/host' } };
    world.step();
    expect(world.isOutOfService).toBe(false);
  });

  it('goes with its Node in mode seed-table, which sets none', () => {
    const world = off({ mode: 'seed-table' });
    world.step();
    expect(world.node).toBeUndefined();
    expect(world.machine?.annotations[REQUEST]).toBeDefined();
    expect([...world.problems]).toEqual([expect.stringContaining('2 volumes of it are still attached')]);
  });
});
