import { describe, expect, it } from 'vitest';
import { decide, hostKeyOfMachine } from '../../src/controllers/machine-remediation/decide.ts';
import { GAVE_UP, HOLD, MARKS, POWERED_OFF, REQUEST, TIMES_OUT_AT } from '../../src/controllers/machine-remediation/names.ts';
import { ANNOTATIONS_BACKUP, LABELS_BACKUP } from '../../src/controllers/shared/baremetal-host/node-backup.ts';
import { OFF_REQUESTED } from '../../src/controllers/shared/baremetal-host/reboot.ts';
import { Operator } from '../baremetal-host/operator.ts';
import { machine, MINUTE_MS, node, World } from './world.ts';

/** Everything of ours that still stands anywhere. */
function leftovers(world: World): string[] {
  const own = MARKS.filter((key) => world.machine?.annotations[key] !== undefined);
  return [...own, ...[HOLD, OFF_REQUESTED].filter((key) => world.operator.annotations[key] !== undefined)];
}

describe('a Machine that needs remediation', () => {
  it('is switched off hard, its Node is deleted, it is switched on, and its new Node has the old labels and annotations', () => {
    const world = new World();
    world.run(10 * MINUTE_MS);
    expect(world.kinds()).toEqual([
      'PowerOffRequested',
      'annotate',
      'NodeDeleted',
      'annotate',
      'annotate',
      'PowerOnRequested',
      'NodeRestored',
      'Remediated',
    ]);
    expect(world.operator).toMatchObject({ offs: 1, ons: 1, isOn: true });
    expect(world.node).toMatchObject({ uid: 'uid-n-2', labels: { zone: 'a' }, annotations: { cni: '10.0.0.0/24' } });
    expect(leftovers(world)).toEqual([]);
    expect(world.decide()).toEqual({ actions: [], phase: 'idle', problems: [], holdsNode: false });
  });

  it('asks for a hard power-off, with a record of what the host showed, under its resourceVersion', () => {
    const world = new World();
    const [action] = world.decide().actions;
    expect(action).toMatchObject({
      kind: 'annotate',
      target: { kind: 'BareMetalHost', namespace: 'metal', name: 'host', uid: 'uid-host' },
      resourceVersion: '1',
      changes: [
        { key: HOLD, to: '{"mode":"hard"}' },
        { key: OFF_REQUESTED, to: `{"by":"${HOLD}","wasOn":true}` },
      ],
    });
  });

  it('keeps the labels and annotations of its Node on the Machine before the Node goes', () => {
    const world = new World();
    world.step();
    world.pass(MINUTE_MS);
    world.step();
    expect(world.node).toBeDefined();
    expect(world.machine?.annotations).toMatchObject({
      [ANNOTATIONS_BACKUP]: '{"cni":"10.0.0.0/24"}',
      [LABELS_BACKUP]: '{"kubernetes.io/hostname":"n","zone":"a"}',
    });
    world.step();
    expect(world.node).toBeUndefined();
  });

  it('lets what the new Node says by itself win over what was kept', () => {
    const world = new World();
    world.run(50_000);
    expect(world.node).toBeUndefined();
    world.pass(60_000);
    world.node = node({ uid: 'uid-n-9', labels: { zone: 'b' }, annotations: {} });
    world.run(MINUTE_MS);
    expect(world.node).toMatchObject({ labels: { zone: 'b', 'kubernetes.io/hostname': 'n' }, annotations: { cni: '10.0.0.0/24' } });
    expect(leftovers(world)).toEqual([]);
  });

  it('is not switched off again when it is asked for during the boot', () => {
    const world = new World({ bootMs: 10 * MINUTE_MS, asksEveryMs: 100_000 });
    world.run(30 * MINUTE_MS);
    expect(world.operator.offs).toBe(1);
    expect(leftovers(world)).toEqual([]);
  });

  it('is remediated anew when it is asked for after its Node came back', () => {
    const world = new World();
    world.run(10 * MINUTE_MS);
    world.ask();
    world.run(10 * MINUTE_MS);
    expect(world.operator.offs).toBe(2);
    expect(leftovers(world)).toEqual([]);
  });

  it('is found with its host by its own annotation, or by that of its Metal3Machine', () => {
    const infrastructure = { kind: 'Metal3Machine', name: 'mm', annotations: { 'metal3.io/BareMetalHost': 'metal/other' } };
    expect(hostKeyOfMachine(machine())).toEqual({ namespace: 'metal', name: 'host' });
    expect(hostKeyOfMachine(machine({ infrastructure }))).toEqual({ namespace: 'metal', name: 'other' });
    expect(hostKeyOfMachine(machine({ annotations: { 'metal3.io/BareMetalHost': 'host' } }))).toEqual({ namespace: 'machines', name: 'host' });
    expect(hostKeyOfMachine(machine({ annotations: {} }))).toBeUndefined();
  });

  it('of metal3 must be the consumer of its host by its Metal3Machine', () => {
    const infrastructure = { kind: 'Metal3Machine', name: 'mm', annotations: {} };
    const world = new World({ machine: machine({ apiVersion: 'cluster.x-k8s.io/v1beta2', infrastructure }) });
    expect(world.decide().problems).toEqual(['Machine machines/m: nothing is done: BareMetalHost metal/host belongs to Machine machines/m']);
    const snapshot = world.snapshot();
    const consumer = { kind: 'Metal3Machine', name: 'mm', namespace: 'machines' };
    expect(decide({ ...snapshot, host: { ...world.host, consumer } }).actions).toHaveLength(1);
  });

  it('whose host is not found, or belongs to nobody, is told of', () => {
    const world = new World();
    const { host: _host, ...snapshot } = world.snapshot();
    expect(decide(snapshot).problems).toEqual(['Machine machines/m: its BareMetalHost is not found']);
    const { consumer: _consumer, ...host } = world.host;
    expect(decide({ ...snapshot, host }).problems).toEqual(['Machine machines/m: nothing is done: BareMetalHost metal/host has no consumer']);
  });
});

