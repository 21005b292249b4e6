import { describe, expect, it } from 'vitest';
import { HOLD_VALUE, RELEASE, UNHEALTHY } from '../../src/controllers/metal3-remediation/names.ts';
import { REMEDIATE_MACHINE } from '../../src/controllers/shared/remediation/owner-machine.ts';
import { ANNOTATIONS_BACKUP, LABELS_BACKUP } from '../../src/controllers/shared/baremetal-host/node-backup.ts';
import { OFF_REQUESTED } from '../../src/controllers/shared/baremetal-host/reboot.ts';
import { Operator } from '../baremetal-host/operator.ts';
import { EPOCH_MS, HOLD, MINUTE_MS, node, ownerMachine, remediation, World } from './world.ts';

const ONCE = { strategy: { retryLimit: 1, timeoutSeconds: 300 } };

function leftovers(world: World): string[] {
  const own = world.remediation;
  const marks = [ANNOTATIONS_BACKUP, LABELS_BACKUP].filter((key) => own?.annotations[key] !== undefined);
  const tainted = typeof world.node === 'object' && world.node.taints.length > 0 ? ['taint'] : [];
  return [...marks, ...tainted, ...(own?.finalizers ?? []), ...[HOLD, OFF_REQUESTED].filter((key) => world.operator.annotations[key] !== undefined)];
}

/** Until the first action of this reason was done. */
function until(world: World, reason: string): void {
  for (let round = 0; !world.kinds().includes(reason); round += 1) {
    if (round > 500) throw new Error(`${reason} never came: ${world.kinds().join()}`);
    if (world.step(1) === 0) world.pass(5_000);
  }
}

describe('a remediation, where the Node is deleted', () => {
  it('power-cycles the host, lets the workload go while it is off, and puts labels and annotations back', () => {
    const world = new World();
    world.run(10 * MINUTE_MS);
    expect(world.kinds().filter((kind) => /[A-Z]/.test(kind))).toEqual([
      'RemediationStarted',
      'PowerOffRequested',
      'NodeDeleted',
      'PowerOnRequested',
      'NodeRestored',
      'RemediationFinished',
    ]);
    expect(world.node).toMatchObject({ uid: 'uid-n-2', labels: { zone: 'a' }, annotations: { cni: 'x' } });
    expect(leftovers(world)).toEqual([]);
    expect(world.operator).toMatchObject({ offs: 1, ons: 1 });
  });

  it('asks as Metal3 asks, with a record of what the host showed', () => {
    const world = new World();
    until(world, 'PowerOffRequested');
    expect(world.operator.annotations).toEqual({ [HOLD]: HOLD_VALUE, [OFF_REQUESTED]: JSON.stringify({ by: HOLD, wasOn: true }) });
  });

  it('keeps what the first Node said when a second one, that came late, is deleted in a retry', () => {
    const world = new World({ remediation: remediation({}, ONCE), bootMs: 60 * MINUTE_MS });
    until(world, 'RemediationRetried');
    world.node = node({ uid: 'uid-n-9', labels: { host: 'n' }, annotations: {} });
    world.bootMs = MINUTE_MS;
    world.run(10 * MINUTE_MS);
    expect(world.done.filter(({ kind }) => kind === 'delete-node').map(({ target }) => target.uid)).toEqual(['uid-n-1', 'uid-n-9']);
    expect(world.operator.offs).toBe(2);
    expect(world.node).toMatchObject({ labels: { zone: 'a' } });
  });

  it('tells what a backup that nobody can read held, before it is dropped or written over', () => {
    const garbled = '{"zone":"a","rack":';
    const world = new World();
    until(world, 'PowerOnRequested');
    world.remediation = { ...world.own, annotations: { ...world.own.annotations, [LABELS_BACKUP]: garbled } };
    world.run(10 * MINUTE_MS);
    const told = world.done.flatMap(({ event }) => (event?.reason === 'NodeNotRestored' ? [`${event.type} ${event.message}`] : []));
    expect(told).toEqual([`Warning ${LABELS_BACKUP} can not be read, and what it kept is not put back: ${garbled}`]);
    expect(world.kinds()).toContain('RemediationFinished');
    expect(leftovers(world)).toEqual([]);

    const before = new World({ remediation: remediation({ annotations: { [ANNOTATIONS_BACKUP]: '[]' } }) });
    until(before, 'NodeDeleted');
    expect(before.kinds()).toContain('NodeNotRestored');
  });

  it('goes on where the workload cluster forbids to read Nodes: it is power-cycled alone', () => {
    const world = new World({ node: 'forbidden' });
    world.run(5 * MINUTE_MS);
    expect(world.kinds()).not.toContain('NodeDeleted');
    expect(world.operator).toMatchObject({ offs: 1, isOn: true });
    expect(leftovers(world)).toEqual([]);
  });

  it('goes on when something holds the Node for longer than a release may take', () => {
    const world = new World({ node: node({ isDeleting: true }) });
    world.run(60 * MINUTE_MS);
    expect([...world.problems].join()).toContain('a finalizer keeps it: check metadata.finalizers');
    expect(world.own.phase).toBe('Deleting machine');
    expect(world.operator.isOn).toBe(true);
  });
});

