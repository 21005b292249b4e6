import { acknowledged } from './acknowledgement.ts';
import { offBegan } from './journal.ts';
import { NEVER_BEGAN } from './node-fence.ts';
import type { JournalEntry, NodeFenceStatus, Restore } from './node-fence.ts';
import type { Plan } from './plan.ts';
import { compile } from './program.ts';
import type { Operation } from './program.ts';
import type { PreservationGuard, Snapshot, ActiveHold } from './snapshot.ts';

export const PRESERVATION_POLICY = 'preservation';
const UNKNOWN = 'it is not known yet whether its machine is preserved; ends when it is known, or after a timeout';

type Edge = NonNullable<Restore['edges']>[number];

/** The snapshot with what the preservation of its machine holds against this fence as it stands. */
export function withPreservation(snapshot: Snapshot, status: NodeFenceStatus): Snapshot {
  const { preservation, plan } = snapshot;
  if (preservation === undefined) return snapshot;
  const hold = preservationHold(preservation, status, status.frozen?.plan ?? plan);
  return hold === undefined ? snapshot : { ...snapshot, holds: [...snapshot.holds, hold] };
}

/**
 * What a guard forbids now: to a healthy machine everything, to a failed one whatever comes after isolation. Where a machine is off by an earlier off of
 * ours, or a person has it in hand, nothing is left to preserve it from.
 */
export function preservationHold(guard: PreservationGuard, status: NodeFenceStatus, plan: Plan): ActiveHold | undefined {
  const { kind } = guard;
  if (kind === 'drop' || plan.preserved === 'ignore' || acknowledged(status) !== undefined || isOffFromBefore(status)) return undefined;
  if (kind === 'never-fence')
    return held(status, ['new', 'running'], 'preserved', `healthy and ${describeCause(guard)}: it is not fenced${endOf(guard)}`);
  // In a machine that an off of ours has reached is nothing left to see, and whoever takes over then may know nothing yet: what was begun is carried through.
  if (mayNotWait(status, plan) || isOffByUs(status)) return undefined;
  if (kind === 'isolate-and-hold') {
    const how = isIsolated(status, plan) ? 'isolated' : 'held, though nothing isolates it from its storage';
    return held(status, ['running'], 'preserved', `${describeCause(guard)}: ${how}, and not switched off${endOf(guard)}`);
  }
  return held(status, ['running'], 'preserved-unknown', UNKNOWN);
}

/**
 * What a guard forbids to whoever switches the machine off on request, without a fence: the off. `plan`: that of its node; absent: there is no such Node. Where
 * `preserved=power-off` and nothing isolates it, its fence would switch it off at once too.
 */
export function preservationHoldOnRequest(guard: PreservationGuard, plan: Plan | undefined): ActiveHold | undefined {
  if (plan?.preserved === 'ignore') return undefined;
  if (!('cause' in guard)) return guard.kind === 'drop' ? undefined : { reason: 'preserved-unknown', policy: PRESERVATION_POLICY, message: UNKNOWN };
  if (
    guard.kind === 'isolate-and-hold' &&
    plan?.preserved === 'power-off' &&
    plan.isolation.every(({ level }) => closingOf(plan, level).length === 0)
  )
    return undefined;
  const healthy = guard.kind === 'never-fence' ? 'healthy and ' : '';
  const message = `${healthy}${describeCause(guard)}: it is not switched off${endOf(guard)}`;
  return { reason: 'preserved', policy: PRESERVATION_POLICY, message };
}

/** Nothing but the preservation of its machine holds the fence. */
export function isPreservedOnly({ holds }: Pick<Snapshot, 'holds'>): boolean {
  return holds.length > 0 && holds.every(({ policy }) => policy === PRESERVATION_POLICY);
}

/** No fence of this node begins from a condition. */
export function isNeverFenced({ preservation, plan }: Pick<Snapshot, 'preservation' | 'plan'>): boolean {
  return preservation?.kind === 'never-fence' && plan.preserved !== 'ignore';
}

/** A failed preserved machine could not be isolated, and its pods must move (`preserved=power-off`). */
export function mustSwitchOff({ preservation }: Pick<Snapshot, 'preservation'>, status: NodeFenceStatus, plan: Plan): boolean {
  return preservation?.kind === 'isolate-and-hold' && mayNotWait(status, plan);
}

/** Deletion is final, and whoever leads later may not have heard of it: it is written into the fence that is open. */
export function withDeletion(status: NodeFenceStatus, { preservation }: Pick<Snapshot, 'preservation'>): NodeFenceStatus {
  const isSeen = preservation?.kind === 'drop' && status.state !== 'final' && status.ending === undefined;
  return isSeen ? { ...status, ending: 'deleted' } : status;
}

function held(status: NodeFenceStatus, states: readonly NodeFenceStatus['state'][], reason: string, message: string): ActiveHold | undefined {
  return states.includes(status.state) ? { reason, policy: PRESERVATION_POLICY, message } : undefined;
}

function mayNotWait(status: NodeFenceStatus, plan: Plan): boolean {
  return plan.preserved === 'power-off' && status.state !== 'new' && !isIsolated(status, plan);
}

function isOffFromBefore(status: NodeFenceStatus): boolean {
  return status.restarts > 0 && !offBegan(status) && isOffByUs(status);
}

/** One that was refused has reached nothing; of one that a crash cut off, and that could not be read back, nobody knows whether it was sent. */
function isOffByUs({ restore, journal }: NodeFenceStatus): boolean {
  const lastOff = ({ device, plug }: Edge): JournalEntry | undefined =>
    journal.findLast(({ action, result, ...run }) => action === 'off' && run.device === device && run.plug === plug && !NEVER_BEGAN.has(result));
  return restore?.edges?.some((edge) => edge.state === 'off' && !isUnknown(lastOff(edge))) === true;
}

function isUnknown(entry: JournalEntry | undefined): boolean {
  return entry?.result !== 'succeeded' && entry?.result !== 'found-done' && entry?.offSent !== true;
}

/** All ways that one level of isolation closes were read back closed, and nobody has found one open since. */
function isIsolated({ journal }: NodeFenceStatus, plan: Plan): boolean {
  return plan.isolation.some(({ level }) => {
    const closing = closingOf(plan, level);
    return closing.length > 0 && closing.every(({ key }) => isClosed(journal, key));
  });
}

/** What a level of isolation closes. */
function closingOf(plan: Plan, level: number): Operation[] {
  return compile(plan, 'isolation', level).filter(({ method }) => method?.kind === 'fabric' && method.action === 'off');
}

function isClosed(journal: NodeFenceStatus['journal'], operation: string): boolean {
  const last = journal.findLast((entry) => entry.step === 'isolation' && entry.operation === operation);
  return last?.result === 'succeeded' || last?.result === 'found-done';
}

function describeCause({ cause }: { cause: 'user' | 'automatic' }): string {
  return cause === 'automatic' ? 'preserved automatically' : 'preserved on request';
}

function endOf({ until }: { until?: string }): string {
  return `; ends ${until === undefined ? '' : `at ${until}, or `}when the preservation is stopped`;
}
