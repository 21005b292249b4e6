/** Who misses an Event that is lost: a person who must act, whoever asks what became of a node, or whoever follows each step. */
export const IMPORTANCES = ['person', 'outcome', 'progress'] as const;
export type Importance = (typeof IMPORTANCES)[number];

/** Warnings that only tell that something began, and what ended or came of it though all went well. */
const OUTCOMES: ReadonlySet<string> = new Set([
  'ConditionStands',
  'FailureObserved',
  'FencingFinished',
  'FencingHeld',
  'FencingStarted',
  'HeldNodeRecovered',
  'InstanceDeleted',
  'MachineDeleted',
  'NodePoweredOff',
  'NodeProvenGone',
  'NodeSuspected',
  'PreservationStopped',
  'RemediationFinished',
  'RemedySucceeded',
  'SoftFenceOrdered',
  'StorageRevoked',
  'WorkloadReleased',
  'WouldFence',
]);

/** Of these both may be true: where one ends badly it is a Warning, and a person's. */
const WORSE_AS_WARNING: ReadonlySet<string> = new Set(['FencingFinished', 'MachineDeleted']);

/** Any Warning is a person's unless the table says that it only tells of a beginning; any other Event is progress unless it is an outcome. */
export function importanceOf(type: 'Normal' | 'Warning', reason: string): Importance {
  const isOutcome = OUTCOMES.has(reason);
  if (type === 'Warning') return isOutcome && !WORSE_AS_WARNING.has(reason) ? 'outcome' : 'person';
  return isOutcome ? 'outcome' : 'progress';
}

/**
 * Place in the queue, 0 first. What is told of a NodeFence is told of its Node too, and stands in the NodeFence itself:
 * among Events of the same importance it comes last.
 */
export function rankOf(importance: Importance, kind: string): number {
  return IMPORTANCES.indexOf(importance) * 2 + (kind === 'NodeFence' ? 1 : 0);
}

export const RANKS = IMPORTANCES.length * 2;