describe('a remediation, where the workload cluster knows the out-of-service taint', () => {
  it('taints while it is off, waits for pods and volumes, takes the taint back before it is switched on', () => {
    const world = new World({ servesOutOfService: true });
    world.run(10 * MINUTE_MS);
    expect(world.kinds().filter((kind) => /[A-Z]/.test(kind))).toEqual([
      'RemediationStarted',
      'PowerOffRequested',
      'NodeOutOfService',
      'OutOfServiceEnded',
      'PowerOnRequested',
      'RemediationFinished',
    ]);
    expect(world.node).toMatchObject({ uid: 'uid-n-1', taints: [] });
    expect(leftovers(world)).toEqual([]);
  });

  it('keeps the taint as long as a pod is terminating or a volume is attached', () => {
    const world = new World({ servesOutOfService: true });
    world.isStuck = true;
    until(world, 'NodeOutOfService');
    world.run(9 * MINUTE_MS);
    expect(world.node).toMatchObject({ taints: [{ key: 'node.kubernetes.io/out-of-service' }] });
    expect(world.operator.isOn).toBe(false);
    world.isStuck = false;
    world.run(10_000);
    expect(world.node).toMatchObject({ taints: [] });
  });

  it('takes the taint back, and goes on, when the workload is not let go in time', () => {
    const world = new World({ servesOutOfService: true });
    world.isStuck = true;
    world.run(15 * MINUTE_MS);
    expect(leftovers(world)).toEqual([]);
    expect(world.operator.isOn).toBe(true);
  });

  it('is not finished by the Node that stood there all the time, only by one that was heard since the host came on', () => {
    const world = new World({ servesOutOfService: true, isBroken: true, node: node({ isReady: true, lifeSeenMs: 0 }) });
    until(world, 'PowerOnRequested');
    world.run(2 * MINUTE_MS);
    expect(world.kinds()).not.toContain('RemediationFinished');
    world.isBroken = false;
    world.run(5 * MINUTE_MS);
    expect(world.kinds()).toContain('RemediationFinished');
  });

  it('leaves a taint that somebody else set before, and does not set its own', () => {
    const foreign = { key: 'node.kubernetes.io/out-of-service', value: 'admin', effect: 'NoExecute' };
    const world = new World({ servesOutOfService: true, node: node({ taints: [foreign] }) });
    until(world, 'PowerOffRequested');
    world.pass(MINUTE_MS);
    for (let round = 0; round < 5; round += 1) world.step();
    expect(world.own.phase).toBe('Waiting');
    expect(world.node).toMatchObject({ taints: [foreign] });
    expect(world.own.annotations[RELEASE]).toBeUndefined();
  });

  it('takes its own taint back also when the off is doubted afterwards and never proven again', () => {
    const world = new World({ servesOutOfService: true, remediation: remediation({}, ONCE) });
    until(world, 'NodeOutOfService');
    world.operator.bmc = 'failing';
    world.pass(5 * MINUTE_MS);
    world.run(40 * MINUTE_MS);
    expect(world.own.phase).toBe('Deleting machine');
    expect(leftovers(world)).toEqual(['metal3remediation.infrastructure.cluster.x-k8s.io']);
  });
});

