import type { NodeFenceStatus, Timeline } from '../../domain/node-fence.ts';
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

/** Counts what a write changed; called after the write was acknowledged. */
export function measure(metrics: FenceMetrics, before: NodeFenceStatus | undefined, after: NodeFenceStatus | undefined): void {
  if (after === undefined) return;
  if (before?.state !== after.state || before.step !== after.step) metrics.transitioned(before?.state ?? 'none', after.state, after.step);
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
