import { FENCE_NAME_PREFIX } from '../../domain/node-fence.ts';
import type { FenceFacts } from '../shared/claims/fence-facts.ts';
import { besidesPreservation, changesTo, timeText } from '../shared/remediation/actions.ts';
import type { ActionEvent, Annotate, HoldFact, ObjectRef } from '../shared/remediation/actions.ts';
import type { Phase } from './actions.ts';
import { GAVE_UP, MARKS, POLL_MS, POWERED_OFF, REQUEST } from './names.ts';
import { machineRef } from './situation.ts';
import { cleared } from './steps.ts';
import type { MachineFacts, Settings } from './snapshot.ts';

/** A Machine whose host nobody serves: its Node is fenced by our own agents. */
export interface FenceSnapshot {
  nowMs: number;
  settings: Pick<Settings, 'mode'>;
  machine: MachineFacts;
  /** Of status.nodeRef; absent: there is no such Node. */
  node?: { name: string };
  /** The NodeFence of that Node, whosever it is. */
  fence?: FenceFacts;
  holds: readonly HoldFact[];
}

export type FenceAction = (
  | Annotate
  /** Takes the Node in the name of `target`, as shared/claims does. */
  | { kind: 'request-fence'; target: ObjectRef; node: string }
  /** Gives it back: the fence controller takes back what it did before it lets go. */
  | { kind: 'withdraw-fence'; target: ObjectRef; node: string }
) & { event?: ActionEvent };

export interface FenceDecision {
  actions: readonly FenceAction[];
  phase: Phase;
  problems: readonly string[];
  nextDueMs?: number;
}

/** Outcomes after which the machine is as it should be. */
const WELL: ReadonlySet<string> = new Set(['recovered', 'untouched', 'replaced']);

/**
 * In place of hold and host: a NodeFence in the name of the Machine. Its end is written on the Machine before the fence is let go, and the request goes last:
 * after a crash anywhere nothing is fenced twice for one request.
 */
export function decideByFence(snapshot: FenceSnapshot): FenceDecision {
  const { machine, fence, nowMs } = snapshot;
  const isOurs = fence?.requestedByUID === machine.uid && !fence.isDeleting;
  const { problem, dueInMs, ...step } = isOurs ? whileOurs(snapshot, fence) : otherwise(snapshot);
  return {
    ...step,
    problems: problem === undefined ? [] : [`Machine ${machine.namespace}/${machine.name}: ${problem}`],
    ...(dueInMs !== undefined && { nextDueMs: nowMs + dueInMs }),
  };
}

interface FenceStep {
  phase: Phase;
  actions: readonly FenceAction[];
  problem?: string;
  dueInMs?: number;
}

/** The fence stands in the name of this Machine. */
function whileOurs(snapshot: FenceSnapshot, fence: FenceFacts): FenceStep {
  const { machine, nowMs } = snapshot;
  const { annotations } = machine;
  const isSettled = annotations[POWERED_OFF] !== undefined || annotations[GAVE_UP] !== undefined;
  if (annotations[REQUEST] === undefined || machine.isDeleting || isSettled) {
    const withdraw: FenceAction = { kind: 'withdraw-fence', target: machineRef(machine), node: fence.name.slice(FENCE_NAME_PREFIX.length) };
    return { phase: 'waiting', actions: [withdraw], dueInMs: POLL_MS };
  }
  if (fence.isFinal && fence.outcome !== undefined) {
    const isWell = WELL.has(fence.outcome);
    const why = `NodeFence ${fence.name} ended: ${fence.outcome}`;
    const event: ActionEvent = { type: isWell ? 'Normal' : 'Warning', reason: isWell ? 'Remediated' : 'RemediationFailed', message: why };
    const mark = isWell ? { [POWERED_OFF]: timeText(nowMs) } : { [GAVE_UP]: why };
    return { phase: isWell ? 'waiting' : 'gave-up', actions: [{ ...written(machine, mark), event }] };
  }
  const problem = fence.isStuck ? `NodeFence ${fence.name} has failed, and does not try again by itself` : undefined;
  return { phase: 'powering-off', actions: [], dueInMs: POLL_MS, ...(problem !== undefined && { problem }) };
}

/** No fence of ours stands. */
function otherwise(snapshot: FenceSnapshot): FenceStep {
  const { machine, node, fence, holds, settings } = snapshot;
  const { annotations } = machine;
  const idle: FenceStep = { phase: 'idle', actions: [] };
  if (machine.isDeleting) return idle;
  if (annotations[POWERED_OFF] !== undefined) return { phase: 'idle', actions: [written(machine, cleared(annotations, MARKS))] };
  const gaveUp = annotations[GAVE_UP];
  if (annotations[REQUEST] === undefined)
    return gaveUp === undefined ? idle : { phase: 'idle', actions: [written(machine, { [GAVE_UP]: undefined })] };
  if (gaveUp !== undefined) return { phase: 'gave-up', actions: [], problem: `${gaveUp}; take ${REQUEST} away to let it be tried again` };
  const wait = (problem: string): FenceStep => ({ phase: 'waiting', actions: [], problem, dueInMs: POLL_MS });
  if (machine.isPaused) return wait('it is paused');
  if (settings.mode === 'seed-table')
    return wait('no operator serves its BareMetalHost, and mode seed-table has no other way: mode incident fences it by agents of nodefence');
  if (node === undefined) return wait('no operator serves its BareMetalHost, and it has no Node that nodefence could fence');
  const [hold] = besidesPreservation(holds);
  if (hold !== undefined) return wait(`waits: ${hold.reason}, ${hold.message}`);
  if (fence !== undefined && (fence.isDeleting || !fence.isFinal)) return wait(`its node is left alone: ${fence.owner}`);
  const event: ActionEvent = {
    type: 'Normal',
    reason: 'FenceRequested',
    message: `node ${node.name} is to be fenced: no operator serves the BareMetalHost`,
  };
  return { phase: 'powering-off', actions: [{ kind: 'request-fence', target: machineRef(machine), node: node.name, event }], dueInMs: POLL_MS };
}

function written(machine: MachineFacts, wanted: Readonly<Record<string, string | undefined>>): Annotate {
  return { kind: 'annotate', target: machineRef(machine), changes: changesTo(machine.annotations, wanted) };
}