describe('timeouts, one for each phase', () => {
  it('a Node that never comes back costs N + 1 power cycles, then its owner is asked to replace the Machine, in the conditions that Cluster API reads', () => {
    const world = new World({ remediation: remediation({}, { strategy: { retryLimit: 2, timeoutSeconds: 120 } }), isBroken: true });
    world.run(30 * MINUTE_MS);
    expect(world.operator).toMatchObject({ offs: 3, isOn: true });
    expect(world.own).toMatchObject({ phase: 'Deleting machine', retryCount: 2 });
    const condition = { type: 'OwnerRemediated', status: 'False', reason: 'WaitingForRemediation', message: 'Waiting for remediation' };
    expect(world.machine).toMatchObject({ conditions: [condition], olderConditions: [] });
    expect(world.operator.annotations).toEqual({ [UNHEALTHY]: 'capm3/UnhealthyNode' });
    expect(world.decide().actions).toEqual([]);
  });

  it.each([
    ['never goes off', 'stuck-on', 'is not proven off: it is still on'],
    ['never comes on', 'stuck-off', 'is not on'],
  ] as const)('a host that %s is handed to its owner, and not held off', (_what, bmc, words) => {
    const operator = new Operator({ bmc });
    const world = new World({ remediation: remediation({}, ONCE), operator });
    world.run(60 * MINUTE_MS);
    expect(world.own.phase).toBe('Deleting machine');
    expect(operator.annotations[HOLD]).toBeUndefined();
    const last = world.done.find(({ event }) => event?.reason === 'RemediationExhausted');
    expect(last?.event?.message).toContain(words);
  });

  it('a host that is off already is cycled once it is on; one that never is, is handed to its owner', () => {
    const world = new World({ remediation: remediation({}, ONCE), operator: new Operator({ isOn: false, bmc: 'stuck-off' }) });
    world.run(30 * MINUTE_MS);
    expect(world.kinds()).not.toContain('NodeDeleted');
    expect(world.own.phase).toBe('Deleting machine');
    const other = new World({ operator: new Operator({ isOn: false }) });
    other.run(10 * MINUTE_MS);
    expect(other.kinds()).toContain('RemediationFinished');
  });

  it('an off that can not be proven is undone, and asked for anew', () => {
    const world = new World({ remediation: remediation({}, ONCE) });
    until(world, 'PowerOffRequested');
    world.pass(MINUTE_MS);
    world.node = node({ lifeSeenMs: world.nowMs });
    world.run(20 * MINUTE_MS);
    expect(world.operator.offs).toBe(2);
    expect(world.kinds()).toContain('NodeDeleted');
    expect([...world.problems].join()).toContain('a sign of life of the node came after it');
  });

  it('a slow power-off does not eat the time of the way back', () => {
    const world = new World({ remediation: remediation({}, { strategy: { timeoutSeconds: 300 } }), bootMs: 3 * MINUTE_MS });
    world.operator.bmc = 'stuck-on';
    world.run(4 * MINUTE_MS);
    world.operator.bmc = 'well';
    world.run(5 * MINUTE_MS);
    expect(world.operator.offs).toBe(1);
    expect(world.kinds()).toContain('RemediationFinished');
  });

  it('a host that a person has paused or detached is waited for without end', () => {
    const world = new World({ remediation: remediation({}, ONCE) });
    world.operator.annotations = { 'baremetalhost.metal3.io/paused': '' };
    world.run(60 * MINUTE_MS);
    expect(world.own).toMatchObject({ phase: 'Running', retryCount: 0 });
    expect([...world.problems].join()).toContain('the operator leaves the host alone');
  });

  it('a host that is still in trouble after a retry uses its retries up, one timeout each', () => {
    const world = new World({ remediation: remediation({}, ONCE), operator: new Operator({ bmc: 'failing' }) });
    world.run(9 * MINUTE_MS);
    expect(world.own).toMatchObject({ phase: 'Running', retryCount: 1 });
  });
});

