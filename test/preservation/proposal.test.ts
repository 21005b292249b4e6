import { describe, expect, it } from 'vitest';
import { distribute } from '../../src/controllers/preservation/pools.ts';
import { SCALE_DOWN_DISABLED, SCALE_DOWN_MARKER } from '../../src/controllers/preservation/names.ts';
import { annotate, fail, fleet, heal, look, pass, phases } from './fleet.ts';
import { NOW_MS } from './world.ts';

const FAILED = { name: 'a', phase: 'Failed' } as const;

/** The phases that the machine `a` was seen in, in order. */
function journey(world: ReturnType<typeof fleet>): { step: (act: () => void) => void; seen: unknown[] } {
  world.settle();
  const seen: unknown[] = [phases(world)['a']];
  return {
    seen,
    step(act) {
      act();
      world.settle();
      seen.push(phases(world)['a']);
    },
  };
}

describe('the proposal', () => {
  it('gives each of two zones one of a maximum of two', () => {
    expect(distribute(2, 2)).toEqual([1, 1]);
  });

  it('shows the sub-phases Running:Preserved and Failed:Preserved', () => {
    const world = fleet({
      members: [
        { name: 'a', node: 'now' },
        { name: 'b', phase: 'Failed', node: 'now' },
      ],
    });
    world.settle();
    expect(phases(world)).toEqual({ a: 'Running:Preserved', b: 'Failed:Preserved' });
    expect(world.machines.map(({ phase }) => phase)).toEqual(['Running', 'Failed']);
  });

  it('lets a machine that fails while it is preserved by now go on in Failed:Preserved, drained and cordoned, until the same time', () => {
    const world = fleet({ members: [{ name: 'a', node: 'now' }] });
    world.settle();
    fail(world, 'a');
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed:Preserved', until: 72, cordoned: true });
    expect(world.node('node-of-a').preserved?.message).toContain('drained successfully');
  });

  it('releases a failed machine after its time: annotations and expiry go, and it is Terminating', () => {
    const world = fleet({ members: [{ name: 'a', node: 'when-failed' }] });
    world.settle();
    fail(world, 'a');
    world.powerOffs = 'open';
    pass(world, 72);
    expect(look(world, 'a')).toMatchObject({ phase: 'Terminating', until: undefined, node: undefined, shielded: false });
  });

  it('drains in Failed, before Terminating', () => {
    const world = fleet({ members: [{ ...FAILED, nodeFacts: { ready: 'True', ailments: ['DiskPressure'] } }] });
    world.settle();
    const kinds = world.kinds().filter((kind) => kind !== 'counts');
    expect(kinds).toEqual(['cordon', 'drain', 'machine-status', 'power-off', 'delete-machine']);
  });

  it('writes scale-down-disabled over to true when a user changes it to false', () => {
    const world = fleet({ members: [{ name: 'a', node: 'now' }] });
    world.settle();
    world.editNode('node-of-a', { annotations: { ...world.node('node-of-a').annotations, [SCALE_DOWN_DISABLED]: 'false' } });
    world.settle();
    expect(look(world, 'a')).toMatchObject({ shielded: true });
  });

  it('counts what is Failed:Preserved against the maximum, not what a person asked for', () => {
    const world = fleet({ members: [FAILED, { name: 'b', phase: 'Failed', machine: 'now' }], max: 1 });
    world.settle();
    expect(world.machineSets[0]?.counts).toEqual({ automatic: 1, preservedFailed: 2 });
    expect(world.machineDeployments[0]?.preservedFailed).toBe(2);
  });
});

