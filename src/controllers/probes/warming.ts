import type { Plan } from '../../domain/plan.ts';
import type { NodeFence } from '../../ports/resources.ts';

/** A connection, TLS and a login take slow BMCs some seconds; what nobody needs for 45 s is closed again. */
const AHEAD_MS = 20_000;
/** An isolation takes its time; from then on it is not known when the off comes. */
const LATE_MAX_MS = 60_000;
/** From the first renewal that is missing until Kubernetes says that the node has failed, and some more; who is silent for longer just does not renew. */
const SUSPECT_MAX_MS = 60_000;

/** Its first off comes so soon after its node has failed that a device which is called then is hardly connected in time. */
export function isPrompt({ timing: { isolationDelayMs, powerManagementDelayMs } }: Plan): boolean {
  return isolationDelayMs + powerManagementDelayMs <= AHEAD_MS;
}

/** A node that was not heard for so long has missed a renewal, and nobody says yet that it has failed. */
export function isSuspect(silentMs: number, { timing: { lifeWaitMs } }: Plan): boolean {
  return silentMs > lifeWaitMs && silentMs <= lifeWaitMs + SUSPECT_MAX_MS;
}

/**
 * The first off of this fence is so near that its devices are called now, and found connected and logged in then. By the wall clock and by what stands in the
 * fence: where it is mistaken, a device is read in vain, or is not connected yet.
 */
export function isOffNear({ status }: NodeFence, wallMs: number): boolean {
  if (status?.frozen === undefined || status.hold !== undefined || status.released !== undefined) return false;
  if (status.state !== 'new' && status.state !== 'running') return false;
  if (status.journal.some(({ action }) => action === 'off')) return false;
  const { isolationDelayMs, powerManagementDelayMs } = status.frozen.plan.timing;
  const { isolatedAt, noticedAt } = status.timeline;
  const isolatedMs = isolatedAt === undefined ? Date.parse(noticedAt ?? '') + isolationDelayMs : Date.parse(isolatedAt);
  const remainingMs = isolatedMs + powerManagementDelayMs - wallMs;
  return remainingMs <= AHEAD_MS && remainingMs >= -LATE_MAX_MS;
}
