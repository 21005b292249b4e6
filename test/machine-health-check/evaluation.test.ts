import { describe, expect, it } from 'vitest';
import { fleet, seedFleet, setNode } from './fleet.ts';
import { ago, checkObject, clusterObject, machineObject, nodeConditionsOf, NOW_MS } from './objects.ts';
import { World } from './world.ts';

const SUCCEEDED = 'HealthCheckSucceeded';
const CHECKS = {
  unhealthyNodeConditions: [
    { type: 'Ready', status: 'Unknown', timeoutSeconds: 300 },
    { type: 'DiskPressure', status: 'True', timeoutSeconds: 90 },
  ],
  unhealthyMachineConditions: [{ type: 'EtcdPodHealthy', status: 'False', timeoutSeconds: 3_600 }],
};

describe('a machine', () => {
  it('is unhealthy when its node meets a condition for longer than its timeout', () => {
    const world = fleet({ a: 'failed' });
    world.settle();
    expect(world.condition('a', SUCCEEDED)).toMatchObject({
      status: 'False',
      reason: 'UnhealthyNode',
      message: 'Health check failed:\n  * Condition Ready on Node is reporting status Unknown with reason SomeReason for more than 5m0s',
    });
  });

  it('is unhealthy when it has no node for longer than its startup timeout', () => {
    const world = fleet({ a: 'starting' });
    expect(world.decide().nextDueMs).toBe(NOW_MS + (600 - 60 + 1) * 1_000);
    world.pass(541);
    world.settle();
    expect(world.condition('a', SUCCEEDED)).toMatchObject({ reason: 'NodeStartupTimeout', message: expect.stringContaining('in 10m0s') as string });
  });

  it('is unhealthy when its node is not found', () => {
    const world = fleet({ a: 'gone' });
    world.settle();
    expect(world.condition('a', SUCCEEDED)).toMatchObject({ reason: 'NodeDeleted' });
  });

  it('with conditions of its own and of its node tells all of them, its own first', () => {
    const own = { type: 'EtcdPodHealthy', status: 'False' as const, reason: 'Crashed', lastTransitionTime: ago(4_000) };
    const node = [
      ...nodeConditionsOf('Unknown', 400, 'NodeStatusUnknown'),
      { type: 'DiskPressure', status: 'True', reason: 'Full', lastTransitionTime: ago(91) },
    ];
    const world = new World({
      checks: [checkObject('mhc', { checks: CHECKS })],
      clusters: [clusterObject()],
      machines: [machineObject('a', { conditions: [own] })],
      nodes: { 'node-of-a': node },
    });
    world.settle();
    const lines = [
      'Condition EtcdPodHealthy on Machine is reporting status False with reason Crashed for more than 1h0m0s',
      'Condition Ready on Node is reporting status Unknown with reason NodeStatusUnknown for more than 5m0s',
      'Condition DiskPressure on Node is reporting status True with reason Full for more than 1m30s',
    ];
    expect(world.condition('a', SUCCEEDED, 'v1beta2')).toMatchObject({
      reason: 'UnhealthyMachine',
      message: `Health check failed:\n${lines.map((line) => `  * ${line}`).join('\n')}`,
    });
    expect(world.condition('a', SUCCEEDED, 'v1beta1')).toMatchObject({ reason: 'UnhealthyMachine', severity: 'Warning', message: lines.join('; ') });
  });

  it('whose node is gone and that has conditions of its own tells both, in either list', () => {
    const own = { type: 'EtcdPodHealthy', status: 'False' as const, reason: 'Crashed', lastTransitionTime: ago(4_000) };
    const world = new World({
      checks: [checkObject('mhc', { checks: CHECKS })],
      clusters: [clusterObject()],
      machines: [machineObject('a', { conditions: [own] })],
    });
    world.settle();
    const crashed = 'Condition EtcdPodHealthy on Machine is reporting status False with reason Crashed for more than 1h0m0s';
    const gone = 'Node node-of-a has been deleted';
    expect(world.condition('a', SUCCEEDED, 'v1beta2')?.message).toBe(`Health check failed:\n  * ${crashed}\n  * ${gone}`);
    expect(world.condition('a', SUCCEEDED, 'v1beta1')).toMatchObject({ reason: 'UnhealthyMachine', message: `${crashed}; ${gone}` });
  });

  it.each([
    ['its creation', { ageSeconds: 500 }, {}],
    ['the control plane', { ageSeconds: 5_000 }, { controlPlaneInitialized: { is: true, ageSeconds: 500 } }],
    ['the infrastructure of its cluster', { ageSeconds: 5_000 }, { infrastructureReady: { is: true, ageSeconds: 500 } }],
    [
      'its own infrastructure',
      { ageSeconds: 5_000, conditions: [{ type: 'InfrastructureReady', status: 'True' as const, lastTransitionTime: ago(500) }] },
      {},
    ],
  ])('is given its startup timeout from %s on, where that was last', (_what, parts, cluster) => {
    const world = fleet({ a: 'starting' }, { parts: { a: parts }, clusters: [clusterObject(cluster)] });
    expect(world.decide().nextDueMs).toBe(NOW_MS + 101_000);
  });

  it('may take as long as it likes to get a node where the timeout is 0', () => {
    const checks = [checkObject('mhc', { checks: { nodeStartupTimeoutSeconds: 0 } })];
    const world = fleet({ a: 'starting' }, { checks, parts: { a: { ageSeconds: 1e6 } } });
    expect(world.settle()).toMatchObject({ views: [{ expectedMachines: 1, currentHealthy: 0, failed: 0 }] });
    expect(world.decide().nextDueMs).toBe(undefined);
  });

  it('is not judged before its control plane is initialized, unless it is of the control plane itself', () => {
    const clusters = [clusterObject({ controlPlaneInitialized: { is: false, ageSeconds: 100 } })];
    const world = fleet(
      { worker: 'gone', master: 'gone', marked: 'gone' },
      {
        clusters,
        parts: {
          master: { labels: { 'cluster.x-k8s.io/control-plane': '' } },
          marked: { annotations: { 'cluster.x-k8s.io/remediate-machine': '' } },
        },
      },
    );
    world.settle();
    expect(['worker', 'master', 'marked'].map((name) => world.condition(name, SUCCEEDED)?.reason)).toEqual([
      undefined,
      'NodeDeleted',
      'HasRemediateAnnotation',
    ]);
  });

  it('that is being deleted is counted, and never healthy', () => {
    const world = fleet({ a: 'well', b: 'well' }, { parts: { b: { isDeleting: true } } });
    world.settle();
    expect(world.status('mhc')).toMatchObject({ expectedMachines: 2, currentHealthy: 1, targets: ['a', 'b'] });
    expect(world.condition('b', SUCCEEDED)).toBe(undefined);
  });

  it.each(['cluster.x-k8s.io/paused', 'cluster.x-k8s.io/skip-remediation'])('with %s is no target', (annotation) => {
    const world = fleet({ a: 'well', b: 'failed' }, { parts: { b: { annotations: { [annotation]: '' } } } });
    world.settle();
    expect(world.status('mhc')).toMatchObject({ expectedMachines: 1, targets: ['a'] });
    expect(world.condition('b', SUCCEEDED)).toBe(undefined);
  });

  it('of another cluster, another namespace or other labels is no target', () => {
    const parts = { b: { clusterName: 'other' }, c: { namespace: 'other' }, d: { labels: { role: 'master' } } };
    const world = fleet({ a: 'well', b: 'well', c: 'well', d: 'well' }, { parts });
    world.settle();
    expect(world.status('mhc')['targets']).toEqual(['a']);
  });

  it('that is about to fail is told of as it stands, and looked at again when it has', () => {
    const world = fleet({ a: 'pending' });
    const { notices, nextDueMs } = world.settle();
    expect(notices).toMatchObject([
      {
        target: { kind: 'Machine', name: 'a' },
        event: { type: 'Normal', reason: 'DetectedUnhealthy', message: 'Machine default/a has unhealthy Node node-of-a' },
      },
    ]);
    world.nowMs = nextDueMs!;
    world.settle();
    expect(world.condition('a', SUCCEEDED)?.status).toBe('False');
  });

  it('keeps what is said of it while it is neither healthy nor failed', () => {
    const world = fleet({ a: 'failed' });
    world.settle();
    setNode(world, 'a', 'pending');
    world.settle();
    expect(world.condition('a', SUCCEEDED)?.status).toBe('False');
    setNode(world, 'a', 'well');
    world.settle();
    expect(world.condition('a', SUCCEEDED)).toMatchObject({ status: 'True', reason: 'HealthCheckSucceeded' });
  });

  it('of the proposal needs no Cluster', () => {
    const world = seedFleet({ a: 'failed', b: 'well' }, {}, { parts: { a: { clusterName: null }, b: { clusterName: null } } });
    world.settle();
    expect(world.condition('a', SUCCEEDED)?.status).toBe('False');
    expect(world.status('mhc')).toMatchObject({ expectedMachines: 2, currentHealthy: 1 });
  });
});

