import { afterEach, describe, expect, it } from 'vitest';
import { FENCE_STATUS } from './fence.ts';
import { fenceName } from '../../src/domain/node-fence.ts';
import { LEASES, NODE_FENCE_STOPS, NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import type { BothConditionLists } from '../../src/ports/cluster-api.ts';
import { DEFINITIONS, REQUESTS } from './definitions.ts';
import { checkObject, NAMESPACE, NOW_MS, requestObject } from './objects.ts';
import { CHECKS, CLUSTERS, FixedWorkload, LEASE_NAMESPACE, MACHINES, ShellWorld, workloadOf } from './shell-world.ts';

const SLOW = 60_000;
let world: ShellWorld;

async function begin(): Promise<ShellWorld> {
  world = await ShellWorld.create();
  return world;
}

afterEach(async () => {
  await world.end();
});

describe('a machine whose node has failed', { timeout: SLOW }, () => {
  it('gets a request made of the template, which goes when the machine is healthy again', async () => {
    await begin();
    await world.template();
    await world.check('check', { template: true });
    await world.add('m1', { unreadySeconds: 400 });
    await world.add('m2');
    const { writes, events } = world.start();
    await world.pass(2_000);
    const request = await world.request('m1');
    expect(request).toMatchObject({ spec: { strategy: 'escalate' }, metadata: { ownerReferences: [{ kind: 'Machine', name: 'm1' }] } });
    expect(await world.request('m2')).toBeUndefined();
    expect(await world.conditions(MACHINES, 'm1')).toEqual([
      'HealthCheckSucceeded=False/UnhealthyNode',
      'ExternallyRemediated=False/WaitingForRemediation',
    ]);
    expect(events).toContain('Machine m1 Normal MachineMarkedUnhealthy');
    expect(writes.filter((write) => write.startsWith('POST'))).toHaveLength(1);

    await world.ready('m1', 'True');
    await world.pass(20_000);
    expect(await world.request('m1')).toBeUndefined();
    expect(await world.conditions(MACHINES, 'm1')).toEqual(['HealthCheckSucceeded=True/HealthCheckSucceeded']);
    const settled = writes.length;
    await world.pass(180_000, 5_000);
    expect(writes).toHaveLength(settled);
  });

  it('is handed to its owner where there is no template, in the conditions that Cluster API reads', async () => {
    await begin();
    await world.check();
    await world.add('m1', { unreadySeconds: 400 });
    world.start();
    await world.pass(2_000);
    expect(await world.conditions(MACHINES, 'm1')).toEqual([
      'HealthCheckSucceeded=False/UnhealthyNode',
      'OwnerRemediated=False/WaitingForRemediation',
    ]);
    const { deprecated } = (await world.machine('m1'))?.status as BothConditionLists;
    expect(deprecated?.v1beta1?.conditions?.map(({ type }) => type)).toEqual(['HealthCheckSucceeded']);
    expect((await world.operator.get(CHECKS, 'check', NAMESPACE))?.status).toMatchObject({ expectedMachines: 1, currentHealthy: 0 });
  });

  it('is found when its time is over, though nothing changes then', async () => {
    await begin();
    await world.check();
    await world.add('m1', { unreadySeconds: 290 });
    const { events } = world.start();
    await world.pass(5_000);
    expect(events).toContain('Machine m1 Normal DetectedUnhealthy');
    expect(await world.conditions(MACHINES, 'm1')).toEqual([]);
    await world.pass(10_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain('OwnerRemediated=False/WaitingForRemediation');
    expect(events.filter((event) => event.includes('DetectedUnhealthy'))).toHaveLength(1);
  });

  it('is left alone while too many are unhealthy, and remediated when one of them has recovered', async () => {
    await begin();
    await world.check('check', { more: { triggerIf: { unhealthyLessThanOrEqualTo: 1 } } });
    await world.add('m1', { unreadySeconds: 400 });
    await world.add('m2', { unreadySeconds: 400 });
    const { events } = world.start();
    await world.pass(2_000);
    expect(await world.conditions(MACHINES, 'm1')).toEqual(['HealthCheckSucceeded=False/UnhealthyNode']);
    expect(await world.conditions(CHECKS, 'check')).toContain('RemediationAllowed=False/TooManyUnhealthy');
    expect(events).toContain('MachineHealthCheck check Warning RemediationRestricted');
    await world.ready('m2', 'True');
    await world.pass(20_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain('OwnerRemediated=False/WaitingForRemediation');
  });

  it.each(['the check', 'the cluster'])('is not looked at while %s is paused', async (which) => {
    await begin();
    await world.check();
    if (which === 'the check') await world.annotate(CHECKS, 'check', { 'cluster.x-k8s.io/paused': '' });
    else await world.operator.mergePatch(CLUSTERS, 'c1', { spec: { paused: true } }, { namespace: NAMESPACE });
    await world.add('m1', { unreadySeconds: 400 });
    world.start();
    await world.pass(5_000);
    expect(await world.conditions(MACHINES, 'm1')).toEqual([]);
    expect(await world.conditions(CHECKS, 'check')).toEqual(['Paused=True/Paused']);
    await world.annotate(CHECKS, 'check', { 'cluster.x-k8s.io/paused': null });
    await world.operator.mergePatch(CLUSTERS, 'c1', { spec: { paused: false } }, { namespace: NAMESPACE });
    await world.pass(5_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain('OwnerRemediated=False/WaitingForRemediation');
  });

  it('waits while a fence has its node, and is asked for when the fence is over', async () => {
    await begin();
    await world.template();
    await world.check('check', { template: true });
    await world.add('m1', { unreadySeconds: 400 });
    const name = fenceName('node-of-m1');
    const fence = await world.operator.create(NODE_FENCES, { metadata: { name }, spec: { node: 'node-of-m1' } });
    const { controller, events } = world.start();
    await world.pass(5_000);
    expect(await world.request('m1')).toBeUndefined();
    expect(controller.views()[0]?.waiting).toMatchObject([{ machine: 'm1', why: 'its node belongs to the fence controller' }]);
    expect(events).toContain('Machine m1 Normal RemediationBlocked');
    await world.operator.replaceStatus(NODE_FENCES, { ...fence, status: FENCE_STATUS });
    await world.pass(20_000);
    expect(await world.request('m1')).toBeDefined();
  });

  it.each([
    ['a person’s maintenance', 'node-maintenance'],
    ['a health check of medik8s', 'NodeHealthCheck-nhc'],
    ['a remediator without a fence', 'nodefence-machine-remediation'],
  ])('waits while %s has its node by its lease, says so, and is asked for when that is deleted', async (_who, holder) => {
    await begin();
    await world.template();
    await world.check('check', { template: true });
    await world.add('m1', { unreadySeconds: 400 });
    await world.lease('m1', holder);
    const { controller, events } = world.start();
    await world.pass(5_000);
    expect(await world.request('m1')).toBeUndefined();
    const words = `Lease medik8s-leases/node-node-of-m1 of ${holder}`;
    expect(controller.views()[0]?.waiting).toEqual([{ machine: 'm1', why: `its node belongs to ${words}`, holder: words }]);
    expect(events.filter((event) => event === 'Machine m1 Normal RemediationBlocked')).toHaveLength(1);
    await world.operator.remove(LEASES, 'node-node-of-m1', { namespace: LEASE_NAMESPACE });
    await world.pass(5_000);
    expect(await world.request('m1')).toBeDefined();
  });

  it('waits for a lease no longer than that lasts from our own first sight of it, and not at all for the fence controller’s own', async () => {
    await begin();
    await world.template();
    await world.check('check', { template: true });
    for (const name of ['m1', 'm2']) await world.add(name, { unreadySeconds: 400 });
    await world.lease('m1', 'node-maintenance', 60);
    await world.lease('m2', 'nodefence');
    world.start();
    await world.pass(50_000);
    expect(await world.request('m2')).toBeDefined();
    expect(await world.request('m1')).toBeUndefined();
    await world.pass(20_000);
    expect(await world.request('m1')).toBeDefined();
  });
});

describe('a stop of a person', { timeout: SLOW }, () => {
  it.each([{ all: true }, { node: 'node-of-m1' }])('holds what would take a machine down, and no longer than it stands: %j', async (scope) => {
    await begin();
    await world.check();
    await world.add('m1', { unreadySeconds: 400 });
    const reason = 'a look at the cables';
    await world.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'stop' }, spec: { ...scope, reason } });
    const { controller } = world.start();
    await world.pass(10_000);
    expect(await world.conditions(MACHINES, 'm1')).toEqual([]);
    expect(controller.problems().join()).toContain('a look at the cables');
    await world.operator.remove(NODE_FENCE_STOPS, 'stop');
    await world.pass(61_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain('OwnerRemediated=False/WaitingForRemediation');
  });
});

describe('the leader alone', { timeout: SLOW }, () => {
  it('writes: a replica that does not lead watches, decides and writes nothing', async () => {
    await begin();
    await world.check();
    await world.add('m1', { unreadySeconds: 400 });
    const standby = world.start({ isLeading: false });
    await world.pass(10_000);
    expect(standby.writes).toEqual([]);
    expect(standby.events).toEqual([]);
    expect(standby.controller.views()[0]).toMatchObject({ expectedMachines: 1, failed: 1 });
    standby.leadership.isLeading = true;
    standby.controller.wake();
    await world.pass(1_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain('OwnerRemediated=False/WaitingForRemediation');
  });

  it('sends nothing that it decided upon while it led: its Lease ended while the write was on its way', async () => {
    await begin();
    await world.check();
    await world.add('m1', { unreadySeconds: 400 });
    const replica = world.start();
    let onTheWay = 0;
    replica.onTheWay = () => {
      onTheWay += 1;
      replica.leadership.isLeading = false;
    };
    await world.pass(10_000);
    expect(onTheWay, 'something was to be written').toBeGreaterThan(0);
    expect(replica.writes).toEqual([]);
  });

  it('writes nothing where the program observes', async () => {
    await begin();
    await world.check();
    await world.add('m1', { unreadySeconds: 400 });
    const { writes } = world.start({ enforce: false });
    await world.pass(10_000);
    expect(writes).toEqual([]);
  });

  it('writes nothing while its watches are silent', async () => {
    await begin();
    await world.check();
    await world.add('m1', { unreadySeconds: 0 });
    const replica = world.start();
    await world.pass(2_000);
    replica.isDeaf = (path) => path.includes('/machines');
    const before = replica.writes.length;
    await world.pass(700_000, 5_000);
    expect(replica.writes.slice(before).filter((write) => write.includes('/machines/'))).toEqual([]);
    expect(replica.controller.problems().join()).toContain('are stale');
  });
});

describe('a failure that only a late watch shows', { timeout: SLOW }, () => {
  it('is no failure: a Node that has come since is read before anything is said of its machine', async () => {
    await begin();
    await world.check();
    await world.add('m0');
    const replica = world.start();
    await world.pass(2_000);
    replica.isDeaf = (path) => path === '/api/v1/nodes';
    await world.add('m1');
    await world.pass(10_000);
    expect(await world.conditions(MACHINES, 'm1')).toEqual([]);
  });

  it('is one when the Node is gone in a consistent read as well', async () => {
    await begin();
    await world.check();
    await world.add('m1');
    world.start();
    await world.pass(2_000);
    await world.operator.remove(NODES, 'node-of-m1');
    await world.pass(2_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain('HealthCheckSucceeded=False/NodeDeleted');
  });
});

describe('what is refused', { timeout: SLOW }, () => {
  it('is told in the condition and tried again, and forgotten when it is taken', async () => {
    await begin();
    await world.template();
    await world.check('check', { template: true });
    await world.add('m1', { unreadySeconds: 400 });
    const definition = await world.operator.get(DEFINITIONS, 'powercycles.remediation.example.io');
    const versions = (strategy: string): object[] => {
      const [version] = (definition as unknown as { spec: { versions: object[] } }).spec.versions;
      const text = JSON.stringify(version).replace(
        '"spec":{"type":"object"',
        `"spec":{"type":"object","properties":{"strategy":{"type":"${strategy}"}}`,
      );
      return [JSON.parse(text) as object];
    };
    await world.operator.mergePatch(DEFINITIONS, 'powercycles.remediation.example.io', { spec: { versions: versions('integer') } });
    const replica = world.start();
    await world.pass(30_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain('ExternallyRemediated=False/RemediationRequestCreationFailed');
    expect(await world.request('m1')).toBeUndefined();
    expect(replica.problems.filter((problem) => problem.startsWith('actions failed'))).toHaveLength(1);
    await world.operator.mergePatch(DEFINITIONS, 'powercycles.remediation.example.io', { spec: { versions: versions('string') } });
    await world.pass(120_000);
    expect(await world.request('m1')).toBeDefined();
    expect(await world.conditions(MACHINES, 'm1')).toContain('ExternallyRemediated=False/WaitingForRemediation');
  });

  it('is not tried over and over by two who undo each other: an object is written to three times at once, and then every 15 s', async () => {
    await begin();
    await world.check();
    await world.add('m1', { unreadySeconds: 400 });
    const { writes } = world.start();
    for (let second = 0; second < 60; second += 1) {
      await world.operator.mergePatch(MACHINES, 'm1', { status: { conditions: [] } }, { namespace: NAMESPACE, subresource: 'status' });
      await world.pass(1_000);
    }
    const tries = writes.filter((write) => write.endsWith('/machines/m1/status')).length;
    expect(tries).toBeGreaterThanOrEqual(5);
    expect(tries).toBeLessThanOrEqual(8);
  });
});

describe('a crash or a lost answer', { timeout: SLOW }, () => {
  it.each(['lost', 'unanswered'] as const)('changes nothing of what it comes to, wherever a write is %s', async (how) => {
    for (let struck = 1; struck <= 5; struck += 1) {
      await begin();
      await world.template();
      await world.check('check', { template: true });
      await world.add('m1', { unreadySeconds: 400 });
      await world.add('m2');
      const first = world.start({ fate: (_write, number) => (number === struck ? how : number > struck ? 'lost' : 'done') });
      await world.pass(1_000);
      first.leadership.isLeading = false;
      await first.close();
      world.start();
      await world.pass(20_000);
      expect(await world.request('m1'), `struck at write ${struck}`).toBeDefined();
      expect(await world.operator.list(REQUESTS)).toHaveLength(1);
      expect(await world.conditions(MACHINES, 'm1')).toEqual([
        'HealthCheckSucceeded=False/UnhealthyNode',
        'ExternallyRemediated=False/WaitingForRemediation',
      ]);
      expect(await world.conditions(CHECKS, 'check')).toContain('RemediationAllowed=True/RemediationAllowed');
      await world.end();
    }
  });

  it('leaves a request of another Machine of the same name alone', async () => {
    await begin();
    await world.template();
    await world.check('check', { template: true });
    await world.add('m2');
    const foreign = requestObject('m2', { ownerUID: (await world.machine('m2'))?.metadata.uid ?? '' });
    await world.create(REQUESTS, { ...foreign, metadata: { ...foreign.metadata, name: 'm1' } });
    await world.add('m1');
    world.start();
    await world.pass(10_000);
    expect(await world.request('m1')).toBeDefined();
  });
});

describe('the Nodes of a workload cluster', { timeout: SLOW }, () => {
  it('are read through its kubeconfig; nothing is concluded while they can not be', async () => {
    await begin();
    await world.check();
    await world.add('m1');
    // What is called alike here is another Node.
    await world.ready('m1', 'Unknown', 400);
    const workloads = new FixedWorkload();
    const replica = world.start({ workloads });
    await world.pass(5_000);
    expect(await world.conditions(MACHINES, 'm1')).toEqual([]);
    expect(replica.controller.problems()).toContain('Nodes of Cluster default/c1 can not be read');
    const { site, nodes } = await workloadOf(world.clock, ['node-of-m1', 'node-of-m2']);
    workloads.show(nodes);
    await world.pass(2_000);
    expect(await world.conditions(MACHINES, 'm1')).toEqual(['HealthCheckSucceeded=True/HealthCheckSucceeded']);
    workloads.show('unreachable');
    await site.remove(NODES, 'node-of-m1');
    await world.pass(20_000);
    expect(await world.conditions(MACHINES, 'm1')).toEqual(['HealthCheckSucceeded=True/HealthCheckSucceeded']);
    workloads.show(nodes);
    await world.pass(20_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain('HealthCheckSucceeded=False/NodeDeleted');
  });

  it('are not looked for in this cluster when the kubeconfig is gone: that a Node is not here says nothing', async () => {
    await begin();
    await world.check();
    await world.add('m1');
    await world.operator.remove(NODES, 'node-of-m1');
    world.start();
    await world.pass(10_000);
    expect(await world.conditions(MACHINES, 'm1')).toEqual([]);
  });
});

describe('checks that come and go', { timeout: SLOW }, () => {
  it('are taken up and let go', async () => {
    await begin();
    await world.add('m1', { unreadySeconds: 400 });
    const { controller } = world.start();
    await world.pass(2_000);
    expect(controller.views()).toEqual([]);
    await world.check('late');
    await world.pass(2_000);
    expect(controller.views()).toHaveLength(1);
    await world.operator.remove(CHECKS, 'late', { namespace: NAMESPACE });
    await world.pass(2_000);
    expect(controller.views()).toEqual([]);
  });

  it('tell once what is wrong with them', async () => {
    await begin();
    const wrong = checkObject('wrong', { selector: {} });
    await world.create(CHECKS, wrong);
    const { problems } = world.start();
    await world.pass(130_000, 5_000);
    expect(problems.filter((problem) => problem.includes('selector'))).toHaveLength(1);
    expect(world.clock.wallMs()).toBeGreaterThan(NOW_MS);
  });
});
