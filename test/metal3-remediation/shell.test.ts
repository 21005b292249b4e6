import { afterEach, describe, expect, it } from 'vitest';
import { BARE_METAL_HOSTS } from '../../src/ports/metal3.ts';
import type { Lease } from '../../src/ports/objects.ts';
import { LEASES, NODE_FENCE_STOPS, NODE_FENCES, NODE_LEASE_NAMESPACE, NODES, SECRETS } from '../../src/ports/resources.ts';
import { HOST_MACHINES } from '../../src/testbed/operators/host-fleet.ts';
import { Operator } from '../baremetal-host/operator.ts';
import { CLUSTERS, NAMESPACE, ShellWorld, TEMPLATES } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const SLOW = 60_000;
const FINALIZER = 'metal3remediation.infrastructure.cluster.x-k8s.io';
const MEDIK8S = 'medik8s-leases';
let world: ShellWorld;

async function create(scene: Parameters<typeof ShellWorld.create>[0] = {}): Promise<void> {
  world = await ShellWorld.create(scene);
}

afterEach(async () => {
  await world.end();
  expect(world.broken).toEqual([]);
});

/** Reasons of Events, in order. */
const reasons = (events: readonly string[]): string[] => events.map((event) => event.split(' ')[3] ?? '');
const untainted = async (): Promise<boolean> => (await world.node())?.spec.taints?.some(({ key }) => key.includes('out-of-service')) !== true;

