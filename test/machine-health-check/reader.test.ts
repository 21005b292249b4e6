import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { goDuration, parseGoDuration } from '../../src/controllers/shared/go-duration.ts';
import { readCluster } from '../../src/controllers/machine-health-check/read/cluster.ts';
import { readHealthCheck } from '../../src/controllers/machine-health-check/read/health-check.ts';
import { readMachine } from '../../src/controllers/machine-health-check/read/machine.ts';
import type { UntypedObject } from '../../src/ports/cluster-api.ts';
import { ago, checkObject, clusterObject, machineObject, MINUTE_MS, NOW_MS } from './objects.ts';
import { World } from './world.ts';

const BOTH = { hasBothLists: true };
const CHECKED = [{ type: 'Ready', status: 'Unknown', timeoutMs: 5 * MINUTE_MS }];

function read(spec: object, version = 'v1beta2'): ReturnType<typeof readHealthCheck> {
  return readHealthCheck(checkObject('mhc', spec, version), BOTH);
}

/** As the proposal prints it. */
const SEED_EXAMPLE = parse(`
apiVersion: cluster.x-k8s.io/v1alpha3
kind: MachineHealthCheck
metadata:
  name: example
  namespace: machine-api
spec:
  selector:
    matchLabels:
      role: worker
  unhealthyConditions:
  - type:    "Ready"
    status:  "Unknown"
    timeout: "5m"
  - type:    "Ready"
    status:  "False"
    timeout: "5m"
  maxUnhealthy: "40%"
status:
  currentHealthy: 5
  expectedMachines: 5
`) as UntypedObject;

const SEED_EXTERNAL = parse(`
    kind: MachineHealthCheck
    apiVersion: cluster.x-k8s.io/v1alpha3
    metadata:
      name: REMEDIATION_GROUP
      namespace: NAMESPACE_OF_UNHEALTHY_MACHINE
    spec:
      selector:
        matchLabels:
          role: worker
      externalRemediationTemplate:
        kind: Metal3RemediationTemplate
        apiVersion: remediation.metal3.io/v1alpha3
        name: M3_REMEDIATION_GROUP
`) as UntypedObject;

