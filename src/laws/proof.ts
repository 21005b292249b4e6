import type { NodeFenceStatus } from '../domain/node-fence.ts';
import type { PlanMethod } from '../domain/plan.ts';
import type { Expectations } from './expectations.ts';
import type { History, PlacedEvent, ApiAction } from './history.ts';
import type { DeviceEvent } from './trace.ts';

/** One device's stable off before a release, or why there is none. */
export interface StableOff {
  device: string;
  /** Agreeing reads after the last own off, oldest first; empty when there is none. */
  reads: readonly PlacedEvent<DeviceEvent>[];
}

/**
 * The reads of off that stood uninterrupted until the release: of each plug that the level declares on whose proof it rests, whatever it was told last, and
 * of each other one that was told off in the present incident of the released node.
 */
export function stableOffs(history: History, release: ApiAction, expectations: Expectations): StableOff[] {
  const fence = history.fenceOf(release.node, release.position);
  if (fence === undefined) return [];
  const from = history.incidentStart(fence, release.position);
  const events = history.deviceEvents.filter(({ position, event }) => event.node === release.node && position > from && position < release.position);
  const told = new Set(events.filter(({ event }) => event.action === 'set' && event.want === 'off').map(({ event }) => plugOf(event)));
  if (told.size === 0) return [];
  const offs = [...told].map((device) => ({ device, reads: lastReadsOff(events.filter(({ event }) => plugOf(event) === device)) }));
  const declared = declaredOffs(fence.statuses.before(release.position));
  const isDeclared = (device: string): boolean => declared.some((method) => isPlug(method, device, expectations));
  const untold = declared.filter((method) => ![...told].some((device) => isPlug(method, device, expectations)));
  return [
    ...untold.map(({ device, plug }) => ({ device: `${device} ${plug}`, reads: [] })),
    ...offs.filter(({ device }) => isDeclared(device)),
    ...withoutSuperseded(offs, isDeclared, events, expectations),
  ];
}

/** What the level under way switches off: all of it feeds the machine. */
export function declaredOffs(status: NodeFenceStatus | undefined): PlanMethod[] {
  if (status?.step !== 'power-management') return [];
  const level = status.frozen?.plan.powerManagement.find((candidate) => candidate.level === status.level);
  return (level?.methods ?? []).filter(({ kind, action }) => kind === 'power' && (action === 'off' || action === 'reboot' || action === 'delete'));
}

export function isPlug(method: PlanMethod, plugged: string, { isSameDevice }: Expectations): boolean {
  // A device may have spaces in its name (`aws eu-central-1`); a plug has none.
  const at = plugged.lastIndexOf(' ');
  const [device, plug] = [plugged.slice(0, at), plugged.slice(at + 1)];
  return isSameDevice(method.device, device) && (method.plug === plug || method.plug === '' || plug === '');
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

/** Of another level: a device that failed is left out when another one, told off after the last that it was told, is proven off. */
function withoutSuperseded(
  offs: readonly StableOff[],
  isDeclared: (device: string) => boolean,
  events: readonly PlacedEvent<DeviceEvent>[],
  expectations: Expectations,
): StableOff[] {
  const lastTold = (device: string): number => events.findLast(({ event }) => event.action === 'set' && plugOf(event) === device)?.position ?? 0;
  const isProven = (off: StableOff): boolean => provenFrom(off, expectations) !== undefined;
  const proven = offs.filter(isProven);
  const isSuperseded = (off: StableOff): boolean => proven.some((other) => lastTold(other.device) > lastTold(off.device));
  return offs.filter((off) => !isDeclared(off.device) && (isProven(off) || !isSuperseded(off)));
}

export function plugOf(event: DeviceEvent): string {
  return `${event.device} ${event.plug}`;
}