describe('a Metal3Remediation at the API', { timeout: SLOW }, () => {
  it('power-cycles the host, deletes the Node while it is off, puts labels and annotations back, and gives the node back', async () => {
    await create();
    const before = await world.node();
    const { events, warnings } = world.start();
    await world.request();
    await world.pass(10 * SECOND_MS);
    expect(await world.found()).toMatchObject({ metadata: { finalizers: [FINALIZER] }, status: { phase: 'Running' } });
    expect((await world.lock())?.spec.holderIdentity).toBe('nodefence-metal3-remediation');
    await world.pass(3 * MINUTE_MS);
    expect(reasons(events)).toEqual([
      'RemediationStarted',
      'PowerOffRequested',
      'NodeDeleted',
      'PowerOnRequested',
      'NodeRestored',
      'RemediationFinished',
    ]);
    const after = await world.node();
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(after?.metadata).toMatchObject({ labels: { zone: 'a' }, annotations: { cni: 'x' } });
    expect(await world.found()).toMatchObject({ status: { phase: 'Waiting' } });
    expect((await world.found())?.metadata.finalizers ?? []).toEqual([]);
    expect([await world.holds(), await world.lock(), world.host.machine.offs]).toEqual([[], undefined, 1]);
    expect(warnings).toEqual([]);
    await world.delete();
    await world.pass(2 * SECOND_MS);
    expect(await world.found()).toBeUndefined();
  });

  it('taints where the cluster of the Node is 1.28 or newer, waits for its workload, and takes the taint back before it is switched on', async () => {
    await create({ minor: 28 });
    await world.attach();
    const { events, warnings } = world.start();
    await world.request();
    await world.pass(2 * MINUTE_MS);
    expect([await untainted(), world.host.machine.isOn]).toEqual([false, false]);
    await world.detach();
    await world.pass(2 * MINUTE_MS);
    expect(reasons(events)).toEqual([
      'RemediationStarted',
      'PowerOffRequested',
      'NodeOutOfService',
      'OutOfServiceEnded',
      'PowerOnRequested',
      'RemediationFinished',
    ]);
    expect([await untainted(), await world.holds(), warnings]).toEqual([true, [], []]);
  });

  it('acts in the workload cluster behind the Secret, by its version and under its lock, and never on a Node of the same name here', async () => {
    await create({ isFar: true, minor: 31 });
    await world.own.operator.create(NODES, { metadata: { name: 'n' }, spec: {}, status: {} });
    const { events, writes } = world.start();
    await world.request();
    await world.pass(20 * SECOND_MS);
    expect([(await world.lock())?.spec.holderIdentity, await world.lock(world.own)]).toEqual(['nodefence-metal3-remediation', undefined]);
    await world.pass(4 * MINUTE_MS);
    expect(reasons(events)).toContain('NodeOutOfService');
    expect(events.filter((event) => event.startsWith('Node '))).toEqual([]);
    expect([await untainted(), await world.holds(), await world.lock()]).toEqual([true, [], undefined]);
    expect((await world.own.operator.get(NODES, 'n'))?.metadata.annotations).toBeUndefined();
    expect(writes.filter((write) => write.includes('/nodes/n')).length).toBeGreaterThan(0);
  });

  it('uses its retries up, and hands the Machine to its owner; the host is on, and marked', async () => {
    await create();
    world.isBroken = true;
    world.start();
    await world.request({ strategy: { retryLimit: 1, timeoutSeconds: 100 } });
    await world.pass(12 * MINUTE_MS);
    expect(await world.found()).toMatchObject({ status: { phase: 'Deleting machine', retryCount: 1 } });
    expect([world.host.machine.offs, world.host.machine.isOn, await world.holds(), await world.lock()]).toEqual([2, true, [], undefined]);
    const told = { type: 'OwnerRemediated', status: 'False', reason: 'WaitingForRemediation' };
    expect((await world.machine())?.status).toMatchObject({ conditions: [told] });
    expect((await world.machine())?.status?.deprecated).toBeUndefined();
    expect((await world.hostObject())?.metadata.annotations).toMatchObject({ 'capm3.metal3.io/unhealthy': 'capm3/UnhealthyNode' });
    await world.own.operator.remove(HOST_MACHINES, 'm', { namespace: NAMESPACE });
    await world.delete();
    await world.pass(25 * MINUTE_MS);
    expect(await world.found()).toBeUndefined();
  });

  it('is ended when its Machine is gone: the taint goes, the host comes back, and so does nobody of it', async () => {
    await create({ minor: 28 });
    await world.attach();
    world.start();
    await world.request();
    await world.pass(2 * MINUTE_MS);
    expect(await untainted()).toBe(false);
    await world.own.operator.remove(HOST_MACHINES, 'm', { namespace: NAMESPACE });
    await world.pass(3 * MINUTE_MS);
    expect([await untainted(), await world.holds(), world.host.machine.isOn, await world.lock()]).toEqual([true, [], true, undefined]);
    expect((await world.found())?.metadata.finalizers ?? []).toEqual([]);
  });

  it('is taken back before the off when it is deleted before', async () => {
    await create();
    world.start();
    await world.own.operator.mergePatch(
      BARE_METAL_HOSTS,
      'host',
      { metadata: { annotations: { 'baremetalhost.metal3.io/paused': '' } } },
      { namespace: NAMESPACE },
    );
    await world.request();
    await world.pass(20 * SECOND_MS);
    await world.delete();
    await world.pass(10 * SECOND_MS);
    expect([await world.found(), world.host.machine.offs, await world.lock()]).toEqual([undefined, 0, undefined]);
  });

  it('gives up where its strategy can not be followed by the template, and tells it there', async () => {
    await create();
    const { events } = world.start();
    const spec = { template: { spec: { strategy: { timeoutSeconds: 5 } } } };
    await world.own.operator.create(TEMPLATES, { metadata: { name: 't', namespace: NAMESPACE }, spec });
    await world.pass(5 * SECOND_MS);
    expect(events.join()).toContain(
      'Metal3RemediationTemplate t Warning TemplateNotFollowed Metal3RemediationTemplate metal/t: spec.strategy.timeoutSeconds: 5 is less than 100',
    );
  });
});