describe('a MachineHealthCheck', () => {
  it('of the proposal is read as it is printed', () => {
    const { check, problems } = readHealthCheck(SEED_EXAMPLE, BOTH);
    expect(problems).toEqual([]);
    expect(check.nodeConditions).toEqual([...CHECKED, { type: 'Ready', status: 'False', timeoutMs: 5 * MINUTE_MS }]);
    expect(check.trigger).toEqual({ kind: 'below', value: '40%', shown: '40%' });
    expect(check).toMatchObject({ startupTimeoutMs: 10 * MINUTE_MS, status: { currentHealthy: 5, expectedMachines: 5 } });
    expect([check.selects({ role: 'worker' }), check.selects({ role: 'master' })]).toEqual([true, false]);
    expect(check.clusterName).toBe(undefined);
  });

  it('of the proposal names the template of an external remediation', () => {
    const { check, problems } = readHealthCheck(SEED_EXTERNAL, BOTH);
    expect(problems).toEqual([]);
    expect(check.template).toEqual({ kind: 'Metal3RemediationTemplate', apiVersion: 'remediation.metal3.io/v1alpha3', name: 'M3_REMEDIATION_GROUP' });
  });

  it('says the same in v1beta2 and in v1beta1', () => {
    const template = { apiVersion: 'foo.io/v1', kind: 'FooTemplate', name: 'foo' };
    const newer = read({
      checks: {
        nodeStartupTimeoutSeconds: 90,
        unhealthyNodeConditions: [{ type: 'Ready', status: 'Unknown', timeoutSeconds: 300 }],
        unhealthyMachineConditions: [{ type: 'EtcdPodHealthy', status: 'False', timeoutSeconds: 60 }],
      },
      remediation: { triggerIf: { unhealthyLessThanOrEqualTo: '40%' }, templateRef: template },
    });
    const older = read(
      {
        nodeStartupTimeout: '1m30s',
        unhealthyConditions: [{ type: 'Ready', status: 'Unknown', timeout: '5m' }],
        unhealthyMachineConditions: [{ type: 'EtcdPodHealthy', status: 'False', timeout: '60s' }],
        maxUnhealthy: '40%',
        remediationTemplate: template,
      },
      'v1beta1',
    );
    expect([newer.problems, older.problems]).toEqual([[], []]);
    const { apiVersion: _newer, selects: _selects, paths: _paths, ...said } = newer.check;
    expect(older.check).toMatchObject(said);
    expect(newer.check.startupTimeoutMs).toBe(90_000);
  });

  it.each([
    ['v1beta2', { clusterName: '' }, 'spec.clusterName: Required value'],
    ['v1beta2', { clusterName: 'c'.repeat(64) }, `spec.clusterName: Invalid value: "${'c'.repeat(64)}": may not be longer than 63`],
    ['v1beta2', { selector: {} }, 'spec.selector: Required value: selector must not be empty'],
    [
      'v1beta2',
      { selector: { matchExpressions: [{ key: 'role', operator: 'Foo' }] } },
      'spec.selector.matchExpressions[0].operator: Invalid value: "Foo": "Foo" is not a valid label selector operator; spec.selector: Required value: selector must not be empty',
    ],
    [
      'v1beta2',
      { selector: { matchExpressions: [{ key: 'role', operator: 'In', values: [] }] } },
      "spec.selector.matchExpressions[0].values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      'v1beta2',
      { selector: { matchExpressions: [{ key: 'role', operator: 'Exists', values: ['a'] }] } },
      'spec.selector.matchExpressions[0].values: Invalid value: ["a"]: values set must be empty for exists and does not exist',
    ],
    [
      'v1beta2',
      { selector: { matchLabels: { 'cluster.x-k8s.io/cluster-name': 'other' } } },
      'spec.selector: Invalid value: {"matchLabels":{"cluster.x-k8s.io/cluster-name":"other"}}: cannot specify a cluster selector other than the one specified by ClusterName',
    ],
    ['v1beta2', { checks: { nodeStartupTimeoutSeconds: 29 } }, 'spec.checks.nodeStartupTimeoutSeconds: Invalid value: 29: must be at least 30s'],
    ['v1beta1', { nodeStartupTimeout: '29s' }, 'spec.nodeStartupTimeout: Invalid value: "29s": must be at least 30s'],
    ['v1beta1', { nodeStartupTimeout: 'soon' }, 'spec.nodeStartupTimeout: Invalid value: "soon": time: invalid duration "soon"'],
    [
      'v1beta2',
      { checks: { unhealthyNodeConditions: [{}] } },
      'spec.checks.unhealthyNodeConditions[0].type: Required value; spec.checks.unhealthyNodeConditions[0].status: Required value; spec.checks.unhealthyNodeConditions[0].timeoutSeconds: Required value',
    ],
    [
      'v1beta2',
      { checks: { unhealthyNodeConditions: [{ type: 'Ready', status: 'False', timeoutSeconds: -1 }] } },
      'spec.checks.unhealthyNodeConditions[0].timeoutSeconds: Invalid value: -1: must not be negative',
    ],
    [
      'v1beta1',
      { unhealthyMachineConditions: [{ type: 'OwnerRemediated', status: 'False', timeout: '1m' }] },
      'spec.unhealthyMachineConditions[0].type: Invalid value: "OwnerRemediated": type must not be one of: Ready, Available, HealthCheckSucceeded, OwnerRemediated, ExternallyRemediated',
    ],
    [
      'v1beta1',
      { maxUnhealthy: 'abc' },
      'spec.maxUnhealthy: Invalid value: "abc": must be either an int or a percentage: invalid value for IntOrString: invalid type: string is not a percentage',
    ],
    [
      'v1beta2',
      { remediation: { triggerIf: { unhealthyInRange: '[5-3]' } } },
      'spec.remediation.triggerIf.unhealthyInRange: Invalid value: "[5-3]": max value 3 cannot be less than min value 5 for unhealthyRange',
    ],
    ['v1beta1', { unhealthyRange: '3-5' }, 'spec.unhealthyRange: Invalid value: "3-5": must be a range such as [3-5]'],
    [
      'v1beta2',
      { remediation: { templateRef: { apiVersion: 'v1', kind: 'Pod' } } },
      'spec.remediation.templateRef.apiVersion: Invalid value: "v1": must be a group and a version; spec.remediation.templateRef.kind: Invalid value: "Pod": must end in Template; spec.remediation.templateRef.name: Required value',
    ],
  ])('of %s with %j is refused in the words of the API server', (version, spec, words) => {
    expect(read(spec, version).problems.join('; ')).toBe(words);
  });

  it('in which anything is wrong is told, and does nothing', () => {
    const world = new World({
      checks: [checkObject('mhc', { checks: { nodeStartupTimeoutSeconds: 1 } })],
      clusters: [clusterObject()],
      machines: [machineObject('m')],
    });
    expect(world.decide()).toMatchObject({
      actions: [],
      problems: ['MachineHealthCheck default/mhc: spec.checks.nodeStartupTimeoutSeconds: Invalid value: 1: must be at least 30s'],
      views: [{ problem: 'spec.checks.nodeStartupTimeoutSeconds: Invalid value: 1: must be at least 30s' }],
    });
  });

  const KEY =
    "a label's key is a name of at most 63 letters, digits, '-', '_' or '.' that begins and ends with a letter or digit, behind an optional domain and '/'";
  const VALUE = "a label's value is empty, or at most 63 letters, digits, '-', '_' or '.' and begins and ends with a letter or digit";

  it.each([
    [{ matchLabels: { 'a b': 'x' } }, `spec.selector.matchLabels: Invalid value: "a b": ${KEY}`],
    [{ matchLabels: { '': 'x' } }, `spec.selector.matchLabels: Invalid value: "": ${KEY}`],
    [{ matchLabels: { 'Upper.example/role': 'x' } }, `spec.selector.matchLabels: Invalid value: "Upper.example/role": ${KEY}`],
    [{ matchLabels: { 'a/b/c': 'x' } }, `spec.selector.matchLabels: Invalid value: "a/b/c": ${KEY}`],
    [{ matchLabels: { ['r'.repeat(64)]: 'x' } }, `spec.selector.matchLabels: Invalid value: "${'r'.repeat(64)}": ${KEY}`],
    [{ matchLabels: { role: 'two words' } }, `spec.selector.matchLabels.role: Invalid value: "two words": ${VALUE}`],
    [{ matchLabels: { pool: 'a', role: 3 } }, 'spec.selector.matchLabels.role: Invalid value: 3: must be a string'],
    [{ matchExpressions: [{ key: 'role!', operator: 'Exists' }] }, `spec.selector.matchExpressions[0].key: Invalid value: "role!": ${KEY}`],
    [
      { matchExpressions: [{ key: 'role', operator: 'In', values: ['-x'] }] },
      `spec.selector.matchExpressions[0].values: Invalid value: "-x": ${VALUE}`,
    ],
  ])('whose selector no label can meet is refused: %j', (selector, words) => {
    expect(read({ selector }).problems).toEqual([words]);
  });

  it('takes every key and value that a label may have', () => {
    const matchLabels = { role: '', 'cluster.x-k8s.io/set-name': 'a.b_C-9', 'A_b.c': 'x', [`${'a'.repeat(63)}.example/${'r'.repeat(63)}`]: '1' };
    expect(read({ selector: { matchLabels } }).problems).toEqual([]);
  });

  it('selects by expressions as well', () => {
    const { check } = read({
      selector: {
        matchExpressions: [
          { key: 'role', operator: 'In', values: ['worker', 'edge'] },
          { key: 'pool', operator: 'NotIn', values: ['gpu'] },
          { key: 'rack', operator: 'Exists' },
          { key: 'spare', operator: 'DoesNotExist' },
        ],
      },
    });
    expect(check.selects({ role: 'edge', rack: '1' })).toBe(true);
    expect(check.selects({ role: 'master', rack: '1' })).toBe(false);
    expect(check.selects({ role: 'edge', rack: '1', pool: 'gpu' })).toBe(false);
    expect(check.selects({ role: 'edge' })).toBe(false);
    expect(check.selects({ role: 'edge', rack: '1', spare: '' })).toBe(false);
  });

  it.each([
    ['3', 3, ''],
    ['20%', '20%', ''],
    ['some', undefined, 'metadata.annotations.ha.k8s.io/max-in-flight: Invalid value: "some": must be either an int or a percentage'],
  ])('may say by annotation that %s machines may be in remediation at once', (text, value, problem) => {
    const annotations = { 'ha.k8s.io/max-in-flight': text };
    const { check, problems } = readHealthCheck(checkObject('mhc', {}, 'v1beta2', { annotations }), BOTH);
    expect(check.maxInFlight).toBe(value);
    expect(problems.join()).toContain(problem);
  });
});

