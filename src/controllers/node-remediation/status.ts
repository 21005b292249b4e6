import { sameContent } from '../../domain/canonical.ts';
import { timeText } from '../shared/remediation/actions.ts';
import type { ActionEvent, ObjectRef } from '../shared/remediation/actions.ts';
import type { ConditionFact } from '../shared/remediation/owner-machine.ts';
import type { Action, RequestStatus } from './actions.ts';
import { EVENT_PREFIX } from './names.ts';
import type { Phase } from './names.ts';
import type { RequestFacts, Snapshot } from './snapshot.ts';

type Status = ConditionFact['status'];

/** What medik8s reads: Processing, and Succeeded, which is Unknown until it is known. */
const CONDITIONS: Readonly<Record<Phase, { processing: Status; succeeded: Status; reason: string }>> = {
  '': { processing: 'True', succeeded: 'Unknown', reason: 'RemediationStarted' },
  Fencing: { processing: 'True', succeeded: 'Unknown', reason: 'RemediationStarted' },
  Recovering: { processing: 'True', succeeded: 'Unknown', reason: 'NodeFenced' },
  Succeeded: { processing: 'False', succeeded: 'True', reason: 'RemediationFinished' },
  Failed: { processing: 'False', succeeded: 'False', reason: 'RemediationFailed' },
  Stopped: { processing: 'False', succeeded: 'False', reason: 'RemediationStopped' },
};

/** Reason of Processing: our fence of it is being let go, for what the message says. */
export const FENCE_WITHDRAWN = 'FenceWithdrawn';

export interface StatusReport {
  phase: Phase;
  retryCount?: number;
  lastRemediatedMs?: number;
  nodeFence?: string;
  message?: string;
  /** Its fence is let go, for what the message says. */
  isWithdrawn?: boolean;
  /** The Node goes for good: its absence is no reason to delete the request. */
  isNodeGoing?: boolean;
}

export function requestRef({ apiVersion, kind, name, namespace, uid }: RequestFacts): ObjectRef {
  return { apiVersion, kind, name, namespace, uid };
}

/** The reasons are those that remediators of medik8s share, and Stalled: it has begun, and something can not be read or written. */
export function remediationEvent(reason: 'Started' | 'Stopped' | 'Finished' | 'CannotStart' | 'Stalled', message: string): ActionEvent {
  const type = reason === 'Started' || reason === 'Finished' ? 'Normal' : 'Warning';
  return { type, reason: `Remediation${reason}`, message: EVENT_PREFIX + message };
}

/** The write of status; empty: it says so already. */
export function reportStatus({ request, nowMs }: Pick<Snapshot, 'request' | 'nowMs'>, told: StatusReport, event?: ActionEvent): Action[] {
  const { phase, retryCount, lastRemediatedMs, nodeFence, conditions } = request;
  const to: RequestStatus = {
    phase: told.phase,
    retryCount: told.retryCount ?? retryCount,
    lastRemediatedMs: told.lastRemediatedMs ?? lastRemediatedMs,
    nodeFence: told.nodeFence ?? nodeFence,
    conditions: conditionsOf(conditions, told, nowMs),
  };
  if (sameContent(to, { phase, retryCount, lastRemediatedMs, nodeFence, conditions })) return [];
  const was = { phase, retryCount, lastRemediatedMs };
  return [{ kind: 'status', target: requestRef(request), was, to, ...(event !== undefined && { event }) }];
}

function conditionsOf(
  standing: readonly ConditionFact[],
  { phase, message = '', isWithdrawn = false, isNodeGoing = false }: StatusReport,
  nowMs: number,
): ConditionFact[] {
  const { processing, succeeded, reason } = CONDITIONS[phase];
  const wanted: ConditionFact[] = [
    { type: 'Processing', status: processing, reason: isWithdrawn ? FENCE_WITHDRAWN : reason, message },
    { type: 'Succeeded', status: succeeded, reason, message },
    ...(isNodeGoing ? [{ type: 'PermanentNodeDeletionExpected', status: 'True' as const, reason: 'NodeRemoved', message: '' }] : []),
  ];
  const others = standing.filter(({ type }) => !wanted.some((each) => each.type === type));
  const dated = wanted.map((each) => {
    const before = standing.find(({ type }) => type === each.type);
    return { ...each, lastTransitionTime: before?.status === each.status ? (before.lastTransitionTime ?? timeText(nowMs)) : timeText(nowMs) };
  });
  return [...others, ...dated].sort((one, other) => (one.type < other.type ? -1 : 1));
}
