import type { Fields } from './fields.ts';
import { flavourOf } from './objects.ts';

/** What the versions of MachineHealthCheck call the same things. */
export interface Dialect {
  /** spec.clusterName is there, and required. */
  hasCluster: boolean;
  /** The status has `targets` and `observedGeneration`. */
  reportsTargets: boolean;
  /** Seconds as numbers, or Go durations as text. */
  times: 'seconds' | 'durations';
  checks: (spec: Fields) => Fields;
  startupTimeout: string;
  nodeConditions: string;
  /** Absent: there are none. */
  machineConditions?: string;
  trigger: (spec: Fields) => Fields;
  maxUnhealthy: string;
  range: string;
  /** Remediation stops at the maximum, not above it. */
  isMaximumExcluded: boolean;
  /** A number may be written as text. */
  readsTextAsNumber: boolean;
  template: (spec: Fields) => Fields;
}

const V1BETA2: Dialect = {
  hasCluster: true,
  reportsTargets: true,
  times: 'seconds',
  checks: (spec) => spec.child('checks'),
  startupTimeout: 'nodeStartupTimeoutSeconds',
  nodeConditions: 'unhealthyNodeConditions',
  machineConditions: 'unhealthyMachineConditions',
  trigger: (spec) => spec.child('remediation').child('triggerIf'),
  maxUnhealthy: 'unhealthyLessThanOrEqualTo',
  range: 'unhealthyInRange',
  isMaximumExcluded: false,
  readsTextAsNumber: false,
  template: (spec) => spec.child('remediation').child('templateRef'),
};

const V1BETA1: Dialect = {
  ...V1BETA2,
  times: 'durations',
  checks: (spec) => spec,
  startupTimeout: 'nodeStartupTimeout',
  nodeConditions: 'unhealthyConditions',
  trigger: (spec) => spec,
  maxUnhealthy: 'maxUnhealthy',
  range: 'unhealthyRange',
  template: (spec) => spec.child('remediationTemplate'),
};

/** Without what came later: no cluster, no conditions of Machines, no range. */
const { machineConditions: _none, ...OLDER } = V1BETA1;

const SEED: Dialect = {
  ...OLDER,
  hasCluster: false,
  isMaximumExcluded: true,
  template: (spec) => spec.child('externalRemediationTemplate'),
};

const OPENSHIFT: Dialect = { ...OLDER, hasCluster: false, reportsTargets: false, readsTextAsNumber: true };

export function namesOf(apiVersion: string): Dialect {
  if (flavourOf(apiVersion) === 'openshift') return OPENSHIFT;
  if (apiVersion.endsWith('/v1beta2')) return V1BETA2;
  return apiVersion.endsWith('/v1beta1') ? V1BETA1 : SEED;
}