describe('what keeps a host from being switched off', { timeout: SLOW }, () => {
  async function untouched(): Promise<void> {
    await world.pass(2 * MINUTE_MS);
    expect([world.host.machine.offs, await world.holds()]).toEqual([0, []]);
  }

  it('a person’s stop, until it is taken away', async () => {
    await create();
    const { warnings, events } = world.start();
    await world.own.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'wait' }, spec: { node: 'n', reason: 'look' } });
    await world.request();
    await untouched();
    expect(warnings.join()).toContain('waits: stop, the stop wait is active: look');
    expect(events.join()).toContain('Metal3Remediation m Warning RemediationBlocked');
    expect(await world.lock()).toBeUndefined();
    await world.own.operator.remove(NODE_FENCE_STOPS, 'wait');
    await world.pass(3 * MINUTE_MS);
    expect(world.host.machine.offs).toBe(1);
  });

  it('a NodeFence of its node, which has it', async () => {
    await create();
    const { warnings } = world.start();
    await world.own.operator.create(NODE_FENCES, { metadata: { name: 'node-fence-n' }, spec: { node: 'n' } });
    await world.request();
    await untouched();
    expect(warnings.join()).toContain('its node is left alone: the fence controller');
  });

  it('the node lease of somebody else, for as long as it stands', async () => {
    await create();
    const { warnings } = world.start();
    const spec = { holderIdentity: 'node-maintenance', leaseDurationSeconds: 3_600 };
    await world.own.operator.create<Lease>(LEASES, { metadata: { name: 'node-n', namespace: MEDIK8S }, spec });
    await world.request();
    await untouched();
    expect(warnings.join()).toContain('Lease medik8s-leases/node-n of node-maintenance is held');
    await world.own.operator.remove(LEASES, 'node-n', { namespace: MEDIK8S });
    await world.pass(3 * MINUTE_MS);
    expect(world.host.machine.offs).toBe(1);
  });

  it('the controller that runs on it', async () => {
    await create();
    const { warnings } = world.start({ more: { ownNode: 'n' } });
    await world.request();
    await untouched();
    expect(warnings.join()).toContain('waits: own-node, this controller runs on it');
  });

  it('a storm, which does not keep it from coming back', async () => {
    await create();
    const { warnings } = world.start();
    world.storm = [{ policy: 'max-concurrent', reason: 'max-concurrent', message: 'two are fenced already' }];
    await world.request();
    await untouched();
    expect(warnings.join()).toContain('waits: max-concurrent, two are fenced already');
    world.storm = [];
    for (let second = 0; second < 60 && world.host.machine.isOn; second += 1) await world.pass(SECOND_MS);
    world.storm = [{ policy: 'max-concurrent', reason: 'max-concurrent', message: 'two are fenced already' }];
    const before = (await world.node())?.metadata.uid;
    await world.pass(2 * MINUTE_MS);
    expect([world.host.machine.isOn, (await world.node())?.metadata.uid]).toEqual([false, before]);
    await world.delete();
    await world.pass(2 * MINUTE_MS);
    expect([world.host.machine.isOn, (await world.node())?.metadata.uid, await world.found()]).toEqual([true, before, undefined]);
  });

  it('node leases that are switched off: nobody else would be kept off its node', async () => {
    await create();
    const { warnings } = world.start({ more: { nodeLeaseNamespace: undefined as unknown as string } });
    await world.request();
    await untouched();
    expect(warnings.join()).toContain('its node is left alone: node leases are switched off');
  });

  it('a control plane that would lose its majority', async () => {
    await create();
    const labels = { 'node-role.kubernetes.io/control-plane': '' };
    for (const name of ['n', 'other']) await world.own.operator.mergePatch(NODES, name, { metadata: { labels } });
    const { warnings } = world.start();
    await world.request();
    await untouched();
    expect(warnings.join()).toContain('control-plane-majority, without n 0 of 2 control-plane nodes would be Ready, 2 must be');
  });

  it('a Cluster that is paused', async () => {
    await create();
    await world.own.operator.mergePatch(CLUSTERS, 'c', { spec: { paused: true } }, { namespace: NAMESPACE });
    const { writes } = world.start();
    await world.request();
    await untouched();
    expect(writes).toEqual([]);
  });

  it('a Node that says that it is another Machine’s', async () => {
    await create();
    await world.own.operator.mergePatch(NODES, 'n', { metadata: { annotations: { 'cluster.x-k8s.io/machine': 'somebody-elses' } } });
    const { warnings } = world.start();
    await world.request();
    await untouched();
    expect(warnings.join()).toContain('node n is that of Machine somebody-elses');
  });

  it('no way to the cluster of its Node, which is told once', async () => {
    await create({ isFar: true });
    await world.own.operator.remove(SECRETS, 'c-kubeconfig', { namespace: NAMESPACE });
    const { warnings } = world.start();
    await world.request();
    await untouched();
    expect(warnings.filter((warning) => warning.includes('there is no Secret metal/c-kubeconfig'))).toHaveLength(1);
  });

  it.each([
    ['does not lead', { isLeading: false }],
    ['is in observe mode', { more: { mode: 'observe' as const } }],
  ])('a controller that %s', async (_what, starting) => {
    await create();
    const { writes } = world.start(starting);
    await world.request();
    await untouched();
    expect(writes).toEqual([]);
  });

  it('a controller sends nothing that it decided upon once it was closed, as when another comes that serves the kind', async () => {
    await create();
    const replica = world.start();
    let closing: Promise<void> | undefined;
    replica.onTheWay = async () => {
      closing ??= replica.remediation.close();
      for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
    };
    await world.request();
    await untouched();
    expect(closing, 'something was to be written').toBeDefined();
    expect(replica.writes).toEqual([]);
  });

  it('a controller sends nothing that it decided upon while it led: its Lease ended while the write was on its way', async () => {
    await create();
    const replica = world.start();
    let onTheWay = 0;
    replica.onTheWay = () => {
      onTheWay += 1;
      replica.leadership.isLeading = false;
    };
    await world.request();
    await untouched();
    expect(onTheWay, 'something was to be written').toBeGreaterThan(0);
    expect(replica.writes).toEqual([]);
  });
});

