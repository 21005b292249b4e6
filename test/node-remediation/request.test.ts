import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../src/domain/plan.ts';
import { TAKEN_UP_AS } from '../../src/domain/restored.ts';
import { UNHEALTHY } from '../../src/controllers/node-remediation/names.ts';
import { Operator } from '../baremetal-host/operator.ts';
import { EPOCH_MS, FINALIZER, MINUTE_MS, node, ownerMachine, request, SECOND_MS, World } from './world.ts';

const NEVER_OFF = { sentMs: 10 * SECOND_MS };
const NEVER_BACK = { sentMs: 10 * SECOND_MS, offMs: 30 * SECOND_MS };
const FAILED = { ...NEVER_BACK, finalMs: 60 * SECOND_MS, outcome: 'failed', staysSilent: true } as const;
const WELL = { ...NEVER_BACK, finalMs: 120 * SECOND_MS, outcome: 'recovered' } as const;

function machineOf(facts = {}): ReturnType<typeof ownerMachine> {
  return ownerMachine({ name: 'n', namespace: 'machines', ...facts });
}

describe('a request', () => {
  it('becomes a NodeFence in its name, and its outcome comes back', () => {
    const world = new World({ machine: machineOf() });
    world.run(5 * MINUTE_MS);
    expect(world.kinds()).toEqual(['finalizer', 'request-fence', 'status', 'status', 'machine-conditions', 'status']);
    expect(world.done[1]).toMatchObject({ target: { kind: 'NodeFenceRemediation', namespace: 'machines', name: 'n', uid: 'uid-r' }, node: 'n' });
    expect(world.own).toMatchObject({ phase: 'Succeeded', retryCount: 0, nodeFence: 'node-fence-n', finalizers: [FINALIZER] });
    expect(world.reasons()).toEqual(['RemediationStarted', 'RemediationFinished']);
  });

  it('holds its finalizer before a fence is asked for', () => {
    const world = new World();
    expect(world.decide().actions).toMatchObject([{ kind: 'finalizer', finalizer: FINALIZER, isPresent: true }]);
  });

  it.each(['', 'Fencing', 'Succeeded'] as const)(
    'that was restored from a backup in phase "%s" asks for no fence, and says who has to ask anew',
    (phase) => {
      const world = new World({ request: request({ phase, finalizers: [FINALIZER], annotations: { [TAKEN_UP_AS]: 'uid-of-before' } }) });
      world.run(5 * MINUTE_MS);
      expect(world.kinds()).toEqual(['status']);
      expect(world.own.phase).toBe('Stopped');
      expect(world.own.conditions.map(({ message }) => message).join()).toContain('restored from a backup: delete it');
      world.delete();
      world.run(MINUTE_MS);
      expect(world.request).toBeUndefined();
    },
  );

  it('says when it was begun, and by which fence', () => {
    const world = new World();
    world.until('Fencing');
    expect(world.own).toMatchObject({ lastRemediatedMs: EPOCH_MS + world.nowMs, nodeFence: 'node-fence-n' });
  });

  it('of strategy fence ends in off, and is done then', () => {
    const world = new World({ request: request({}, { strategy: 'fence' }) });
    world.run(30 * MINUTE_MS);
    expect(world.done.find(({ kind }) => kind === 'request-fence')).toMatchObject({ ending: 'off' });
    expect(world.own.phase).toBe('Succeeded');
    expect(world.isOn).toBe(false);
    expect(world.fences).toBe(1);
  });

  it('of strategy fence with DeleteNode deletes the Node on the proof of its fence, and says before that it goes for good', () => {
    const world = new World({ request: request({}, { strategy: 'fence', nodeRemoval: 'DeleteNode' }) });
    world.run(5 * MINUTE_MS);
    expect(world.node).toBeUndefined();
    expect(world.condition('PermanentNodeDeletionExpected')).toBe('True');
    const kinds = world.kinds();
    expect(kinds.slice(kinds.indexOf('delete-node') - 1)).toEqual(['status', 'delete-node', 'status']);
    expect(world.own.phase).toBe('Succeeded');
    world.delete();
    world.run(MINUTE_MS);
    expect(world.request).toBeUndefined();
    expect(world.isOn).toBe(false);
  });

  it('deletes no Node without a proof that stands', () => {
    const world = new World({ request: request({}, { strategy: 'fence', nodeRemoval: 'DeleteNode' }) });
    world.until('Recovering');
    world.pass(3 * MINUTE_MS);
    world.fence = { ...world.fence!, isOff: false };
    world.run(MINUTE_MS);
    expect(world.node).toBeDefined();
    expect([...world.problems].join()).toContain('holds no proof of its off any more');
  });

  it('hands methodRef and nodeRemoval on', () => {
    const world = new World({ request: request({}, { methodRef: 'fence-by-pdu', nodeRemoval: 'None' }) });
    world.run(10 * SECOND_MS);
    expect(world.done.find(({ kind }) => kind === 'request-fence')).toMatchObject({
      methodRef: 'fence-by-pdu',
      nodeRemoval: 'None',
      ending: undefined,
    });
  });

  it('tries again as often as it may, each time with a fence of its own', () => {
    const world = new World({ request: request({}, { retryLimit: 2 }), courses: [FAILED, FAILED, WELL] });
    world.run(20 * MINUTE_MS);
    expect(world.own).toMatchObject({ phase: 'Succeeded', retryCount: 2 });
    expect(world.fences).toBe(3);
    expect(world.kinds().filter((kind) => kind === 'withdraw-fence')).toHaveLength(2);
  });

  it('keeps the cooldown between the beginnings of two fences', () => {
    const world = new World({ request: request({}, { cooldownSeconds: 600 }), courses: [FAILED, WELL] });
    world.run(9 * MINUTE_MS);
    expect(world.fences).toBe(1);
    world.run(6 * MINUTE_MS);
    expect(world.fences).toBe(2);
  });

  it.each([
    ['is not proven off', NEVER_OFF, { powerOffTimeoutSeconds: 120 }, 'its node is not proven off in time'],
    ['is not back', NEVER_BACK, { powerOnTimeoutSeconds: 120 }, 'its node is not back in time'],
    ['is given up', { ...NEVER_BACK, stuckMs: 60 * SECOND_MS }, {}, 'NodeFence node-fence-n has given up'],
  ])('whose node %s in time ends there, and the fence is withdrawn, so that nothing is left off', (_what, course, spec, words) => {
    const world = new World({ request: request({}, { retryLimit: 0, ...spec }), courses: [course] });
    world.run(10 * MINUTE_MS);
    expect(world.own.phase).toBe('Failed');
    expect(world.own.conditions.find(({ type }) => type === 'Succeeded')).toMatchObject({ status: 'False' });
    expect(world.done.map(({ event }) => event?.message).join()).toContain(words);
    expect(world).toMatchObject({ isOn: true, fence: undefined });
  });

  it('whose time for the off is over before the delays of its node are says so from the beginning, and at its end', () => {
    const world = new World({ request: request({}, { retryLimit: 0, powerOffTimeoutSeconds: 120 }), courses: [NEVER_OFF] });
    world.until('Fencing');
    const words = 'powerOffTimeoutSeconds (without it timeoutSeconds) is 120 s, and nothing is switched off before isolation_delay (5 s)';
    expect([...world.problems]).toEqual([]);
    world.fence = { ...world.fence!, delays: DEFAULT_TIMING };
    world.run(10 * SECOND_MS);
    expect([...world.problems].join()).toContain(words);
    expect(world.own.conditions.find(({ type }) => type === 'Processing')?.message).toContain(words);
    world.run(10 * MINUTE_MS);
    expect(world.own.conditions.find(({ type }) => type === 'Succeeded')?.message).toContain(`its node is not proven off in time: ${words}`);
  });

  it('runs no clock while its fence is held, and says why it waits', () => {
    const world = new World({ request: request({}, { retryLimit: 0, powerOffTimeoutSeconds: 60 }) });
    world.until('Fencing');
    world.fence = { ...world.fence!, heldBecause: 'storm: too many nodes' };
    world.run(10 * MINUTE_MS);
    expect(world.own.phase).toBe('Fencing');
    expect([...world.problems]).toEqual(['NodeFenceRemediation machines/n: NodeFence node-fence-n is held: storm: too many nodes']);
    expect(world.own.conditions.find(({ type }) => type === 'Processing')?.message).toContain('too many nodes');
  });

  it('that still stands when a node that was fenced is not healthy in time is tried again', () => {
    const world = new World();
    world.until('Succeeded');
    world.node = node({ isReady: false });
    world.run(15 * MINUTE_MS);
    expect(world.fences).toBe(2);
  });

  it('that still stands while its node is healthy is left alone', () => {
    const world = new World();
    world.run(60 * MINUTE_MS);
    expect(world.fences).toBe(1);
  });
});

