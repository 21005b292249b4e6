import { describe, expect, it } from 'vitest';
import { evaluate } from '../../src/controllers/machine-health-check/evaluate.ts';
import { observe } from '../../src/controllers/machine-health-check/observe.ts';
import { readHealthCheck } from '../../src/controllers/machine-health-check/read/health-check.ts';
import { scaled, thresholdOf } from '../../src/controllers/machine-health-check/threshold.ts';
import type { Node } from '../../src/ports/objects.ts';
import { DIFFERENT } from './differences.ts';
import { ago, checkObject, clusterObject, machineObject, nodeConditionsOf, NOW_MS } from './objects.ts';
import { CASES, evaluated, machineParts, nodeObjects, openShift, reconciled, thresholdCheck } from './upstream-case.ts';
import type { Case, Setup } from './upstream-case.ts';
import { PlainSnapshot } from './snapshot.ts';
import { WatchedCluster } from './watched-cluster.ts';
import { World } from './world.ts';

const SERVED = { hasBothLists: true };

/** What a check came to, in the words of the cases. */
function outcome(world: World): Record<string, unknown> {
  const { expectedMachines, currentHealthy, remediationsAllowed } = world.status('mhc');
  const names = world.machines.map(({ metadata }) => metadata.name);
  const count = (type: string): number => names.filter((name) => world.condition(name, type)?.status === 'False').length;
  return {
    expectedMachines,
    currentHealthy,
    remediationsAllowed,
    condition: world.checkCondition('mhc', 'RemediationAllowed'),
    machinesHealthCheckFailed: count('HealthCheckSucceeded'),
    machinesOwnerRemediatedSet: count('OwnerRemediated'),
  };
}

function problemsOf(spec: Record<string, unknown>, oldSpec: Record<string, unknown> | null = null): string {
  const object = (each: Record<string, unknown>): ReturnType<typeof checkObject> => ({ ...checkObject('mhc'), spec: each });
  return readHealthCheck(object(spec), SERVED, oldSpec === null ? undefined : object(oldSpec)).problems.join('; ');
}

