import { afterEach, describe, expect, it } from 'vitest';
import { GAVE_UP, HOLD, LOCK_HOLDER, POWERED_OFF, REQUEST, TIMES_OUT_AT } from '../../src/controllers/machine-remediation/names.ts';
import { HARD } from '../../src/controllers/shared/baremetal-host/reboot.ts';
import { fenceName } from '../../src/domain/node-fence.ts';
import { HOST_MACHINES, hostMachineName, hostName, HOSTS_NAMESPACE } from '../../src/testbed/operators/host-fleet.ts';
import { MEDIK8S_LEASE_NAMESPACE } from '../../src/manifests/access.ts';
import type { Resource } from '../../src/ports/cluster.ts';
import { OPENSHIFT_MACHINES } from '../../src/ports/cluster-api.ts';
import { BARE_METAL_HOSTS } from '../../src/ports/metal3.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { LEASES, NODE_FENCE_STOPS, NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import { finalStatus, ShellWorld } from './shell-world.ts';
import type { Replica } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const METAL3_MACHINES: Resource = {
  group: 'infrastructure.cluster.x-k8s.io',
  version: 'v1beta1',
  kind: 'Metal3Machine',
  plural: 'metal3machines',
  namespaced: true,
};
let world: ShellWorld;

afterEach(async () => {
  await world.end();
});

/** The kubelet of n1 has said nothing for a minute, and somebody asks. */
async function failed(how: Parameters<ShellWorld['start']>[0] = {}, making: Parameters<typeof ShellWorld.create>[0] = {}): Promise<Replica> {
  world = await ShellWorld.create(making);
  const replica = world.start(how);
  await world.pass(30 * SECOND_MS);
  world.hardware('n1').isBroken = true;
  await world.pass(MINUTE_MS);
  await world.ask('n1');
  return replica;
}

async function stop(node: string): Promise<void> {
  await world.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'stop' }, spec: { node, reason: 'I look at it' } });
}

const annotationsOf = async (): Promise<Record<string, string>> => (await world.machine('n1'))?.metadata.annotations ?? {};
const isHeld = async (): Promise<boolean> => (await world.host('n1'))?.metadata.annotations?.[HOLD] !== undefined;

