import type { Action } from './actions.ts';
import { isSameCondition, preservedCondition, timeText } from './condition.ts';
import { drainDueMs, drainOutcome, isStale, optionsFor } from './drain.ts';
import { DEFAULT_PRESERVE_TIMEOUT_MS, NODE_EXPIRY } from './names.ts';
import { annotated, changed, cordoned, shielded, tainted, uncordoned } from './node-marks.ts';
import type { NodeFacts, PoolSettings } from './snapshot.ts';
import { expiryText, machineRef, nodeRef, phaseSinceMs } from './subject.ts';
import type { Subject } from './subject.ts';

export interface Step {
  actions: Action[];
  dueMs?: number | undefined;
  problem?: string;
  /** The problem waits for a person: it is an Event too. */
  isForPeople?: true;
  /** The pods of its node are to be moved, whether that is under way or not. */
  isDraining?: true;
}

const AWAITS_PROOF = 'the drain is not forced before a fence has proven that the node can not write';
const KEPT_PODS = ['DaemonSet', 'mirror'] as const;

/** Written once; who edits it later is honoured, and a new timeout is for those that come after. */
export function startExpiry(subject: Subject, settings: PoolSettings | undefined, nowMs: number): { actions: Action[]; expiryMs: number } {
  if (subject.expiryMs !== undefined) return { actions: [], expiryMs: subject.expiryMs };
  const { machine, node } = subject;
  const timeoutMs = machine?.preserveTimeoutMs ?? settings?.preserveTimeoutMs ?? DEFAULT_PRESERVE_TIMEOUT_MS;
  // Whole seconds, because that is what the API keeps: another value read back would be another expiry.
  const expiryMs = Math.floor((nowMs + timeoutMs) / 1000) * 1000;
  const event = { type: 'Normal', reason: 'PreservationStarted', message: describeStart(subject, expiryMs) } as const;
  if (machine !== undefined) {
    const was = { phase: machine.phase, expiryMs: undefined };
    return { actions: [{ kind: 'machine-status', target: machineRef(machine), was, to: { ...was, expiryMs }, event }], expiryMs };
  }
  if (node === undefined) return { actions: [], expiryMs };
  const changes = changed(node.annotations, { [NODE_EXPIRY]: expiryText(expiryMs) });
  return { actions: [{ kind: 'annotate', target: nodeRef(node), changes, event }], expiryMs };
}

function describeStart(subject: Subject, expiryMs: number): string {
  const by = subject.value === 'automatic' ? 'automatically' : `as asked for (${subject.value})`;
  return `preserved ${by} in phase ${subject.phase || 'unknown'} until ${timeText(expiryMs)}`;
}

/** Expiry first: whatever comes after it is found again by it. */
export function preserve(subject: Subject, settings: PoolSettings | undefined, nowMs: number): Step {
  const { actions, expiryMs } = startExpiry(subject, settings, nowMs);
  const { node } = subject;
  if (node === undefined) return { actions, dueMs: expiryMs };
  actions.push(...annotated(node, shielded(node.annotations)));
  if (subject.phase === 'Failed') actions.push(...tainted(node, true), ...cordoned(node));
  else if (subject.phase === 'Running') actions.push(...tainted(node, false), ...uncordoned(node));
  const drain = drained(subject, node, nowMs);
  actions.push(...drain.actions, ...conditioned(subject, node, expiryMs));
  const dueMs = drain.dueMs === undefined ? expiryMs : Math.min(drain.dueMs, expiryMs);
  return { ...drain, actions, dueMs };
}

/** The drain of a Failed or Terminating machine, begun, or begun again after it failed. */
export function drained(subject: Subject, node: NodeFacts, nowMs: number): Step {
  const sinceMs = phaseSinceMs(subject);
  if (subject.phase !== 'Failed' && subject.phase !== 'Terminating') return { actions: [] };
  if (drainOutcome(node, sinceMs) === 'drained') return { actions: [] };
  const { awaitsProof, ...options } = optionsFor(node, subject.machine, nowMs);
  const dueMs = drainDueMs(node, sinceMs, options.isForced, nowMs);
  const told = awaitsProof
    ? AWAITS_PROOF
    : node.drain?.state === 'failed'
      ? `the drain failed: ${node.drain.message ?? 'no reason given'}`
      : undefined;
  const rest = { isDraining: true as const, ...(told !== undefined && { problem: `node ${node.name}: ${told}` }) };
  if (dueMs === undefined || nowMs < dueMs) return { actions: [], dueMs, ...rest };
  return { actions: [{ kind: 'drain', target: nodeRef(node), options, keeps: KEPT_PODS, sinceMs }], ...rest };
}

function conditioned(subject: Subject, node: NodeFacts, expiryMs: number): Action[] {
  const sinceMs = phaseSinceMs(subject);
  const outcome = isStale(node, sinceMs) ? 'stale' : drainOutcome(node, sinceMs);
  const to = preservedCondition(subject.phase, subject.value, outcome, timeText(expiryMs));
  if (to === undefined || isSameCondition(node.preserved, to)) return [];
  return [{ kind: 'condition', target: nodeRef(node), was: node.preserved, to, sinceMs }];
}