/** Cases of `reconcile` that are about something else than the counts. */
const RECONCILE: Readonly<Record<string, (each: Case) => void>> = {
  'mhc-rec-003': ({ setup, expect: expected }) => {
    const world = new World({ checks: [checkObject('mhc', {}, 'v1beta2', { labels: setup.labels })], clusters: [clusterObject()] });
    world.settle();
    expect(world.checks[0]?.metadata.labels).toEqual(expected['labels']);
  },
  'mhc-rec-005': ({ setup, expect: expected }) => {
    const { ownerReferences } = setup;
    const world = new World({ checks: [checkObject('mhc', {}, 'v1beta2', { ownerReferences })], clusters: [clusterObject()] });
    world.settle();
    expect(world.checks[0]?.metadata.ownerReferences).toHaveLength(Number(expected['ownerReferencesCount']));
    expect(world.checks[0]?.metadata.ownerReferences).toContainEqual(ownerReferences[0]);
  },
  'mhc-rec-018': ({ setup, expect: expected }) => {
    const world = reconciled(setup);
    world.settle();
    expect(world.status('mhc')['currentHealthy']).toBe(1);
    world.nodes['node-of-ready-0'] = nodeConditionsOf('Unknown', 600);
    world.settle();
    expect(outcome(world)).toMatchObject(expected);
  },
  'mhc-rec-019': ({ setup, expect: expected }) => {
    const world = reconciled(setup);
    world.settle();
    world.editMachine('ready-0', { status: { conditions: [{ type: 'EtcdPodHealthy', status: 'False', lastTransitionTime: ago(600) }] } });
    world.settle();
    expect(outcome(world)).toMatchObject(expected);
  },
  'mhc-rec-022': ({ setup, expect: expected }) => {
    const world = reconciled(setup);
    const { problems } = world.settle();
    expect(problems.length > 0).toBe(expected['error']);
    expect(world.checkCondition('mhc', 'ExternalRemediationTemplateAvailable', 'v1beta1')).toMatchObject(Object(expected['v1beta1MhcCondition']));
    expect(world.condition('unknownfor600s-0', 'ExternallyRemediated')).toMatchObject(Object(expected['machineConditionInMemory']));
    const machineConditionPersisted = world.condition('unknownfor600s-0', 'ExternallyRemediated') !== undefined;
    expect({ machineConditionPersisted }).toEqual(DIFFERENT.get('mhc-rec-022')?.ours);
    expect(world.requestNames()).toEqual([]);
  },
  'mhc-rec-024': ({ setup, expect: expected }) => {
    const { kind, apiVersion, name, spec } = setup.template;
    const remediation = { templateRef: { kind, apiVersion, name } };
    const world = new World({
      checks: [checkObject('mhc', { remediation })],
      clusters: [clusterObject()],
      machines: [machineObject('m1')],
      templates: [{ kind, apiVersion, metadata: { name, namespace: 'default', uid: 'uid-t' }, spec }],
    });
    world.settle();
    const [request] = world.requests;
    const { labels, annotations, ownerReferences } = request!.metadata;
    const made = { kind: request!.kind, apiVersion: request!.apiVersion, name: request!.metadata.name, spec: request!.spec };
    expect({ ...made, labels, annotations, ownerReferences }).toMatchObject(expected);
  },
  'mhc-rec-025': ({ setup, expect: expected }) => {
    const world = reconciled(setup);
    world.settle();
    expect(world.kinds()).toEqual(['check-metadata', 'check-status']);
    expect(world.checkCondition('mhc', 'Paused')).toMatchObject(Object(expected['condition']));
    expect(world.status('mhc')['expectedMachines']).toBe(undefined);
  },
  'mhc-rec-026': ({ setup }) => {
    const world = reconciled(setup);
    const condition = { type: 'OwnerRemediated', ...setup.ownerRemediated, lastTransitionTime: ago(60) };
    world.editMachine('unknownfor600s-0', { status: { conditions: [condition], deprecated: { v1beta1: { conditions: [condition] } } } });
    world.settle();
    expect(world.condition('unknownfor600s-0', 'OwnerRemediated', 'v1beta2')).toEqual(condition);
    expect(world.condition('unknownfor600s-0', 'OwnerRemediated', 'v1beta1')).toEqual(condition);
  },
  'mhc-rec-028': ({ setup, expect: expected }) => {
    const machines = setup.targets.map((name) => machineObject(name.toLowerCase()));
    const world = new World({ checks: [checkObject('mhc')], clusters: [clusterObject()], machines });
    const { actions } = world.decide();
    const patches = actions.filter(({ kind }) => kind === 'machine-status');
    expect(patches.map(({ target }) => target.name)).toEqual(['patchfails', 'patchworks']);
    for (const patch of patches.filter(({ target }) => target.name !== 'patchfails')) world.apply(patch);
    expect(world.condition('patchworks', 'OwnerRemediated')?.status).toBe(expected['patchedOwnerRemediated']);
    expect(
      world
        .decide()
        .actions.filter(({ kind }) => kind === 'machine-status')
        .map(({ target }) => target.name),
    ).toEqual(['patchfails']);
  },
  'mhc-rec-030': ({ expect: expected }) => {
    const condition = { type: 'HealthCheckSucceeded', status: 'False' as const, reason: 'UnhealthyNode', lastTransitionTime: ago(600) };
    const remediation = { templateRef: { apiVersion: 'foo.io/v1', kind: 'FooTemplate', name: 'foo' } };
    const world = new World({
      checks: [checkObject('mhc', { remediation })],
      clusters: [clusterObject()],
      machines: [machineObject('a', { conditions: [condition] })],
      nodes: { 'node-of-a': nodeConditionsOf('True', 60) },
    });
    world.settle();
    const conditionUpdated = world.condition('a', 'HealthCheckSucceeded')?.status === 'True';
    expect({ conditionUpdated }).toEqual(expected['recommended']);
  },
};