describe('a Machine that needs remediation', { timeout: 60_000 }, () => {
  it('is switched off by its host, its Node is deleted and comes back with its labels, and nothing is left behind', async () => {
    const { events, warnings } = await failed();
    const before = await world.node('n1');
    await world.pass(2 * SECOND_MS);
    expect((await world.host('n1'))?.metadata.annotations).toMatchObject({ [HOLD]: HARD });
    expect(await world.holder('n1')).toBe(LOCK_HOLDER);
    await world.pass(20 * SECOND_MS);
    expect(world.hardware('n1')).toMatchObject({ isOn: true, offs: 1 });
    expect(await world.node('n1')).toBeUndefined();
    expect((await annotationsOf())[POWERED_OFF]).toBeDefined();
    world.hardware('n1').isBroken = false;
    await world.pass(2 * MINUTE_MS);
    const after = await world.node('n1');
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(after?.metadata.labels).toMatchObject({ zone: 'a' });
    expect(await world.left('n1')).toEqual([]);
    expect(await world.holder('n1')).toBeUndefined();
    expect(world.hardware('n2').offs).toBe(0);
    expect(warnings).toEqual([]);
    expect(events.map((event) => event.split(' ').slice(0, 4).join(' '))).toEqual([
      'BareMetalHost host-n1 Normal PowerOffRequested',
      'Node n1 Normal NodeDeleted',
      'BareMetalHost host-n1 Normal PowerOnRequested',
      'Node n1 Normal NodeRestored',
      'Machine machine-n1 Normal Remediated',
    ]);
  });

  it('is power-cycled once although it is asked for again and again while it boots, and in mode seed-table again and again', async () => {
    const offs = async (choice: 'incident' | 'seed-table'): Promise<number> => {
      await failed({ choice });
      world.hardware('n1').isBroken = false;
      world.bootMs = 5 * MINUTE_MS;
      for (let seconds = 0; seconds < 20 * 60; seconds += 30) {
        if ((await world.node('n1')) === undefined) await world.ask('n1');
        await world.pass(30 * SECOND_MS);
      }
      return world.hardware('n1').offs;
    };
    expect(await offs('incident')).toBe(1);
    await world.end();
    expect(await offs('seed-table')).toBeGreaterThan(5);
  });

  it('has until the startup time of its health check to come back, and is deleted then for its owner to make another', async () => {
    const { events } = await failed();
    const ownerReferences = [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineSet', name: 's', uid: 'u', controller: true }];
    await world.operator.mergePatch(HOST_MACHINES, hostMachineName('n1'), { metadata: { ownerReferences } }, { namespace: HOSTS_NAMESPACE });
    await world.pass(2 * MINUTE_MS);
    const [off, until] = [POWERED_OFF, TIMES_OUT_AT].map(async (key) => Date.parse((await annotationsOf())[key] ?? ''));
    expect((await until)! - (await off)!).toBe(20 * MINUTE_MS);
    await world.pass(20 * MINUTE_MS);
    expect(await world.machine('n1')).toBeUndefined();
    expect(events.at(-1)).toContain('Machine machine-n1 Warning MachineDeleted');
    expect(await world.holder('n1')).toBeUndefined();
  });

  it('whose BMC is dead is told of, waited for, and goes on when the BMC is back', async () => {
    const { warnings, events, remediation } = await failed();
    world.isBmcDead = true;
    await world.pass(15 * MINUTE_MS);
    expect(warnings).toHaveLength(1);
    expect(events.at(-1)).toContain('Machine machine-n1 Warning RemediationBlocked');
    expect(remediation.problems().join()).toContain('is not proven off: it is still on, operationalStatus=error, errorType=power management error');
    expect(await world.node('n1')).toBeDefined();
    world.isBmcDead = false;
    world.hardware('n1').isBroken = false;
    await world.pass(60 * MINUTE_MS);
    expect(world.hardware('n1')).toMatchObject({ isOn: true, offs: 1 });
    expect(await world.left('n1')).toEqual([]);
    expect(remediation.problems()).toEqual([]);
  });

  it('keeps its Node while that shows life, whatever the BMC says, and a person is told', async () => {
    world = await ShellWorld.create();
    const { warnings } = world.start();
    await world.pass(30 * SECOND_MS);
    world.hardware('n1').isLying = true;
    const before = await world.node('n1');
    await world.ask('n1');
    await world.pass(11 * MINUTE_MS);
    expect((await world.node('n1'))?.metadata.uid).toBe(before?.metadata.uid);
    expect(await isHeld()).toBe(false);
    expect((await annotationsOf())[GAVE_UP]).toContain('a sign of life of the node came after it');
    expect(warnings.join()).toContain('take host.metal3.io/external-remediation away to let it be tried again');
  });
});

describe('a controller of Machines', { timeout: 60_000 }, () => {
  it.each([
    ['that only observes', { mode: 'observe' as const }],
    ['that does not lead', { isLeading: false }],
    ['that has no way to lock a node', { nodeLeaseNamespace: undefined }],
    ['that runs on the node itself', { ownNode: 'n1' }],
  ])('%s switches nothing off', async (_words, how) => {
    const { writes } = await failed(how);
    await world.pass(5 * MINUTE_MS);
    expect(writes.filter((write) => !write.includes('/leases'))).toEqual([]);
    expect(await world.left('n1')).toEqual([REQUEST]);
    expect(world.hardware('n1').offs).toBe(0);
  });

  it('says so where the namespace of the node leases may not be written, and does nothing', async () => {
    const { warnings } = await failed({}, { folders: ['machine-remediation'] });
    await world.pass(MINUTE_MS);
    expect(warnings.filter((each) => !each.startsWith('forbidden')).join()).toContain(
      'the node lease in namespace medik8s-leases, without which another remediator could act',
    );
    expect(warnings.join()).toContain('; in the cluster of the node: kubectl apply -k config/medik8s');
    expect(world.hardware('n1').offs).toBe(0);
  });

  it('begins nothing while its watches are silent, and goes on when they are heard again', async () => {
    world = await ShellWorld.create();
    const replica = world.start();
    await world.pass(30 * SECOND_MS);
    world.hardware('n1').isBroken = true;
    replica.isDeaf = (path) => path.includes('/leases');
    await world.pass(15 * MINUTE_MS);
    await world.ask('n1');
    await world.pass(2 * MINUTE_MS);
    expect(replica.writes).toEqual([]);
    expect(replica.remediation.problems().join()).toContain('are stale');
    replica.isDeaf = () => false;
    await world.pass(10 * MINUTE_MS);
    expect(world.hardware('n1').offs).toBe(1);
  });

  it('decides nothing while its watches are silent: of what they showed last no problem is reported', async () => {
    world = await ShellWorld.create();
    const replica = world.start();
    await world.pass(30 * SECOND_MS);
    world.storm = [{ policy: 'p', reason: 'storm', message: 'too many nodes are ill' }];
    replica.isDeaf = (path) => path.includes('/leases');
    await world.pass(5 * MINUTE_MS);
    await world.ask('n1');
    await world.pass(2 * MINUTE_MS);
    expect(replica.warnings.filter((each) => each.includes('too many nodes are ill'))).toEqual([]);
    replica.isDeaf = () => false;
    await world.pass(10 * MINUTE_MS);
    expect(replica.warnings.filter((each) => each.includes('too many nodes are ill'))).toHaveLength(1);
  });

  it('leaves a node alone that another remediator has, says who, and goes on when it is given back', async () => {
    world = await ShellWorld.create();
    const spec = { holderIdentity: 'node-maintenance', leaseDurationSeconds: 3_600, renewTime: '2027-01-01T00:00:00.000000Z' };
    await world.operator.create(LEASES, { metadata: { name: 'node-n1', namespace: MEDIK8S_LEASE_NAMESPACE }, spec });
    const { warnings, events } = world.start();
    await world.pass(30 * SECOND_MS);
    world.hardware('n1').isBroken = true;
    await world.ask('n1');
    await world.pass(2 * MINUTE_MS);
    expect(warnings).toEqual(['Machine metal3/machine-n1: its node is left alone: Lease medik8s-leases/node-n1 of node-maintenance is held']);
    expect(events).toEqual([`Machine machine-n1 Warning RemediationBlocked ${warnings[0] ?? ''}`]);
    expect(await world.left('n1')).toEqual([REQUEST]);
    await world.operator.remove(LEASES, 'node-n1', { namespace: MEDIK8S_LEASE_NAMESPACE });
    await world.pass(30 * SECOND_MS);
    expect(world.hardware('n1').offs).toBe(1);
  });

  it('has done what was asked when a fence brought the node back meanwhile: it is not switched off twice', async () => {
    world = await ShellWorld.create();
    const fence = await world.operator.create<NodeFence>(NODE_FENCES, { metadata: { name: fenceName('n1') }, spec: { node: 'n1' } });
    const { events } = world.start();
    await world.ask('n1');
    await world.pass(MINUTE_MS);
    expect(await world.left('n1')).toEqual([REQUEST]);
    const finalAt = new Date(world.clock.wallMs()).toISOString();
    await world.operator.replaceStatus(NODE_FENCES, { ...fence, status: finalStatus({ outcome: 'recovered', timeline: { finalAt } }) });
    await world.pass(10 * SECOND_MS);
    expect(await world.left('n1')).toEqual([]);
    expect(events.at(-1)).toBe('Machine machine-n1 Normal Remediated its node was brought back by NodeFence node-fence-n1');
    await world.ask('n1');
    await world.pass(MINUTE_MS);
    expect(world.hardware('n1').offs, 'asked for anew').toBe(1);
  });

  it('leaves a node alone that is fenced, and says why it is', async () => {
    world = await ShellWorld.create();
    await world.operator.create(NODE_FENCES, { metadata: { name: fenceName('n1') }, spec: { node: 'n1' } });
    const { warnings } = world.start();
    await world.ask('n1');
    await world.pass(MINUTE_MS);
    expect(warnings).toEqual(['Machine metal3/machine-n1: its node is left alone: the fence controller']);
    expect(world.hardware('n1').offs).toBe(0);
  });

  it('begins nothing under a person’s stop, and one that comes later keeps the Node and the host as they are, loudly', async () => {
    world = await ShellWorld.create();
    await stop('n1');
    const { remediation } = world.start();
    await world.pass(30 * SECOND_MS);
    world.hardware('n1').isBroken = true;
    await world.pass(MINUTE_MS);
    await world.ask('n1');
    await world.pass(MINUTE_MS);
    expect(world.hardware('n1').offs).toBe(0);
    await world.operator.remove(NODE_FENCE_STOPS, 'stop');
    for (let tries = 0; tries < 60 && !(await isHeld()); tries += 1) await world.pass(SECOND_MS);
    await stop('n1');
    await world.pass(2 * MINUTE_MS);
    expect(await world.node('n1')).toBeDefined();
    expect(world.hardware('n1')).toMatchObject({ isOn: false, offs: 1 });
    expect(remediation.problems().join()).toContain('the stop stop is active: I look at it');
    await world.operator.remove(NODE_FENCE_STOPS, 'stop');
    world.hardware('n1').isBroken = false;
    await world.pass(4 * MINUTE_MS);
    expect(await world.left('n1')).toEqual([]);
  });

  it('waits for storm policies before the off and before its Node goes, and never on the way back', async () => {
    const storm = [{ reason: 'too-many-failed', policy: 'max-unhealthy', message: '3 of 5 nodes have failed' }] as const;
    world = await ShellWorld.create();
    world.storm = storm;
    const { warnings } = world.start();
    await world.pass(30 * SECOND_MS);
    world.hardware('n1').isBroken = true;
    await world.pass(MINUTE_MS);
    await world.ask('n1');
    await world.pass(MINUTE_MS);
    expect(world.hardware('n1').offs).toBe(0);
    expect(warnings.at(-1)).toBe('Machine metal3/machine-n1: waits: too-many-failed, 3 of 5 nodes have failed');
    world.storm = [];
    for (let tries = 0; tries < 60 && world.hardware('n1').isOn; tries += 1) await world.pass(SECOND_MS);
    world.storm = storm;
    await world.pass(2 * MINUTE_MS);
    expect(await world.node('n1')).toBeDefined();
    await world.unask('n1');
    await world.pass(MINUTE_MS);
    expect(world.hardware('n1')).toMatchObject({ isOn: true, offs: 1 });
    expect(await world.left('n1')).toEqual([]);
  });

  it('waits for the majority of the control plane', async () => {
    const { warnings } = await failed({}, { nodes: ['n1', 'n2', 'n3'] });
    await world.unask('n1');
    await world.pass(10 * MINUTE_MS);
    for (const name of ['n1', 'n2', 'n3'])
      await world.operator.mergePatch(NODES, name, { metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } } });
    const conditions = [{ type: 'Ready', status: 'Unknown' }];
    await world.operator.mergePatch(NODES, 'n2', { status: { conditions } }, { subresource: 'status' });
    const before = world.hardware('n1').offs;
    await world.ask('n1');
    await world.pass(2 * MINUTE_MS);
    expect(world.hardware('n1').offs).toBe(before);
    expect(warnings.at(-1)).toContain('1 of 3 control-plane nodes would be Ready, 2 must be');
  });

  it('does nothing about a Machine whose Nodes are in another cluster', async () => {
    const { warnings, writes } = await failed();
    await world.unask('n1');
    await world.pass(10 * MINUTE_MS);
    const count = writes.length;
    await world.operator.mergePatch(HOST_MACHINES, hostMachineName('n2'), { spec: { clusterName: 'elsewhere' } }, { namespace: HOSTS_NAMESPACE });
    await world.ask('n2');
    await world.pass(MINUTE_MS);
    expect(warnings.at(-1)).toBe('Machine metal3/machine-n2: nothing is done: the Nodes of Cluster metal3/elsewhere are not in this cluster');
    expect(writes).toHaveLength(count);
  });

  it('switches a host on again whose Machine is gone', async () => {
    await failed();
    for (let tries = 0; tries < 60 && world.hardware('n1').isOn; tries += 1) await world.pass(SECOND_MS);
    expect(await isHeld()).toBe(true);
    await world.operator.remove(HOST_MACHINES, hostMachineName('n1'), { namespace: HOSTS_NAMESPACE });
    await world.pass(MINUTE_MS);
    expect(await isHeld()).toBe(false);
    expect(world.hardware('n1').isOn).toBe(true);
    await world.pass(2 * MINUTE_MS);
    expect(await world.holder('n1')).toBeUndefined();
  });

  it('leaves a host held whose Machine it does not look after: the hold is somebody else’s', async () => {
    world = await ShellWorld.create({ kinds: [OPENSHIFT_MACHINES] });
    await world.operator.remove(HOST_MACHINES, hostMachineName('n2'), { namespace: HOSTS_NAMESPACE });
    await world.annotate(BARE_METAL_HOSTS, hostName('n2'), { [HOLD]: HARD });
    const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: hostMachineName('n1'), uid: 'u' };
    const base = { ...METAL3_MACHINES, name: 'metal-n2' };
    await world.operator.mergePatch(base, base.name, { metadata: { ownerReferences: [owner] } }, { namespace: HOSTS_NAMESPACE });
    world.start();
    await world.pass(3 * MINUTE_MS);
    expect((await world.host('n2'))?.metadata.annotations?.[HOLD]).toBe(HARD);
    await world.operator.mergePatch(base, base.name, { metadata: { ownerReferences: null } }, { namespace: HOSTS_NAMESPACE });
    await world.pass(2 * MINUTE_MS);
    expect((await world.host('n2'))?.metadata.annotations?.[HOLD]).toBeUndefined();
    expect(world.hardware('n2').isOn).toBe(true);
  });

  it('tells of a host that a person took out of the operator’s hands', async () => {
    world = await ShellWorld.create();
    await world.annotate(BARE_METAL_HOSTS, hostName('n1'), { 'baremetalhost.metal3.io/paused': '' });
    const { warnings } = world.start();
    await world.ask('n1');
    await world.pass(2 * MINUTE_MS);
    expect(warnings.join()).toContain('BareMetalHost host-n1 is not switched off: annotation baremetalhost.metal3.io/paused');
    expect(await isHeld()).toBe(false);
  });

  it('ends with the next look when another controller obeys the same annotation', async () => {
    world = await ShellWorld.create();
    const { remediation } = world.start();
    await world.pass(30 * SECOND_MS);
    expect(remediation.reflectors.map(({ name }) => name)).toEqual(['machines.cluster.x-k8s.io', 'baremetalhosts.metal3.io']);
    const renewTime = new Date(world.clock.wallMs()).toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: 'capbm-1', leaseDurationSeconds: 15, renewTime };
    await world.operator.create(LEASES, { metadata: { name: 'controller-leader-election-capbm', namespace: 'default' }, spec });
    await world.pass(20 * SECOND_MS);
    expect(remediation.reflectors).toEqual([]);
    await world.ask('n1');
    await world.pass(MINUTE_MS);
    expect(await world.left('n1')).toEqual([REQUEST]);
  });
});