describe('what keeps a Node from being let go', { timeout: SLOW }, () => {
  it('life: the host is another machine’s, and the kubelet goes on', async () => {
    await create({ minor: 28 });
    // The machine behind the Node is not the one that the operator switches.
    world.start();
    await world.request({ strategy: { timeoutSeconds: 100 } });
    for (let second = 0; second < 120; second += 10) {
      await world.pass(10 * SECOND_MS);
      const renewTime = new Date(world.clock.wallMs()).toISOString().replace('Z', '000Z');
      await world.own.operator.mergePatch(LEASES, 'n', { spec: { renewTime } }, { namespace: NODE_LEASE_NAMESPACE });
    }
    expect([await untainted(), world.host.machine.offs > 0]).toEqual([true, true]);
  });

  it('a stop that comes while the host is off; then it stays off, loudly, until the stop is gone', async () => {
    await create();
    const { warnings } = world.start();
    await world.request();
    for (let second = 0; second < 60 && world.host.machine.isOn; second += 1) await world.pass(SECOND_MS);
    await world.own.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'wait' }, spec: { node: 'n', reason: 'look' } });
    const before = await world.node();
    await world.pass(5 * MINUTE_MS);
    expect((await world.node())?.metadata.uid).toBe(before?.metadata.uid);
    expect(world.host.machine.isOn).toBe(false);
    expect(warnings.join()).toContain('the stop wait is active: look');
    await world.own.operator.remove(NODE_FENCE_STOPS, 'wait');
    await world.pass(4 * MINUTE_MS);
    expect([world.host.machine.isOn, await world.holds()]).toEqual([true, []]);
  });
});

describe('a workload cluster that can not be asked any more', { timeout: SLOW }, () => {
  it('may be on the machine that is held off: that is switched on again when its time is over', async () => {
    await create({ isFar: true });
    world.start();
    await world.request({ strategy: { timeoutSeconds: 100 } });
    for (let second = 0; second < 60 && world.host.machine.isOn; second += 1) await world.pass(SECOND_MS);
    world.workload.isReachable = false;
    await world.pass(6 * MINUTE_MS);
    expect([world.host.machine.isOn, await world.holds()]).toEqual([true, []]);
    world.workload.isReachable = true;
    await world.pass(15 * MINUTE_MS);
    expect([await world.holds(), await world.lock()]).toEqual([[], undefined]);
  });
});

describe('a node that another wants too', { timeout: SLOW }, () => {
  it('whoever has the node keeps it: NodeFence and remediation are never on it together', async () => {
    await create();
    world.start();
    await world.request();
    await world.pass(10 * SECOND_MS);
    await world.own.operator.create(NODE_FENCES, { metadata: { name: 'node-fence-n' }, spec: { node: 'n' } });
    await world.pass(4 * MINUTE_MS);
    expect([world.host.machine.isOn, await world.holds(), await world.lock(), world.host.machine.offs]).toEqual([true, [], undefined, 1]);
  });
});

describe('two remediations of one Machine', { timeout: SLOW }, () => {
  it('take turns: the second waits until the first is done with the host and its Node is back', async () => {
    await create();
    world.bootMs = 3 * MINUTE_MS;
    const { warnings } = world.start();
    await world.request();
    await world.pass(5 * SECOND_MS);
    await world.request({}, { name: 'second' });
    await world.pass(2 * MINUTE_MS);
    expect([world.host.machine.offs, world.host.machine.isOn, await world.phase()]).toEqual([1, true, 'Waiting']);
    expect(warnings.join()).toContain('its node is left alone: Metal3Remediation metal/m');
    await world.pass(5 * MINUTE_MS);
    expect(world.host.machine.offs).toBe(2);
  });
});

describe('a host that fails', { timeout: SLOW }, () => {
  it('whose BMC is silent is tried again and handed over; nothing is let go', async () => {
    await create({ machine: new Operator({ bmc: 'stuck-on' }) });
    const before = await world.node();
    world.start();
    await world.request({ strategy: { timeoutSeconds: 100 } });
    await world.pass(10 * MINUTE_MS);
    expect(await world.phase()).toBe('Deleting machine');
    expect([(await world.node())?.metadata.uid, await world.holds()]).toEqual([before?.metadata.uid, []]);
  });
});