function reconcileOpenShift({ id, setup, expect: expected }: Case): void {
  const world = openShift(setup);
  const before = JSON.stringify(world.checks);
  const first = world.decide();
  const { notices, views, nextDueMs } = world.settle();
  const [view] = views;
  const events = [...world.events(), ...notices.map(({ event }) => event.reason)];
  const nextCheckSeconds = nextDueMs === undefined ? 0 : (nextDueMs - NOW_MS) / 1_000;
  const actual: Record<string, unknown> = {
    ...outcome(world),
    events,
    statusUntouched: JSON.stringify(world.checks) === before,
    allowed: view?.blocked === undefined,
    message: view?.blocked,
    requeueAfterMs: nextDueMs ?? null,
    requestExists: world.requests.length === 1,
    error: first.problems.length > 0,
    needsRemediation: (view?.failed ?? 0) > 0,
    nextCheckSeconds,
  };
  const { requeueAfterSecondsApprox: about, ...rest }: Record<string, unknown> = { ...expected, ...DIFFERENT.get(id)?.ours };
  const isAbout = expect.toSatisfy((seconds: number) => Math.abs(seconds - Number(about)) <= 1) as unknown;
  expect(actual).toMatchObject({ ...rest, ...(about !== undefined && { nextCheckSeconds: isAbout }) });
}

function reconcileClusterAPI({ setup, expect: expected }: Case): void {
  const world = reconciled(setup);
  world.settle();
  expect(outcome(world)).toMatchObject(expected);
}

