import { isCordonKept } from '../../ports/cordon-marks.ts';
import type { KubeObject, Node, Taint } from '../../ports/objects.ts';
import type { Machine } from '../../ports/machines.ts';
import type { Action, Change } from './actions.ts';
import { isSameCondition, timeText } from './condition.ts';
import { machineFacts } from './machine-facts.ts';
import { CORDON_MARK, PRESERVED_TAINT } from './names.ts';
import { nodeFacts, withPreserved } from './node-facts.ts';

/** Acts that are one merge patch of the object that they name. */
export type PatchAction = Extract<Action, { kind: 'annotate' | 'machine-status' | 'condition' | 'taint' | 'cordon' | 'counts' }>;

/** `done`: it stands there already. `conflict`: what the decision read stands there no more. */
export type Patch = { body: object; subresource?: 'status' } | 'done' | 'conflict';

/** The body of one write (RFC 7386), under the version of the object that it was worked out from. */
export function patchOf(action: PatchAction, object: KubeObject, nowMs: number): Patch {
  const found = bodyOf(action, object, nowMs);
  if (typeof found === 'string') return found;
  const { uid, resourceVersion } = object.metadata;
  const { metadata = {}, ...rest } = found.body;
  const body = { ...rest, metadata: { ...metadata, uid, resourceVersion } };
  return found.subresource === undefined ? { body } : { body, subresource: found.subresource };
}

type Body = { body: { metadata?: object } & Record<string, unknown>; subresource?: 'status' } | 'done' | 'conflict';

function bodyOf(action: PatchAction, object: KubeObject, nowMs: number): Body {
  switch (action.kind) {
    case 'annotate':
      return annotations(action.changes, object);
    case 'machine-status':
      return machineStatus(action, object, nowMs);
    case 'condition': {
      const { conditions = [] } = (object as Node).status;
      const { preserved } = nodeFacts(object as Node);
      if (isSameCondition(preserved, action.to)) return 'done';
      if (action.was === undefined ? preserved !== undefined : !isSameCondition(preserved, action.was)) return 'conflict';
      const writtenMs = Math.max(nowMs, action.sinceMs ?? nowMs);
      return { body: { status: { conditions: withPreserved(conditions, action.to, timeText(writtenMs)) } }, subresource: 'status' };
    }
    case 'taint':
      return taint(action.isPresent, object as Node, nowMs);
    case 'cordon':
      return cordon(action.isCordoned, object as Node);
    case 'counts': {
      const automatic = action.target.kind === 'MachineSet' ? { autoPreserveFailedMachineCount: action.automatic ?? 0 } : {};
      return { body: { status: { ...automatic, preservedFailedReplicas: action.preservedFailed } }, subresource: 'status' };
    }
  }
}

function annotations(changes: readonly Change[], { metadata }: KubeObject): Body {
  const marks = metadata.annotations ?? {};
  if (changes.some(({ key, was }) => marks[key] !== was)) return 'conflict';
  return { body: { metadata: { annotations: Object.fromEntries(changes.map(({ key, to }) => [key, to ?? null])) } } };
}

function machineStatus({ was, to }: Extract<PatchAction, { kind: 'machine-status' }>, object: Machine, nowMs: number): Body {
  const { phase, expiryMs } = machineFacts(object);
  if (phase !== was.phase || expiryMs !== was.expiryMs) return 'conflict';
  const current = {
    ...(to.phase !== was.phase && { phase: to.phase, lastUpdateTime: timeText(nowMs) }),
    ...(to.expiryMs !== was.expiryMs && { preserveExpiryTime: to.expiryMs === undefined ? null : timeText(to.expiryMs) }),
  };
  return { body: { status: { currentStatus: current } }, subresource: 'status' };
}

function taint(isPresent: boolean, { spec }: Node, nowMs: number): Body {
  const taints = spec.taints ?? [];
  if (taints.some(({ key }) => key === PRESERVED_TAINT) === isPresent) return 'done';
  const ours: Taint = { key: PRESERVED_TAINT, effect: 'NoSchedule', timeAdded: timeText(nowMs) };
  return { body: { spec: { taints: isPresent ? [...taints, ours] : taints.filter(({ key }) => key !== PRESERVED_TAINT) } } };
}

/** Somebody else's cordon is not taken over, and not taken back. */
function cordon(isCordoned: boolean, node: Node): Body {
  const { metadata, spec } = node;
  const isOurs = metadata.annotations?.[CORDON_MARK] !== undefined;
  if (isCordoned ? spec.unschedulable === true : !isOurs) return 'conflict';
  const mark = isCordoned ? 'true' : null;
  const isLeft = !isCordoned && isCordonKept(node, CORDON_MARK);
  return { body: { metadata: { annotations: { [CORDON_MARK]: mark } }, ...(!isLeft && { spec: { unschedulable: isCordoned ? true : null } }) } };
}
