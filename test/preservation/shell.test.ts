import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CORDON_MARK, NODE_EXPIRY, PRESERVE, PRESERVED_TAINT, REQUEST_MARK, SCALE_DOWN_DISABLED } from '../../src/controllers/preservation/names.ts';
import { MACHINE_SETS } from '../../src/ports/machines.ts';
import { NODES, NODE_FENCE_STOPS, PODS } from '../../src/ports/resources.ts';
import { BUDGETS, DEFINITIONS, NAMESPACE, ShellWorld } from './shell-world.ts';
import type { Replica } from './shell-world.ts';

const MINUTE_MS = 60_000;
const NODE = 'node-of-m1';

let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

/** How a machine and its node stand. */
async function stand(name = 'm1'): Promise<Record<string, unknown>> {
  const machine = await world.machine(name);
  const { metadata, spec, status } = await world.node(`node-of-${name}`);
  const condition = status.conditions?.find(({ type }) => type === 'Preserved');
  return {
    phase: machine?.status?.currentStatus?.phase,
    hasExpiry: machine?.status?.currentStatus?.preserveExpiryTime !== undefined,
    value: metadata.annotations?.[PRESERVE] ?? machine?.metadata.annotations?.[PRESERVE],
    shielded: metadata.annotations?.[SCALE_DOWN_DISABLED],
    cordoned: spec.unschedulable === true,
    tainted: spec.taints?.some(({ key }) => key === PRESERVED_TAINT) === true,
    condition: condition && `${condition.status} ${condition.reason ?? ''}`,
  };
}

const podNames = async (): Promise<string[]> => (await world.nodes.operator.list(PODS)).map(({ metadata }) => metadata.name).sort();

