import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MULTIPLE_TEMPLATES, NODE_NAME, TIMED_OUT } from '../../src/controllers/node-remediation/names.ts';
import { LEASES, NODE_FENCE_STOPS, NODE_LEASE_NAMESPACE, NODES, SECRETS } from '../../src/ports/resources.ts';
import { CLUSTERS, MACHINES, NAMESPACE, REQUESTS, ShellWorld, TEMPLATES } from './shell-world.ts';
import { FINALIZER, MINUTE_MS, SECOND_MS } from './world.ts';

let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

const off = () => ({ evidence: world.proof(), journal: [] });
const recovered = () => ({ state: 'final' as const, outcome: 'recovered' as const, timeline: { finalAt: world.now() } });

describe('medik8s NodeHealthCheck against the API, step by step', () => {
  const made = { name: 'n-x7k2p', annotations: { [NODE_NAME]: 'n' } };

  it('makes a request; it is fenced, told, and let go when the health check deletes it', async () => {
    await world.addNode('n');
    const { events, warnings } = world.start();
    await world.request(made);
    await world.pass(5 * SECOND_MS);
    expect(await world.found(made.name)).toMatchObject({
      metadata: { finalizers: [FINALIZER] },
      status: { phase: 'Fencing', retryCount: 0, nodeFenceRef: { name: 'node-fence-n' } },
    });
    const uid = (await world.found(made.name))?.metadata.uid;
    expect((await world.fence('n'))?.spec).toMatchObject({ node: 'n', requestedBy: { kind: 'NodeFenceRemediation', name: made.name, uid } });
    expect([await world.condition('Processing', made.name), await world.condition('Succeeded', made.name)]).toEqual(['True', 'Unknown']);
    await world.fenced('n', off());
    await world.pass(6 * SECOND_MS);
    expect(await world.phase(made.name)).toBe('Recovering');
    await world.ready('n', 'True');
    await world.fenced('n', recovered());
    await world.pass(6 * SECOND_MS);
    expect([await world.condition('Processing', made.name), await world.condition('Succeeded', made.name)]).toEqual(['False', 'True']);
    expect(events.filter((event) => event.startsWith('NodeFenceRemediation')).map((event) => event.split(' ').slice(2, 5))).toEqual([
      ['Normal', 'RemediationStarted', '[remediation]'],
      ['Normal', 'RemediationFinished', '[remediation]'],
    ]);
    await world.delete(made.name);
    await world.pass(6 * SECOND_MS);
    expect(await world.found(made.name)).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  it('times a request out: nothing more is begun, the fence is withdrawn, the request stays until it is deleted', async () => {
    await world.addNode('n');
    world.start();
    await world.request(made);
    await world.pass(5 * SECOND_MS);
    await world.own.operator.mergePatch(REQUESTS, made.name, { metadata: { annotations: { [TIMED_OUT]: world.now() } } }, { namespace: NAMESPACE });
    await world.pass(10 * SECOND_MS);
    expect([await world.condition('Processing', made.name), await world.condition('Succeeded', made.name)]).toEqual(['False', 'False']);
    expect((await world.fence('n'))?.metadata.deletionTimestamp).toBeDefined();
    await world.letGo('n');
    await world.own.operator.remove(NODES, 'n');
    await world.delete(made.name);
    await world.pass(10 * SECOND_MS);
    expect(await world.found(made.name)).toBeUndefined();
  });

  it('finds on every template that several of its kind may be used', async () => {
    world.start();
    const metadata = { name: 'gentle', namespace: NAMESPACE };
    await world.own.operator.create(TEMPLATES, { metadata, spec: { template: { spec: { strategy: 'fence-and-recover' } } } });
    await world.pass(2 * SECOND_MS);
    const found = await world.own.operator.get(TEMPLATES, 'gentle', NAMESPACE);
    expect(found?.metadata.annotations).toMatchObject({ [MULTIPLE_TEMPLATES]: 'true' });
  });
});

describe('MachineHealthCheck of Cluster API against the API, step by step', () => {
  const LABELS = { 'cluster.x-k8s.io/cluster-name': 'c' };

  async function withSecret(): Promise<void> {
    const data = { value: Buffer.from('the way to the workload cluster').toString('base64') };
    await world.own.operator.create(SECRETS, { metadata: { name: 'c-kubeconfig', namespace: NAMESPACE }, data });
  }

  it('asks for the Machine: its node is fenced in the cluster of the Secret, and never one of the same name here', async () => {
    await withSecret();
    await world.addNode('n');
    await world.addNode('n', world.workload);
    const owner = await world.addMachine('m', 'n', 'c');
    world.start();
    await world.request({ name: 'm', labels: LABELS, owner });
    await world.pass(5 * SECOND_MS);
    expect(await world.fence('n')).toBeUndefined();
    expect((await world.fence('n', world.workload))?.spec.requestedBy).toMatchObject({ name: 'm', namespace: NAMESPACE });
    await world.fenced('n', off(), world.workload);
    await world.pass(6 * SECOND_MS);
    await world.ready('n', 'True', world.workload);
    await world.fenced('n', recovered(), world.workload);
    await world.pass(6 * SECOND_MS);
    expect(await world.phase('m')).toBe('Succeeded');
    const machine = await world.own.operator.get(MACHINES, 'm', NAMESPACE);
    const told = { type: 'ExternallyRemediated', status: 'True', reason: 'Remediated', message: 'its node was fenced, and is back' };
    expect(machine?.status).toMatchObject({ nodeRef: { name: 'n' }, conditions: [told] });
    expect(machine?.status?.deprecated).toBeUndefined();
  });

  it('is in this cluster where the Node says so: no Secret is needed', async () => {
    const marks = { 'cluster.x-k8s.io/cluster-name': 'c', 'cluster.x-k8s.io/cluster-namespace': NAMESPACE, 'cluster.x-k8s.io/machine': 'm' };
    await world.addNode('n', world.own, marks);
    const owner = await world.addMachine('m', 'n', 'c');
    world.start();
    await world.request({ name: 'm', labels: LABELS, owner });
    await world.pass(5 * SECOND_MS);
    expect(await world.phase('m')).toBe('Fencing');
  });

  it('waits where there is no Secret, and says so on the request, once', async () => {
    await world.addNode('n');
    const owner = await world.addMachine('m', 'n', 'c');
    const { events } = world.start();
    await world.request({ name: 'm', labels: LABELS, owner });
    await world.pass(MINUTE_MS);
    expect(events.map((event) => event.split(' ').slice(0, 4))).toEqual([['NodeFenceRemediation', 'm', 'Warning', 'RemediationCannotStart']]);
    expect(await world.fence('n')).toBeUndefined();
    await withSecret();
    await world.addNode('n', world.workload);
    await world.pass(2 * MINUTE_MS);
    expect(await world.phase('m')).toBe('Fencing');
  });

  it('hands the Machine back when nothing more is tried, in the conditions that Cluster API reads', async () => {
    await world.addNode('n');
    const owner = await world.addMachine('m', 'n');
    world.start();
    await world.request({ name: 'm', owner, spec: { strategy: 'escalate', retryLimit: 0, powerOffTimeoutSeconds: 30 } });
    await world.pass(40 * SECOND_MS);
    await world.letGo('n');
    await world.pass(10 * SECOND_MS);
    const machine = await world.own.operator.get(MACHINES, 'm', NAMESPACE);
    expect(machine?.status?.conditions).toMatchObject([{ type: 'OwnerRemediated', status: 'False', reason: 'WaitingForRemediation' }]);
    expect(machine?.status?.deprecated).toBeUndefined();
    expect(await world.phase('m')).toBe('Failed');
  });

  it('is not kept from its end by what is only told, and that is told on the request', async () => {
    await world.addNode('n');
    const owner = await world.addMachine('m', 'n');
    const crowded = Array.from({ length: 32 }, (_each, index) => ({
      type: `T${index}`,
      status: 'True',
      reason: 'R',
      message: '',
      lastTransitionTime: world.now(),
    }));
    await world.own.operator.mergePatch(MACHINES, 'm', { status: { conditions: crowded } }, { namespace: NAMESPACE, subresource: 'status' });
    const { events } = world.start();
    await world.request({ name: 'm', owner });
    await world.pass(5 * SECOND_MS);
    await world.fenced('n', off());
    await world.pass(6 * SECOND_MS);
    await world.ready('n', 'True');
    await world.fenced('n', recovered());
    await world.pass(6 * SECOND_MS);
    expect(await world.phase('m')).toBe('Succeeded');
    await world.pass(5 * MINUTE_MS);
    const stalled = events.filter((event) => event.includes('RemediationStalled'));
    expect(stalled).toHaveLength(1);
    expect(stalled[0]).toContain('Too many: 33: must have at most 32 items');
  });

  it('that has failed ends with its Machine and Node, though no Secret may be read: nothing of it is left', async () => {
    const marks = { 'cluster.x-k8s.io/cluster-name': 'c', 'cluster.x-k8s.io/cluster-namespace': NAMESPACE, 'cluster.x-k8s.io/machine': 'm' };
    await world.addNode('n', world.own, marks);
    const owner = await world.addMachine('m', 'n', 'c');
    world.start();
    await world.request({ name: 'm', labels: LABELS, owner, spec: { strategy: 'escalate', retryLimit: 0, powerOffTimeoutSeconds: 30 } });
    await world.pass(40 * SECOND_MS);
    await world.letGo('n');
    await world.pass(10 * SECOND_MS);
    expect((await world.found('m'))?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Succeeded', status: 'False', message: 'its node is not proven off in time' }),
    );
    await world.own.operator.remove(MACHINES, 'm', { namespace: NAMESPACE });
    await world.own.operator.remove(NODES, 'n');
    await world.own.operator.create(SECRETS, { metadata: { name: 'c-kubeconfig', namespace: NAMESPACE }, data: {} });
    await world.delete('m');
    await world.pass(2 * MINUTE_MS);
    expect(await world.found('m')).toBeUndefined();
  });

  it('is left alone while its Cluster is paused', async () => {
    await world.addNode('n');
    const marks = { 'cluster.x-k8s.io/cluster-name': 'c', 'cluster.x-k8s.io/cluster-namespace': NAMESPACE, 'cluster.x-k8s.io/machine': 'm' };
    await world.own.operator.mergePatch(NODES, 'n', { metadata: { annotations: marks } });
    await world.own.operator.create(CLUSTERS, { metadata: { name: 'c', namespace: NAMESPACE }, spec: { paused: true } });
    const owner = await world.addMachine('m', 'n', 'c');
    const { writes } = world.start();
    await world.request({ name: 'm', labels: LABELS, owner });
    await world.pass(MINUTE_MS);
    expect(writes).toEqual([]);
    await world.own.operator.mergePatch(CLUSTERS, 'c', { spec: { paused: false } }, { namespace: NAMESPACE });
    await world.pass(2 * MINUTE_MS);
    expect(await world.phase('m')).toBe('Fencing');
  });

  it('ends with the Machine: the fence is withdrawn and the finalizer goes', async () => {
    await world.addNode('n');
    const owner = await world.addMachine('m', 'n');
    world.start();
    await world.request({ name: 'm', owner });
    await world.pass(5 * SECOND_MS);
    await world.own.operator.remove(MACHINES, 'm', { namespace: NAMESPACE });
    await world.pass(2 * MINUTE_MS);
    expect((await world.fence('n'))?.metadata.deletionTimestamp).toBeDefined();
    await world.letGo('n');
    await world.pass(MINUTE_MS);
    expect((await world.found('m'))?.metadata.finalizers ?? []).toEqual([]);
  });
});

describe('whoever asks', () => {
  it.each([
    [{ nodeRemoval: 'None' as const }, { release: 'none' }],
    [{ strategy: 'fence' as const }, { ending: 'off' }],
  ])('has the fence that it asks for: %j', async (spec, asked) => {
    await world.addNode('n');
    world.start();
    await world.request({ spec });
    await world.pass(5 * SECOND_MS);
    expect((await world.fence('n'))?.spec).toEqual({ node: 'n', requestedBy: expect.anything() as object, ...asked });
  });

  it('is refused what cannot be followed', async () => {
    const field = 'spec.methodRef';
    await world.addNode('n');
    const { events, warnings } = world.start();
    await world.request({ spec: { methodRef: 'fence-by-pdu' } });
    await world.pass(5 * SECOND_MS);
    expect(await world.phase()).toBe('Failed');
    expect(events.join()).toContain(`RemediationCannotStart [remediation] ${field}`);
    expect(warnings.join()).toContain(field);
    expect(await world.fence('n')).toBeUndefined();
  });

  it('gets no node that somebody else has, and the one who has it is told', async () => {
    await world.addNode('n');
    world.start();
    await world.request({ name: 'first', annotations: { [NODE_NAME]: 'n' } });
    await world.pass(5 * SECOND_MS);
    await world.request({ name: 'second', annotations: { [NODE_NAME]: 'n' } });
    await world.pass(10 * SECOND_MS);
    expect([await world.phase('first'), await world.phase('second')]).toEqual(['Fencing', '']);
    const words = (await world.found('second'))?.status?.conditions?.map(({ message }) => message);
    expect(words?.join()).toContain('node n is taken by NodeFenceRemediation machines/first');
  });

  it('writes nothing where it does not lead, and all of it once it does', async () => {
    await world.addNode('n');
    const { writes, leadership, remediation } = world.start({ isLeading: false });
    await world.request();
    await world.pass(MINUTE_MS);
    expect(writes).toEqual([]);
    leadership.isLeading = true;
    remediation.wake();
    await world.pass(5 * SECOND_MS);
    expect(await world.phase()).toBe('Fencing');
  });

  it('sends nothing that it decided upon while it led: its Lease ended while the write was on its way', async () => {
    await world.addNode('n');
    const replica = world.start();
    let onTheWay = 0;
    replica.onTheWay = () => {
      onTheWay += 1;
      replica.leadership.isLeading = false;
    };
    await world.request();
    await world.pass(MINUTE_MS);
    expect(onTheWay, 'something was to be written').toBeGreaterThan(0);
    expect(replica.writes).toEqual([]);
  });

  it('sends nothing that it decided upon once it was closed, as when another comes that serves the kind', async () => {
    await world.addNode('n');
    const replica = world.start();
    let closing: Promise<void> | undefined;
    replica.onTheWay = async () => {
      closing ??= replica.remediation.close();
      for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
    };
    await world.request();
    await world.pass(MINUTE_MS);
    expect(closing, 'something was to be written').toBeDefined();
    expect(replica.writes).toEqual([]);
  });

  it('writes nothing in observe mode', async () => {
    await world.addNode('n');
    const { writes } = world.start({ mode: 'observe' });
    await world.request();
    await world.pass(MINUTE_MS);
    expect(writes).toEqual([]);
  });

  it.each(['lost', 'unanswered'] as const)('is served all the same when every second write is %s', async (fate) => {
    await world.addNode('n');
    let number = 0;
    world.start({ fate: () => (number++ % 2 === 0 ? fate : 'done') });
    await world.request();
    await world.pass(MINUTE_MS);
    expect(await world.phase()).toBe('Fencing');
    await world.ready('n', 'True');
    await world.fenced('n', recovered());
    await world.pass(MINUTE_MS);
    expect(await world.phase()).toBe('Succeeded');
    await world.delete();
    await world.pass(MINUTE_MS);
    expect(await world.found()).toBeUndefined();
  });
});

describe('a Node that goes for good', () => {
  const SPEC = { strategy: 'fence', nodeRemoval: 'DeleteNode' } as const;

  async function fencedOff(): Promise<ReturnType<ShellWorld['start']>> {
    await world.addNode('n');
    const replica = world.start();
    await world.request({ spec: SPEC });
    await world.pass(5 * SECOND_MS);
    expect((await world.fence('n'))?.spec.ending).toBe('off');
    await world.fenced('n', off());
    await world.pass(6 * SECOND_MS);
    await world.fenced('n', { ...off(), state: 'final', outcome: 'fenced-off', timeline: { finalAt: world.now() } });
    return replica;
  }

  it('is deleted once its lease has stood still, on the proof, and that is told before', async () => {
    await fencedOff();
    await world.pass(20 * SECOND_MS);
    expect(await world.condition('PermanentNodeDeletionExpected')).toBe('True');
    expect(await world.own.operator.get(NODES, 'n')).toBeDefined();
    await world.pass(MINUTE_MS);
    expect(await world.own.operator.get(NODES, 'n')).toBeUndefined();
    expect(await world.phase()).toBe('Succeeded');
  });

  it('stays as long as its lease is renewed', async () => {
    await fencedOff();
    for (let second = 0; second < 120; second += 10) {
      await world.pass(10 * SECOND_MS);
      const spec = { renewTime: new Date(world.clock.wallMs()).toISOString().replace('Z', '000Z') };
      await world.own.operator.mergePatch(LEASES, 'n', { spec }, { namespace: NODE_LEASE_NAMESPACE });
    }
    expect(await world.own.operator.get(NODES, 'n')).toBeDefined();
  });

  it('stays while a person has stopped it', async () => {
    await fencedOff();
    await world.own.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'wait' }, spec: { node: 'n', reason: 'look' } });
    await world.pass(2 * MINUTE_MS);
    expect(await world.own.operator.get(NODES, 'n')).toBeDefined();
    await world.own.operator.remove(NODE_FENCE_STOPS, 'wait');
    await world.pass(2 * MINUTE_MS);
    expect(await world.own.operator.get(NODES, 'n')).toBeUndefined();
  });

  it('stays while its device does not read off, which the request is told', async () => {
    world.device.doubt = 'a person has switched it on';
    const { events } = await fencedOff();
    await world.pass(2 * MINUTE_MS);
    expect(await world.own.operator.get(NODES, 'n')).toBeDefined();
    expect(events.join()).toContain('RemediationStalled [remediation] node n is not deleted: a person has switched it on');
  });

  it.each([
    ['is Ready', () => world.ready('n', 'True')],
    ['has another boot', () => world.own.operator.mergePatch(NODES, 'n', { status: { nodeInfo: { bootID: 'boot-2' } } }, { subresource: 'status' })],
  ])('stays when it %s', async (_what, live) => {
    await fencedOff();
    await live();
    await world.pass(2 * MINUTE_MS);
    expect(await world.own.operator.get(NODES, 'n')).toBeDefined();
  });
});

describe('the kinds', () => {
  it('are followed from the minute in which they are installed', async () => {
    world = await ShellWorld.create({ isInstalled: false });
    const { writes } = world.start();
    await world.addNode('n');
    await world.pass(MINUTE_MS);
    await world.install();
    await world.request();
    await world.pass(2 * MINUTE_MS);
    expect(await world.phase()).toBe('Fencing');
    expect(writes.length).toBeGreaterThan(0);
  });
});
