import { describe, expect, it } from 'vitest';
import { SCALE_DOWN_DISABLED } from '../../src/controllers/preservation/names.ts';
import { annotate, fail, fleet, heal, look, pass, phases } from './fleet.ts';
import { HOUR_MS, NOW_MS } from './world.ts';

const BY_USER = 'True Preserved by user.';
const BY_MCM = 'True Preserved by MCM.';
const STOPPED = 'False Preservation stopped.';
const FAILED = { name: 'a', phase: 'Failed' } as const;

describe('a preserved machine', () => {
  it('stays Failed until its time is over, and is not terminated before', () => {
    const world = fleet({ members: [{ ...FAILED, machine: 'when-failed' }] });
    world.settle();
    pass(world, 71.9);
    expect(phases(world)).toEqual({ a: 'Failed:Preserved' });
    pass(world, 0.1);
    expect(phases(world)).toEqual({ a: 'deleted' });
  });

  it('that recovers is moved to Running, and its node is uncordoned', () => {
    const world = fleet({ members: [{ ...FAILED, node: 'when-failed' }] });
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed:Preserved', cordoned: true });
    heal(world, 'a');
    expect(look(world, 'a')).toMatchObject({ phase: 'Running', free: true });
  });

  it('in Failed has its node drained once, of all but DaemonSet pods', () => {
    const world = fleet({ members: [{ ...FAILED, machine: 'now' }] });
    world.settle();
    const drains = world.done.filter(({ kind }) => kind === 'drain');
    expect(drains).toMatchObject([{ keeps: ['DaemonSet', 'mirror'] }]);
  });

  it('in Running is kept from the autoscaler', () => {
    const world = fleet({ members: [{ name: 'a', node: 'now' }] });
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Running:Preserved', shielded: true });
  });

  it('is the last to be scaled down', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'now' }, { name: 'b' }, { name: 'c' }], replicas: 2 });
    world.settle();
    expect(phases(world)['a']).toBe('Running:Preserved');
    expect(world.deleted).toHaveLength(1);
  });

  it('that is deleted goes', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'now', facts: { isDeleting: true, expiryMs: NOW_MS + HOUR_MS } }] });
    expect(world.decide().actions).toEqual([]);
  });

  it('goes when its node is deleted', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'now', nodeFacts: { isDeleting: true } }], replicas: 1 });
    world.settle();
    expect(phases(world)).toEqual({ a: 'deleted' });
  });

  it('is scaled down when the replicas can not be met without it', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'now' }, { name: 'b', machine: 'now' }, { name: 'c' }], replicas: 1 });
    world.settle();
    expect(world.machines).toHaveLength(1);
    expect(world.machines[0]?.name).not.toBe('c');
  });
});

describe('when preservation begins', () => {
  it('in Running, expiry, autoscaler annotation and condition are set', () => {
    const world = fleet({ members: [{ name: 'a', node: 'now' }] });
    world.settle();
    expect(look(world, 'a')).toMatchObject({ until: 72, shielded: true, condition: BY_USER, free: true });
    expect(world.node('node-of-a').preserved?.message).toBe('Machine preserved until 2027-01-04T00:00:00Z.');
    expect(world.kinds()).not.toContain('drain');
  });

  it('in Failed, expiry, autoscaler annotation, cordon, drain and condition are set', () => {
    const world = fleet({ members: [{ ...FAILED, node: 'now' }] });
    world.settle();
    expect(look(world, 'a')).toMatchObject({ until: 72, shielded: true, condition: BY_USER, cordoned: true });
    expect(world.kinds()).toContain('drain');
    expect(world.node('node-of-a').preserved?.message).toBe('Preserved node drained successfully. Machine preserved until 2027-01-04T00:00:00Z.');
  });

  it.each(['Running', 'Failed'] as const)('without a backing node in %s, only the expiry is set, and only it is cleared', (phase) => {
    const world = fleet({ members: [{ name: 'a', phase, machine: 'now', hasNode: false }] });
    world.settle();
    expect(world.kinds().filter((kind) => kind !== 'counts')).toEqual(['machine-status']);
    expect(look(world, 'a')).toEqual({ phase: `${phase}:Preserved`, until: 72, machine: 'now' });
    world.done.length = 0;
    annotate(world, 'a', undefined, 'machine');
    const [first] = world.decide().actions;
    expect(first).toMatchObject({ kind: 'machine-status', to: { phase, expiryMs: undefined } });
    world.settle();
    expect(look(world, 'a')['until']).toBeUndefined();
  });
});

