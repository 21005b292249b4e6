import { describe, expect, it } from 'vitest';
import {
  CORDON_MARK,
  LAST_APPLIED,
  NODE_ENDED,
  NODE_EXPIRY,
  PRESERVE,
  PRESERVED_TAINT,
  SCALE_DOWN_MARKER,
} from '../../src/controllers/preservation/names.ts';
import { availability } from '../../src/controllers/preservation/counts.ts';
import { planAutomatic } from '../../src/controllers/preservation/automatic.ts';
import { annotate, fleet, look, pass, phases, POOL, POOL_LABEL } from './fleet.ts';
import { HOUR_MS, machine, node, NOW_MS, World } from './world.ts';

const SILENT = { ready: 'Unknown', readySinceMs: NOW_MS } as const;

it('a deployment that may miss all of its machines requires none, and not fewer', () => {
  const facts = { name: 'd', namespace: 'shoot', uid: 'u', labels: {}, isHibernated: false, replicas: 2, maxUnavailable: 1, availableReplicas: 0 };
  expect(availability(facts, 2)).toMatchObject({ minRequired: 0, isAvailable: true });
});

describe('a Node whose Machine was deleted and that stays', () => {
  it('takes no share of the maximum from the deployments of its pool', () => {
    const failed = (name: string) => ({ name, phase: 'Failed' }) as const;
    const world = fleet({ members: [failed('a'), failed('b')], max: 2 });
    const labels = { [POOL_LABEL]: POOL };
    world.nodes.push(node('bare', { ready: 'True', labels, isUnschedulable: true, annotations: { [CORDON_MARK]: 'true' } }));
    const { problems } = world.settle();
    expect(phases(world)).toEqual({ a: 'Failed:Preserved', b: 'Failed:Preserved' });
    expect(problems).toEqual([]);
    expect(world.node('bare'), 'what we left on it goes').toMatchObject({ isUnschedulable: false, annotations: {} });
  });

  it('is preserved when somebody asks, and not automatically', () => {
    const world = fleet({ members: [{ name: 'a' }], max: 1 });
    const silent = { ready: 'Unknown', readySinceMs: NOW_MS - HOUR_MS, labels: { [POOL_LABEL]: POOL } } as const;
    world.nodes.push(node('bare', silent));
    world.settle();
    expect(world.node('bare').annotations).toEqual({});
    world.editNode('bare', { annotations: { [PRESERVE]: 'when-failed' } });
    world.settle();
    expect(world.node('bare').annotations[NODE_EXPIRY]).toBeDefined();
  });
});

describe('a preserved machine whose Node object is gone', () => {
  const kept = (member: { machine: string } | { node: string }): World => {
    const world = fleet({ members: [{ name: 'a', phase: 'Failed', ...member }] });
    world.settle();
    world.nodes = [];
    world.settle();
    return world;
  };

  it.each([
    ['on its Node', { node: 'when-failed' }],
    ['on itself', { machine: 'when-failed' }],
  ])('is kept until its time is over, and said to have lost its node, where the word stood %s', (_where, member) => {
    const world = kept(member);
    expect(phases(world)).toEqual({ a: 'Failed:Preserved' });
    expect(world.decide().views).toMatchObject([{ kind: 'Machine', isPreserved: true, cause: 'user', problem: 'node "node-of-a" not found' }]);
    pass(world, 71.9);
    expect(phases(world)).toEqual({ a: 'Failed:Preserved' });
    pass(world, 0.1);
    expect(phases(world)).toEqual({ a: 'deleted' });
  });

  it('goes when a word on the Machine that came after is taken away: what its Node said before is over', () => {
    const world = kept({ node: 'when-failed' });
    world.editMachine('a', { annotations: { ...world.machine('a').annotations, [PRESERVE]: 'now' } });
    world.settle();
    expect(phases(world)).toEqual({ a: 'Failed:Preserved' });
    const { [PRESERVE]: _word, ...others } = world.machine('a').annotations;
    world.editMachine('a', { annotations: others });
    world.settle();
    expect(phases(world)).toEqual({ a: 'deleted' });
  });

  it('goes at a word of a person on the Machine', () => {
    const world = kept({ node: 'when-failed' });
    world.editMachine('a', { annotations: { ...world.machine('a').annotations, [PRESERVE]: 'false' } });
    world.settle();
    expect(phases(world)).toEqual({ a: 'deleted' });
  });
});

