import { TAKEN_UP_AS } from '../../domain/restored.ts';
import type { Decision, Step } from './actions.ts';
import { lost, refused } from './attempt.ts';
import { ending, hasFinalizer, setFinalizer, timedOut } from './ending.ts';
import { POLL_MS, TIMED_OUT } from './names.ts';
import type { RequestFacts, Snapshot } from './snapshot.ts';
import { remediationEvent, reportStatus } from './status.ts';
import { contradictionOf } from './target.ts';
import { underWay } from './under-way.ts';

/** Everything about one NodeFenceRemediation; see Snapshot and Decision. Pure: a crash between any two actions is nothing special. */
export function decide(snapshot: Snapshot): Decision {
  const { request, machine, nowMs } = snapshot;
  const step = stepOf(snapshot);
  const about = `${request.kind} ${request.namespace}/${request.name}`;
  const told = [...request.problems, contradictionOf(request, machine), step.problem].filter((problem) => problem !== undefined);
  return {
    actions: step.actions ?? [],
    problems: told.map((problem) => `${about}: ${problem}`),
    ...(step.dueInMs !== undefined && { nextDueMs: nowMs + step.dueInMs }),
  };
}

function stepOf(snapshot: Snapshot): Step {
  const { request, machine } = snapshot;
  if (request.isPaused || (typeof machine === 'object' && machine.isPaused)) return { problem: 'it is paused' };
  if (request.isDeleting || machine === 'gone') return lost(snapshot) ?? ending(snapshot);
  if (request.annotations[TIMED_OUT] !== undefined && request.phase !== 'Succeeded') return timedOut(snapshot);
  if (isRestored(request)) return restored(snapshot);
  const [problem] = request.problems;
  if (problem !== undefined && request.phase === '') return refused(snapshot, problem);
  const unknown = lost(snapshot);
  if (unknown !== undefined) return unknown;
  if (!hasFinalizer(request) && request.phase === '') return { actions: [setFinalizer(request, true, snapshot.node?.uid)], dueInMs: POLL_MS };
  return underWay(snapshot);
}

/** It carries the mark of another object: it was made from a backup, of a time when its node was ill. */
function isRestored({ uid, annotations }: RequestFacts): boolean {
  const mark = annotations[TAKEN_UP_AS];
  return mark !== undefined && mark !== uid;
}

/** Nothing is begun, tried again or deleted for it. Whoever finds the node ill deletes it and asks anew. */
function restored(snapshot: Snapshot): Step {
  const why = 'it was restored from a backup: delete it; whoever still finds the node unhealthy asks anew';
  return { actions: reportStatus(snapshot, { phase: 'Stopped', message: why }, remediationEvent('Stopped', why)) };
}
