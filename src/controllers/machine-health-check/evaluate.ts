import { CONTROL_PLANE_LABEL } from '../shared/remediation/place.ts';
import { conditionOf } from './conditions.ts';
import { goDuration } from '../shared/go-duration.ts';
import { asDated } from '../shared/sights.ts';
import type { Sight } from '../shared/sights.ts';
import { CREATED, LAST_UPDATED } from './dated.ts';
import {
  CONTROL_PLANE_INITIALIZED,
  EXTERNAL_REMEDIATION,
  INFRASTRUCTURE_READY,
  PAUSED_ANNOTATION,
  RECHECK_MARGIN_MS,
  REMEDIATE_ANNOTATION,
  SKIP_ANNOTATION,
} from './names.ts';
import { timeOf } from './read/objects.ts';
import type { ClusterFacts, Gate, HealthCheck, FreshSince, MachineFacts, NodeFacts, UnhealthyCondition } from './snapshot.ts';
import type { Failure, Evaluation } from './evaluation.ts';

export interface Subject {
  machine: MachineFacts;
  /** undefined: the machine names none. missing: it names one that is not there. disputed: another machine names it as well. */
  node: NodeFacts | 'missing' | 'unknown' | 'disputed' | undefined;
  /** Absent: no gates. */
  cluster?: ClusterFacts;
  freshSinceMs: FreshSince;
  seen: Seen;
}

/** Since when we have seen what is dated in the Machine, in its Node and in its Cluster. */
export interface Seen {
  machine: Sight;
  node: Sight;
  cluster: Sight;
}

/** Is this Machine among those that the check looks after? */
export function isTarget(check: HealthCheck, machine: MachineFacts): boolean {
  if (machine.namespace !== check.namespace) return false;
  if (check.clusterName !== undefined && machine.clusterName !== check.clusterName) return false;
  // Only Cluster API leaves paused machines out.
  const isExcluded = check.flavour === 'cluster-api' && (PAUSED_ANNOTATION in machine.annotations || SKIP_ANNOTATION in machine.annotations);
  return !isExcluded && check.selects(machine.labels);
}

/** Findings of one kind of object: what has stood for too long, and what is going to. */
interface Findings {
  messages: string[];
  sinceMs: number;
  dueMs: number;
}

interface ConditionSince {
  status: string;
  reason: string;
  /** As it is dated: of two machines the earlier one comes first, whoever looks. */
  sinceMs: number;
  /** By our own sight. */
  seenMs: number;
}

function findingsOf(
  checks: readonly UnhealthyCondition[],
  sinceOf: (type: string) => ConditionSince | undefined,
  { kind, nowMs, freshSinceMs }: { kind: 'Machine' | 'Node'; nowMs: number; freshSinceMs: number },
): Findings {
  const findings: Findings = { messages: [], sinceMs: Infinity, dueMs: Infinity };
  for (const { type, status, timeoutMs } of checks) {
    const standing = sinceOf(type);
    if (standing?.status !== status) continue;
    // What stood there before an outage may have ended in it, and nobody was heard to say so.
    const endMs = Math.max(standing.seenMs, freshSinceMs) + timeoutMs;
    if (endMs < nowMs) {
      const message = `Condition ${type} on ${kind} is reporting status ${status} with reason ${standing.reason} for more than ${goDuration(timeoutMs)}`;
      findings.messages.push(message);
      findings.sinceMs = Math.min(findings.sinceMs, standing.sinceMs + timeoutMs);
    } else {
      findings.dueMs = Math.min(findings.dueMs, endMs + RECHECK_MARGIN_MS);
    }
  }
  return findings;
}

function ofMachine({ machine, freshSinceMs, seen }: Subject, check: HealthCheck, nowMs: number): Findings {
  const sinceOf = (type: string): ConditionSince | undefined => {
    const condition = conditionOf(machine.conditions, type);
    const sinceMs = timeOf(condition?.lastTransitionTime);
    if (condition === undefined || sinceMs === undefined) return undefined;
    return { status: condition.status, reason: condition.reason ?? '', sinceMs, seenMs: seen.machine(type, sinceMs) };
  };
  return findingsOf(check.machineConditions, sinceOf, { kind: 'Machine', nowMs, freshSinceMs: freshSinceMs.machine });
}

const DATED = { machine: asDated, cluster: asDated };

/** When the clock of the startup timeout began: the last of all that a node had to wait for. */
function startedMs({ machine, cluster }: Subject, check: HealthCheck, seen: Pick<Seen, 'machine' | 'cluster'>): number | undefined {
  const { lastUpdatedMs } = machine;
  if (check.flavour === 'openshift') return lastUpdatedMs === undefined ? undefined : seen.machine(LAST_UPDATED, lastUpdatedMs);
  const infrastructure = conditionOf(machine.conditions, INFRASTRUCTURE_READY);
  const readyMs = timeOf(infrastructure?.lastTransitionTime);
  const machineMs = infrastructure?.status === 'True' && readyMs !== undefined ? seen.machine(INFRASTRUCTURE_READY, readyMs) : undefined;
  const gateMs = (type: string, gate: Gate | undefined): number => (gate?.sinceMs === undefined ? 0 : seen.cluster(type, gate.sinceMs));
  return Math.max(
    seen.machine(CREATED, machine.createdMs),
    machineMs ?? 0,
    gateMs(CONTROL_PLANE_INITIALIZED, cluster?.controlPlaneInitialized),
    gateMs(INFRASTRUCTURE_READY, cluster?.infrastructureReady),
  );
}

