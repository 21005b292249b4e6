import type { NodeGuard } from '../../ports/preservation.ts';
import type { Action } from './actions.ts';
import { readCondition } from './condition.ts';
import { PRESERVE, REQUEST_MARK } from './names.ts';
import { annotated, changed } from './node-marks.ts';
import { isHealthy } from './phase.ts';
import type { NodeFacts } from './snapshot.ts';
import type { Subject } from './subject.ts';
import { isExpired } from './preserve-decision.ts';
import type { Override } from './preserve-decision.ts';

/** Do we ourselves keep it, and nobody else? Such a request shields the VM from MCM; it is no reason to hold a fence. */
function isOwnRequest(node: NodeFacts): boolean {
  return node.annotations[REQUEST_MARK] !== undefined && node.annotations[PRESERVE] === 'when-failed';
}

interface Wish {
  cause: NodeGuard['cause'];
  untilMs: number | undefined;
  /** Healthy or not. */
  isAlways: boolean;
}

/** Who wants it kept, and until when; without Machines to look at MCM's condition on the Node tells. */
function wishOf(subject: Subject, node: NodeFacts): Wish | undefined {
  const { value, expiryMs, machine } = subject;
  if (value === 'false') return undefined;
  if (value !== 'none') {
    const cause = value === 'automatic' ? 'automatic' : 'user';
    return { cause, untilMs: expiryMs, isAlways: value === 'now' };
  }
  const told = machine === undefined ? readCondition(node.preserved) : undefined;
  return told?.expiryMs === undefined ? undefined : { cause: told.cause, untilMs: told.expiryMs, isAlways: false };
}

/**
 * What the fence of this node must know. A healthy machine that is preserved by `now` is never fenced; one that failed is isolated and then held;
 * the end of its time, a stop, hibernation or a rolling update lets the fence go on; deletion drops the hold.
 */
export function guardOf(subject: Subject, override: Override | undefined, nowMs: number): NodeGuard[] {
  const { node, machine } = subject;
  if (node === undefined) return [];
  const wish = wishOf(subject, node);
  if (node.isDeleting || machine?.isDeleting === true || subject.phase === 'Terminating') {
    return node.fence?.isOpen === true ? [{ node: node.name, guard: 'drop', cause: wish?.cause ?? 'user' }] : [];
  }
  if (wish === undefined || isOwnRequest(node)) return [];
  const { cause, untilMs } = wish;
  const base = { node: node.name, cause, ...(untilMs !== undefined && { untilMs }) };
  const healthy = isHealthy(node);
  if (healthy === undefined || override === 'hibernated' || isExpired(untilMs, nowMs)) return [];
  if (healthy) return wish.isAlways ? [{ ...base, guard: 'never-fence' }] : [];
  return override === 'rolling' ? [] : [{ ...base, guard: 'isolate-and-hold' }];
}

/** Beside a real MCM: `when-failed` for as long as the fence is open, only where nobody has said anything, and only ours is taken back. */
export function request(subject: Subject, isWanted: boolean): Action[] {
  const { node, machine, marks } = subject;
  if (node === undefined || node.isDeleting || machine?.isDeleting === true) return [];
  const isOpen = node.fence?.isOpen === true;
  if (node.annotations[REQUEST_MARK] !== undefined) {
    if (isOpen) return [];
    const own = node.annotations[PRESERVE] === 'when-failed' ? { [PRESERVE]: undefined } : {};
    return annotated(node, changed(node.annotations, { ...own, [REQUEST_MARK]: undefined }));
  }
  const isUnasked = marks.node === undefined && marks.machine === undefined && (marks.lastApplied ?? '') === '' && subject.expiryMs === undefined;
  if (!isWanted || !isOpen || !isUnasked || isHealthy(node) !== false) return [];
  return annotated(node, changed(node.annotations, { [PRESERVE]: 'when-failed', [REQUEST_MARK]: node.fence?.uid }));
}
