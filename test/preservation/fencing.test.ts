import { describe, expect, it } from 'vitest';
import { PRESERVE, REQUEST_MARK } from '../../src/controllers/preservation/names.ts';
import type { FenceFacts } from '../../src/controllers/preservation/snapshot.ts';
import { annotate, fleet, look, phases } from './fleet.ts';
import type { Member } from './fleet.ts';
import { HOUR_MS, NOW_MS } from './world.ts';
import type { World } from './world.ts';

const OPEN: FenceFacts = { uid: 'uid-fence', isOpen: true, isIsolated: false, isOff: false };
const SILENT = { ready: 'Unknown', readySinceMs: NOW_MS - 60_000 } as const;
const UNTIL = NOW_MS + 72 * HOUR_MS;

function fenced(member: Omit<Member, 'name'>, max = 0): World {
  return fleet({ members: [{ name: 'a', ...member, nodeFacts: { ...SILENT, fence: OPEN, ...member.nodeFacts } }], max });
}

function guards(world: World): unknown[] {
  return [...world.decide().guards];
}

describe('a node under an open fence', () => {
  it.each(['when-failed', 'now'])('whose machine is preserved by %s is isolated and held until its time is over', (value) => {
    const world = fenced({ machine: value });
    expect(guards(world)).toMatchObject([{ node: 'node-of-a', guard: 'isolate-and-hold', cause: 'user' }]);
    world.settle();
    expect(guards(world)).toEqual([{ node: 'node-of-a', guard: 'isolate-and-hold', cause: 'user', untilMs: UNTIL }]);
    world.nowMs = UNTIL;
    expect(guards(world)).toEqual([]);
  });

  it('whose machine is preserved automatically is held as well', () => {
    const world = fenced({}, 1);
    world.settle();
    expect(guards(world)).toEqual([{ node: 'node-of-a', guard: 'isolate-and-hold', cause: 'automatic', untilMs: UNTIL }]);
  });

  it('is left alone but for the bound of the hold: the Machine fails at once and gets its expiry', () => {
    const world = fenced({ node: 'when-failed' });
    world.settle();
    expect(world.done.filter(({ target }) => target.kind === 'Node')).toEqual([]);
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed:Preserved', until: 72, free: true, shielded: false });
  });

  it('heeds a word on its Machine that comes after the word of the Node was taken away', () => {
    const world = fleet({ members: [{ name: 'a', node: 'false' }] });
    world.settle();
    world.editNode('node-of-a', { ...SILENT, fence: OPEN });
    annotate(world, 'a', undefined);
    world.settle();
    annotate(world, 'a', 'when-failed', 'machine');
    expect(guards(world)).toMatchObject([{ guard: 'isolate-and-hold', cause: 'user' }]);
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed:Preserved', until: 72, machine: 'when-failed' });
  });

  it('has the word of the Node, and not that of its Machine, taken away with it', () => {
    const world = fenced({ node: 'when-failed', machine: 'when-failed' });
    world.settle();
    annotate(world, 'a', undefined);
    world.settle();
    expect(guards(world)).toEqual([]);
  });

  it('is preserved automatically once the word that forbids it is taken from its Node', () => {
    const world = fleet({ members: [{ name: 'a', node: 'false' }], max: 1 });
    world.settle();
    world.editNode('node-of-a', { ...SILENT, fence: OPEN });
    annotate(world, 'a', undefined);
    world.settle();
    expect(guards(world)).toMatchObject([{ guard: 'isolate-and-hold', cause: 'automatic' }]);
  });

  it('is not terminated, and goes on being fenced, when the preservation ends', () => {
    const world = fenced({ node: 'when-failed' });
    world.settle();
    annotate(world, 'a', 'false');
    world.settle();
    expect(guards(world)).toEqual([]);
    expect(world.machines).toMatchObject([{ phase: 'Failed' }]);
    expect(world.kinds()).not.toContain('power-off');
  });

  it('is terminated on the proof of that fence when it has ended', () => {
    const world = fenced({ phase: 'Failed', node: 'false' });
    world.settle();
    world.editNode('node-of-a', { fence: { ...OPEN, isOpen: false, isIsolated: true, isOff: true } });
    world.settle();
    expect(phases(world)).toEqual({ a: 'deleted' });
    expect(world.kinds()).not.toContain('power-off');
  });

  it.each([
    ['the Machine', { facts: { isDeleting: true } }],
    ['the Node', { nodeFacts: { isDeleting: true } }],
  ])('drops its hold when %s is deleted, and asks for no power', (_what, member) => {
    const world = fenced({ machine: 'now', phase: 'Failed', ...member, facts: { expiryMs: UNTIL, ...('facts' in member ? member.facts : {}) } });
    expect(guards(world)).toMatchObject([{ guard: 'drop' }]);
    world.settle();
    expect(world.kinds()).not.toContain('power-off');
  });

  it('that looks healthy to its kubelet stays Failed until the fence is over', () => {
    const world = fenced({ phase: 'Failed', machine: 'now', nodeFacts: { ready: 'True' } });
    world.settle();
    expect(world.machines).toMatchObject([{ phase: 'Failed' }]);
  });

  it('whose machine nobody preserves is given as long as ever before it is Failed', () => {
    const world = fenced({});
    world.settle();
    expect(phases(world)).toEqual({ a: 'Unknown' });
    world.editNode('node-of-a', { fence: { ...OPEN, isOpen: false }, ready: 'True' });
    world.settle();
    expect(phases(world)).toEqual({ a: 'Running' });
  });

  it('fails at once only as far as there are places to preserve it', () => {
    const member = (name: string, age: number) => ({ name, age, nodeFacts: { ...SILENT, fence: OPEN } });
    const world = fleet({ members: [member('old', 9), member('new', 1)], max: 1 });
    world.settle();
    expect(phases(world)).toEqual({ new: 'Failed:Preserved', old: 'Unknown' });
  });

  it('powers nothing on for a machine that goes, preserved or not', () => {
    const world = fenced({ phase: 'Terminating' });
    expect(guards(world)).toEqual([{ node: 'node-of-a', guard: 'drop', cause: 'user' }]);
  });

  it('is not held for hibernation or a rolling update', () => {
    const sleeping = fleet({ members: [{ name: 'a', machine: 'now', nodeFacts: { ...SILENT, fence: OPEN } }], isHibernated: true });
    expect(guards(sleeping)).toEqual([]);
  });
});