describe('the preservation controller in own mode', () => {
  it('preserves a running machine by now until its time is over, and then leaves nothing behind', async () => {
    await world.add('m1', { node: { [PRESERVE]: 'now' } });
    const { controller, events } = world.start();
    await world.pass(2_000);
    expect(await stand()).toEqual({
      phase: 'Running',
      hasExpiry: true,
      value: 'now',
      shielded: 'true',
      cordoned: false,
      tainted: false,
      condition: 'True Preserved by user.',
    });
    expect(controller.guardOf(NODE)).toMatchObject({ guard: 'never-fence', cause: 'user' });
    expect(controller.isPreserved(NODE)).toBe(true);
    expect(controller.views()).toMatchObject([{ name: 'm1', phase: 'Running:Preserved', isPreserved: true }]);
    expect(events).toContain('Machine m1 Normal PreservationStarted');
    await world.pass(10 * MINUTE_MS, 5_000);
    expect(await stand()).toMatchObject({
      phase: 'Running',
      hasExpiry: false,
      value: undefined,
      shielded: undefined,
      condition: 'False Preservation stopped.',
    });
    expect(controller.guardOf(NODE)).toBeUndefined();
    expect(controller.problems()).toEqual([]);
  });

  it('cordons, drains and keeps a failed machine, and lets it work again when it recovers', async () => {
    await world.add('m1', { phase: 'Failed', ready: 'False', machine: { [PRESERVE]: 'when-failed' } });
    await world.addPod('web', NODE);
    await world.addPod('daemon', NODE, { isDaemon: true });
    await world.addPod('elsewhere', 'another');
    const { controller } = world.start();
    await world.pass(5_000);
    expect(await stand()).toMatchObject({
      phase: 'Failed',
      hasExpiry: true,
      shielded: 'true',
      cordoned: true,
      tainted: true,
      condition: 'True Preserved by user.',
    });
    expect(await podNames()).toEqual(['daemon', 'elsewhere']);
    expect(controller.guardOf(NODE)).toMatchObject({ guard: 'isolate-and-hold' });
    await world.ready(NODE, 'True');
    await world.pass(3_000);
    expect(await stand()).toMatchObject({
      phase: 'Running',
      hasExpiry: false,
      shielded: undefined,
      cordoned: false,
      tainted: false,
      condition: 'False Preservation stopped.',
    });
  });

  it('waits for a budget, tells of it, and goes on when the budget lets the pod go', async () => {
    await world.add('m1', { phase: 'Failed', ready: 'False', machine: { [PRESERVE]: 'when-failed' } });
    await world.addPod('web', NODE, { isBudgeted: true });
    const { writes } = world.start();
    await world.pass(45_000);
    expect(await podNames()).toEqual(['web']);
    expect(writes.filter((write) => write.endsWith('/eviction'))).toHaveLength(3);
    await world.nodes.operator.mergePatch(BUDGETS, 'web', { spec: { minAvailable: 0 } }, { namespace: 'default' });
    await world.pass(30_000);
    expect(await podNames()).toEqual([]);
    expect(await stand()).toMatchObject({ condition: 'True Preserved by user.' });
  });

  it('ends a drain that has lost its reason: nothing is evicted after the machine has recovered', async () => {
    await world.add('m1', { phase: 'Failed', ready: 'False', machine: { [PRESERVE]: 'when-failed' } });
    await world.addPod('web', NODE, { isBudgeted: true });
    const { writes } = world.start();
    await world.pass(5_000);
    await world.ready(NODE, 'True');
    await world.pass(2_000);
    const before = writes.filter((write) => write.endsWith('/eviction')).length;
    expect(before).toBe(1);
    await world.pass(MINUTE_MS);
    expect(writes.filter((write) => write.endsWith('/eviction'))).toHaveLength(before);
    expect(await podNames()).toEqual(['web']);
  });

  it('preserves automatically within the maximum of the pool, and terminates the other on proof', async () => {
    await world.machines.operator.create(MACHINE_SETS, {
      metadata: { name: 's', namespace: NAMESPACE },
      spec: { replicas: 2, autoPreserveFailedMachineMax: 1 },
    });
    await world.add('m1', { phase: 'Failed', ready: 'False', set: 's' });
    await world.pass(2_000);
    await world.add('m2', { phase: 'Failed', ready: 'False', set: 's' });
    world.start();
    await world.pass(5_000);
    expect(await stand('m2')).toMatchObject({ phase: 'Failed', hasExpiry: true, value: 'auto-preserve', condition: 'True Preserved by MCM.' });
    expect(await stand('m1')).toMatchObject({ phase: 'Terminating', hasExpiry: false, value: undefined });
    const { spec } = (await world.fence(NODE)) ?? {};
    expect(spec).toMatchObject({ node: NODE, ending: 'off', requestedBy: { kind: 'Machine', name: 'm1', namespace: NAMESPACE } });
    await world.pass(20_000);
    expect(await world.machine('m1')).toBeDefined();
    await world.fenced(NODE);
    await world.pass(3_000);
    expect(await world.machine('m1')).toBeUndefined();
    expect(await world.machine('m2')).toBeDefined();
    const set = await world.machines.operator.get(MACHINE_SETS, 's', NAMESPACE);
    expect(set).toMatchObject({ status: { autoPreserveFailedMachineCount: 1, preservedFailedReplicas: 1 } });
  });

  it('does not take the proof of an earlier boot for one of this', async () => {
    await world.add('m1', { phase: 'Terminating', ready: 'Unknown' });
    await world.fenced(NODE);
    await world.nodes.operator.mergePatch(NODES, NODE, { status: { nodeInfo: { bootID: 'boot-2' } } }, { subresource: 'status' });
    world.start();
    await world.pass(10_000);
    expect(await world.machine('m1')).toBeDefined();
    expect((await world.fence(NODE))?.spec).toMatchObject({ ending: 'off', requestedBy: { name: 'm1' } });
  });

  it('takes no pod by force while a person’s stop stands, whatever is proven', async () => {
    await world.add('m1', { phase: 'Failed', ready: 'Unknown', machine: { [PRESERVE]: 'when-failed' }, timeout: '1h' });
    await world.addPod('web', NODE, { isBudgeted: true });
    await world.fenced(NODE);
    await world.nodes.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'halt' }, spec: { node: NODE, reason: 'look first' } });
    const { writes, controller } = world.start();
    await world.pass(12 * MINUTE_MS, 2_000);
    expect(writes.filter((write) => write.startsWith('DELETE'))).toEqual([]);
    expect(controller.problems().join()).toContain('look first');
  });

  it('deletes no Machine and forces no drain while a person’s stop stands', async () => {
    await world.add('m1', { phase: 'Terminating', ready: 'Unknown' });
    await world.fenced(NODE);
    await world.nodes.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'halt' }, spec: { all: true, reason: 'look first' } });
    const { controller } = world.start();
    await world.pass(5_000);
    expect(await world.machine('m1')).toBeDefined();
    expect(controller.problems().join()).toContain('look first');
    await world.nodes.operator.remove(NODE_FENCE_STOPS, 'halt');
    await world.pass(MINUTE_MS);
    expect(await world.machine('m1')).toBeUndefined();
  });

  it('takes pods by force only on the proof of a fence', async () => {
    await world.add('m1', { phase: 'Failed', ready: 'Unknown', machine: { [PRESERVE]: 'when-failed' }, timeout: '1h' });
    await world.addPod('web', NODE, { isBudgeted: true });
    const { writes } = world.start();
    await world.pass(6 * MINUTE_MS, 2_000);
    expect(writes.filter((write) => write.startsWith('DELETE'))).toEqual([]);
    await world.fenced(NODE);
    await world.pass(6 * MINUTE_MS, 2_000);
    expect(writes).toContain('DELETE /api/v1/namespaces/default/pods/web');
    expect(await podNames()).toEqual([]);
  });

  it('leaves a node alone for as long as its fence is open, but for the bound of the hold', async () => {
    await world.add('m1', { ready: 'Unknown', machine: { [PRESERVE]: 'when-failed' } });
    await world.fenced(NODE, 'running', 'none');
    const { writes } = world.start();
    await world.pass(20_000);
    expect(await stand()).toMatchObject({ phase: 'Failed', hasExpiry: true, cordoned: false, tainted: false });
    expect(writes.filter((write) => write.includes('/nodes/'))).toEqual([]);
  });

  it('keeps a Node without a Machine, with its expiry in an annotation', async () => {
    await world.addNode('plain', { node: { [PRESERVE]: 'now' } });
    world.start();
    await world.pass(2_000);
    expect((await world.node('plain')).metadata.annotations).toMatchObject({
      [NODE_EXPIRY]: expect.any(String) as string,
      [SCALE_DOWN_DISABLED]: 'true',
    });
  });

  it('leaves the cordon of somebody else alone', async () => {
    await world.add('m1', { phase: 'Failed', ready: 'False', machine: { [PRESERVE]: 'when-failed' } });
    await world.nodes.operator.mergePatch(NODES, NODE, { spec: { unschedulable: true } });
    world.start();
    await world.pass(5_000);
    expect((await world.node(NODE)).metadata.annotations?.[CORDON_MARK]).toBeUndefined();
    await world.ready(NODE, 'True');
    await world.pass(5_000);
    expect(await stand()).toMatchObject({ phase: 'Running', cordoned: true, tainted: false });
  });
});