describe('a request that is taken away', () => {
  it('before the off is seen, is cancelled: the Node stays', () => {
    const world = new World();
    world.step();
    world.unask();
    world.run(5 * MINUTE_MS);
    expect(world.kinds()).toEqual(['PowerOffRequested', 'RemediationCancelled']);
    expect(world.node?.uid).toBe('uid-n-1');
    expect(world.operator.isOn).toBe(true);
    expect(leftovers(world)).toEqual([]);
  });

  it('after the Node was deleted, is finished: on, and its labels are back', () => {
    const world = new World();
    for (let round = 0; !world.kinds().includes('NodeDeleted'); round += 1) {
      if (round > 50) throw new Error('its Node was never deleted');
      if (world.step() === 0) world.pass(5_000);
    }
    expect(world.operator.isOn).toBe(false);
    world.unask();
    world.run(10 * MINUTE_MS);
    expect(world.operator.isOn).toBe(true);
    expect(world.node).toMatchObject({ labels: { zone: 'a' } });
    expect(leftovers(world)).toEqual([]);
  });

  it('while the Node is awaited, ends the incident at its deadline, and what was kept waits for the Node', () => {
    const world = new World();
    world.isBroken = true;
    world.run(3 * MINUTE_MS);
    world.unask();
    world.run(30 * MINUTE_MS);
    expect(leftovers(world)).toEqual([ANNOTATIONS_BACKUP, LABELS_BACKUP]);
    world.isBroken = false;
    world.run(5 * MINUTE_MS);
    expect(leftovers(world)).toEqual([]);
    expect(world.node).toMatchObject({ labels: { zone: 'a' } });
  });
});

describe('a Node that does not come back', () => {
  it('has its Machine deleted after the time that its health check gives a start', () => {
    const world = new World();
    world.isBroken = true;
    const selector = { matchLabels: {} };
    world.healthChecks = [{ name: 'check', namespace: 'machines', selector, nodeStartupTimeoutMs: 5 * MINUTE_MS }];
    world.run(5 * MINUTE_MS);
    expect(world.machine).toBeDefined();
    world.run(2 * MINUTE_MS);
    expect(world.machine).toBeUndefined();
    expect(world.kinds().at(-1)).toBe('MachineDeleted');
    expect(world.operator.offs).toBe(1);
  });

  it.each([
    ['of a control plane', { labels: { 'machine.openshift.io/cluster-api-machine-role': 'master' } }],
    ['of a control plane of Cluster API', { labels: { 'cluster.x-k8s.io/control-plane': '' } }],
    ['without a controller', { hasController: false }],
  ])('has its Machine kept when it is %s, and a person is told', (_what, facts) => {
    const world = new World({ machine: machine(facts) });
    world.isBroken = true;
    world.run(60 * MINUTE_MS);
    expect(world.machine).toBeDefined();
    expect([...world.problems]).toContain('Machine machines/m: its node did not come back in time, and the Machine may not be replaced');
    expect(world.operator).toMatchObject({ offs: 1, isOn: true });
  });
});