describe('a fence that has ended in error', () => {
  const FAILED: FenceFacts = { ...OPEN, hasFailed: true };
  const told = (why: string): string =>
    `the fence of node node-of-a has ended in error, and keeps it although ${why}: see nodefence explain node-of-a`;

  it('keeps the machine past its time, and that is told with what to do', () => {
    const world = fenced({ machine: 'now', phase: 'Failed', facts: { expiryMs: UNTIL }, nodeFacts: { fence: FAILED } });
    expect(world.settle()).toMatchObject({ problems: [], warnings: [] });
    world.nowMs = UNTIL;
    const { views, problems, warnings } = world.settle();
    const words = expect.stringContaining(told('its time is over')) as string;
    expect(views).toMatchObject([{ name: 'a', problem: words }]);
    expect(problems).toEqual([words]);
    expect(warnings).toEqual([{ target: { kind: 'Machine', name: 'a', namespace: 'shoot', uid: 'uid-a' }, message: words }]);
    expect(problems[0]).toContain('nodefence ack node-of-a');
    expect(phases(world)).toEqual({ a: 'Failed' });
    expect(world.machine('a').expiryMs).toBe(UNTIL);
  });

  it('lets it go when it is over', () => {
    const world = fenced({ machine: 'now', phase: 'Failed', facts: { expiryMs: UNTIL }, nodeFacts: { fence: FAILED } });
    world.nowMs = UNTIL;
    world.settle();
    world.editNode('node-of-a', { fence: { ...OPEN, isOpen: false, isIsolated: true, isOff: true } });
    expect(world.settle().warnings).toEqual([]);
    expect(phases(world)).toEqual({ a: 'deleted' });
  });

  it('keeps a machine that is to go from going, and that is told as well', () => {
    const world = fenced({ phase: 'Terminating', nodeFacts: { fence: FAILED } });
    expect(world.settle().problems).toEqual([expect.stringContaining(told('the machine is being terminated'))]);
  });

  it('says nothing of a machine that runs', () => {
    const world = fenced({ nodeFacts: { ready: 'True', fence: FAILED } });
    expect(world.settle().problems).toEqual([]);
  });
});