describe('the limit', () => {
  it('of escalate asks the owner to replace the Machine, in the conditions that Cluster API reads', () => {
    const world = new World({ machine: machineOf(), request: request({}, { strategy: 'escalate', deleteAfterRetries: 2 }), courses: [FAILED] });
    world.run(20 * MINUTE_MS);
    expect(world.fences).toBe(3);
    expect(world.owner).toMatchObject({
      conditions: [{ type: 'OwnerRemediated', status: 'False', reason: 'WaitingForRemediation' }],
      olderConditions: [],
    });
  });

  it('of fence-and-recover asks nobody', () => {
    const world = new World({ machine: machineOf(), request: request({}, { retryLimit: 0 }), courses: [FAILED] });
    world.run(10 * MINUTE_MS);
    expect(world.owner.conditions).toEqual([]);
  });

  it.each([
    ['Reuse', undefined, true],
    ['Retire', 'nodefence/RemediationExhausted', true],
    ['LeaveOff', undefined, false],
  ])('with %s', (onExhaustion, mark, isOn) => {
    const course = { ...NEVER_BACK, stuckMs: 60 * SECOND_MS };
    const world = new World({ request: request({}, { strategy: 'escalate', retryLimit: 0, onExhaustion }), machine: machineOf(), courses: [course] });
    world.host = new Operator().facts();
    world.run(10 * MINUTE_MS);
    expect(world.own.phase).toBe('Failed');
    expect(world.host.annotations[UNHEALTHY]).toBe(mark);
    expect(world.isOn).toBe(isOn);
  });

  it('that LeaveOff left off is brought back when the request is deleted', () => {
    const course = { ...NEVER_BACK, stuckMs: 60 * SECOND_MS };
    const world = new World({ request: request({}, { retryLimit: 0, onExhaustion: 'LeaveOff' }), courses: [course] });
    world.run(5 * MINUTE_MS);
    world.delete();
    world.run(MINUTE_MS);
    expect(world).toMatchObject({ isOn: true, request: undefined });
  });
});