describe('an off', () => {
  it.each([
    ['the operator reports a power management error', { errorType: 'power management error', operationalStatus: 'error' }],
    ['the operator services the host', { operationalStatus: 'servicing' }],
  ])('is not believed while %s', (_what, trouble) => {
    const world = new World();
    world.step();
    world.pass(MINUTE_MS);
    Object.assign(world.operator, trouble);
    const { actions, problems } = world.decide();
    expect(actions).toEqual([]);
    expect(problems[0]).toContain('is not proven off: operationalStatus=');
  });

  it.each(['baremetalhost.metal3.io/paused', 'baremetalhost.metal3.io/detached'])('is not believed of a host with %s', (mark) => {
    const world = new World();
    world.step();
    world.pass(MINUTE_MS);
    world.operator.annotations = { ...world.operator.annotations, [mark]: '' };
    expect(world.decide()).toMatchObject({ actions: [], problems: [expect.stringContaining(mark)] });
  });

  it('that was there before the request is nothing to go by: the host is cycled once the operator has it on', () => {
    const operator = new Operator({ isOn: false, bmc: 'stuck-off' });
    const world = new World({ operator });
    world.run(MINUTE_MS);
    expect(world.done).toEqual([]);
    expect(world.node).toBeDefined();
    operator.bmc = 'well';
    world.run(20 * MINUTE_MS);
    expect(world.kinds()).toContain('NodeDeleted');
    expect(operator.isOn).toBe(true);
  });

  it('that was there before the request is proven by our own read of the BMC, made while our hold stands', () => {
    const operator = new Operator({ isOn: false, bmc: 'stuck-off' });
    const world = new World({ operator, canReadBmc: true });
    world.run(MINUTE_MS);
    expect(world.done).toContainEqual(
      expect.objectContaining({ kind: 'delete-node', proof: expect.objectContaining({ source: 'own-read' }) as unknown }),
    );
  });

  it('is void after a sign of life: the Node stays, the hold goes, a person is told, and it is not tried again by itself', () => {
    const world = new World();
    world.step();
    world.pass(MINUTE_MS);
    world.node = node({ lifeSeenMs: world.nowMs });
    world.run(30 * MINUTE_MS);
    expect(world.node.uid).toBe('uid-n-1');
    expect(world.machine?.annotations[GAVE_UP]).toContain('a sign of life of the node came after it');
    expect(world.operator).toMatchObject({ isOn: true, offs: 1 });
    world.unask();
    world.run(MINUTE_MS);
    expect(leftovers(world)).toEqual([]);
  });

  it('that the BMC itself denies is no off', () => {
    const world = new World({ canReadBmc: true });
    world.step();
    world.pass(MINUTE_MS);
    world.operator.isOn = true;
    expect(world.decide().problems).toEqual(['Machine machines/m: BareMetalHost host is not proven off: the operator says off, the BMC says on']);
  });

  it('that takes longer than it may is told of, and waited for: the operator may not look for hours', () => {
    const world = new World({ operator: new Operator({ bmc: 'stuck-on' }) });
    world.run(9 * MINUTE_MS);
    expect([...world.problems]).toEqual([]);
    world.run(3 * MINUTE_MS);
    expect([...world.problems]).toEqual(['Machine machines/m: BareMetalHost host is not proven off: it is still on']);
    world.operator.bmc = 'well';
    world.run(10 * MINUTE_MS);
    expect(leftovers(world)).toEqual([]);
  });
});