describe('before any fence', () => {
  it('a healthy machine that is preserved by now is never fenced', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'now' }] });
    world.settle();
    expect(guards(world)).toEqual([{ node: 'node-of-a', guard: 'never-fence', cause: 'user', untilMs: UNTIL }]);
  });

  it('a machine with when-failed is told of as soon as its node is not Ready, and not before', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'when-failed' }] });
    world.settle();
    expect(guards(world)).toEqual([]);
    world.editNode('node-of-a', SILENT);
    expect(guards(world)).toEqual([{ node: 'node-of-a', guard: 'isolate-and-hold', cause: 'user' }]);
  });
});

describe('the power-off of a machine that goes', () => {
  it('is asked for once, and the Machine stays without its proof', () => {
    const world = fleet({ members: [{ name: 'a', phase: 'Failed' }] });
    world.powerOffs = 'failed';
    const { problems } = world.settle();
    expect(world.kinds().filter((kind) => kind === 'power-off')).toHaveLength(1);
    expect(problems).toEqual(['Machine shoot/a: node node-of-a was not proven off, so its machine is not deleted: look at its NodeFence']);
    expect(phases(world)).toEqual({ a: 'Terminating' });
  });
});

describe('a proof of an off', () => {
  it('counts for nothing where the node reports Ready', () => {
    const fence = { ...OPEN, isOpen: false, isOff: true, requestedByUID: 'uid-a' };
    const world = fleet({ members: [{ name: 'a', phase: 'Terminating', nodeFacts: { ready: 'True', fence } }] });
    const { problems } = world.settle();
    expect(world.machines).toHaveLength(1);
    expect(problems[0]).toContain('was not proven off');
    world.editNode('node-of-a', { ready: 'Unknown' });
    world.settle();
    expect(world.machines).toEqual([]);
  });
});

describe('a drain', () => {
  const dead = { ready: 'Unknown', readySinceMs: NOW_MS - HOUR_MS } as const;
  const closed = { uid: 'uid-fence', isOpen: false, isIsolated: false, isOff: false };

  it('is not forced before a fence has proven that the node can not write', () => {
    const world = fleet({ members: [{ name: 'a', phase: 'Failed', machine: 'now', nodeFacts: { ...dead, fence: closed } }] });
    world.drains = 'running';
    const { problems } = world.settle();
    expect(world.done.find(({ kind }) => kind === 'drain')).toMatchObject({ options: { isForced: false } });
    expect(problems).toEqual(['Machine shoot/a: node node-of-a: the drain is not forced before a fence has proven that the node can not write']);
    expect(world.node('node-of-a').preserved).toBeUndefined();
    world.editNode('node-of-a', { fence: { ...closed, isIsolated: true } });
    world.settle();
    expect(world.done.filter(({ kind }) => kind === 'drain')).toMatchObject([{ options: { isForced: false } }, { options: { isForced: true } }]);
  });

  it('is forced on a dead node that is proven isolated', () => {
    const fence = { ...closed, isIsolated: true };
    const world = fleet({ members: [{ name: 'a', phase: 'Failed', machine: 'now', nodeFacts: { ...dead, fence } }] });
    world.settle();
    expect(world.done.find(({ kind }) => kind === 'drain')).toMatchObject({ options: { isForced: true, timeoutMs: 60_000 } });
  });

  it('that fails is told in the condition, and begun again after 5 seconds until it succeeds', () => {
    const world = fleet({ members: [{ name: 'a', phase: 'Failed', machine: 'now', nodeFacts: { ready: 'True', ailments: ['DiskPressure'] } }] });
    world.drains = 'failed';
    const decision = world.settle();
    expect(world.node('node-of-a').preserved).toMatchObject({ status: 'False', message: expect.stringContaining('could not be drained') as string });
    expect(decision.problems).toEqual(['Machine shoot/a: node node-of-a: the drain failed: a budget forbids it']);
    expect(decision.nextDueMs).toBe(NOW_MS + 5_000);
    world.drains = 'succeeded';
    world.nowMs += 5_000;
    world.settle();
    expect(world.node('node-of-a').preserved).toMatchObject({ status: 'True' });
    expect(world.kinds().filter((kind) => kind === 'drain')).toHaveLength(2);
  });
});