describe('a remediation that is deleted', () => {
  it('before the power-off was asked for, is let go', () => {
    const world = new World();
    until(world, 'finalizer');
    world.delete();
    world.run(MINUTE_MS);
    expect(world.remediation).toBeUndefined();
    expect(world.operator.offs).toBe(0);
  });

  it('before the off, is cancelled: the Node stays', () => {
    const world = new World();
    until(world, 'PowerOffRequested');
    world.delete();
    world.run(5 * MINUTE_MS);
    expect(world.remediation).toBeUndefined();
    expect(world.node).toMatchObject({ uid: 'uid-n-1' });
    expect(world.operator).toMatchObject({ isOn: true, annotations: {} });
  });

  it('after the off, finishes the way back first: on, labels and annotations', () => {
    const world = new World();
    until(world, 'NodeDeleted');
    world.delete();
    world.run(MINUTE_MS);
    expect(world.remediation).toBeDefined();
    world.run(5 * MINUTE_MS);
    expect(world.remediation).toBeUndefined();
    expect(world.node).toMatchObject({ uid: 'uid-n-2', labels: { zone: 'a' } });
  });

  it('after the taint, takes it back before it is switched on', () => {
    const world = new World({ servesOutOfService: true });
    until(world, 'NodeOutOfService');
    world.delete();
    world.run(5 * MINUTE_MS);
    expect(world.remediation).toBeUndefined();
    expect(world.node).toMatchObject({ taints: [] });
    expect(world.operator.isOn).toBe(true);
  });

  it('keeps its finalizer until the host is on', () => {
    const world = new World({ servesOutOfService: true, operator: new Operator({ bmc: 'well' }) });
    until(world, 'NodeOutOfService');
    world.operator.bmc = 'stuck-off';
    world.delete();
    world.run(2 * MINUTE_MS);
    expect(world.operator.annotations).toEqual({});
    expect(world.remediation).toBeDefined();
    world.operator.bmc = 'well';
    world.run(MINUTE_MS);
    expect(world.remediation).toBeUndefined();
  });

  it('does not wait for ever for a Node that does not come back: the finalizer goes, and it is said what is lost', () => {
    const world = new World({ isBroken: true });
    until(world, 'NodeDeleted');
    world.delete();
    world.run(20 * MINUTE_MS);
    expect(world.remediation).toBeUndefined();
    expect(world.kinds()).toContain('NodeNotRestored');
  });

  it('without an owner reference, is let go all the same', () => {
    const world = new World({ remediation: remediation({ hasOwner: false, finalizers: ['metal3remediation.infrastructure.cluster.x-k8s.io'] }) });
    expect(world.decide().problems).toEqual(["Metal3Remediation metal/m: metal3Remediation's owner Machine not set"]);
    world.delete();
    world.run(MINUTE_MS);
    expect(world.remediation).toBeUndefined();
  });
});

describe('an owner that is gone', () => {
  it.each(['PowerOffRequested', 'NodeDeleted', 'PowerOnRequested'])('releases hold and finalizer, after %s', (reason) => {
    const world = new World();
    until(world, reason);
    world.machine = 'gone';
    world.run(5 * MINUTE_MS);
    expect(world.operator.annotations).toEqual({});
    expect(world.own.finalizers).toEqual([]);
    expect(world.decide()).toMatchObject({ actions: [], holdsNode: false });
  });
});

