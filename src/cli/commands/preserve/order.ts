import type { PreservationMode } from '../../../config/preservation-mode.ts';
import { effectiveValue, isKnownValue, readMarks } from '../../../controllers/preservation/marks.ts';
import type { PreserveMarks, PreserveValue } from '../../../controllers/preservation/marks.ts';
import { LAST_APPLIED, NODE_EXPIRY, PRESERVE, REQUEST_MARK } from '../../../controllers/preservation/names.ts';
import type { MachinePhase } from '../../../controllers/preservation/snapshot.ts';
import { PRESERVE_REASON, PRESERVE_REQUESTED_BY } from '../../../ports/authorship.ts';
import { CommandFailure, EXIT } from '../failure.ts';
import { duration } from '../terminal/times.ts';
import type { Target } from './target.ts';

export const WISHES = ['now', 'when-failed', 'never', 'stop'] as const;
export type Wish = (typeof WISHES)[number];

/** Why somebody preserves; on the object with the annotation. */
const REASON = PRESERVE_REASON;
const WORDS = [PRESERVE, REASON, PRESERVE_REQUESTED_BY];

/** One merge patch, and what it does in words. */
export interface PreserveWrite {
  on: 'Node' | 'Machine';
  name: string;
  namespace?: string;
  subresource?: 'status';
  patch: object;
  what: string;
}

export interface Order {
  target: Target;
  wish: Wish;
  /** undefined: as configured. */
  forMs: number | undefined;
  reason: string | undefined;
  /** Who says so. */
  by: string;
  mode: PreservationMode;
  phase: MachinePhase;
  nowMs: number;
}

/** What its annotations ask for now. */
export function valueOf(target: Target): PreserveValue {
  return effectiveValue(marksOf(target), target.node !== undefined);
}

function marksOf({ machine, node }: Target): PreserveMarks {
  return readMarks(machine?.metadata.annotations, node?.metadata.annotations, node?.metadata.uid);
}

/** The writes that carry out a wish, in their order; empty: everything stands already. Throws `CommandFailure` for what would do nothing. */
export function writesFor(order: Order): PreserveWrite[] {
  refuse(order);
  const { wish } = order;
  if (wish === 'stop') return stopWrites(order);
  const value = wish === 'never' ? 'false' : wish;
  return [...valueWrites(order, value), ...(wish === 'never' ? [] : timeWrites(order))];
}

function refuse({ target, wish, forMs, mode, phase, nowMs }: Order): void {
  if (forMs !== undefined && (wish === 'never' || wish === 'stop')) {
    throw new CommandFailure(`--for goes with now and when-failed: ${wish} has no end`, EXIT.usage);
  }
  if (mode.mode === 'off') {
    throw new CommandFailure(
      `nothing was written, for preservation is off here (${mode.reasons.join('; ')}): start the controller with --preservation own, and give it the rights for it: kubectl apply -k config/preservation-own (docs/preservation.md)`,
    );
  }
  if (target.machine !== undefined && !mode.hasExpiryField) {
    throw new CommandFailure(
      'nothing was written: the Machine definition here has no status.currentStatus.preserveExpiryTime, so its MCM is older than v0.62 and preserves nothing. Update it',
    );
  }
  // Under an open fence an end that has passed stands until it is over, and ends a new word at once.
  const endMs = Date.parse(target.machine?.status?.currentStatus?.preserveExpiryTime ?? target.node?.metadata.annotations?.[NODE_EXPIRY] ?? '');
  const isAtOnce = wish === 'now' || (wish === 'when-failed' && phase === 'Failed');
  if (isAtOnce && forMs === undefined && endMs <= nowMs) {
    throw new CommandFailure(
      `nothing was written, because it would have no effect: the preservation ended at ${timeText(endMs)}, and that end is still set. Give a new duration with --for`,
    );
  }
}

/** The node's value wins, so whatever stands or stood there is written over there. */
function isOnNode(target: Target): boolean {
  const { node, lastApplied = '' } = marksOf(target);
  return target.node !== undefined && (target.asked === 'Node' || node !== undefined || lastApplied !== '');
}