describe('a host', () => {
  it.each([
    ['that is never switched off', (operator: Operator) => (operator.neverOff = true), 'spec.disablePowerOff=true'],
    ['that somebody has switched off on purpose', (operator: Operator) => (operator.isOnline = false), 'spec.online=false'],
    [
      'that is paused',
      (operator: Operator) => (operator.annotations = { 'baremetalhost.metal3.io/paused': '' }),
      'annotation baremetalhost.metal3.io/paused',
    ],
  ])('%s is not annotated, and a person is told', (_what, change, words) => {
    const world = new World();
    change(world.operator);
    world.run(MINUTE_MS);
    expect(world.done).toEqual([]);
    expect([...world.problems][0]).toContain(words);
  });

  it('of another machine is never touched', () => {
    const world = new World({ machine: machine({ name: 'other' }) });
    world.run(MINUTE_MS);
    expect(world.done).toEqual([]);
    expect([...world.problems]).toEqual(['Machine machines/other: nothing is done: BareMetalHost metal/host belongs to Machine machines/m']);
  });

  it('that the Node’s providerID contradicts is never touched', () => {
    const world = new World({ node: node({ providerID: 'baremetalhost:///metal/other/uid-host' }) });
    world.run(MINUTE_MS);
    expect(world.done).toEqual([]);
  });

  it('whose Machine is gone is not left off', () => {
    const world = new World();
    world.step();
    world.pass(MINUTE_MS);
    world.machine = undefined;
    world.run(5 * MINUTE_MS);
    expect(world.operator.isOn).toBe(true);
    expect(leftovers(world)).toEqual([]);
  });

  it('whose Machine is being deleted is not left off, and no Node is deleted any more', () => {
    const world = new World();
    world.step();
    world.pass(MINUTE_MS);
    world.machine = machine({ isDeleting: true });
    world.run(5 * MINUTE_MS);
    expect(world.operator.isOn).toBe(true);
    expect(world.kinds()).not.toContain('NodeDeleted');
  });

  it('that others hold off too stays off until they let go, and the event names them', () => {
    const world = new World();
    world.step();
    world.operator.annotate({ ...world.operator.annotations, 'reboot.metal3.io/other': '' });
    world.run(10 * MINUTE_MS);
    expect(world.done.find(({ event }) => event?.reason === 'PowerOnRequested')?.event?.message).toContain('until reboot.metal3.io/other goes too');
    expect(world.operator.isOn).toBe(false);
  });
});

describe('holds and other owners', () => {
  const STORM = { reason: 'storm', message: 'too many', isStop: false };
  const STOP = { reason: 'stop', message: 'admin', isStop: true };

  it('a hold stops the off, and lets it go on when it ends', () => {
    const world = new World();
    world.holds = [STORM];
    world.run(MINUTE_MS);
    expect(world.done).toEqual([]);
    expect([...world.problems]).toEqual(['Machine machines/m: waits: storm, too many']);
    world.holds = [];
    world.run(10 * MINUTE_MS);
    expect(leftovers(world)).toEqual([]);
  });

  it('a hold stops the deletion of the Node, and never the way back', () => {
    const world = new World();
    world.step();
    world.pass(MINUTE_MS);
    world.step();
    world.holds = [STORM];
    expect(world.decide().actions).toEqual([]);
    world.unask();
    world.run(5 * MINUTE_MS);
    expect(world.operator.isOn).toBe(true);
  });

  it('a person’s stop keeps it off, loudly', () => {
    const world = new World();
    world.step();
    world.pass(MINUTE_MS);
    world.unask();
    world.holds = [STOP];
    world.run(MINUTE_MS);
    expect(world.operator.isOn).toBe(false);
    expect([...world.problems]).toEqual(['Machine machines/m: LeftOff: BareMetalHost host stays off: stop, admin']);
  });

  it('a node that somebody else has is left alone, whatever stands', () => {
    const world = new World();
    world.takenBy = 'NodeFenceRemediation a/b';
    world.run(MINUTE_MS);
    expect(world.done).toEqual([]);
    expect(world.decide().holdsNode).toBe(false);
    expect([...world.problems]).toEqual(['Machine machines/m: its node is left alone: NodeFenceRemediation a/b']);
  });

  it('a paused Machine is left as it is', () => {
    const world = new World({ machine: machine({ isPaused: true }) });
    world.run(MINUTE_MS);
    expect(world.done).toEqual([]);
    expect(world.decide().phase).toBe('waiting');
  });

  it('the node is ours from the request to the end', () => {
    const world = new World();
    const kept = new Set<boolean>();
    for (let round = 0; world.machine?.annotations[REQUEST] !== undefined; round += 1) {
      if (round > 500) throw new Error('it never ends');
      kept.add(world.decide().holdsNode);
      if (world.step() === 0) world.pass(5_000);
    }
    expect([...kept]).toEqual([true]);
    expect(world.decide().holdsNode).toBe(false);
  });

  it('an unreadable deadline is written anew', () => {
    const own = machine();
    const world = new World({
      node: undefined,
      machine: { ...own, annotations: { ...own.annotations, [POWERED_OFF]: 'x', [TIMES_OUT_AT]: 'soon' } },
    });
    world.isBroken = true;
    world.step();
    expect(world.machine?.annotations[TIMES_OUT_AT]).toBe('2027-01-01T00:20:00Z');
  });
});
