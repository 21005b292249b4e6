import { describe, expect, it } from 'vitest';
import { PRESERVE } from '../../src/controllers/preservation/names.ts';
import { annotate, fleet, look, pass, phases, POOL_LABEL } from './fleet.ts';
import { HOUR_MS, NOW_MS } from './world.ts';

const FAILED = { name: 'a', phase: 'Failed' } as const;
const FAILED_B = { name: 'b', phase: 'Failed' } as const;

describe('the maximum', () => {
  const failed = (name: string, age: number, set = 'd') => ({ name, phase: 'Failed', age, set }) as const;

  it('is distributed evenly over the MachineDeployments of the pool', () => {
    const members = [failed('a1', 1, 'z1'), failed('a2', 2, 'z1'), failed('b1', 3, 'z2'), failed('b2', 4, 'z2')];
    const world = fleet({ members, max: 2, deployments: ['z1', 'z2'] });
    const { problems } = world.settle();
    expect(phases(world)).toEqual({ a1: 'Failed:Preserved', b1: 'Failed:Preserved', a2: 'deleted', b2: 'deleted' });
    expect(problems).toEqual([]);
  });

  it('that does not divide over the zones is warned about', () => {
    const world = fleet({ members: [failed('c', 1, 'z3')], max: 1, deployments: ['z1', 'z2', 'z3'] });
    expect(world.settle().problems).toEqual([
      'pool worker1: a maximum of 1 does not divide over 3 zones, they get 1, 0, 0; failures in the zones with 0 are never preserved automatically',
    ]);
    expect(phases(world)).toEqual({ c: 'deleted' });
  });

  it('when it is reached, sends further failed machines on to termination', () => {
    const world = fleet({ members: [failed('a', 1), failed('b', 2)], max: 1 });
    world.settle();
    expect(phases(world)).toEqual({ a: 'Failed:Preserved', b: 'deleted' });
  });

  it('goes to the newest machines first when more have failed', () => {
    const world = fleet({ members: [failed('old', 9), failed('new', 1), failed('mid', 5)], max: 2 });
    world.settle();
    expect(phases(world)).toEqual({ new: 'Failed:Preserved', mid: 'Failed:Preserved', old: 'deleted' });
  });

  it('when it decreases, releases the oldest of the automatic ones only', () => {
    const members = [failed('old', 9), failed('new', 1), failed('mid', 5), { ...failed('asked', 99), machine: 'when-failed' }];
    const world = fleet({ members, max: 3 });
    world.settle();
    expect(world.machines).toHaveLength(4);
    world.scene.pools = { worker1: { autoPreserveMax: 1 } };
    world.settle();
    expect(phases(world)).toEqual({ new: 'Failed:Preserved', asked: 'Failed:Preserved', mid: 'deleted', old: 'deleted' });
  });

  it('has its place back when somebody stops a preservation early', () => {
    const world = fleet({ members: [failed('a', 1)], max: 1 });
    world.settle();
    annotate(world, 'a', 'false');
    world.settle();
    world.machines = [...world.machines, ...fleet({ members: [failed('b', 1)] }).machines];
    world.nodes = [...world.nodes, ...fleet({ members: [failed('b', 1)] }).nodes];
    world.settle();
    expect(phases(world)).toEqual({ a: 'deleted', b: 'Failed:Preserved' });
  });
});

describe('the timeout', () => {
  it('releases what is preserved, by itself', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'now' }], timeoutHours: 2 });
    world.settle();
    expect(world.decide().nextDueMs).toBe(NOW_MS + 2 * HOUR_MS);
    pass(world, 2);
    expect(phases(world)).toEqual({ a: 'Running' });
  });

  it('that changes is for later preservations only', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'now' }, { name: 'b' }] });
    world.settle();
    world.scene.pools = { worker1: { preserveTimeoutMs: HOUR_MS } };
    annotate(world, 'b', 'now');
    world.settle();
    expect([look(world, 'a')['until'], look(world, 'b')['until']]).toEqual([72, 1]);
  });

  it('is overruled by an expiry that somebody edits', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'now' }] });
    world.settle();
    world.editMachine('a', { expiryMs: NOW_MS + 100 * HOUR_MS });
    world.settle();
    expect(world.node('node-of-a').preserved?.message).toContain('until 2027-01-05T04:00:00Z');
    pass(world, 99);
    expect(look(world, 'a')).toMatchObject({ phase: 'Running:Preserved', until: 100 });
  });

  it('of the Machine is closer than that of its pool', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'now', facts: { preserveTimeoutMs: 5 * HOUR_MS } }] });
    world.settle();
    expect(look(world, 'a')['until']).toBe(5);
  });
});

describe('what is stronger than preservation', () => {
  const sets = [
    { name: 'old', deployment: 'd', replicas: 1 },
    { name: 'new', deployment: 'd', replicas: 2 },
  ];

  it('a rolling update: failed machines are replaced as usual, whatever they are annotated with', () => {
    const members = [
      { name: 'a', set: 'old' },
      { name: 'b', phase: 'Failed', set: 'new', machine: 'when-failed' },
      { name: 'c', phase: 'Failed', set: 'new' },
    ] as const;
    const world = fleet({ members: [...members], sets, max: 5 });
    world.settle();
    expect(phases(world)).toEqual({ a: 'Running', b: 'deleted', c: 'deleted' });
    expect(world.machine('c').annotations).toEqual({});
  });

  it('a rolling update: what is preserved in Running stays so until its turn comes', () => {
    const world = fleet({
      members: [
        { name: 'a', set: 'old', machine: 'now' },
        { name: 'b', set: 'new' },
        { name: 'c', set: 'new' },
      ],
      sets,
    });
    world.settle();
    expect(phases(world)['a']).toBe('Running:Preserved');
  });

  it('hibernation: all preservation stops, nothing new is preserved', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'now', facts: { expiryMs: NOW_MS + HOUR_MS } }, FAILED_B], isHibernated: true, max: 5 });
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Running', until: undefined, machine: 'now' });
    expect(phases(world)['b']).toBe('deleted');
  });

  it('hibernation by a set of no replicas: everything goes', () => {
    const silent = { ready: 'Unknown', readySinceMs: NOW_MS } as const;
    const world = fleet({ members: [{ name: 'a', machine: 'now', nodeFacts: silent }, FAILED_B], replicas: 0, max: 5 });
    expect(world.decide().guards).toEqual([]);
    world.settle();
    expect(phases(world)).toEqual({ a: 'deleted', b: 'deleted' });
  });

  it('the replicas: preserved machines count, none is made or spared for them', () => {
    const world = fleet({ members: [{ ...FAILED, machine: 'now' }, { name: 'b' }], replicas: 2 });
    world.settle();
    expect(world.machines).toHaveLength(2);
  });
});

describe('what is to be seen', () => {
  it('is the condition on the node, the expiry on the machine, and a row with both', () => {
    const world = fleet({ members: [{ ...FAILED, node: 'now' }] });
    const { views } = world.settle();
    expect(views).toEqual([
      {
        kind: 'Machine',
        name: 'a',
        namespace: 'shoot',
        node: 'node-of-a',
        pool: 'worker1',
        phase: 'Failed:Preserved',
        isPreserved: true,
        cause: 'user',
        expiryMs: NOW_MS + 72 * HOUR_MS,
      },
    ]);
    expect(world.node('node-of-a').preserved?.status).toBe('True');
    expect(world.machineDeployments[0]?.labels[POOL_LABEL]).toBe('worker1');
    expect(PRESERVE in world.node('node-of-a').annotations).toBe(true);
  });
});
