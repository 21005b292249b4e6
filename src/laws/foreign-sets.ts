import type { DeviceEvent, OperatorEvent, PowerEvent, TraceEvent } from './trace.ts';

/** A call that was given up may be carried out a little later. */
const TOLERANCE_MS = 2_000;
/** The clocks of two processes of one machine differ by some milliseconds. */
const CLOCKS_DIFFER_MS = 100;

/**
 * The same events in order of time, with those marked that a BareMetalOperator caused. A device does not know who asks it: of each call that the operator tells
 * of, one set of that kind within its time is the operator's, and the next edge to that state; every other one is ours.
 */
export function withForeignSets(trace: readonly TraceEvent[]): TraceEvent[] {
  const events = [...trace].sort((left, right) => left.at - right.at);
  const calls = events.filter((event): event is OperatorEvent => event.kind === 'operator');
  if (calls.length === 0) return events;
  const foreign = new Set<TraceEvent>();
  for (const call of calls) {
    const set = events.find((event): event is DeviceEvent => !foreign.has(event) && isOf(call, event));
    if (set === undefined) continue;
    foreign.add(set);
    const edge = edgeAfter(events, set);
    if (edge !== undefined) foreign.add(edge);
  }
  return events.map((event) => (foreign.has(event) ? ({ ...event, isForeign: true } as TraceEvent) : event));
}

function isOf({ node, device, want, at, tookMs }: OperatorEvent, event: TraceEvent): boolean {
  if (event.kind !== 'device' || event.action !== 'set' || event.storage !== undefined) return false;
  return (
    event.node === node &&
    event.device === device &&
    event.want === want &&
    event.at >= at - tookMs - CLOCKS_DIFFER_MS &&
    event.at <= at + TOLERANCE_MS
  );
}

/** What the set led to; another set of the same device in between took it over. */
function edgeAfter(events: readonly TraceEvent[], set: DeviceEvent): PowerEvent | undefined {
  for (const event of events.slice(events.indexOf(set) + 1)) {
    if (event.kind === 'device' && event.action === 'set' && event.node === set.node && event.storage === undefined) return undefined;
    if (event.kind === 'power' && event.node === set.node) return event.state === set.want && event.cause === 'set' ? event : undefined;
  }
  return undefined;
}
