import type { NodeFenceRemediation, RemediationCondition } from '../../ports/remediation.ts';
import { timeOf } from '../shared/remediation/actions.ts';
import type { ConditionFact } from '../shared/remediation/owner-machine.ts';
import { PAUSED } from '../shared/remediation/read-machine.ts';
import type { RequestFacts } from './snapshot.ts';
import { readSpec } from './spec.ts';
import type { Settings } from './spec.ts';

/** A request as it stands at the API; since when it has been so is known to whoever looks. */
export function readRequest(request: NodeFenceRemediation, identity: Pick<RequestFacts, 'apiVersion' | 'kind'>): Omit<RequestFacts, 'phaseSeenMs'> {
  const { metadata, status } = request;
  const { settings, problems } = readSpec(identity.apiVersion, request.spec);
  const lastRemediatedMs = timeOf(status?.lastRemediated);
  const nodeFence = status?.nodeFenceRef?.name;
  return {
    ...identity,
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    finalizers: metadata.finalizers ?? [],
    createdMs: timeOf(metadata.creationTimestamp) ?? 0,
    isDeleting: metadata.deletionTimestamp !== undefined,
    isPaused: metadata.annotations?.[PAUSED] !== undefined,
    settings,
    problems: [...problems, ...unfollowed(settings)],
    phase: status?.phase ?? '',
    retryCount: status?.retryCount ?? 0,
    conditions: (status?.conditions ?? []).map(readCondition),
    ...(lastRemediatedMs !== undefined && { lastRemediatedMs }),
    ...(nodeFence !== undefined && { nodeFence }),
  };
}

/** A NodeFence has one plan, the node's own: what asks for another is refused, never left out (P7). */
function unfollowed({ methodRef }: Settings): string[] {
  return methodRef === undefined ? [] : [`spec.methodRef: ${methodRef}: a node is fenced by its own configuration only`];
}

function readCondition({ type, status, reason = '', message = '', lastTransitionTime }: RemediationCondition): ConditionFact {
  return { type, status, reason, message, ...(lastTransitionTime !== undefined && { lastTransitionTime }) };
}
