import { readFileSync } from 'node:fs';
import type { Condition } from '../../src/controllers/machine-health-check/conditions.ts';
import type { UntypedObject } from '../../src/ports/cluster-api.ts';
import { ago, checkObject, clusterObject, machineObject, NAMESPACE } from './objects.ts';
import type { MachineParts } from './objects.ts';
import { World } from './world.ts';
import type { Scene } from './world.ts';

interface AgedCondition {
  type: string;
  status: string;
  reason?: string;
  ageSeconds?: number;
}

interface CaseMachine {
  name: string;
  namespace?: string;
  clusterName?: string;
  nodeRef?: string | null;
  ageSeconds?: number;
  infrastructureReady?: boolean;
  infrastructureReadyAgeSeconds?: number;
  lastUpdatedAgeSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  conditions?: AgedCondition[];
}

export interface CaseNode {
  conditions: AgedCondition[];
}

/** All that any case sets up; which of it is there depends on `op`. */
export interface Setup {
  op: string;
  flavor: string;
  machine: CaseMachine;
  node: CaseNode | 'missing' | null;
  nodes: CaseNode[];
  checks: object;
  cluster: {
    controlPlaneInitialized: boolean;
    controlPlaneInitializedAgeSeconds: number;
    infrastructureReady: boolean;
    infrastructureReadyAgeSeconds: number;
  };
  mhc: { namespace: string; clusterName: string; selector: object };
  machines: CaseMachine[];
  mhcs: { name: string; namespace: string; cluster: string }[];
  event: 'Cluster' | 'Machine' | 'Node';
  unhealthyLessThanOrEqualTo: number | string | null;
  unhealthyInRange: string;
  expectedMachines: number | null;
  currentHealthy: number | null;
  value: number | string;
  total: number;
  spec: Record<string, unknown>;
  oldSpec: Record<string, unknown> | null;
  labels: Record<string, string>;
  ownerReferences: { kind: string; apiVersion: string; name: string; uid: string }[];
  clusterName: string;
  infrastructureReady: boolean;
  clusterPaused: boolean;
  maxUnhealthy: number | string | null;
  nodeStartupTimeoutSeconds: number;
  unhealthyNodeConditions: null;
  unhealthyMachineConditions: object[];
  matching: Partial<Record<'ready' | 'nodesWithEmptyReadyStatus' | 'noNodeRefForLongerThanTimeout' | 'nodeDeleted' | 'unknownFor600s', number>>;
  then: string;
  templateRef: { apiVersion: string; kind: string; name: string };
  template: { name: string; kind: string; apiVersion: string; spec: object } & boolean;
  ownerRemediated: { status: Condition['status']; reason: string };
  targets: string[];
  paused: boolean;
  annotations: Record<string, string>;
  timeoutSeconds: number;
  requestExists: boolean;
}

export interface Case {
  id: string;
  source: string;
  setup: Setup;
  expect: Record<string, unknown>;
}

export const CASES = JSON.parse(readFileSync(new URL('fixtures/mhc-cases.json', import.meta.url), 'utf8')) as readonly Case[];

function aged({ ageSeconds = 0, ...condition }: AgedCondition): Condition {
  return { ...condition, lastTransitionTime: ago(ageSeconds) } as Condition;
}

export function nodeObjects({ conditions }: CaseNode): object[] {
  return conditions.map(aged);
}

/** One machine, its node and its cluster as `evaluateTarget` describes them. `node: null` is a machine that has none yet, whatever it names. */
export function evaluated({ machine, node, checks, cluster }: Setup): World {
  const infrastructure = { type: 'InfrastructureReady', status: 'True', ageSeconds: machine.infrastructureReadyAgeSeconds ?? 0 };
  const conditions = [...(machine.infrastructureReady === true ? [infrastructure] : []), ...(machine.conditions ?? [])].map(aged);
  const { ageSeconds = 0, labels = {}, annotations = {} } = machine;
  const nodeName = node === null ? null : (machine.nodeRef ?? null);
  return new World({
    checks: [checkObject('mhc', { checks })],
    machines: [machineObject(machine.name, { ageSeconds, labels, annotations, nodeName, conditions })],
    nodes: node === null || node === 'missing' || nodeName === null ? {} : { [nodeName]: nodeObjects(node) },
    clusters: [
      clusterObject({
        controlPlaneInitialized: { is: cluster.controlPlaneInitialized, ageSeconds: cluster.controlPlaneInitializedAgeSeconds },
        infrastructureReady: { is: cluster.infrastructureReady, ageSeconds: cluster.infrastructureReadyAgeSeconds },
      }),
    ],
  });
}

/** A machine of a list of them. */
export function machineParts({ namespace = NAMESPACE, clusterName, labels = {}, annotations = {}, nodeRef }: CaseMachine): MachineParts {
  return { namespace, clusterName: clusterName ?? null, labels, annotations, nodeName: nodeRef ?? null };
}

const READY = { status: 'True', ageSeconds: 100 };