describe('when preservation stops', () => {
  it('in Running, expiry and autoscaler annotation go and the condition tells', () => {
    const world = fleet({ members: [{ name: 'a', node: 'now' }] });
    world.settle();
    annotate(world, 'a', undefined);
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Running', until: undefined, shielded: false, condition: STOPPED, free: true });
  });

  it('in Failed, expiry and autoscaler annotation go, the condition tells, and the machine is moved to Terminating', () => {
    const world = fleet({ members: [{ ...FAILED, node: 'now' }] });
    world.settle();
    world.done.length = 0;
    annotate(world, 'a', 'false');
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'deleted', until: undefined, shielded: false, condition: STOPPED });
    const written = world.done.filter(({ target }) => target.kind === 'Machine');
    expect(written).toContainEqual(expect.objectContaining({ kind: 'machine-status', to: { phase: 'Terminating', expiryMs: undefined } }));
  });

  it('clears the expiry last, so that a stop that was cut short is found again', () => {
    const world = fleet({ members: [{ ...FAILED, machine: 'now' }] });
    world.settle();
    pass(world, 0);
    world.nowMs += 72 * HOUR_MS;
    const { actions } = world.decide();
    expect(actions.map(({ kind }) => kind)).toEqual(['condition', 'annotate', 'taint', 'annotate', 'machine-status']);
  });
});

describe('the annotation', () => {
  it.each(['machine', 'node'] as const)('is taken from the %s', (where) => {
    const world = fleet({ members: [{ name: 'a', [where]: 'now' }] });
    world.settle();
    expect(phases(world)).toEqual({ a: 'Running:Preserved' });
  });

  it('when-failed preserves on failure only', () => {
    const world = fleet({ members: [{ name: 'a', node: 'when-failed' }] });
    world.settle();
    expect(phases(world)).toEqual({ a: 'Running' });
    fail(world, 'a');
    expect(phases(world)).toEqual({ a: 'Failed:Preserved' });
  });

  it('now preserves at once', () => {
    const world = fleet({ members: [{ name: 'a' }] });
    world.settle();
    annotate(world, 'a', 'now');
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Running:Preserved', node: 'now' });
  });

  it.each(['machine', 'node'] as const)('false on the %s keeps a failed machine from being preserved automatically', (where) => {
    const world = fleet({ members: [{ ...FAILED, [where]: 'false' }], max: 1 });
    world.settle();
    expect(phases(world)).toEqual({ a: 'deleted' });
  });

  it('false is never removed', () => {
    const world = fleet({ members: [{ name: 'a', node: 'false', facts: { expiryMs: NOW_MS - HOUR_MS } }] });
    world.settle();
    pass(world, 100);
    expect(look(world, 'a')).toMatchObject({ phase: 'Running', node: 'false', until: undefined });
  });

  it('auto-preserve is written on what is preserved automatically, and is counted', () => {
    const world = fleet({ members: [{ ...FAILED }, { name: 'b', phase: 'Failed', age: 30 }], max: 1 });
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed:Preserved', machine: 'auto-preserve', condition: BY_MCM });
    expect(phases(world)['b']).toBe('deleted');
    expect(world.machineSets[0]?.counts).toEqual({ automatic: 1, preservedFailed: 1 });
  });

  it('of the node is honoured where both have one, and the machine loses its own', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'now', node: 'when-failed' }] });
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Running', machine: undefined, node: 'when-failed' });
  });

  it('of the node is honoured even if it is empty', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'now', node: '', facts: { expiryMs: NOW_MS + HOUR_MS } }] });
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Running', until: undefined, machine: undefined, node: '' });
  });

  it.each([
    ['now', 0],
    ['when-failed', 0],
    ['auto-preserve', 1],
  ])('%s is removed when its time is over, and the machine is not preserved again', (value, max) => {
    const world = fleet({ members: [{ ...FAILED, node: value }], max });
    world.settle();
    pass(world, 72);
    expect(look(world, 'a')).toMatchObject({ phase: 'deleted', node: undefined, machine: undefined });
  });

  it('now of a Running machine is removed when its time is over', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'now' }] });
    world.settle();
    pass(world, 72);
    expect(look(world, 'a')).toMatchObject({ phase: 'Running', machine: undefined, shielded: false, condition: STOPPED });
    pass(world, 72);
    expect(phases(world)).toEqual({ a: 'Running' });
  });

  it.each([
    ['emptied', ''],
    ['deleted', undefined],
  ])('false that is %s lets a failed machine be preserved automatically', (_how, value) => {
    const world = fleet({ members: [{ ...FAILED, node: 'false' }], max: 1 });
    annotate(world, 'a', value);
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed:Preserved', condition: BY_MCM });
  });
});

