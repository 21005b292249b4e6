import type { Node, NodeCondition } from '../../ports/objects.ts';
import type { NodeFacts, PreservedCondition } from './snapshot.ts';

const CONDITION = 'Preserved';
const READ_ONLY = 'ReadonlyFilesystem';
/** MCM's `node-conditions` flag, its default. */
const AILMENTS: ReadonlySet<string> = new Set(['KernelDeadlock', READ_ONLY, 'DiskPressure', 'NetworkUnavailable']);

/** What is read of a Node itself; its drain and its fence are known elsewhere. */
export type BareNodeFacts = Omit<NodeFacts, 'drain' | 'fence'> & { bootID?: string };

/** undefined where it is absent or no time. */
export function timeMs(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** An object without the keys whose value is undefined. */
export function present<T extends object>(facts: { [K in keyof T]: T[K] | undefined }): Partial<T> {
  return Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined)) as Partial<T>;
}

export function nodeFacts({ metadata, spec, status }: Node): BareNodeFacts {
  const conditions = status.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  const readOnly = conditions.find(({ type, status: is }) => type === READ_ONLY && is === 'True');
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    annotations: metadata.annotations ?? {},
    labels: metadata.labels ?? {},
    createdMs: timeMs(metadata.creationTimestamp) ?? 0,
    isDeleting: metadata.deletionTimestamp !== undefined,
    isUnschedulable: spec.unschedulable === true,
    taints: (spec.taints ?? []).map(({ key }) => key),
    ailments: conditions.filter(({ type, status: is }) => AILMENTS.has(type) && is !== 'False').map(({ type }) => type),
    ...present<Pick<BareNodeFacts, 'preserved' | 'preservedMs' | 'ready' | 'readySinceMs' | 'readOnlySinceMs' | 'bootID'>>({
      preserved: preservedOf(conditions),
      preservedMs: writtenMs(conditions),
      ready: ready?.status,
      readySinceMs: timeMs(ready?.lastTransitionTime),
      readOnlySinceMs: timeMs(readOnly?.lastTransitionTime),
      bootID: status.nodeInfo?.bootID,
    }),
  };
}

function preservedOf(conditions: readonly NodeCondition[]): PreservedCondition | undefined {
  const found = conditions.find(({ type }) => type === CONDITION);
  return found === undefined ? undefined : { status: found.status, reason: found.reason ?? '', message: found.message ?? '' };
}

/** Whoever wrote it last has set one of its times. */
function writtenMs(conditions: readonly NodeCondition[]): number | undefined {
  const found = conditions.find(({ type }) => type === CONDITION);
  const times = [found?.lastHeartbeatTime, found?.lastTransitionTime].flatMap((text) => timeMs(text) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

/** The Node's list with this condition in it; `lastTransitionTime` moves when the status does. */
export function withPreserved(conditions: readonly NodeCondition[], to: PreservedCondition, now: string): NodeCondition[] {
  const before = conditions.find(({ type }) => type === CONDITION);
  const since = before?.status === to.status ? (before.lastTransitionTime ?? now) : now;
  const next = { ...before, type: CONDITION, ...to, lastHeartbeatTime: now, lastTransitionTime: since };
  return before === undefined ? [...conditions, next] : conditions.map((each) => (each === before ? next : each));
}
