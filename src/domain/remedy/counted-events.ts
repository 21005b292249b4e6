import { REMEDY_LIMITS } from './configuration.ts';

/** Which occurrences of an Event are still to be counted. A recorder writes one Event for all that are alike, and counts in it. Pure. */

/** An Event about a Node as it stands now; times by whoever writes it. */
export interface SeenEvent {
  readonly uid: string;
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** How far an Event was counted. */
export interface CountedEvent {
  readonly uid: string;
  readonly count: number;
  readonly lastMs: number;
}

export const COUNTED_EVENTS_MAX = 64;

export interface EventCount {
  /** Of the occurrences that were not counted yet, the latest. */
  readonly timesMs: readonly number[];
  /** How many they are. */
  readonly fresh: number;
  /** The one counted last stands last. */
  readonly counted: readonly CountedEvent[];
}

/** Those between two that are known lie evenly between them. Where the list is full, what is no newer than its oldest was counted: it was in the list once. */
export function countEvent(known: readonly CountedEvent[], event: SeenEvent): EventCount {
  const before = known.find(({ uid }) => uid === event.uid);
  const fresh = Math.max(0, event.count - (before?.count ?? 0));
  if (fresh === 0) return { timesMs: [], fresh: 0, counted: known };
  const floorMs = before === undefined && known.length >= COUNTED_EVENTS_MAX ? Math.min(...known.map(({ lastMs }) => lastMs)) : -Infinity;
  const timesMs = before === undefined ? evenly(event.firstMs, event.lastMs, fresh - 1, fresh) : evenly(before.lastMs, event.lastMs, fresh, fresh);
  const newer = timesMs.filter((atMs) => atMs > floorMs);
  const others = known.filter(({ uid }) => uid !== event.uid);
  const counted = [...others, { uid: event.uid, count: event.count, lastMs: event.lastMs }];
  const kept = counted.length > COUNTED_EVENTS_MAX ? withoutOldest(counted) : counted;
  return { timesMs: newer, fresh: newer.length < timesMs.length ? newer.length : fresh, counted: kept };
}

/** The last of `count` times that end at `toMs`, in so many equal steps from `fromMs` on. */
function evenly(fromMs: number, toMs: number, steps: number, count: number): number[] {
  const stepMs = steps === 0 ? 0 : Math.max(0, toMs - fromMs) / steps;
  const kept = Math.min(count, REMEDY_LIMITS.alarmCount);
  return Array.from({ length: kept }, (_, index) => Math.round(toMs - (kept - 1 - index) * stepMs));
}

function withoutOldest(counted: readonly CountedEvent[]): CountedEvent[] {
  const oldestMs = Math.min(...counted.map(({ lastMs }) => lastMs));
  const index = counted.findIndex(({ lastMs }) => lastMs === oldestMs);
  return counted.filter((_, at) => at !== index);
}
