import { describe, expect, it } from 'vitest';
import { fleet, pass, phases, POOL, POOL_LABEL } from './fleet.ts';
import { HOUR_MS, machine, node, NOW_MS } from './world.ts';

const SILENT = { ready: 'False', readySinceMs: NOW_MS } as const;

describe('a machine that nobody has seen running', () => {
  it.each(['', 'Pending', 'Available'] as const)('in phase %j is judged as any other when its node had the time to come up', (phase) => {
    const world = fleet({ members: [{ name: 'a', phase, machine: 'when-failed', nodeFacts: SILENT }] });
    const { nextDueMs } = world.settle();
    expect([world.machine('a').phase, nextDueMs]).toEqual([phase, NOW_MS + HOUR_MS / 3]);
    pass(world, 0.32);
    expect(world.machine('a').phase).toBe(phase);
    pass(world, 0.02);
    expect(phases(world)).toEqual({ a: 'Unknown' });
    pass(world, 0.17);
    expect(phases(world)).toEqual({ a: 'Failed:Preserved' });
  });

  it('fails at once under a fence, where it is to be kept', () => {
    const fence = { uid: 'f', isOpen: true, isIsolated: false, isOff: false };
    const world = fleet({ members: [{ name: 'a', phase: '', node: 'when-failed', nodeFacts: { ...SILENT, fence } }] });
    world.settle();
    expect(phases(world)).toEqual({ a: 'Failed:Preserved' });
  });
});

describe('a machine whose time as Unknown is over', () => {
  it('says whom it waits for: others of its deployment are replaced, one at a time, and that may last for ever', () => {
    const unknown = { name: 'a', phase: 'Unknown', facts: { phaseSinceMs: NOW_MS - HOUR_MS } } as const;
    const world = fleet({ members: [unknown, { name: 'b', phase: 'Pending', hasNode: false }] });
    const { problems } = world.settle();
    expect(phases(world)).toMatchObject({ a: 'Unknown' });
    expect(problems).toEqual([
      'Machine shoot/a: its node is not healthy, and it is not Failed before others of its group are Running or gone: b (Pending)',
    ]);
  });
});

describe('a Machine of a pool that no MachineDeployment has', () => {
  it('takes no share of the maximum from those that there are', () => {
    const failed = (name: string, set: string) => ({ name, phase: 'Failed', set }) as const;
    const world = fleet({ members: [failed('a', 'd'), failed('b', 'd'), failed('c', 'e')], deployments: ['d', 'e'], max: 3 });
    world.machines.push(machine('lone', { phase: 'Failed', labels: { [POOL_LABEL]: POOL } }));
    world.nodes.push(node('node-of-lone', SILENT));
    world.powerOffs = 'open';
    world.settle();
    expect(phases(world)).toMatchObject({ a: 'Failed:Preserved', b: 'Failed:Preserved', c: 'Failed:Preserved', lone: 'Terminating' });
  });
});