describe('a request that is deleted', () => {
  it('before the off was sent, is cancelled', () => {
    const world = new World({ courses: [{ ...WELL, sentMs: 60 * SECOND_MS, offMs: 80 * SECOND_MS }] });
    world.until('Fencing');
    world.delete();
    world.run(30 * SECOND_MS);
    expect(world).toMatchObject({ request: undefined, fence: undefined, isOn: true });
    expect(world.kinds()).toContain('withdraw-fence');
  });

  it('after the off was sent, waits until its fence has brought the node back', () => {
    const world = new World();
    world.until('Fencing');
    world.pass(15 * SECOND_MS);
    world.delete();
    world.run(30 * SECOND_MS);
    expect(world.request).toBeDefined();
    expect(world.isOn).toBe(false);
    world.run(2 * MINUTE_MS);
    expect(world).toMatchObject({ request: undefined, isOn: true });
    expect(world.kinds()).not.toContain('withdraw-fence');
  });

  it('after a fence that does not bring it back, is let go by withdrawing it', () => {
    const world = new World({ courses: [NEVER_BACK] });
    world.until('Recovering');
    world.delete();
    world.run(25 * MINUTE_MS);
    expect(world).toMatchObject({ request: undefined, isOn: true });
  });

  it('of strategy fence, brings its node back', () => {
    const world = new World({ request: request({}, { strategy: 'fence' }) });
    world.until('Succeeded');
    world.delete();
    world.run(MINUTE_MS);
    expect(world).toMatchObject({ request: undefined, isOn: true });
  });

  it('of strategy fence with DeleteNode, whose Node still stands, brings its node back', () => {
    const world = new World({ request: request({}, { strategy: 'fence', nodeRemoval: 'DeleteNode' }) });
    world.until('Recovering');
    for (let seconds = 0; seconds < 120 && world.fence?.isFinal !== true; seconds += 1) world.run(SECOND_MS);
    expect([world.fence?.outcome, world.node !== undefined, world.isOn]).toEqual(['fenced-off', true, false]);
    world.delete();
    world.run(MINUTE_MS);
    expect(world).toMatchObject({ request: undefined, isOn: true });
  });

  it('loses its finalizer also when its node is gone', () => {
    const world = new World();
    world.until('Succeeded');
    world.node = undefined;
    world.delete();
    world.run(MINUTE_MS);
    expect(world.request).toBeUndefined();
  });

  it('leaves a fence alone that is somebody else’s', () => {
    const world = new World({ request: request({ finalizers: [FINALIZER] }) });
    world.fence = foreign();
    world.delete();
    world.run(MINUTE_MS);
    expect(world.kinds()).toEqual(['finalizer']);
    expect(world.fence.isDeleting).toBe(false);
  });
});

function foreign(): NonNullable<World['fence']> {
  const own = { name: 'node-fence-n', uid: 'uid-x', owner: 'the fence controller, because Ready is Unknown' };
  return { ...own, isDeleting: false, isFinal: false, isOffSent: true, isOff: true, isStuck: false };
}

describe('a Machine that is gone', () => {
  it('releases fence and finalizer', () => {
    const world = new World({ machine: machineOf() });
    world.until('Recovering');
    world.machine = 'gone';
    world.run(MINUTE_MS);
    expect(world.own.finalizers).toEqual([]);
    expect(world.fence).toBeUndefined();
    expect(world.decide().actions).toEqual([]);
  });
});

