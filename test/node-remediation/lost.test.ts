import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODES, SECRETS } from '../../src/ports/resources.ts';
import { MACHINES, NAMESPACE, ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const LABELS = { 'cluster.x-k8s.io/cluster-name': 'c' };
const LOST = 'there is no Secret that leads to the cluster of node n';
let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

function marks(machine: string): Record<string, string> {
  return { ...LABELS, 'cluster.x-k8s.io/cluster-namespace': NAMESPACE, 'cluster.x-k8s.io/machine': machine };
}

/** A request whose fence is under way here, by the word of its Node alone. */
async function fencing(strategy: 'fence-and-recover' | 'escalate' = 'fence-and-recover'): Promise<void> {
  await world.addNode('n', world.own, marks('m'));
  const owner = await world.addMachine('m', 'n', 'c');
  await world.request({ name: 'm', labels: LABELS, owner, spec: { strategy } });
  await world.pass(5 * SECOND_MS);
}

/** Its Node goes, and with it the fence, which the request lets go. */
async function nodeGone(): Promise<void> {
  await world.fenced('n', {});
  await world.own.operator.remove(NODES, 'n');
  await world.fenced('n', { state: 'final', outcome: 'node-gone', timeline: { finalAt: world.now() } });
  await world.pass(6 * SECOND_MS);
  await world.letGo('n');
}

async function processing(): Promise<string | undefined> {
  return (await world.found('m'))?.status?.conditions?.find(({ type }) => type === 'Processing')?.message;
}

async function withSecret(): Promise<void> {
  const data = { value: Buffer.from('the way to the workload cluster').toString('base64') };
  await world.own.operator.create(SECRETS, { metadata: { name: 'c-kubeconfig', namespace: NAMESPACE }, data });
}

describe('a request whose Node is gone', () => {
  it('and whose Cluster is here, as its other Nodes say, fails, and hands the Machine back', async () => {
    const { warnings, writes } = world.start();
    await world.addNode('other', world.own, marks('other'));
    await fencing('escalate');
    expect(await world.phase('m')).toBe('Fencing');
    await nodeGone();
    const asked = writes.filter((write) => write === 'POST /apis/ha.k8s.io/v1/nodefences').length;
    await world.pass(2 * MINUTE_MS);
    expect(await world.phase('m')).toBe('Failed');
    expect(await processing()).toBe('there is no node n');
    const machine = await world.own.operator.get(MACHINES, 'm', NAMESPACE);
    expect(machine?.status?.conditions).toMatchObject([{ type: 'OwnerRemediated', status: 'False' }]);
    expect(writes.filter((write) => write === 'POST /apis/ha.k8s.io/v1/nodefences')).toHaveLength(asked);
    expect(warnings.filter((warning) => warning.includes('no Secret'))).toEqual([]);
  });

  it('and was let go by a controller that crashed right after it, fails with its successor', async () => {
    const { close } = world.start();
    await world.addNode('other', world.own, marks('other'));
    await fencing();
    await world.own.operator.remove(NODES, 'n');
    await world.fenced('n', { state: 'final', outcome: 'node-gone', timeline: { finalAt: world.now() } });
    await world.pass(2 * SECOND_MS);
    await close();
    await world.letGo('n');
    world.start();
    await world.pass(2 * MINUTE_MS);
    expect(await world.phase('m')).toBe('Failed');
    await world.delete('m');
    await world.pass(MINUTE_MS);
    expect(await world.found('m')).toBeUndefined();
  });
});

describe('a request of which nobody knows in which cluster its node is', () => {
  it('waits without end, says so in its status and in one Event, and no work fails over and over', async () => {
    await world.addNode('n');
    const owner = await world.addMachine('m', 'n', 'c');
    const { events, warnings, writes } = world.start();
    await world.request({ name: 'm', labels: LABELS, owner, spec: { timeoutSeconds: 60 } });
    await world.pass(30 * MINUTE_MS);
    expect([await world.phase('m'), await processing()]).toEqual(['', LOST]);
    expect(events.filter((event) => event.includes(LOST))).toHaveLength(1);
    expect(warnings.filter((warning) => warning.includes(LOST))).toHaveLength(1);
    expect(warnings.filter((warning) => warning.includes('work failed'))).toEqual([]);
    expect(writes.filter((write) => write.includes('nodefences'))).toEqual([]);
  });

  it('has its whole time anew when the Secret is there again, and its fence is left alone till then', async () => {
    await withSecret();
    await world.addNode('n', world.workload);
    const owner = await world.addMachine('m', 'n', 'c');
    const { events } = world.start();
    await world.request({ name: 'm', labels: LABELS, owner, spec: { timeoutSeconds: 400 } });
    await world.pass(5 * SECOND_MS);
    await world.fenced('n', {}, world.workload);
    await world.pass(5 * SECOND_MS);
    await world.own.operator.remove(SECRETS, 'c-kubeconfig', { namespace: NAMESPACE });
    await world.pass(15 * MINUTE_MS);
    expect([await world.phase('m'), await processing()]).toEqual(['Fencing', LOST]);
    expect(events.filter((event) => event.includes('RemediationStalled'))).toHaveLength(1);
    await withSecret();
    await world.pass(6 * MINUTE_MS);
    expect([await world.phase('m'), await processing()]).toEqual(['Fencing', '']);
    expect((await world.fence('n', world.workload))?.metadata.deletionTimestamp).toBeUndefined();
  });

  it('keeps why its fence was withdrawn', async () => {
    const { warnings } = world.start();
    await fencing();
    await nodeGone();
    await world.pass(2 * MINUTE_MS);
    const told = { type: 'Processing', reason: 'FenceWithdrawn', message: 'its node is gone, and was not proven off' };
    expect((await world.found('m'))?.status?.conditions).toContainEqual(expect.objectContaining(told));
    expect(warnings.filter((warning) => warning.includes(LOST))).toHaveLength(1);
  });

  it('that is deleted keeps its finalizer, for its fence may be under way there, and says so', async () => {
    await withSecret();
    await world.addNode('n', world.workload);
    const owner = await world.addMachine('m', 'n', 'c');
    const { events } = world.start();
    await world.request({ name: 'm', labels: LABELS, owner });
    await world.pass(10 * SECOND_MS);
    await world.own.operator.remove(SECRETS, 'c-kubeconfig', { namespace: NAMESPACE });
    await world.delete('m');
    await world.pass(5 * MINUTE_MS);
    expect(await processing()).toBe(LOST);
    expect(events.filter((event) => event.includes(LOST))).toHaveLength(1);
    await withSecret();
    await world.pass(2 * MINUTE_MS);
    expect((await world.fence('n', world.workload))?.metadata.deletionTimestamp).toBeDefined();
  });
});