describe('nothing is concluded', () => {
  it('of machines whose Nodes can not be read: a node that is not heard of is not gone', () => {
    const world = fleet({ a: 'gone', b: 'well' }, { areNodesUnknown: true });
    expect(world.decide()).toMatchObject({
      actions: [],
      problems: ['MachineHealthCheck default/mhc: the Nodes of its machines can not be read: they are not listed yet. Nothing is concluded of them'],
    });
  });

  it('of a Node that two machines name', () => {
    const world = fleet({ a: 'failed', b: 'well' }, { parts: { b: { nodeName: 'node-of-a' } } });
    const { problems } = world.settle();
    expect(world.status('mhc')).toMatchObject({ expectedMachines: 2, currentHealthy: 0 });
    expect([world.condition('a', SUCCEEDED), world.condition('b', SUCCEEDED)]).toEqual([undefined, undefined]);
    expect(problems).toContain(
      'MachineHealthCheck default/mhc: Machine default/a names Node node-of-a, and so does another: nothing is concluded of it',
    );
  });

  it('of a machine that is being deleted where another has taken its Node over', () => {
    const world = fleet({ old: 'well', next: 'well' }, { parts: { old: { isDeleting: true }, next: { nodeName: 'node-of-old' } } });
    setNode(world, 'old', 'failed');
    world.settle();
    expect(world.condition('next', SUCCEEDED)?.status).toBe('False');
    expect(world.condition('old', SUCCEEDED)).toBe(undefined);
  });

  it('by a check whose Cluster is not there', () => {
    const world = fleet({ a: 'failed' }, { clusters: [] });
    expect(world.decide()).toMatchObject({ actions: [], problems: ['MachineHealthCheck default/mhc: Cluster default/c1 not found'] });
  });

  it('by a check that is being deleted', () => {
    const world = fleet({ a: 'failed' });
    world.editCheck('mhc', { metadata: { deletionTimestamp: ago(1) } });
    expect(world.decide().actions).toEqual([]);
  });
});