describe('what stands in the way', () => {
  it.each([
    ['spec.online=false', (world: World) => (world.operator.isOnline = false)],
    ['spec.disablePowerOff=true', (world: World) => (world.operator.neverOff = true)],
  ])('%s fails it, and takes the hold away', (words, change) => {
    const world = new World();
    until(world, 'PowerOffRequested');
    change(world);
    world.run(MINUTE_MS);
    expect(world.own.phase).toBe('Failed');
    expect(world.done.find(({ event }) => event?.reason === 'RemediationFailed')?.event?.message).toContain(words);
    expect(world.operator.annotations).toEqual({});
  });

  it('a hold stops power-off and release, and never the way back', () => {
    const world = new World();
    world.holds = [{ reason: 'storm', message: 'too many', isStop: false }];
    world.run(MINUTE_MS);
    expect(world.operator.offs).toBe(0);
    world.holds = [];
    until(world, 'PowerOffRequested');
    world.pass(MINUTE_MS);
    world.holds = [{ reason: 'storm', message: 'too many', isStop: false }];
    world.run(MINUTE_MS);
    expect(world.node).toMatchObject({ uid: 'uid-n-1' });
    world.delete();
    world.run(2 * MINUTE_MS);
    expect(world.operator.isOn).toBe(true);
  });

  it('a person’s stop keeps it off, loudly', () => {
    const world = new World();
    until(world, 'NodeDeleted');
    world.holds = [{ reason: 'stop', message: 'admin', isStop: true }];
    world.run(MINUTE_MS);
    expect(world.operator.isOn).toBe(false);
    expect([...world.problems].join()).toContain('LeftOff: BareMetalHost host stays off: stop, admin');
  });

  it.each([
    ['somebody else', (world: World) => (world.takenBy = 'NodeFence node-fence-n'), 'its node is left alone: NodeFence node-fence-n'],
    ['a pause', (world: World) => (world.remediation = { ...world.own, isPaused: true }), 'it is paused'],
    ['a paused Machine', (world: World) => (world.machine = ownerMachine({ isPaused: true })), 'it is paused'],
    ['a host of another machine', (world: World) => (world.node = node({ providerID: 'metal3://metal/other/mm' })), 'nothing is done'],
  ])('%s: nothing is done', (_what, change, words) => {
    const world = new World();
    change(world);
    world.run(MINUTE_MS);
    expect(world.done).toEqual([]);
    expect([...world.problems].join()).toContain(words);
  });

  it('a strategy that nobody knows is told of, and nothing is done', () => {
    const world = new World({ remediation: remediation({}, { strategy: { type: 'Reprovision' } }) });
    world.run(MINUTE_MS);
    expect(world.done).toEqual([]);
    expect([...world.problems]).toEqual(['Metal3Remediation metal/m: spec.strategy.type: Reprovision is not supported, only Reboot']);
  });
});

describe('a Machine that a person marked for remediation', () => {
  it('loses that mark when it is remedied: the health check would never take it away', () => {
    const world = new World({ machine: ownerMachine({ annotations: { [REMEDIATE_MACHINE]: '' } }) });
    world.run(10 * MINUTE_MS);
    expect(world.machine).toMatchObject({ annotations: {} });
  });
});

describe('the node', () => {
  it('is ours from the request to the finalizer’s end', () => {
    const world = new World();
    const held = new Set<boolean>();
    for (let round = 0; !world.kinds().includes('RemediationFinished'); round += 1) {
      if (round > 500) throw new Error('it never ends');
      held.add(world.decide().holdsNode);
      if (world.step() === 0) world.pass(5_000);
    }
    expect([...held]).toEqual([true]);
    expect(world.decide().holdsNode).toBe(false);
    expect(world.decide().nextDueMs).toBeGreaterThan(EPOCH_MS);
  });
});