describe('a Machine', () => {
  it.each(['v1beta2', 'v1beta1'] as const)('of %s has both of its lists of conditions, each where that version has it', (version) => {
    const conditions = [{ type: 'A', status: 'True' as const }];
    const deprecated = [{ type: 'B', status: 'False' as const }];
    const machine = readMachine(machineObject('m', { conditions, deprecated }, version), BOTH);
    expect(machine.conditions).toEqual({ v1beta2: conditions, v1beta1: deprecated });
  });

  it('of a Cluster API that knows one list only has no other', () => {
    const { paths } = readMachine(machineObject('m', {}, 'v1beta1'), { hasBothLists: false });
    expect(paths).toEqual({ v1beta1: ['conditions'] });
  });
});

describe('a Cluster', () => {
  it('of v1beta1 tells its gates by its deprecated conditions, or by a field', () => {
    const condition = { type: 'ControlPlaneInitialized', status: 'True', lastTransitionTime: ago(60) };
    const object = { ...clusterObject(), apiVersion: 'cluster.x-k8s.io/v1beta1', status: { infrastructureReady: true, conditions: [condition] } };
    expect(readCluster(object)).toMatchObject({
      controlPlaneInitialized: { isTrue: true, sinceMs: NOW_MS - 60_000 },
      infrastructureReady: { isTrue: true },
    });
  });
});

describe('a Go duration', () => {
  it.each([
    [0, '0s'],
    [300_000, '5m0s'],
    [600_000, '10m0s'],
    [30_000, '30s'],
    [5_400_000, '1h30m0s'],
    [3_600_000, '1h0m0s'],
    [1_500, '1.5s'],
    [250, '250ms'],
    [-90_000, '-1m30s'],
  ])('of %i ms is printed as %s', (ms, text) => {
    expect(goDuration(ms)).toBe(text);
  });

  it('is read as it is printed', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e9, max: 1e9 }), (ms) => {
        expect(parseGoDuration(goDuration(ms))).toBe(ms);
      }),
    );
  });

  it.each([
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['2h45m', 9_900_000],
    ['0', 0],
    ['', undefined],
    ['5', undefined],
    ['5m 3s', undefined],
    ['m5', undefined],
    ['5d', undefined],
  ])('%j is %s', (text, ms) => {
    expect(parseGoDuration(text)).toBe(ms);
  });
});