describe('what another MCM has left behind', () => {
  const DRAINED = {
    status: 'True',
    reason: 'Preserved by user.',
    message: 'Preserved node drained successfully. Machine preserved until X.',
  } as const;
  const inherited = (preservedMs: number): World => {
    const nodeFacts = { ...SILENT, preserved: DRAINED, preservedMs, labels: { [POOL_LABEL]: POOL } };
    const world = fleet({ members: [{ name: 'a', phase: 'Failed', machine: 'now', nodeFacts }] });
    world.editMachine('a', { phaseSinceMs: NOW_MS - HOUR_MS, expiryMs: NOW_MS + HOUR_MS });
    return world;
  };

  it('that the node was drained for an earlier failure says nothing of this one: it is drained again, and told only then', () => {
    const world = inherited(NOW_MS - 2 * HOUR_MS);
    world.drains = 'running';
    world.settle();
    expect(world.kinds()).toContain('drain');
    expect(world.node('node-of-a').preserved?.message, 'nothing is claimed while it runs').toMatch(/^Machine preserved until/);
    world.editNode('node-of-a', { drain: { state: 'succeeded', atMs: NOW_MS, sinceMs: NOW_MS - HOUR_MS, isForced: false } });
    world.settle();
    expect(world.node('node-of-a').preserved?.message).toMatch(/^Preserved node drained successfully/);
    const { drain: _forgotten, ...node } = world.node('node-of-a');
    world.nodes = [node];
    expect(world.decide().actions, 'a restart forgets what it has drained, the condition does not').toEqual([]);
  });

  it('one that failed by a clock that was set back since is tried again at once', () => {
    const world = inherited(NOW_MS - 2 * HOUR_MS);
    const failed = { state: 'failed', atMs: NOW_MS + HOUR_MS, sinceMs: NOW_MS - HOUR_MS, isForced: false, message: 'a budget' } as const;
    world.editNode('node-of-a', { drain: failed });
    expect(world.decide().actions.map(({ kind }) => kind)).toContain('drain');
  });

  it('that it was drained for this failure stands', () => {
    const world = inherited(NOW_MS - HOUR_MS);
    world.settle();
    expect(world.kinds()).not.toContain('drain');
  });
});

describe('beyond the cases', () => {
  it('the reason of the condition follows the value: a person who takes an automatic preservation over is named in it', () => {
    const world = fleet({ members: [{ name: 'a', phase: 'Failed' }], max: 1 });
    world.settle();
    expect(world.node('node-of-a').preserved?.reason).toBe('Preserved by MCM.');
    annotate(world, 'a', 'now');
    world.settle();
    expect(world.node('node-of-a').preserved?.reason).toBe('Preserved by user.');
  });

  it('what was last taken from a Node is removed with its annotation, and not left as an empty value', () => {
    const world = fleet({ members: [{ name: 'a', node: 'now' }] });
    world.settle();
    expect(world.machine('a').annotations[LAST_APPLIED]).toBe('now');
    world.editNode('node-of-a', { annotations: {} });
    world.settle();
    expect(world.machine('a').annotations).not.toHaveProperty(LAST_APPLIED);
  });

  it('a forced drain has a minute and one try, whatever times are configured: it asks each pod once, and is begun again while one is refused', () => {
    const nodeFacts = {
      ready: 'Unknown',
      readySinceMs: NOW_MS - HOUR_MS,
      fence: { uid: 'f', isOpen: false, isIsolated: true, isOff: false },
    } as const;
    const world = fleet({ members: [{ name: 'a', phase: 'Failed', machine: 'now', nodeFacts }] });
    world.drains = 'failed';
    world.settle();
    const drains = () => world.done.flatMap((action) => (action.kind === 'drain' ? [action.options] : []));
    expect(drains()).toEqual([{ isForced: true, timeoutMs: 60_000, evictionRetriesMax: 1 }]);
    world.nowMs += 5_000;
    world.settle();
    expect(drains()).toHaveLength(2);
  });
});

