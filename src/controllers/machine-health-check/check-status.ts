import type { Action, ActionEvent } from './actions.ts';
import { restated } from './conditions.ts';
import { CLUSTER_NAME_LABEL, REQUEST_AVAILABLE, TEMPLATE_AVAILABLE } from './names.ts';
import { groupOf } from './read/objects.ts';
import type { ClusterFacts, HealthCheck } from './snapshot.ts';
import { allowed, available, pausedBy } from './statements.ts';
import { patchOf, refOf } from './target.ts';
import type { Threshold } from './threshold.ts';

const KIND = 'MachineHealthCheck';

/** Why nothing is evaluated, in words; none: it is. */
export function pauseReasons(check: HealthCheck, cluster: ClusterFacts | undefined): string[] {
  const reasons: string[] = [];
  if (cluster?.isPaused === true) reasons.push('Cluster spec.paused is set to true');
  if (check.isPaused) reasons.push(`${KIND} has the cluster.x-k8s.io/paused annotation`);
  return reasons;
}

/** The check carries its cluster's name and is owned by it, beside whatever else it carries. */
export function belonging(check: HealthCheck, cluster: ClusterFacts | undefined): Action | undefined {
  const members: Record<string, unknown> = {};
  const { clusterName, labels, ownerReferences } = check;
  if (clusterName !== undefined && labels[CLUSTER_NAME_LABEL] !== clusterName) members['labels'] = { [CLUSTER_NAME_LABEL]: clusterName };
  if (cluster !== undefined) {
    const isCluster = ({ apiVersion, kind, name }: (typeof ownerReferences)[number]): boolean =>
      kind === 'Cluster' && name === cluster.name && groupOf(apiVersion) === groupOf(cluster.apiVersion);
    const present = ownerReferences.find(isCluster);
    if (present?.uid !== cluster.uid) {
      const own = { apiVersion: cluster.apiVersion, kind: 'Cluster', name: cluster.name, uid: cluster.uid };
      members['ownerReferences'] = [...ownerReferences.filter((each) => !isCluster(each)), own];
    }
  }
  if (Object.keys(members).length === 0) return undefined;
  return { kind: 'check-metadata', target: refOf(check, KIND), patch: patchOf(check, members) };
}

/** Paused: only that is said, the counts stay as they were. */
export function pausedStatus(check: HealthCheck, reasons: readonly string[], now: string): Action | undefined {
  const status = restated(check.status.conditions, check.paths, [pausedBy(reasons)], { now, generation: check.generation });
  return status === undefined ? undefined : { kind: 'check-status', target: refOf(check, KIND), patch: { ...patchOf(check), status } };
}

export interface Census {
  /** Sorted. */
  names: readonly string[];
  healthy: number;
  failed: number;
  threshold: Threshold;
  /** The template is not there. */
  templateFault?: string;
  /** What the API server said to a request. */
  requestFault?: string;
}

function isSameList(one: readonly string[] | undefined, other: readonly string[]): boolean {
  return one?.length === other.length && one.every((name, index) => name === other[index]);
}

/** Counts and conditions as they must be; undefined when they are. */
export function evaluatedStatus(check: HealthCheck, census: Census, now: string): Action | undefined {
  const { status: was, generation } = check;
  const { threshold } = census;
  const lists = was.conditions;
  const statements = [
    allowed(threshold.isAllowed, threshold.message),
    ...(check.flavour === 'cluster-api' ? [pausedBy([])] : []),
    ...available(TEMPLATE_AVAILABLE, census.templateFault, lists),
    ...available(REQUEST_AVAILABLE, census.requestFault, lists),
  ];
  const conditions = restated(lists, check.paths, statements, { now, generation });
  const status: Record<string, unknown> = { ...conditions };
  const expected = census.names.length;
  if (was.expectedMachines !== expected) status['expectedMachines'] = expected;
  if (was.currentHealthy !== census.healthy) status['currentHealthy'] = census.healthy;
  if (was.remediationsAllowed !== threshold.remediationsAllowed) status['remediationsAllowed'] = threshold.remediationsAllowed;
  if (check.reportsTargets) {
    if (generation !== undefined && was.observedGeneration !== generation) status['observedGeneration'] = generation;
    if (!isSameList(was.targets, census.names)) status['targets'] = census.names;
  }
  if (Object.keys(status).length === 0) return undefined;
  // Said when the condition changes, and only if there is something that is not remediated.
  const isRestricted = conditions !== undefined && !threshold.isAllowed && census.failed > 0;
  const event: ActionEvent = { type: 'Warning', reason: 'RemediationRestricted', message: threshold.message };
  return {
    kind: 'check-status',
    target: refOf(check, KIND),
    patch: { ...patchOf(check), status },
    ...(isRestricted && { events: [event] }),
  };
}