describe('who writes', () => {
  it('a replica that does not lead writes nothing and knows the guards; it goes on when it leads', async () => {
    await world.add('m1', { node: { [PRESERVE]: 'now' } });
    const replica = world.start({ isLeading: false });
    await world.pass(5_000);
    expect(replica.writes).toEqual([]);
    expect(replica.controller.guardOf(NODE)).toMatchObject({ guard: 'never-fence' });
    replica.leadership.isLeading = true;
    replica.controller.wake();
    await world.pass(2_000);
    expect(await stand()).toMatchObject({ hasExpiry: true });
  });

  it('one that is to touch nothing decides, shows, and writes nothing', async () => {
    await world.add('m1', { node: { [PRESERVE]: 'now' } });
    const { writes, controller } = world.start({ enforce: false });
    await world.pass(5_000);
    expect(writes).toEqual([]);
    expect(controller.guardOf(NODE)).toMatchObject({ guard: 'never-fence' });
  });

  it('beside a real MCM nothing is written but the request while a fence is open, and that is taken back', async () => {
    await world.add('m1', { ready: 'Unknown' });
    await world.add('m2', { phase: 'Failed', ready: 'False', node: { [PRESERVE]: 'now' } });
    const { writes } = world.start({ mode: 'observe' });
    await world.pass(5_000);
    expect(writes).toEqual([]);
    await world.fenced(NODE, 'running', 'none');
    await world.pass(2_000);
    expect((await world.node(NODE)).metadata.annotations).toMatchObject({ [PRESERVE]: 'when-failed', [REQUEST_MARK]: expect.any(String) as string });
    await world.fenced(NODE, 'final');
    await world.pass(2_000);
    expect((await world.node(NODE)).metadata.annotations?.[PRESERVE]).toBeUndefined();
    expect(writes).toEqual([`PATCH /api/v1/nodes/${NODE}`, `PATCH /api/v1/nodes/${NODE}`]);
  });

  it('turns from own to observe with the next write', async () => {
    await world.add('m1', { phase: 'Failed', ready: 'False', machine: { [PRESERVE]: 'when-failed' } });
    const replica = world.start();
    replica.fate = (_write, number) => {
      if (number === 2)
        replica.controller.configure({ mode: 'observe', hasExpiryField: true, spelling: 'auto-preserved', requestsWhenFailed: true, enforce: true });
      return 'done';
    };
    await world.pass(30_000);
    expect(replica.writes).toHaveLength(2);
    expect(replica.problems).toEqual([]);
  });
});

