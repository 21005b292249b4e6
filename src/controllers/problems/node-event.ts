import type { SeenEvent } from '../../domain/remedy/counted-events.ts';
import type { KubeObject } from '../../ports/objects.ts';

/** A core/v1 Event about a Node, as far as it is counted: node-problem-detector's, the kubelet's, anyone's. */
export interface NodeEvent extends KubeObject {
  /** Absent: no alarm names its reason. */
  problem?: SeenEvent & { node: string; reason: string };
  /** A warning that no alarm names, by how often it was written. */
  otherWarnings?: number;
}

/** What is watched: the API server leaves out the rest. */
export const NODE_EVENTS_SELECTOR = 'involvedObject.kind=Node';
/** node-problem-detector writes one at each change of a condition, which is counted as a condition. */
const OF_CONDITION = 'Node condition';
/** What we tell ourselves is counted where it happens. */
const OUR_OWN = 'nodefence-';
/** An Event is older than its object by what its writer waits, not by hours: a clock that is wrong is not believed. */
const OLDER_THAN_OBJECT_MS = 600_000;

type Fields = Readonly<Record<string, unknown>>;

/** Cuts an Event down while a list or watch is parsed: messages, and all that no alarm names, cost no memory. `isNamed` is asked as the configuration stands then. */
export function pruneNodeEvent(isNamed: (reason: string) => boolean): (event: NodeEvent) => NodeEvent {
  return (event) => {
    const { name, namespace, uid, resourceVersion, creationTimestamp } = event.metadata;
    const metadata = { name, ...defined({ namespace, uid, resourceVersion }) };
    const raw = event as unknown as Fields;
    const reason = textOf(raw['reason']);
    const node = textOf(fieldsOf(raw['involvedObject'])['name']);
    const isIgnored = node === '' || uid === undefined || textOf(raw['message']).startsWith(OF_CONDITION) || isOurs(raw);
    if (isIgnored) return Object.freeze({ metadata: Object.freeze(metadata) });
    const count = occurrences(raw);
    if (!isNamed(reason)) return Object.freeze({ metadata: Object.freeze(metadata), ...(raw['type'] === 'Warning' && { otherWarnings: count }) });
    const problem = Object.freeze({ node, reason, uid, count, ...times(raw, creationTimestamp) });
    return Object.freeze({ metadata: Object.freeze(metadata), problem });
  };
}

function isOurs(raw: Fields): boolean {
  const by = textOf(raw['reportingComponent']);
  return (by === '' ? textOf(fieldsOf(raw['source'])['component']) : by).startsWith(OUR_OWN);
}

/** Old recorders count in `count`, those of events.k8s.io in a series. */
function occurrences(raw: Fields): number {
  const counts = [raw['count'], fieldsOf(raw['series'])['count']].filter((each): each is number => Number.isSafeInteger(each));
  return Math.max(1, ...counts);
}

function times(raw: Fields, creationTimestamp: string | undefined): { firstMs: number; lastMs: number } {
  const createdMs = millisecondsOf(creationTimestamp) ?? 0;
  const happenedMs = millisecondsOf(raw['eventTime']);
  const firstMs = Math.max(millisecondsOf(raw['firstTimestamp']) ?? happenedMs ?? createdMs, createdMs - OLDER_THAN_OBJECT_MS);
  const lastMs = millisecondsOf(fieldsOf(raw['series'])['lastObservedTime']) ?? millisecondsOf(raw['lastTimestamp']) ?? happenedMs ?? firstMs;
  return { firstMs, lastMs: Math.max(firstMs, lastMs) };
}

function millisecondsOf(time: unknown): number | undefined {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function defined<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: NonNullable<T[K]> };
}