describe('the state diagrams', () => {
  it('of an annotated machine: each edge', () => {
    const world = fleet({ members: [{ name: 'a' }] });
    const { step, seen } = journey(world);
    step(() => annotate(world, 'a', 'when-failed'));
    step(() => fail(world, 'a'));
    step(() => heal(world, 'a'));
    step(() => annotate(world, 'a', 'now'));
    step(() => annotate(world, 'a', 'false'));
    step(() => annotate(world, 'a', 'now'));
    step(() => fail(world, 'a'));
    step(() => heal(world, 'a'));
    step(() => pass(world, 72));
    step(() => annotate(world, 'a', 'now'));
    step(() => fail(world, 'a'));
    world.powerOffs = 'open';
    step(() => annotate(world, 'a', 'false'));
    const failed = ['Running', 'Running', 'Failed:Preserved', 'Running', 'Running:Preserved', 'Running'];
    const again = ['Running:Preserved', 'Failed:Preserved', 'Running:Preserved', 'Running', 'Running:Preserved', 'Failed:Preserved', 'Terminating'];
    expect(seen).toEqual([...failed, ...again]);
  });

  it('of a machine without an annotation: each edge', () => {
    const world = fleet({ members: [{ name: 'a' }], max: 1 });
    const { step, seen } = journey(world);
    step(() => fail(world, 'a'));
    step(() => heal(world, 'a'));
    step(() => fail(world, 'a'));
    world.powerOffs = 'open';
    step(() => pass(world, 72));
    expect(seen).toEqual(['Running', 'Failed:Preserved', 'Running', 'Failed:Preserved', 'Terminating']);
    const full = fleet({ members: [FAILED], max: 0 });
    full.powerOffs = 'open';
    full.settle();
    expect(phases(full)).toEqual({ a: 'Terminating' });
  });
});

describe('the use cases', () => {
  it('1: a running machine is preserved for analysis', () => {
    const world = fleet({ members: [{ name: 'a' }] });
    annotate(world, 'a', 'now');
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Running:Preserved', shielded: true });
  });

  it('2: a machine that may fail is preserved once it does', () => {
    const world = fleet({ members: [{ name: 'a' }] });
    annotate(world, 'a', 'when-failed');
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Running', until: undefined });
    fail(world, 'a');
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed:Preserved', shielded: true });
  });

  it('3: a machine that fails is drained, preserved automatically, and terminated after its time', () => {
    const world = fleet({ members: [{ name: 'a' }], max: 1 });
    world.settle();
    fail(world, 'a');
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed:Preserved', cordoned: true });
    expect(world.kinds()).toContain('drain');
    pass(world, 72);
    expect(phases(world)).toEqual({ a: 'deleted' });
  });

  it('4: a preservation is released early, and its place is free again', () => {
    const world = fleet({ members: [FAILED, { name: 'b' }], max: 1 });
    world.settle();
    annotate(world, 'a', 'false');
    world.settle();
    fail(world, 'b');
    expect(phases(world)).toEqual({ a: 'deleted', b: 'Failed:Preserved' });
  });
});

describe('an annotation of somebody else', () => {
  it('scale-down-disabled stays as it was', () => {
    const annotations = { [SCALE_DOWN_DISABLED]: 'true' };
    const world = fleet({ members: [{ name: 'a', machine: 'now', nodeFacts: { annotations } }] });
    world.settle();
    expect(world.node('node-of-a').annotations).toEqual(annotations);
    annotate(world, 'a', undefined, 'machine');
    world.settle();
    expect(world.node('node-of-a').annotations).toEqual(annotations);
  });

  it('scale-down-disabled that said false says so again afterwards', () => {
    const annotations = { [SCALE_DOWN_DISABLED]: 'false' };
    const world = fleet({ members: [{ name: 'a', machine: 'now', nodeFacts: { annotations } }] });
    world.settle();
    expect(world.node('node-of-a').annotations).toMatchObject({ [SCALE_DOWN_DISABLED]: 'true', [SCALE_DOWN_MARKER]: 'true' });
    pass(world, 72);
    expect(world.node('node-of-a').annotations).toEqual(annotations);
    expect(world.nowMs).toBeGreaterThan(NOW_MS);
  });
});