describe('beside a real MCM', () => {
  const observed = (member: Omit<Member, 'name'>, requestsWhenFailed = true): World => {
    const world = fenced(member, 1);
    world.scene.mode = 'observe';
    world.scene.requestsWhenFailed = requestsWhenFailed;
    return world;
  };

  it('when-failed is asked for while a fence is open, so that the VM is not deleted under it, and taken back when it ends', () => {
    const world = observed({});
    world.settle();
    expect(world.node('node-of-a').annotations).toEqual({ [PRESERVE]: 'when-failed', [REQUEST_MARK]: 'uid-fence' });
    world.editNode('node-of-a', { fence: { ...OPEN, isOpen: false } });
    world.settle();
    expect(world.node('node-of-a').annotations).toEqual({});
    expect(new Set(world.kinds())).toEqual(new Set(['annotate']));
  });

  it('our own request does not hold our own fence', () => {
    const world = observed({});
    world.settle();
    expect(guards(world)).toEqual([]);
    annotate(world, 'a', 'now');
    expect(guards(world)).toMatchObject([{ guard: 'isolate-and-hold' }]);
  });

  it('what somebody else made of our request stays', () => {
    const world = observed({});
    world.settle();
    annotate(world, 'a', 'now');
    world.editNode('node-of-a', { fence: { ...OPEN, isOpen: false } });
    world.settle();
    expect(world.node('node-of-a').annotations).toEqual({ [PRESERVE]: 'now' });
  });

  it.each([
    ['a value on the node', { node: 'false' }],
    ['a value on the machine', { machine: 'auto-preserved' }],
    ['a preservation that stands', { facts: { expiryMs: UNTIL } }],
    ['a healthy node', { nodeFacts: { ready: 'True' } }],
  ] as const)('nothing is asked for over %s', (_what, member) => {
    const world = observed(member);
    expect(world.decide().actions).toEqual([]);
  });

  it('nothing is written without the wish', () => {
    expect(observed({}, false).decide().actions).toEqual([]);
  });

  it('no phase, no condition, no cordon, no drain is ever ours', () => {
    const world = observed({ phase: 'Failed', machine: 'now', nodeFacts: { fence: { ...OPEN, isOpen: false } } });
    expect(world.decide().actions).toEqual([]);
    expect(guards(world)).toMatchObject([{ guard: 'isolate-and-hold' }]);
  });

  it('without a sight of the Machines, MCM’s condition on the Node tells', () => {
    const world = observed({
      nodeFacts: { preserved: { status: 'True', reason: 'Preserved by MCM.', message: 'Machine preserved until 2027-01-02 00:00:00 +0000 UTC.' } },
    });
    world.machines = [];
    const { views } = world.decide();
    expect(guards(world)).toEqual([{ node: 'node-of-a', guard: 'isolate-and-hold', cause: 'automatic', untilMs: NOW_MS + 24 * HOUR_MS }]);
    expect(views).toMatchObject([{ kind: 'Node', isPreserved: true, cause: 'automatic', expiryMs: NOW_MS + 24 * HOUR_MS }]);
  });
});