/** Each op by decide itself, or by the function of its own that decide asks. */
const RUN: Readonly<Record<string, (each: Case) => void>> = {
  evaluateTarget({ setup, expect: expected }) {
    const world = evaluated(setup);
    const { facts } = world;
    const { check, machines } = observe(new PlainSnapshot(facts), facts.checks[0]!);
    const evaluation = evaluate(machines[0]!.subject, check, NOW_MS);
    expect(evaluation.kind).toBe(expected['verdict']);
    expect(evaluation.kind === 'pending' ? (evaluation.dueMs - NOW_MS) / 1_000 : 0).toBe(expected['nextCheckSeconds']);
    world.settle();
    expect({ ...world.condition('machine1', 'HealthCheckSucceeded', 'v1beta2') }).toMatchObject(Object(expected['condition']));
    expect({ message: '', ...world.condition('machine1', 'HealthCheckSucceeded', 'v1beta1') }).toMatchObject(Object(expected['v1beta1Condition']));
  },
  evaluateTargets({ setup, expect: expected }) {
    const world = new World({
      checks: [checkObject('mhc', { checks: setup.checks })],
      clusters: [clusterObject()],
      machines: setup.nodes.map((_node, index) => machineObject(`m${index}`)),
      nodes: Object.fromEntries(setup.nodes.map((node, index) => [`node-of-m${index}`, nodeObjects(node)])),
    });
    const { views, nextDueMs } = world.decide();
    expect({ healthy: views[0]?.currentHealthy, unhealthy: views[0]?.failed }).toEqual({
      healthy: expected['healthy'],
      unhealthy: expected['unhealthy'],
    });
    expect((nextDueMs! - NOW_MS) / 1_000).toBe(expected['minRequeueSeconds']);
  },
  selectTargets({ setup, expect: expected }) {
    const { namespace, clusterName, selector } = setup.mhc;
    const read = readHealthCheck(checkObject('mhc', { clusterName, selector }, 'v1beta2', { namespace }), SERVED);
    const nodes = (setup.nodes as unknown as string[]).map((name) => ({ name, conditions: [] }));
    const objects = setup.machines.map((each) => machineObject(each.name, machineParts(each)));
    const { facts } = new World({ machines: objects });
    const targets = observe(new PlainSnapshot({ ...facts, nodes }), read).machines.map(({ subject: { machine, node } }) => {
      return { machine: machine.name, node: typeof node === 'object' ? node.name : null, nodeMissing: node === 'missing' };
    });
    expect({ targets }).toEqual(expected);
  },
  remediationAllowed({ id, setup, expect: expected }) {
    const { check, problems } = readHealthCheck(thresholdCheck(setup), SERVED);
    const [total, healthy] = [setup.expectedMachines ?? 0, setup.currentHealthy ?? 0];
    const { isAllowed, remediationsAllowed } = thresholdOf(check.trigger, { expected: total, healthy, failed: total - healthy });
    const error = problems.length > 0;
    expect({ allowed: isAllowed && !error, error, remediationsAllowed }).toMatchObject({ ...expected, ...DIFFERENT.get(id)?.ours });
  },
  scaleMaxUnhealthy({ setup, expect: expected }) {
    const { value, error } = expected as { value: number; error: string | null };
    let outcome: unknown;
    try {
      outcome = scaled(setup.value, setup.total, 'down');
    } catch (thrown) {
      outcome = String(thrown);
    }
    expect(outcome).toEqual(error === null ? value : expect.stringContaining(error));
  },
  parseIntOrPercent({ setup, expect: expected }) {
    const { check, problems } = readHealthCheck(thresholdCheck({ ...setup, unhealthyLessThanOrEqualTo: setup.value }), SERVED);
    const value = check.trigger?.kind === 'at-most' ? check.trigger.value : undefined;
    expect({ value, percent: typeof value === 'string', error: problems.length > 0 }).toEqual(expected);
  },
  remediationsAllowed({ setup, expect: expected }) {
    const { check } = readHealthCheck(thresholdCheck({ ...setup, unhealthyLessThanOrEqualTo: setup.maxUnhealthy }), SERVED);
    expect(thresholdOf(check.trigger, { expected: setup.expectedMachines!, healthy: setup.currentHealthy!, failed: 0 })).toMatchObject(expected);
  },
  reconcile(each) {
    const usual = each.setup.flavor === 'openshift-mao' ? reconcileOpenShift : reconcileClusterAPI;
    (RECONCILE[each.id] ?? usual)(each);
  },
  mapEvent({ setup, expect: expected }) {
    const cluster = new WatchedCluster();
    const { changes } = cluster.follow();
    const clusterOf = (name: string, namespace: string): ReturnType<typeof clusterObject> => clusterObject({ name, namespace });
    const machineOf = (name: string): ReturnType<typeof machineObject> => machineObject(name, { clusterName: 'test-cluster', nodeName: 'node1' });
    for (const { cluster: name, namespace } of setup.mhcs) cluster.clusters.put(clusterOf(name, namespace));
    cluster.clusters.put(clusterOf('test-cluster', 'default'));
    for (const name of setup.machines as unknown as string[])
      cluster.machines.put({ ...machineOf(name), spec: { clusterName: 'test-cluster', providerID: 'here' } });
    const node: Node = { metadata: { name: 'node1', uid: 'uid-node1' }, spec: { providerID: 'here' }, status: {} };
    cluster.nodes.put(node);
    for (const { name, namespace, cluster: clusterName } of setup.mhcs)
      cluster.checks.put(checkObject(name, { clusterName }, 'v1beta2', { namespace }));
    // What came before the event is known.
    changes.take();
    changes.take();
    const occur: Record<Setup['event'], () => void> = {
      Cluster: () => cluster.clusters.put(clusterOf('test-cluster', 'default')),
      Machine: () => cluster.machines.put(machineOf('m')),
      Node: () => cluster.nodes.put({ ...node, status: { conditions: nodeConditionsOf('True', 60) } } as Node),
    };
    occur[setup.event]();
    const requests = [...changes.take()].map((key) => key.replace('default/', ''));
    expect({ requests }).toEqual(expected);
  },
  default({ setup, expect: expected }) {
    const world = new World({ checks: [checkObject('mhc', setup.spec)], clusters: [clusterObject({ name: 'foo' })] });
    expect(world.facts.checks[0]?.check.startupTimeoutMs).toBe(Number(expected['nodeStartupTimeoutSeconds']) * 1_000);
    world.settle();
    expect(world.checks[0]?.metadata.labels).toEqual(expected['labels']);
  },
  validate({ setup, expect: expected }) {
    const problems = problemsOf(setup.spec, setup.oldSpec);
    expect(problems === '').toBe(expected['valid']);
    expect(problems).toContain(expected['errorContains'] ?? '');
  },
};

describe('a case of Cluster API or OpenShift', () => {
  it.each(CASES.map((each) => [each.id, each.source.replace(/^\S+ /, ''), each] as const))('%s: %s', (_id, _source, each) => {
    const run = RUN[each.setup.op];
    if (run === undefined) throw new Error(`nothing runs ${each.setup.op}`);
    run(each);
  });

  it('is one of sixty-eight, and those that differ are among them', () => {
    expect(CASES).toHaveLength(68);
    for (const id of DIFFERENT.keys()) expect(CASES.map((each) => each.id)).toContain(id);
  });
});