describe('a preservation is stopped', () => {
  it.each(['machine', 'node'] as const)('by deleting the annotation from the %s', (where) => {
    const world = fleet({ members: [{ name: 'a', [where]: 'now' }] });
    world.settle();
    annotate(world, 'a', undefined, where);
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Running', until: undefined });
  });

  it.each(['machine', 'node'] as const)('when it is automatic, by false on the %s', (where) => {
    const world = fleet({ members: [FAILED], max: 1 });
    world.settle();
    expect(phases(world)).toEqual({ a: 'Failed:Preserved' });
    annotate(world, 'a', 'false', where);
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'deleted', [where]: 'false' });
  });

  it.each([
    ['deleting', undefined],
    ['emptying', ''],
  ])('when it is automatic not by %s the annotation, for it is made again', (_how, value) => {
    const world = fleet({ members: [FAILED], max: 1 });
    world.settle();
    annotate(world, 'a', value, 'machine');
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed:Preserved', machine: 'auto-preserve' });
  });

  it('by false when it was manual, too', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'now' }] });
    world.settle();
    annotate(world, 'a', 'false');
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Running', machine: undefined, node: 'false', shielded: false });
  });
});

describe('recovery during preservation', () => {
  it('goes on with now until the time is over', () => {
    const world = fleet({ members: [{ ...FAILED, machine: 'now' }] });
    world.settle();
    pass(world, 10);
    heal(world, 'a');
    expect(look(world, 'a')).toMatchObject({ phase: 'Running:Preserved', until: 72, free: true, shielded: true, machine: 'now' });
    pass(world, 62);
    expect(look(world, 'a')).toMatchObject({ phase: 'Running', machine: undefined });
  });

  it('stops with when-failed, whose annotation stays', () => {
    const world = fleet({ members: [{ ...FAILED, machine: 'when-failed' }] });
    world.settle();
    heal(world, 'a');
    expect(look(world, 'a')).toMatchObject({ phase: 'Running', until: undefined, free: true, machine: 'when-failed', condition: STOPPED });
  });

  it('with when-failed is followed by a new preservation when the machine fails again', () => {
    const world = fleet({ members: [{ ...FAILED, machine: 'when-failed' }] });
    world.settle();
    heal(world, 'a');
    fail(world, 'a');
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed:Preserved', cordoned: true });
    expect(world.kinds().filter((kind) => kind === 'drain')).toHaveLength(2);
  });

  it('stops with auto-preserve, whose annotation goes', () => {
    const world = fleet({ members: [FAILED], max: 1 });
    world.settle();
    heal(world, 'a');
    expect(look(world, 'a')).toMatchObject({ phase: 'Running', machine: undefined, free: true, until: undefined });
  });

  it('leaves what is no longer preserved to the autoscaler', () => {
    const world = fleet({ members: [FAILED], max: 1 });
    world.settle();
    expect(world.node('node-of-a').annotations[SCALE_DOWN_DISABLED]).toBe('true');
    heal(world, 'a');
    expect(world.node('node-of-a').annotations).toEqual({});
  });
});