describe('what stands in the way', () => {
  it('a node that is fenced already is waited for, and who has it is told', () => {
    const world = new World();
    world.fence = foreign();
    world.run(MINUTE_MS);
    expect(world.kinds()).not.toContain('request-fence');
    expect([...world.problems]).toEqual(['NodeFenceRemediation machines/n: node n is taken by the fence controller, because Ready is Unknown']);
  });

  it.each([
    ['not proven off', { isOff: false }, 60],
    ['not back', { isOff: true }, 120],
  ])('a node that somebody else fences and that is %s in time is a try that failed, and escalates at the limit', (words, facts, seconds) => {
    const spec = { strategy: 'escalate', retryLimit: 0, timeoutSeconds: 60 };
    const world = new World({ machine: machineOf(), request: request({}, spec) });
    world.fence = { ...foreign(), ...facts };
    world.run((seconds - 5) * SECOND_MS);
    expect(world.own.phase).toBe('');
    world.run(30 * SECOND_MS);
    expect(world.own.phase).toBe('Failed');
    expect(world.own.conditions.find(({ type }) => type === 'Succeeded')?.message).toContain(`, and it is ${words} in time`);
    expect(world.owner.conditions).toMatchObject([{ type: 'OwnerRemediated', status: 'False' }]);
    expect(world.fence.isDeleting).toBe(false);
  });

  it('no time runs while the fence of somebody else is held', () => {
    const world = new World({ request: request({}, { retryLimit: 0, timeoutSeconds: 60 }) });
    world.fence = { ...foreign(), isOff: false, heldBecause: 'storm: too many nodes' };
    world.run(10 * MINUTE_MS);
    expect(world.own.phase).toBe('');
    expect([...world.problems].join()).toContain('whose fence is held: storm: too many nodes');
  });

  it('a fence that waits for the lease of whoever asks is joined: else each would wait for the other', () => {
    const world = new World();
    world.fence = { ...foreign(), isOffSent: false, isOff: false, isJoinable: true };
    world.until('Succeeded');
    expect(world.kinds()).toContain('request-fence');
    expect([...world.problems]).toEqual([]);
  });

  it('a node that the other fence brought back is not fenced again', () => {
    const world = new World({ machine: machineOf({ annotations: { 'cluster.x-k8s.io/remediate-machine': '' } }) });
    world.fence = foreign();
    world.run(MINUTE_MS);
    world.fence = { ...foreign(), isFinal: true, outcome: 'recovered', finalAtMs: EPOCH_MS + world.nowMs };
    world.node = node({ isReady: true });
    world.run(MINUTE_MS);
    expect(world.own.phase).toBe('Succeeded');
    expect(world.fences).toBe(0);
    expect(world.owner.annotations).toEqual({});
  });

  it('a fence of long ago is no reason: the node is fenced', () => {
    const world = new World();
    world.fence = { ...foreign(), isFinal: true, outcome: 'recovered', finalAtMs: EPOCH_MS - 1 };
    world.run(MINUTE_MS);
    expect(world.fences).toBe(1);
  });

  it('no more fences are under way than may be', () => {
    const world = new World();
    world.inFlight = { count: 2, limit: 2 };
    world.run(MINUTE_MS);
    expect(world.fences).toBe(0);
    world.inFlight = { count: 1, limit: 2 };
    world.run(MINUTE_MS);
    expect(world.fences).toBe(1);
  });

  it.each([
    ['the request', { request: request({ isPaused: true }) }],
    ['the Machine', { machine: machineOf({ isPaused: true }) }],
  ])('%s is paused: nothing is done', (_what, scene) => {
    const world = new World(scene);
    world.run(MINUTE_MS);
    expect(world.done).toEqual([]);
  });

  it.each([
    ['a strategy that nobody knows', { strategy: 'pray' }, 'spec.strategy: "pray" is not one of fence, fence-and-recover, escalate'],
    ['a Node deleted that is to come back', { nodeRemoval: 'DeleteNode' }, 'spec.nodeRemoval: DeleteNode goes with strategy fence alone'],
  ])('%s: it fails and says so', (_what, spec, words) => {
    const world = new World({ request: request({}, spec) });
    world.run(MINUTE_MS);
    expect(world.own.phase).toBe('Failed');
    expect(world.reasons()).toEqual(['RemediationCannotStart']);
    expect([...world.problems].join()).toContain(words);
    expect(world.fences).toBe(0);
  });

  it('a fence that somebody deletes by hand counts as a try', () => {
    const world = new World();
    world.until('Fencing');
    world.fence = undefined;
    world.run(10 * MINUTE_MS);
    expect(world.own).toMatchObject({ phase: 'Succeeded', retryCount: 1 });
  });
});
