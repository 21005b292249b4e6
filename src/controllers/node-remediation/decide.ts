import type { Decision, Step } from './actions.ts';
import { exhausted, lost } from './attempt.ts';
import { ending, hasFinalizer, setFinalizer, timedOut } from './ending.ts';
import { POLL_MS, TIMED_OUT } from './names.ts';
import type { Snapshot } from './snapshot.ts';
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
  const [problem] = request.problems;
  if (problem !== undefined && request.phase === '') return exhausted(snapshot, problem, 'CannotStart');
  const unknown = lost(snapshot);
  if (unknown !== undefined) return unknown;
  if (!hasFinalizer(request) && request.phase === '') return { actions: [setFinalizer(request, true)], dueInMs: POLL_MS };
  return underWay(snapshot);
}