interface NodeFindings extends Findings {
  reason?: 'NodeDeleted' | 'NodeStartupTimeout' | 'UnhealthyNode';
}

const NOTHING: Readonly<NodeFindings> = { messages: [], sinceMs: Infinity, dueMs: Infinity };

function ofNode(subject: Subject, check: HealthCheck, nowMs: number): NodeFindings {
  const { machine, node, freshSinceMs } = subject;
  if (node === 'unknown' || node === 'disputed') return NOTHING;
  if (node === 'missing') return { ...NOTHING, messages: [`Node ${machine.nodeName ?? ''} has been deleted`], reason: 'NodeDeleted' };
  if (node === undefined) {
    const { startupTimeoutMs } = check;
    if (startupTimeoutMs === 0) return NOTHING;
    const beganMs = startedMs(subject, check, subject.seen) ?? nowMs;
    const endMs = Math.max(beganMs, freshSinceMs.machine, freshSinceMs.node) + startupTimeoutMs;
    if (endMs >= nowMs) return { ...NOTHING, dueMs: endMs + RECHECK_MARGIN_MS };
    return {
      ...NOTHING,
      messages: [`Node failed to report startup in ${goDuration(startupTimeoutMs)}`],
      sinceMs: (startedMs(subject, check, DATED) ?? nowMs) + startupTimeoutMs,
      reason: 'NodeStartupTimeout',
    };
  }
  const sinceOf = (type: string): ConditionSince | undefined => {
    const condition = node.conditions.find((each) => each.type === type);
    return condition && { ...condition, seenMs: subject.seen.node(type, condition.sinceMs) };
  };
  const findings = findingsOf(check.nodeConditions, sinceOf, { kind: 'Node', nowMs, freshSinceMs: freshSinceMs.node });
  return findings.messages.length > 0 ? { ...findings, reason: 'UnhealthyNode' } : findings;
}

const ANNOTATED: Failure = {
  reason: 'HasRemediateAnnotation',
  message: `Health check failed: marked for remediation via ${REMEDIATE_ANNOTATION} annotation`,
  v1beta1Reason: 'HasRemediateMachineAnnotation',
  v1beta1Message: 'Marked for remediation via remediate-machine annotation',
};

function failureOf(machineMessages: readonly string[], ofItsNode: NodeFindings): Failure | undefined {
  const isMachine = machineMessages.length > 0;
  const reason = isMachine ? 'UnhealthyMachine' : ofItsNode.reason;
  if (reason === undefined) return undefined;
  const all = [...machineMessages, ...ofItsNode.messages];
  return {
    reason,
    message: `Health check failed:\n${all.map((each) => `  * ${each}`).join('\n')}`,
    v1beta1Reason: reason === 'NodeDeleted' ? 'NodeNotFound' : reason,
    // Of a node that is gone, and of nothing else, the reason of v1beta1 says all.
    v1beta1Message: reason === 'NodeDeleted' ? '' : all.join('; '),
  };
}

function isGated({ machine, cluster }: Subject): 'control-plane' | 'infrastructure' | undefined {
  if (cluster === undefined) return undefined;
  // The first control plane machine must be remediable, or no control plane ever comes up.
  if (!cluster.controlPlaneInitialized.isTrue && !(CONTROL_PLANE_LABEL in machine.labels)) return 'control-plane';
  return cluster.infrastructureReady.isTrue ? undefined : 'infrastructure';
}

function withNode({ machine, node }: Subject, check: HealthCheck): Evaluation {
  if (node === 'unknown') return { kind: 'unknown' };
  if (node === 'disputed') {
    return {
      kind: 'open',
      problem: `Machine ${machine.namespace}/${machine.name} names Node ${machine.nodeName ?? ''}, and so does another: nothing is concluded of it`,
    };
  }
  if (machine.isDeleting || typeof node !== 'object') return { kind: 'open' };
  // Whoever was asked to remediate has not finished before he takes the annotation away.
  if (check.flavour === 'openshift' && EXTERNAL_REMEDIATION in machine.annotations) return { kind: 'open' };
  return { kind: 'healthy' };
}

/** The eleven rows of the health check, in their order. `dueMs` of a pending machine is when elapsed time has passed its timeout, and a second. */
export function evaluate(subject: Subject, check: HealthCheck, nowMs: number): Evaluation {
  const { machine, node } = subject;
  if (REMEDIATE_ANNOTATION in machine.annotations && check.flavour === 'cluster-api') return { kind: 'unhealthy', failure: ANNOTATED, sinceMs: 0 };
  if (check.flavour === 'openshift' && machine.phase === 'Failed') {
    const message = 'machine phase is "Failed"';
    return { kind: 'unhealthy', failure: { reason: 'UnhealthyMachine', message, v1beta1Reason: 'UnhealthyMachine', v1beta1Message: message } };
  }
  const gate = isGated(subject);
  if (gate === 'control-plane') return { kind: 'open' };
  if (gate === 'infrastructure') return withNode(subject, check);
  const own = ofMachine(subject, check, nowMs);
  const ofItsNode = ofNode(subject, check, nowMs);
  const failure = failureOf(own.messages, ofItsNode);
  if (failure !== undefined) {
    const sinceMs = Math.min(own.sinceMs, ofItsNode.sinceMs);
    return { kind: 'unhealthy', failure, ...(sinceMs !== Infinity && { sinceMs }) };
  }
  const dueMs = Math.min(own.dueMs, ofItsNode.dueMs);
  if (dueMs !== Infinity && node !== 'unknown') return { kind: 'pending', dueMs };
  return withNode(subject, check);
}
