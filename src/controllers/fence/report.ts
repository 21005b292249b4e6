import { internalAddresses } from '../../domain/addresses.ts';
import { sameContent } from '../../domain/canonical.ts';
import { devicePaths } from '../../domain/device-paths.ts';
import { isCordonedOnly, isWorthWriting, recordOf, unrecovered, withIncident } from '../../domain/incident-record.ts';
import type { FenceRecord, IncidentRecord } from '../../domain/incident-record.ts';
import { isDefaulted } from '../../domain/plan-problems.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import type { Plan } from '../../domain/plan.ts';
import { timestamp } from '../../ports/clock.ts';
import type { Node } from '../../ports/objects.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import { updateReport } from '../shared/node-report.ts';
import type { FenceDependencies } from './dependencies.ts';

type Status = NonNullable<NodeFenceReport['status']>;

type Problems = NonNullable<Status['problems']>;

const PROBLEMS_MAX = 64;

/**
 * What must be known before a node fails: what its machine said of itself while it was healthy, the identity that a device must show before it
 * is switched (P10), and what is wrong with the configuration of its fence (P7). Written when it changes. `mayWrite`: is it its turn? What the machine says anew of itself has none to wait for.
 * In mode observe too: a node that fails before mode enforce begins is known by it.
 */
export async function recordHealthy(dependencies: FenceDependencies, node: Node, mayWrite: (node: string) => boolean = () => true): Promise<void> {
  const { listers, planner, recorder } = dependencies;
  const report = listers.reports.get(node.metadata.name);
  const known = report?.status;
  const plan = planner.planFor(node);
  const problems = problemsOf(dependencies, plan);
  const sameProblems = sameContent(problems, known?.problems ?? []);
  const fence = triggerOf(plan);
  if (isRecorded(known, node) && sameProblems && known?.fence === fence.fence) return;
  // A machine that says something else of itself than before is recorded while it is healthy; all else waits for its turn.
  const isNews = report !== undefined && !isRecorded(known, node);
  if (!isNews && !mayWrite(node.metadata.name)) return;
  const identity = isRecorded(known, node) ? known?.identity : identityOf(dependencies, node);
  await updateReport(dependencies, node.metadata.name, (status) => withHealthy(status, plan, problems, identity));
  const first = problems.find((problem) => problem.severity === 'error');
  if (first !== undefined && !sameProblems) {
    const words = `This node could not be fenced as it should: ${first.where}: ${first.message}`;
    recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: node.metadata }, 'Warning', 'FenceConfigurationInvalid', words);
  }
  const defaulted = problems.find(isDefaulted);
  if (defaulted !== undefined && !sameProblems) {
    const words = `A value of this node's fence could not be used: ${defaulted.where}: ${defaulted.message}`;
    recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: node.metadata }, 'Warning', 'FenceSettingIgnored', words);
  }
}

/** The report of a healthy node that has none is made by the first probe of its devices too, in one write; where something is wrong with its plan there is more to tell. */
export function comesWithProbe(dependencies: FenceDependencies, plan: Plan): boolean {
  return problemsOf(dependencies, plan).length === 0 && devicePaths(plan).length > 0;
}

/** The report that a probe is about to write, with what the machine said of itself while its node was healthy. */
export function withMachine(status: Status, plan: Plan, machine: NonNullable<Status['identity']>): Status {
  return withHealthy(status, plan, [], machine);
}

function withHealthy({ fence: _before, ...status }: Status, plan: Plan, problems: Problems, identity: Status['identity']): Status {
  return { ...status, ...triggerOf(plan), problems, ...(identity === undefined ? {} : { identity }) };
}

function triggerOf({ trigger }: Plan): Pick<Status, 'fence'> {
  return trigger === 'never' ? { fence: trigger } : {};
}

function problemsOf({ fastDetection }: FenceDependencies, { problems, fastDetectionMs }: Plan): Problems {
  const found: Problems = problems.slice(0, PROBLEMS_MAX).map(({ severity, where, message }) => ({ severity, where, message }));
  if (fastDetectionMs === undefined || fastDetection !== undefined) return found;
  const message = 'nobody is found within seconds: the controllers do not serve the node daemons; start them with --node-daemons';
  return [...found, { severity: 'warning', where: 'fast_detection', message }].slice(0, PROBLEMS_MAX);
}

function isRecorded(known: Status | undefined, node: Node): boolean {
  const info = node.status.nodeInfo;
  const identity = known?.identity;
  const sameMachine = identity?.systemUUID === info?.systemUUID && identity?.providerID === node.spec.providerID;
  const isSameAddress = (identity?.addresses ?? []).join() === internalAddresses(node.status.addresses).join();
  return identity?.nodeUID === (node.metadata.uid ?? '') && identity.bootID === info?.bootID && sameMachine && isSameAddress;
}

export function identityOf({ clock }: FenceDependencies, node: Node): NonNullable<Status['identity']> {
  const info = node.status.nodeInfo;
  const addresses = internalAddresses(node.status.addresses);
  return {
    nodeUID: node.metadata.uid ?? '',
    recordedAt: timestamp(clock),
    ...(info?.systemUUID === undefined ? {} : { systemUUID: info.systemUUID }),
    ...(node.spec.providerID === undefined ? {} : { providerID: node.spec.providerID }),
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(info?.bootID === undefined ? {} : { bootID: info.bootID }),
  };
}

/** What the automaton asks of the record of a node. */
export function fenceRecord(report: NodeFenceReport | undefined): FenceRecord {
  const resumedAfter = report?.spec?.resumed?.incident;
  return { incidents: report?.status?.incidents ?? [], ...(resumedAfter === undefined ? {} : { resumedAfter }) };
}

/** The number of the node's incident and what came of it outlive its NodeFence. `isDeleted`: a person has just deleted that. */
export async function recordIncident(dependencies: FenceDependencies, node: string, status: NodeFenceStatus, isDeleted = false): Promise<void> {
  const known = dependencies.listers.reports.get(node)?.status;
  const deletedAt = isDeleted ? timestamp(dependencies.clock) : undefined;
  const record = recordFor(known, status, deletedAt);
  if (record === undefined || !isNews(known, record)) return;
  await updateReport(dependencies, node, (now) => {
    const later = recordFor(now, status, deletedAt) ?? record;
    // Another pass of this fence may have written it meanwhile.
    if (!isNews(now, later)) return now;
    const incidents = withIncident(now.incidents ?? [], later);
    return {
      ...now,
      incident: Math.max(status.incident, now.incident ?? 0),
      incidents,
      consecutiveFailures: unrecovered({ incidents }).length,
      fencesStartedAt: incidents.map(({ startedAt }) => startedAt),
    };
  });
}

function isNews(known: Status | undefined, record: IncidentRecord): boolean {
  const before = known?.incidents?.find(({ incident }) => incident === record.incident);
  return (known?.incident ?? 0) < record.incident || isWorthWriting(before, record);
}

function recordFor(known: Status | undefined, status: NodeFenceStatus, deletedAt: string | undefined): IncidentRecord | undefined {
  const record = recordOf(
    status,
    known?.incidents?.find(({ incident }) => incident === status.incident),
  );
  if (record === undefined || deletedAt === undefined || record.endedAt !== undefined) return record;
  return {
    ...record,
    endedAt: deletedAt,
    outcome: record.outcome ?? 'stopped',
    ...(isCordonedOnly(status) ? { cordonedOnly: true } : {}),
    heldBy: record.heldBy ?? 'its NodeFence was deleted by hand',
  };
}