function valueWrites({ target, reason, by, wish, forMs, phase, nowMs }: Order, value: string): PreserveWrite[] {
  const onNode = isOnNode(target);
  const object = onNode ? target.node : target.machine;
  const isTimed = forMs !== undefined && target.machine === undefined && (wish === 'now' || phase === 'Failed');
  const time = isTimed ? { [NODE_EXPIRY]: timeText(nowMs + forMs) } : {};
  const foreign = onNode ? { [REQUEST_MARK]: null } : {};
  const standing = object?.metadata.annotations ?? {};
  // Why another value was asked for says nothing of this one.
  const told = reason === undefined && standing[PRESERVE] !== value ? null : reason;
  const words = { [PRESERVE]: value, ...(told !== undefined && { [REASON]: told }), ...time, ...foreign };
  const changes = Object.entries(words).filter(([key, to]) => (standing[key] ?? null) !== to);
  if (changes.length === 0) return [];
  changes.push([PRESERVE_REQUESTED_BY, `${value} by ${by}`]);
  const until = isTimed ? `, until ${timeText(nowMs + forMs)}` : '';
  return [annotations(target, onNode, Object.fromEntries(changes), `annotated with ${PRESERVE}=${value}${until}`)];
}

/** The end of a Machine's preservation; that of a plain Node is one of its annotations. */
function timeWrites({ target, wish, forMs, mode, phase, nowMs }: Order): PreserveWrite[] {
  const { machine } = target;
  if (forMs === undefined) return [];
  if (wish === 'when-failed' && phase !== 'Failed') {
    if (machine === undefined || mode.mode !== 'own') throw new CommandFailure(LATER[mode.mode === 'own' ? 'own' : 'observe'], EXIT.usage);
    const timeout = `${Math.round(forMs / 1_000)}s`;
    const patch = { spec: { machinePreserveTimeout: timeout } };
    return [{ on: 'Machine', ...named(machine), patch, what: `spec.machinePreserveTimeout is ${duration(forMs)}, for whenever it fails` }];
  }
  const until = timeText(nowMs + forMs);
  if (machine !== undefined) {
    const patch = { status: { currentStatus: { preserveExpiryTime: until } } };
    return [{ on: 'Machine', ...named(machine), subresource: 'status', patch, what: `its preserveExpiryTime is ${until}` }];
  }
  if (mode.mode !== 'own') {
    throw new CommandFailure('--for is written to the Machine, which is not seen from here: name its cluster with --machines-kubeconfig', EXIT.usage);
  }
  return [];
}

const LATER = {
  own: '--for with when-failed needs a Machine, or a node that has failed already: how long it is kept once it fails says machinePreserveTimeout of its pool in ConfigMap preservation-pools',
  observe:
    '--for with when-failed needs a machine that has failed already: how long it is kept once it fails says machinePreserveTimeout of its MachineDeployment, to MCM',
};

/** A manual value goes wherever it stands; over an automatic one, `false` is written, or the machine would be preserved again. */
function stopWrites({ target, by }: Order): PreserveWrite[] {
  const value = valueOf(target);
  const { node, machine } = target;
  const isOurs = node?.metadata.annotations?.[REQUEST_MARK] !== undefined;
  if (value === 'none' || value === 'false') return [];
  if (value === 'automatic' || isOurs) {
    const marks = marksOf(target);
    const onNode = node !== undefined && marks.node !== undefined && isKnownValue(marks.node);
    const to = { [PRESERVE]: 'false', [PRESERVE_REQUESTED_BY]: `false by ${by}`, ...(onNode && isOurs ? { [REQUEST_MARK]: null } : {}) };
    return [annotations(target, onNode, to, `annotated with ${PRESERVE}=false over the automatic value`)];
  }
  const gone = (object: Target['node'] | Target['machine'], onNode: boolean): PreserveWrite[] => {
    const standing = WORDS.filter((key) => object?.metadata.annotations?.[key] !== undefined);
    const isAsked = standing.includes(PRESERVE);
    if (!isAsked) return [];
    return [annotations(target, onNode, Object.fromEntries(standing.map((key) => [key, null])), `annotation ${PRESERVE} is removed`)];
  };
  const removed = [...gone(node, true), ...gone(machine, false)];
  if (removed.length > 0) return removed;
  return [annotations(target, false, { [LAST_APPLIED]: null }, `annotation ${LAST_APPLIED} is removed`)];
}

function annotations(target: Target, onNode: boolean, changes: Readonly<Record<string, string | null>>, what: string): PreserveWrite {
  const patch = { metadata: { annotations: changes } };
  if (onNode && target.node !== undefined) return { on: 'Node', name: target.node.metadata.name, patch, what };
  if (target.machine === undefined) throw new Error('a target is a Node, a Machine, or both');
  return { on: 'Machine', ...named(target.machine), patch, what };
}

function named({ metadata }: NonNullable<Target['machine']>): Pick<PreserveWrite, 'name' | 'namespace'> {
  return { name: metadata.name, ...(metadata.namespace !== undefined && { namespace: metadata.namespace }) };
}

/** RFC 3339 in whole seconds, as Kubernetes keeps it. */
function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