/** Machines as `matching` counts them, each on a node of its own. */
function matchingMachines(matching: Setup['matching']): Pick<Scene, 'machines' | 'nodes'> {
  const machines: UntypedObject[] = [];
  const nodes: Record<string, object[]> = {};
  for (const [kind, count] of Object.entries(matching)) {
    for (let index = 0; index < count; index += 1) {
      const name = `${kind.toLowerCase()}-${index}`;
      const nodeName = kind === 'noNodeRefForLongerThanTimeout' ? null : `node-of-${name}`;
      machines.push(machineObject(name, { nodeName }));
      const { status, ageSeconds } =
        kind === 'unknownFor600s' ? { status: 'Unknown', ageSeconds: 600 } : kind === 'ready' ? READY : { status: '', ageSeconds: 0 };
      if (nodeName !== null && kind !== 'nodeDeleted') nodes[nodeName] = nodeObjects({ conditions: [{ type: 'Ready', status, ageSeconds }] });
    }
  }
  return { machines, nodes };
}

const READY_UNKNOWN = [{ type: 'Ready', status: 'Unknown', timeoutSeconds: 300 }];

/** A check over machines as `reconcile` describes them. */
export function reconciled(setup: Setup, more: Scene = {}): World {
  const { matching, maxUnhealthy, templateRef, unhealthyMachineConditions } = setup;
  const checks = {
    // Less than 30 seconds is refused; so many machines have waited for longer.
    ...('nodeStartupTimeoutSeconds' in setup && { nodeStartupTimeoutSeconds: Math.max(30, setup.nodeStartupTimeoutSeconds) }),
    ...(!('unhealthyNodeConditions' in setup) && { unhealthyNodeConditions: READY_UNKNOWN }),
    ...('unhealthyMachineConditions' in setup && { unhealthyMachineConditions }),
  };
  const remediation = {
    ...('maxUnhealthy' in setup && { triggerIf: { unhealthyLessThanOrEqualTo: maxUnhealthy } }),
    ...('templateRef' in setup && { templateRef }),
  };
  const infrastructureReady = { is: !('infrastructureReady' in setup) || setup.infrastructureReady, ageSeconds: 36_000 };
  return new World({
    checks: [checkObject('mhc', { checks, remediation })],
    clusters: [clusterObject({ isPaused: 'clusterPaused' in setup, infrastructureReady })],
    ...matchingMachines('matching' in setup ? matching : {}),
    ...more,
  });
}

const OPENSHIFT = 'machine.openshift.io/v1beta1';

/** One machine under one check of OpenShift. */
export function openShift(setup: Setup): World {
  const kind = setup.machine as unknown;
  const described = typeof kind === 'string' ? undefined : setup.machine;
  const given: Partial<Setup> = setup;
  const { timeoutSeconds = 300, maxUnhealthy = null, annotations = {} } = given;
  const status = kind === 'nodeHealthy' ? 'True' : 'Unknown';
  const ageSeconds = kind === 'nodeRecentlyUnhealthy' ? 0 : 600;
  const base = machineObject('m', { clusterName: null, annotations, isDeleting: kind === 'nodeUnhealthyDeleting' });
  const lastUpdated = ago(described?.lastUpdatedAgeSeconds ?? 7_200);
  const machine = { ...base, apiVersion: OPENSHIFT, status: { lastUpdated, ...(described?.nodeRef !== null && { nodeRef: { name: 'node-of-m' } }) } };
  const template = { apiVersion: 'remediation.example.io/v1', kind: 'PowerCycleTemplate', name: 'cycle' };
  const check = checkObject('mhc', {}, 'v1beta1', { annotations: 'paused' in setup ? { 'cluster.x-k8s.io/paused': '' } : {} });
  const spec = {
    selector: {},
    unhealthyConditions: [{ type: 'Ready', status: 'Unknown', timeout: `${timeoutSeconds}s` }],
    ...(maxUnhealthy !== null && { maxUnhealthy }),
    ...('nodeStartupTimeoutSeconds' in setup && { nodeStartupTimeout: `${setup.nodeStartupTimeoutSeconds}s` }),
    ...('template' in setup && { remediationTemplate: template }),
  };
  const request = {
    apiVersion: template.apiVersion,
    kind: 'PowerCycle',
    metadata: {
      name: 'm',
      namespace: NAMESPACE,
      uid: 'uid-request',
      ownerReferences: [{ apiVersion: OPENSHIFT, kind: 'Machine', name: 'm', uid: 'uid-m' }],
    },
  };
  return new World({
    hasClusters: false,
    checks: [{ ...check, apiVersion: OPENSHIFT, spec }],
    machines: [machine],
    nodes: described?.nodeRef === null ? {} : { 'node-of-m': nodeObjects({ conditions: [{ type: 'Ready', status, ageSeconds }] }) },
    templates:
      'template' in setup ? [{ ...template, metadata: { name: template.name, namespace: NAMESPACE, uid: 'uid-cycle' }, spec: { template: {} } }] : [],
    requests: 'requestExists' in setup ? [request] : [],
  });
}

/** A check of either flavour, with nothing but its threshold. */
export function thresholdCheck({ flavor, unhealthyLessThanOrEqualTo: maximum, unhealthyInRange }: Setup): UntypedObject {
  if (flavor === 'openshift-mao')
    return { ...checkObject('mhc', {}, 'v1beta1'), apiVersion: OPENSHIFT, spec: { selector: {}, maxUnhealthy: maximum } };
  return checkObject('mhc', { remediation: { triggerIf: { unhealthyLessThanOrEqualTo: maximum, unhealthyInRange } } });
}