describe('phases that nobody else writes', () => {
  it('Running becomes Unknown at once, and Failed after ten minutes', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'when-failed', nodeFacts: SILENT }] });
    world.settle();
    expect(phases(world)).toEqual({ a: 'Unknown' });
    expect(world.decide().nextDueMs).toBe(NOW_MS + 600_000);
    pass(world, 0.16);
    expect(phases(world)).toEqual({ a: 'Unknown' });
    pass(world, 0.01);
    expect(phases(world)).toEqual({ a: 'Failed:Preserved' });
  });

  it('Unknown is Failed after the machineHealthTimeout of its pool, where that is written', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'when-failed', nodeFacts: SILENT }] });
    world.scene.pools = { [POOL]: { healthTimeoutMs: HOUR_MS } };
    world.settle();
    expect(world.decide().nextDueMs).toBe(NOW_MS + HOUR_MS);
    pass(world, 0.99);
    expect(phases(world)).toEqual({ a: 'Unknown' });
    pass(world, 0.02);
    expect(phases(world)).toEqual({ a: 'Failed:Preserved' });
  });

  it('one machine of a deployment fails at a time, the longest silent first, unless they are preserved', () => {
    const unknown = (name: string, hours: number) => ({ name, phase: 'Unknown', facts: { phaseSinceMs: NOW_MS - hours * HOUR_MS } }) as const;
    const world = fleet({ members: [unknown('a', 1), unknown('b', 2)] });
    world.powerOffs = 'open';
    world.settle();
    expect(phases(world)).toEqual({ a: 'Unknown', b: 'Terminating' });
    const kept = fleet({ members: [unknown('a', 1), unknown('b', 2)], max: 2 });
    kept.settle();
    expect(phases(kept)).toEqual({ a: 'Failed:Preserved', b: 'Failed:Preserved' });
  });

  it.each(['', 'Pending', 'Unknown', 'Failed'] as const)('%j becomes Running when the node is healthy', (phase) => {
    const world = fleet({ members: [{ name: 'a', phase, nodeFacts: { ready: 'True' } }] });
    world.settle();
    expect(phases(world)).toEqual({ a: 'Running' });
  });

  it('no word from the node is no judgement', () => {
    const world = new World({ machines: [machine('a')], nodes: [node('node-of-a')] });
    expect(world.decide()).toMatchObject({ actions: [], guards: [] });
  });

  it('a disk under pressure is a failure as well', () => {
    const world = fleet({ members: [{ name: 'a', machine: 'when-failed', nodeFacts: { ready: 'True', ailments: ['DiskPressure'] } }] });
    world.settle();
    expect(phases(world)).toEqual({ a: 'Unknown' });
  });
});

describe('cordons', () => {
  it('of somebody else stay through preservation, recovery and stop', () => {
    const world = fleet({ members: [{ name: 'a', phase: 'Failed', machine: 'now', nodeFacts: { isUnschedulable: true } }] });
    world.settle();
    expect(world.node('node-of-a')).toMatchObject({ isUnschedulable: true, taints: [PRESERVED_TAINT] });
    expect(CORDON_MARK in world.node('node-of-a').annotations).toBe(false);
    world.editNode('node-of-a', { ready: 'True' });
    world.settle();
    expect(world.node('node-of-a')).toMatchObject({ isUnschedulable: true, taints: [] });
  });

  it('of ours are taken back in Running only', () => {
    const world = fleet({ members: [{ name: 'a', phase: 'Failed', machine: 'now' }] });
    world.powerOffs = 'open';
    world.settle();
    annotate(world, 'a', 'false', 'machine');
    world.settle();
    expect(world.node('node-of-a')).toMatchObject({ isUnschedulable: true, taints: [] });
    expect(phases(world)).toEqual({ a: 'Terminating' });
  });
});

describe('a value that nobody knows', () => {
  it('on the node changes nothing of a preservation that stands, and is told', () => {
    const world = fleet({ members: [{ name: 'a', phase: 'Failed', node: 'now' }] });
    world.settle();
    expect(world.machine('a').annotations[LAST_APPLIED]).toBe('now');
    annotate(world, 'a', 'when-faild');
    const { problems } = world.settle();
    expect(phases(world)).toEqual({ a: 'Failed:Preserved' });
    expect(problems).toEqual([
      `Machine shoot/a: the node's value "when-faild" is not one of now, when-failed, false; what counted before it still counts`,
    ]);
    pass(world, 72);
    expect(phases(world)).toEqual({ a: 'deleted' });
  });
});

describe('spellings', () => {
  it.each(['auto-preserve', 'auto-preserved'] as const)('%s is read, and written beside an MCM that writes it', (spelling) => {
    const read = fleet({ members: [{ name: 'a', phase: 'Failed', machine: spelling }], max: 1 });
    read.settle();
    expect(look(read, 'a')).toMatchObject({ phase: 'Failed:Preserved', machine: spelling });
    const written = fleet({ members: [{ name: 'a', phase: 'Failed' }], max: 1 });
    written.scene.spelling = spelling;
    written.settle();
    expect(look(written, 'a')).toMatchObject({ machine: spelling });
  });
});

