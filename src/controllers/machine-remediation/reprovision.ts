import type { HostFacts } from '../shared/baremetal-host/host.ts';
import type { Marks } from '../shared/remediation/actions.ts';
import { timeOf } from '../shared/remediation/actions.ts';
import { CLUSTER_NAME, CONTROL_PLANE_LABEL } from '../shared/remediation/place.ts';
import { DEFAULT_POWER_ON_TIMEOUT_MS, POWERED_OFF, TIMES_OUT_AT } from './names.ts';
import type { HealthCheckFacts, LabelSelector, MachineFacts } from './snapshot.ts';

const ROLE_LABELS = ['machine.openshift.io/cluster-api-machine-role', 'machine.openshift.io/cluster-api-machine-type'];

/** Its owner makes a new machine, and nobody loses a quorum or an installation that was not ours. */
export function canReprovision(
  machine: Pick<MachineFacts, 'labels' | 'hasController'>,
  host: Pick<HostFacts, 'isExternallyProvisioned'> | undefined,
): boolean {
  if (host?.isExternallyProvisioned !== false || !machine.hasController) return false;
  return machine.labels[CONTROL_PLANE_LABEL] === undefined && !ROLE_LABELS.some((label) => machine.labels[label] === 'master');
}

export function isPowerOnTimedOut(annotations: Marks, nowMs: number): boolean {
  const atMs = timeOf(annotations[TIMES_OUT_AT]);
  return atMs !== undefined && nowMs >= atMs;
}

/** A restart of the clock by a second or two is none. */
const SLACK_MS = 5_000;

/** Part of the time that the Node was given could not be heard: an outage of the API server, or a start of this process, lies in it. */
export function isDeadlineUnobserved(annotations: Marks, timeoutMs: number, freshSinceMs: number | undefined): boolean {
  const [atMs, offMs] = [timeOf(annotations[TIMES_OUT_AT]), timeOf(annotations[POWERED_OFF])];
  if (atMs === undefined || offMs === undefined || freshSinceMs === undefined || freshSinceMs <= offMs) return false;
  return atMs + SLACK_MS < freshSinceMs + timeoutMs;
}

/** The first health check by name, in the machine's own namespace and of its Cluster, that selects it. An empty selector selects all, as OpenShift's does. */
export function healthCheckOf(
  machine: Pick<MachineFacts, 'namespace' | 'labels'>,
  checks: readonly HealthCheckFacts[],
): HealthCheckFacts | undefined {
  const sorted = [...checks].sort((one, other) => (one.name < other.name ? -1 : 1));
  const own = machine.labels[CLUSTER_NAME];
  const isOfCluster = (name: string | undefined): boolean => name === undefined || own === undefined || name === own;
  return sorted.find(
    ({ namespace, selector, clusterName }) => namespace === machine.namespace && isOfCluster(clusterName) && selects(selector, machine.labels),
  );
}

/** How long a Node may take to come back: as long as its health check waits for a new one. */
export function powerOnTimeoutMs(machine: MachineFacts, checks: readonly HealthCheckFacts[]): number {
  const told = healthCheckOf(machine, checks)?.nodeStartupTimeoutMs;
  return told === undefined || told <= 0 ? DEFAULT_POWER_ON_TIMEOUT_MS : told;
}

/** Its health check says that a node may take as long as it likes: its machine is not replaced for that. */
export function mayTakeForever(machine: MachineFacts, checks: readonly HealthCheckFacts[]): boolean {
  return healthCheckOf(machine, checks)?.nodeStartupTimeoutMs === 0;
}

function selects({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Marks): boolean {
  if (!Object.entries(matchLabels).every(([key, value]) => labels[key] === value)) return false;
  return matchExpressions.every(({ key, operator, values = [] }) => {
    const own = labels[key];
    if (operator === 'Exists') return own !== undefined;
    if (operator === 'DoesNotExist') return own === undefined;
    if (operator === 'NotIn') return own === undefined || !values.includes(own);
    return operator === 'In' && own !== undefined && values.includes(own);
  });
}