describe('a controller of Machines that dies', { timeout: 120_000 }, () => {
  /** Its writes after the first `count` are lost, or the last one is done and never answered; then it is gone, and another leads. */
  async function dies(count: number, lastFate: 'lost' | 'unanswered', choice: 'incident' | 'seed-table'): Promise<{ isOver: boolean }> {
    const first = await failed({ choice, fate: (_write, number) => (number < count ? 'done' : number === count ? lastFate : 'lost') });
    world.hardware('n1').isBroken = false;
    for (let tries = 0; tries < 90 && first.writes.length < count; tries += 1) await world.pass(SECOND_MS);
    const isOver = first.writes.length < count;
    first.leadership.isLeading = false;
    await first.close();
    await world.pass(20 * SECOND_MS);
    world.start({ choice });
    await world.pass(8 * MINUTE_MS);
    return { isOver };
  }

  it.each([
    ['incident', 'lost'],
    ['incident', 'unanswered'],
    ['seed-table', 'lost'],
    ['seed-table', 'unanswered'],
  ] as const)('in mode %s at any of its writes (%s) leaves no host off, no mark and no lock: its successor ends it', async (choice, lastFate) => {
    let count = 1;
    for (let isOver = false; !isOver; count += 1) {
      ({ isOver } = await dies(count, lastFate, choice));
      const words = `write ${count} ${lastFate}`;
      expect(world.hardware('n1'), words).toMatchObject({ isOn: true, offs: 1 });
      expect(await world.left('n1'), words).toEqual([]);
      expect(await world.holder('n1'), words).toBeUndefined();
      expect({ ...(await world.node('n1'))?.metadata.labels }, words).toMatchObject(choice === 'incident' ? { zone: 'a' } : {});
      await world.end();
    }
    expect(count).toBeGreaterThan(choice === 'incident' ? 8 : 4);
  });
});
