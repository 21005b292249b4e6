import type { Expectations } from './expectations.ts';
import type { History, PlacedEvent, Act } from './history.ts';
import type { DeviceEvent } from './trace.ts';

/** One device's stable off before a release, or why there is none. */
export interface StableOff {
  device: string;
  /** Agreeing reads after the last own off, oldest first; empty when there is none. */
  reads: readonly PlacedEvent<DeviceEvent>[];
}

/** For each device that was told off in the present incident of the released node: the reads of off that stood uninterrupted until the release. */
export function stableOffs(history: History, release: Act, expectations: Expectations): StableOff[] {
  const fence = history.fenceOf(release.node, release.position);
  if (fence === undefined) return [];
  const from = history.incidentStart(fence, release.position);
  const events = history.deviceEvents.filter(({ position, event }) => event.node === release.node && position > from && position < release.position);
  const told = new Set(events.filter(({ event }) => event.action === 'set' && event.want === 'off').map(({ event }) => plugOf(event)));
  const offs = [...told].map((device) => ({ device, reads: lastReadsOff(events.filter(({ event }) => plugOf(event) === device)) }));
  return withoutSuperseded(offs, events, expectations);
}

/** The last `off` read that the proof needs, and the first moment at which the proof stood complete. */
export function provenFrom({ reads }: StableOff, expectations: Expectations): PlacedEvent<DeviceEvent> | undefined {
  const first = reads[0];
  if (first === undefined) return undefined;
  return reads.find(
    ({ event }, index) => index + 1 >= expectations.stableReads && event.at - first.event.at >= expectations.offStableMs - expectations.toleranceMs,
  );
}

/**
 * From where on the machine must be off: from where the newest proof began. Reads before it prove nothing that is needed: a supply may read off long before
 * the last of them is, and a successor reads everything anew.
 */
export function provenSince(offs: readonly StableOff[], expectations: Expectations): number {
  return Math.max(...offs.map(({ reads }) => newestProof(reads, expectations)?.position ?? Number.POSITIVE_INFINITY));
}

/** Where the last reads begin that suffice for a proof. */
function newestProof(reads: StableOff['reads'], { stableReads, offStableMs, toleranceMs }: Expectations): PlacedEvent<DeviceEvent> | undefined {
  const lastAt = reads.at(-1)?.event.at ?? 0;
  return reads.findLast(({ event }, index) => reads.length - index >= stableReads && lastAt - event.at >= offStableMs - toleranceMs);
}

function lastReadsOff(events: readonly PlacedEvent<DeviceEvent>[]): PlacedEvent<DeviceEvent>[] {
  const reads: PlacedEvent<DeviceEvent>[] = [];
  for (const placed of [...events].reverse()) {
    if (placed.event.action === 'read' && placed.event.shown === 'off') reads.unshift(placed);
    else if (placed.event.action === 'read' || placed.event.action === 'set') break;
  }
  return reads;
}

/** A device that failed is left out when another one, told off after the last that it was told, is proven off: the next level took over. */
function withoutSuperseded(offs: readonly StableOff[], events: readonly PlacedEvent<DeviceEvent>[], expectations: Expectations): StableOff[] {
  const lastTold = (device: string): number => events.findLast(({ event }) => event.action === 'set' && plugOf(event) === device)?.position ?? 0;
  const isProven = (off: StableOff): boolean => provenFrom(off, expectations) !== undefined;
  const proven = offs.filter(isProven);
  return offs.filter((off) => isProven(off) || !proven.some((other) => lastTold(other.device) > lastTold(off.device)));
}

function plugOf(event: DeviceEvent): string {
  return `${event.device} ${event.plug}`;
}