describe('what goes wrong', () => {
  /** Somebody does this in the moment in which the controller sends its write number `number`; what he is answered then. */
  function meanwhile(replica: Replica, number: number, method: 'PATCH' | 'POST', path: string, body: object): number[] {
    const statuses: number[] = [];
    replica.fate = (_write, sent) => {
      if (sent !== number) return 'done';
      const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const user = world.nodes.server.userByName('admin');
      const { status } = world.nodes.server.handle({
        method,
        path,
        query: {},
        user,
        body: body as never,
        contentType,
        accept: 'application/json',
        userAgent: 'x',
      });
      statuses.push(status);
      return 'done';
    };
    return statuses;
  }

  it('somebody else writes first: nothing of his is overwritten, and it is decided anew', async () => {
    await world.add('m1', { node: { [PRESERVE]: 'now' } });
    const replica = world.start();
    const statuses = meanwhile(replica, 2, 'PATCH', `/api/v1/nodes/${NODE}`, { metadata: { annotations: { [PRESERVE]: 'false' } } });
    await world.pass(10_000);
    expect(statuses).toEqual([200]);
    expect(await stand()).toMatchObject({ value: 'false', hasExpiry: false, shielded: undefined, condition: 'False Preservation stopped.' });
  });

  it('what is written about a Node ends when its Machine says something else meanwhile', async () => {
    await world.add('m1', { machine: { [PRESERVE]: 'now' } });
    const replica = world.start();
    const path = `/apis/machine.sapcloud.io/v1alpha1/namespaces/${NAMESPACE}/machines/m1`;
    const statuses = meanwhile(replica, 2, 'PATCH', path, { metadata: { annotations: { [PRESERVE]: 'false' } } });
    await world.pass(10_000);
    expect(statuses).toEqual([200]);
    expect(replica.bodies.filter((body) => body.includes('Preserved by user'))).toEqual([]);
    expect(await stand()).toMatchObject({ value: 'false', hasExpiry: false, shielded: undefined });
  });

  it('what is written about a Node ends when a fence of it opens meanwhile', async () => {
    await world.add('m1', { phase: 'Failed', ready: 'Unknown', machine: { [PRESERVE]: 'when-failed' } });
    const replica = world.start();
    const fence = { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFence', metadata: { name: `node-fence-${NODE}` }, spec: { node: NODE } };
    const statuses = meanwhile(replica, 2, 'POST', '/apis/ha.k8s.io/v1/nodefences', fence);
    await world.pass(20_000);
    expect(statuses).toEqual([201]);
    expect(replica.writes).toHaveLength(2);
    expect(await stand()).toMatchObject({ phase: 'Failed', hasExpiry: true, cordoned: false, tainted: false });
  });

  it('every change names the object and the version that it was decided for', async () => {
    await world.add('m1', { phase: 'Failed', ready: 'False', node: { [PRESERVE]: 'when-failed' } });
    const { writes, bodies } = world.start();
    await world.pass(5_000);
    const changes = bodies
      .filter((_body, index) => writes[index]?.startsWith('PATCH') === true)
      .map((body) => JSON.parse(body) as { metadata: object });
    expect(changes.length).toBeGreaterThan(4);
    for (const { metadata } of changes) expect(Object.keys(metadata)).toEqual(expect.arrayContaining(['uid', 'resourceVersion']));
  });

  it('an API server that refuses is told of once, asked again later and later, and obeyed when it agrees', async () => {
    await world.add('m1', { node: { [PRESERVE]: 'now' } });
    const replica = world.start({ fate: () => 'lost' });
    await world.pass(MINUTE_MS);
    expect(replica.writes.length).toBeGreaterThan(3);
    expect(replica.writes.length).toBeLessThan(9);
    expect(replica.problems.filter((problem) => problem.startsWith('actions failed'))).toHaveLength(1);
    expect(replica.controller.problems().join()).toContain('no way there');
    replica.fate = () => 'done';
    await world.pass(2 * MINUTE_MS);
    expect(await stand()).toMatchObject({ hasExpiry: true, shielded: 'true' });
    expect(replica.controller.problems()).toEqual([]);
  });

  it('a watch that is silent too long ends all writes, also those whose time has come, and says so', async () => {
    await world.add('m1', { node: { [PRESERVE]: 'now' }, timeout: '3m' });
    const replica = world.start();
    await world.pass(2_000);
    expect(await stand()).toMatchObject({ hasExpiry: true });
    replica.deafen();
    const before = replica.writes.length;
    await world.pass(5 * MINUTE_MS, 5_000);
    expect(replica.controller.problems().join()).toContain('are stale');
    expect(replica.writes).toHaveLength(before);
  });

  it('Machines that are not heard leave a guard unknown for a bounded time; what the Node shows counts at once', async () => {
    const isSplit = await ShellWorld.create({ isSplit: true });
    await isSplit.addNode('shown', { ready: 'False', node: { [PRESERVE]: 'now' } });
    await isSplit.addNode('refused', { ready: 'False', node: { [PRESERVE]: 'false' } });
    await isSplit.addNode('silent', { ready: 'False' });
    const { operator } = isSplit.machines;
    await operator.remove(DEFINITIONS, 'machines.machine.sapcloud.io');
    const { controller, writes } = isSplit.start();
    const told: string[] = [];
    controller.onChange((nodes) => void told.push(...nodes));
    expect(controller.guardOf('silent')).toBe('unknown');
    await isSplit.pass(5_000);
    expect(controller.guardOf('shown')).toMatchObject({ guard: 'isolate-and-hold' });
    expect(controller.guardOf('refused')).toBeUndefined();
    expect(controller.guardOf('silent')).toBe('unknown');
    // One list of them that is never answered takes 30 s.
    await isSplit.pass(30_000);
    expect(controller.guardOf('silent')).toBe('unknown');
    told.length = 0;
    await isSplit.pass(15_000);
    expect(controller.guardOf('silent')).toBeUndefined();
    expect(told).toContain('silent');
    expect(writes).toEqual([]);
    expect(controller.problems().join()).toContain('the API server has not listed Machine: ');
    await isSplit.end();
  });
});
