import { CREATION_TIMEOUT_MS, HEALTH_TIMEOUT_MS, MAX_REPLACEMENTS } from './names.ts';
import type { MachineFacts, MachinePhase, NodeFacts } from './snapshot.ts';

/** undefined: nobody reported, so nobody is judged. */
export function isHealthy(node: NodeFacts | undefined): boolean | undefined {
  if (node?.ready === undefined) return undefined;
  return node.ready === 'True' && node.ailments.length === 0;
}

/** Does the fence that is open say that the node has failed? Its verdict is stronger than a timeout. */
export function isFenced(node: NodeFacts | undefined): boolean {
  return node?.fence?.isOpen === true;
}

type Counted = Pick<MachineFacts, 'phase' | 'expiryMs'>;

/** How many of a deployment are being replaced: a Terminating one counts twice, a preserved failed one not at all. Source: MCM canMarkMachineFailed. */
export function replacementsIn(machines: readonly Counted[]): number {
  let count = 0;
  for (const { phase, expiryMs } of machines) {
    if (phase === 'Running' || phase === 'Unknown') continue;
    if (phase === 'Terminating') count += 2;
    else if (!(phase === 'Failed' && expiryMs !== undefined)) count += 1;
  }
  return count;
}

export function mayFail(machines: readonly Counted[]): boolean {
  return replacementsIn(machines) < MAX_REPLACEMENTS;
}

export interface NextPhase {
  phase: MachinePhase;
  /** When it changes if nothing else does. */
  dueMs?: number;
}

/** What nextPhase does not see in the machine itself. */
export interface PhaseLimits {
  /** The deployment lets it fail. */
  mayFail: boolean;
  /** The open fence of its node is verdict enough: it is to be preserved, and held, before it is gone. */
  isFencedToKeep: boolean;
  /** Its pool's; absent: MCM's. */
  healthTimeoutMs: number | undefined;
  /** See Snapshot. */
  freshSinceMs: number | undefined;
}

/** Nobody has seen it run: its node has as long to come up as MCM gives one, and is judged as any other then. */
const NEVER_RAN: ReadonlySet<MachinePhase> = new Set(['', 'Pending', 'Available']);

/**
 * The phase that MCM would write. Phases that only a machine driver knows (CrashLoopBackOff,
 * InPlace*) and Terminating stay.
 */
export function nextPhase(machine: MachineFacts, node: NodeFacts | undefined, nowMs: number, limits: PhaseLimits): NextPhase {
  const { phase } = machine;
  const healthTimeoutMs = limits.healthTimeoutMs ?? HEALTH_TIMEOUT_MS;
  const healthy = isHealthy(node);
  if (healthy === undefined) return { phase };
  if (healthy) {
    const isHeld = isFenced(node) && phase === 'Failed';
    const returns = phase === '' || phase === 'Pending' || phase === 'Available' || phase === 'Unknown' || phase === 'Failed';
    return { phase: returns && !isHeld ? 'Running' : phase };
  }
  if (NEVER_RAN.has(phase)) {
    if (isFenced(node) && limits.isFencedToKeep) return { phase: 'Failed' };
    const dueMs = countedFrom(node?.readySeenMs ?? node?.readySinceMs ?? nowMs, limits.freshSinceMs) + CREATION_TIMEOUT_MS;
    return nowMs < dueMs ? { phase, dueMs } : { phase: 'Unknown', dueMs: nowMs + healthTimeoutMs };
  }
  if (phase === 'Running' || phase === 'Unknown') {
    if (isFenced(node) && limits.isFencedToKeep) return { phase: 'Failed' };
    if (phase === 'Running') return { phase: 'Unknown', dueMs: nowMs + healthTimeoutMs };
    const dueMs = countedFrom(machine.phaseSeenMs ?? machine.phaseSinceMs ?? nowMs, limits.freshSinceMs) + healthTimeoutMs;
    if (nowMs < dueMs) return { phase, dueMs };
    return { phase: limits.mayFail ? 'Failed' : phase };
  }
  return { phase };
}

/** The phase of a Node without a Machine: nobody writes one, so it is read off the node each time. */
export function plainPhase(node: NodeFacts, nowMs: number, healthTimeoutMs = HEALTH_TIMEOUT_MS, freshSinceMs?: number): NextPhase {
  const healthy = isHealthy(node);
  if (healthy !== false) return { phase: healthy === undefined ? '' : 'Running' };
  if (isFenced(node)) return { phase: 'Failed' };
  const dueMs = countedFrom(node.readySeenMs ?? node.readySinceMs ?? nowMs, freshSinceMs) + healthTimeoutMs;
  return nowMs < dueMs ? { phase: 'Unknown', dueMs } : { phase: 'Failed' };
}

/** A timeout counts what could be heard only: a machine may have come back while the API server was away, and its kubelet not have been heard yet. */
function countedFrom(sinceMs: number, freshSinceMs: number | undefined): number {
  return Math.max(sinceMs, freshSinceMs ?? sinceMs);
}