describe('what the clock has decided', () => {
  it('is decided anew when it is set back', () => {
    const world = fleet({ a: 'pending' });
    world.pass(201);
    world.settle();
    expect(world.condition('a', SUCCEEDED)?.status).toBe('False');
    world.pass(-201);
    expect(world.decide()).toMatchObject({ views: [{ failed: 0 }] });
  });
});

describe('a pause', () => {
  it.each([
    ['of the check', { 'cluster.x-k8s.io/paused': '' }, false, 'MachineHealthCheck has the cluster.x-k8s.io/paused annotation'],
    ['of the cluster', {}, true, 'Cluster spec.paused is set to true'],
    [
      'of both',
      { 'cluster.x-k8s.io/paused': '' },
      true,
      'Cluster spec.paused is set to true, MachineHealthCheck has the cluster.x-k8s.io/paused annotation',
    ],
  ])('%s stops everything but what says so', (_what, annotations: Record<string, string>, isPaused, message) => {
    const world = fleet({ a: 'failed' }, { annotations, clusters: [clusterObject({ isPaused })] });
    expect(world.settle()).toMatchObject({ views: [{ isPaused: true }] });
    expect(world.checkCondition('mhc', 'Paused')).toMatchObject({ status: 'True', reason: 'Paused', message });
    expect(world.kinds()).toEqual(['check-metadata', 'check-status']);
  });

  it('that is over is said to be over', () => {
    const world = fleet({ a: 'failed' }, { clusters: [clusterObject({ isPaused: true })] });
    world.settle();
    world.clusters = [clusterObject()];
    world.settle();
    expect(world.checkCondition('mhc', 'Paused')).toMatchObject({ status: 'False', reason: 'NotPaused', message: '' });
    expect(world.condition('a', SUCCEEDED)?.status).toBe('False');
  });
});

describe('two checks that select one machine', () => {
  it('do not contradict each other: the one that was there first has it, the other counts it and says so', () => {
    const strict = checkObject('strict', { checks: CHECKS }, 'v1beta2', { creationTimestamp: ago(1_000) });
    const lenient = checkObject('lenient', {}, 'v1beta2', { creationTimestamp: ago(2_000) });
    const world = fleet({ a: 'failed' }, { checks: [strict, lenient] });
    const { problems, views } = world.settle();
    expect(world.condition('a', SUCCEEDED)?.status).toBe('True');
    expect(views.map(({ name, failed, currentHealthy }) => [name, failed, currentHealthy])).toEqual([
      ['strict', 1, 0],
      ['lenient', 0, 1],
    ]);
    expect(problems).toEqual([
      'MachineHealthCheck default/strict: 1 of its machines are selected by MachineHealthCheck default/lenient as well, which has them: here they are only counted',
    ]);
  });
});
