import { dumpAgainst } from '../../domain/kdump/hold.ts';
import { isAskedFor } from '../../domain/health.ts';
import { offBegan } from '../../domain/journal.ts';
import { endsInIsolation, ISOLATION_ONLY_HOLD } from '../../domain/last-step.ts';
import type { JournalEntry } from '../../domain/node-fence.ts';
import { preservationHold } from '../../domain/preservation.ts';
import { newRequest } from '../../domain/request.ts';
import type { PreservationGuard } from '../../domain/snapshot.ts';
import type { ActiveHold } from '../../domain/snapshot.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { FenceDependencies } from './dependencies.ts';
import { readyOf } from './observation.ts';
import type { NodeObservation } from './observation.ts';

/** A guard that nobody speaks of is looked at again at least so often. */
const RESYNC_MS = 3_600_000;

type Dependencies = Pick<FenceDependencies, 'preservation' | 'clock'>;

/** What is to become of a node's machine now, as the automaton reads it. What is over by the clock on the wall is over, whoever has not noticed yet. */
export function guardOf({ preservation, clock }: Dependencies, node: string): PreservationGuard | undefined {
  const known = preservation?.guardOf(node);
  if (known === undefined) return undefined;
  if (known === 'unknown') return { kind: 'unknown' };
  const { guard, cause, untilMs } = known;
  if (guard === 'drop') return { kind: 'drop' };
  if (untilMs === undefined) return { kind: guard, cause };
  return untilMs <= clock.wallMs() ? undefined : { kind: guard, cause, until: new Date(untilMs).toISOString() };
}

/** Right before a call: what the preservation of its machine holds against this run of the fence, as it stands by now. */
export function preservedAgainst(dependencies: Dependencies, fence: NodeFence | undefined, { id }: Pick<JournalEntry, 'id'>): readonly ActiveHold[] {
  const status = fence?.status;
  const guard = fence === undefined ? undefined : guardOf(dependencies, fence.spec.node);
  if (guard === undefined || status?.frozen === undefined) return [];
  // The run itself stands in the journal already, and is none of what was done before it.
  const before = { ...status, journal: status.journal.filter((entry) => entry.id !== id) };
  const hold = preservationHold(guard, before, status.frozen.plan);
  return hold === undefined ? [] : [hold];
}

/** Right before a call: what whoever asked for the fence, or deletes it, wants by now. */
export function askedAgainst(
  dependencies: Pick<FenceDependencies, 'listers' | 'fastDetection'>,
  fence: NodeFence | undefined,
  entry: Pick<JournalEntry, 'id' | 'step'>,
): readonly ActiveHold[] {
  return [...withdrawnAgainst(dependencies, fence, entry), ...onlyIsolatedAgainst(dependencies, fence, entry)];
}

/** Of power-management: the request goes no further than isolation by now, and the node shows no failure of its own. */
function onlyIsolatedAgainst(
  dependencies: Pick<FenceDependencies, 'listers' | 'fastDetection'>,
  fence: NodeFence | undefined,
  { id, step }: Pick<JournalEntry, 'id' | 'step'>,
): readonly ActiveHold[] {
  if (fence?.status === undefined || step !== 'power-management') return [];
  const { lastStep, node } = fence.spec;
  const before = { ...fence.status, journal: fence.status.journal.filter((entry) => entry.id !== id) };
  const isHeeded =
    newRequest({ spec: fence.spec, status: fence.status }) !== undefined || (fence.spec.requestedBy !== undefined && isAskedFor(fence.status));
  const isOnlyAsked = isHeeded && isWell(dependencies, node);
  return lastStep !== undefined && isOnlyAsked && endsInIsolation({ ...before, lastStep }) ? [ISOLATION_ONLY_HOLD] : [];
}

/** Its NodeFence is being deleted by now, or the request that it serves was withdrawn, and the node shows no failure of its own. */
function withdrawnAgainst(
  dependencies: Pick<FenceDependencies, 'listers' | 'fastDetection'>,
  fence: NodeFence | undefined,
  { id }: Pick<JournalEntry, 'id'>,
): readonly ActiveHold[] {
  if (fence?.status === undefined) return [];
  const { metadata, spec, status } = fence;
  if (metadata.deletionTimestamp !== undefined)
    return [{ reason: 'deleted', policy: 'deleted-by-hand', message: 'its NodeFence is being deleted: what was done is taken back' }];
  const before = { ...status, journal: status.journal.filter((entry) => entry.id !== id) };
  if (spec.requestedBy !== undefined || !isAskedFor(status) || offBegan(before) || !isWell(dependencies, spec.node)) return [];
  return [{ reason: 'withdrawn', policy: 'request', message: 'its request was withdrawn, and the node is Ready' }];
}

function isWell({ listers, fastDetection }: Pick<FenceDependencies, 'listers' | 'fastDetection'>, node: string): boolean {
  const known = listers.nodes.get(node);
  return known !== undefined && readyOf(known)?.status === 'True' && fastDetection?.failureOf(node) === undefined;
}

type Listening = Pick<FenceDependencies, 'kdump' | 'clock' | 'listers' | 'fastDetection'>;

/** Right before a call: what a dump of the node that is heard by now holds against this run. `observed`: when its kubelet was last heard. */
export function dumpingAgainst(
  { kdump, clock, listers, fastDetection }: Listening,
  fence: NodeFence | undefined,
  entry: JournalEntry,
  observed: Pick<NodeObservation, 'lifeAtMs' | 'hasSpoken'> | undefined,
): readonly ActiveHold[] {
  const status = fence?.status;
  const name = fence?.spec.node ?? '';
  const node = listers.nodes.get(name);
  if (kdump === undefined || status?.frozen === undefined || node === undefined || observed === undefined) return [];
  const before = { ...status, journal: status.journal.filter(({ id }) => id !== entry.id) };
  const { lifeAtMs, hasSpoken } = observed;
  const life = { silence: fastDetection?.failureOf(name), lifeAtMs, isOnlySeen: !hasSpoken };
  const facts = { ready: readyOf(node)?.status ?? ('missing' as const), ...life };
  const hold = dumpAgainst({ dump: kdump.factsOf(name), node: facts, nowMs: clock.monotonicMs() }, before, entry);
  return hold ? [hold] : [];
}

/** Milliseconds after which a fence is to be looked at again, because the preservation of its machine ends then; `undefined`: time alone ends nothing. */
export function lookAfterMs(guard: PreservationGuard | undefined, { clock }: Pick<Dependencies, 'clock'>): number | undefined {
  if (guard === undefined || !('until' in guard)) return undefined;
  return Math.min(RESYNC_MS, Math.max(0, Date.parse(guard.until) - clock.wallMs()));
}