describe('what can not be done', () => {
  it('without the expiry field of the CRD Machines and their Nodes are left alone, and plain Nodes are not', () => {
    const world = fleet({ members: [{ name: 'a', node: 'now' }] });
    world.scene.hasExpiryField = false;
    world.nodes = [...world.nodes, node('plain', { annotations: { [PRESERVE]: 'now' }, ready: 'True' })];
    const { problems, views } = world.settle();
    expect(problems[0]).toContain('no status.currentStatus.preserveExpiryTime');
    expect(views.map(({ name }) => name)).toEqual(['plain']);
    expect(new Set(world.done.map(({ target }) => target.name))).toEqual(new Set(['plain']));
  });

  it('of two machines that name one node the newer has it, and nothing is done about the other', () => {
    const world = new World({
      machines: [
        machine('old', { nodeName: 'n', createdMs: 1, phase: 'Failed' }),
        machine('new', { nodeName: 'n', annotations: { [PRESERVE]: 'now' } }),
      ],
      nodes: [node('n', { ready: 'True' })],
    });
    const { problems } = world.settle();
    expect(problems).toEqual(['Machine shoot/old names the node of the newer new: nothing is done about it']);
    expect(world.done.some(({ target }) => target.name === 'old')).toBe(false);
  });

  it('a pool that nobody belongs to is told', () => {
    const world = new World({ pools: { ghost: { autoPreserveMax: 1 } } });
    expect(world.decide().problems).toEqual(["pool ghost: no MachineDeployment and no Node has this pool's label"]);
  });

  it('an excess without a carrier is told', () => {
    expect(planAutomatic(0, 2, [])).toEqual({ preserve: [], release: [], remainingExcess: 2 });
  });
});

describe('a set without a deployment, a deployment without a pool', () => {
  it('has its own maximum', () => {
    const failed = (name: string, machineSet: string) => machine(name, { phase: 'Failed', machineSet });
    const world = new World({
      machines: [failed('a', 's'), failed('b', 't')],
      nodes: [node('node-of-a', { ready: 'False' }), node('node-of-b', { ready: 'False' })],
      machineSets: [
        { name: 's', namespace: 'shoot', uid: 's', autoPreserveMax: 1 },
        { name: 't', namespace: 'shoot', uid: 't', deployment: 'd' },
      ],
      machineDeployments: [{ name: 'd', namespace: 'shoot', uid: 'd', labels: {}, isHibernated: false, autoPreserveMax: 1 }],
    });
    world.settle();
    expect(phases(world)).toEqual({ a: 'Failed:Preserved', b: 'Failed:Preserved' });
  });
});

describe('a Node without a Machine', () => {
  const plain = (name: string, facts: Parameters<typeof node>[1] = {}) => node(name, { ready: 'True', labels: { [POOL_LABEL]: POOL }, ...facts });
  const dead = { ready: 'Unknown', readySinceMs: NOW_MS - HOUR_MS } as const;

  it('keeps its expiry in an annotation, which may be edited', () => {
    const world = new World({ nodes: [node('n', { ready: 'True', annotations: { [PRESERVE]: 'now' } })] });
    world.settle();
    expect(world.node('n').annotations).toMatchObject({ [NODE_EXPIRY]: '2027-01-04T00:00:00Z', [SCALE_DOWN_MARKER]: 'true' });
    world.editNode('n', { annotations: { ...world.node('n').annotations, [NODE_EXPIRY]: '2027-01-02T00:00:00Z' } });
    pass(world, 24);
    expect(world.node('n').annotations).toEqual({});
    expect(world.node('n').preserved?.reason).toBe('Preservation stopped.');
  });

  it('whose expiry nobody can read gets a new one', () => {
    const world = new World({ nodes: [node('n', { ready: 'True', annotations: { [PRESERVE]: 'now', [NODE_EXPIRY]: 'soon' } })] });
    world.settle();
    expect(world.node('n').annotations[NODE_EXPIRY]).toBe('2027-01-04T00:00:00Z');
  });

  it('is preserved automatically within its zone’s share, once for each failure', () => {
    const world = new World({
      nodes: [plain('a', { ...dead, createdMs: 2 }), plain('b', { ...dead, createdMs: 1 })],
      pools: { [POOL]: { autoPreserveMax: 1 } },
    });
    world.settle();
    expect(world.node('a').annotations).toMatchObject({ [PRESERVE]: 'auto-preserve' });
    expect(world.node('b').annotations).toEqual({});
    pass(world, 72);
    expect(world.node('a').annotations).toMatchObject({ [NODE_ENDED]: 'true' });
    expect(world.node('b').annotations).toMatchObject({ [PRESERVE]: 'auto-preserve' });
    world.editNode('a', { ready: 'True' });
    world.settle();
    expect(world.node('a').annotations).toEqual({});
  });

  it('on which something of ours was left behind is cleaned', () => {
    const preserved = { status: 'True', reason: 'Preserved by user.', message: '' } as const;
    const annotations = { [CORDON_MARK]: 'true', [NODE_EXPIRY]: 'soon' };
    const world = new World({ nodes: [node('n', { ready: 'True', taints: [PRESERVED_TAINT], preserved, isUnschedulable: true, annotations })] });
    world.settle();
    expect(world.node('n')).toMatchObject({ taints: [], isUnschedulable: false, annotations: {}, preserved: { status: 'False' } });
  });

  it('that does not concern us is not even looked at', () => {
    const world = new World({ nodes: [node('n', dead)] });
    expect(world.decide()).toEqual({ actions: [], guards: [], views: [], drains: [], deployments: [], problems: [], warnings: [] });
  });
});
