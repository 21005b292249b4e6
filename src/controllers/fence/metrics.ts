import type { FenceState, NodeFenceStatus, Timeline } from '../../domain/node-fence.ts';
import type { Step } from '../../domain/plan.ts';
import type { FenceMetrics } from '../../ports/metrics.ts';

const PHASES = [
  'noticedAt',
  'isolatedAt',
  'poweredOffAt',
  'releasedAt',
  'volumesDetachedAt',
  'poweredOnAt',
  'readyAt',
  'finalAt',
] as const satisfies readonly (keyof Timeline)[];

/** The state in which each step runs. */
const STATES = { isolation: 'new', 'power-management': 'running', recovery: 'done' } as const satisfies Record<Step, FenceState>;

/** Counts what a write changed; called after the write was acknowledged. */
export function measure(metrics: FenceMetrics, before: NodeFenceStatus | undefined, after: NodeFenceStatus | undefined): void {
  if (after === undefined) return;
  if (before?.state !== after.state || before.step !== after.step) metrics.transitioned(before?.state ?? 'none', after.state, after.step);
  if (before !== undefined && before.state !== after.state) measureStep(metrics, before, after);
  const failedAt = Date.parse(after.timeline.noticedAt ?? after.timeline.failedAt ?? '');
  for (const phase of PHASES) {
    const at = after.timeline[phase];
    if (at !== undefined && before?.timeline[phase] !== at) metrics.phaseReached(phase, Math.max(0, Date.parse(at) - failedAt));
  }
  for (const item of after.evidence) {
    const known = before?.evidence.find((other) => other.source === item.source && other.observedAt === item.observedAt);
    if (known === undefined) metrics.evidenceGained(item.kind, item.grade);
    else if (known.voidedAt === undefined && item.voidedAt !== undefined) metrics.evidenceVoided(item.kind);
  }
  if (after.state === 'final' && before?.state !== 'final' && after.outcome !== undefined) {
    metrics.fenceFinished(after.outcome, Math.max(0, Date.parse(after.timeline.finalAt ?? '') - failedAt));
  }
  if (after.state === 'error' && before?.state !== 'error') metrics.problem('FenceInError');
}

/** A step that ran is over with the state that it ran in; one of which no run is on record did not run. From its first run to the end of its last. */
function measureStep(metrics: FenceMetrics, { state, step, restarts }: NodeFenceStatus, after: NodeFenceStatus): void {
  const runs = after.journal.filter((entry) => entry.step === step && entry.restart === restarts);
  const durationMs = Date.parse(runs.at(-1)?.finishedAt ?? '') - Date.parse(runs[0]?.startedAt ?? '');
  if (STATES[step] === state && durationMs >= 0) metrics.stepFinished(step, after.state === 'error' ? 'error' : 'done', durationMs);
}
