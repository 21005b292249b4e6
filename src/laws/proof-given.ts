import type { NodeFenceStatus } from '../domain/node-fence.ts';
import type { Expectations } from './expectations.ts';
import type { FenceHistory } from './fence-history.ts';
import type { History, PlacedEvent } from './history.ts';
import { declaredOffs, isPlug, plugOf } from './proof.ts';
import type { DeviceEvent } from './trace.ts';

/** Evidence `power-off`, where a NodeFence showed it first. */
export interface GivenProof {
  at: number;
  /** What must hold of it (P1), and the complaint otherwise. */
  checks: readonly (readonly [holds: boolean, complaint: string])[];
}

/**
 * Each evidence `power-off`, whether or not something was released on it. It rests on what its own run has read: nothing from before the intent of that run, as
 * a read that was begun while the node was isolated, and nothing from before the last command to the plug.
 */
export function proofsGiven(history: History, expectations: Expectations): GivenProof[] {
  return history.fences.flatMap((fence) => {
    const known = new Set<string>();
    return fence.statuses.entries.flatMap(({ position, at, value }) => {
      const given = value.evidence.filter(({ kind, source }) => kind === 'power-off' && !known.has(source));
      for (const { source } of given) known.add(source);
      const standing = given.filter(({ voidedAt }) => voidedAt === undefined);
      return standing.map(({ source }) => ({ at, checks: checksOf(history, expectations, { fence, position, value }, source) }));
    });
  });
}

interface Shown {
  fence: FenceHistory;
  position: number;
  value: NodeFenceStatus;
}

function checksOf(history: History, expectations: Expectations, { fence, position, value }: Shown, source: string): GivenProof['checks'] {
  const said = `${fence.node} was taken for proven off`;
  const run = value.journal.find(({ id }) => id === source);
  if (run === undefined) return [[false, `${said}, but no run of its journal has proven it`]];
  const began = fence.statuses.entries.find((entry) => entry.value.journal.some(({ id }) => id === source))?.position ?? position;
  const from = history.incidentStart(fence, position);
  const events = history.deviceEvents.filter((placed) => placed.event.node === fence.node && placed.position > from && placed.position < position);
  const declared = declaredOffs({ ...value, step: run.step, level: run.level });
  return declared.flatMap((method): GivenProof['checks'] => {
    const own = events.filter(({ event }) => isPlug(method, plugOf(event), expectations));
    const isTold = own.some(({ event }) => event.action === 'set' && event.want === 'off');
    const isRead = wasStablyOff(
      own.filter((placed) => placed.position > began),
      expectations,
    );
    const plug = `${method.device} ${method.plug}`.trim();
    return [
      [isTold, `${said}, but ${plug} had not been told off since the fence began`],
      [isRead, `${said}, but ${plug} had not shown off stably since the run that proved it was intended, and since it was told last`],
    ];
  });
}

/** At some time: somebody may have switched it on since. */
function wasStablyOff(events: readonly PlacedEvent<DeviceEvent>[], { stableReads, offStableMs, toleranceMs }: Expectations): boolean {
  let reads: DeviceEvent[] = [];
  for (const { event } of events) {
    if (event.action !== 'read' && event.action !== 'set') continue;
    reads = event.action === 'read' && event.shown === 'off' ? [...reads, event] : [];
    if (reads.length >= stableReads && event.at - (reads[0]?.at ?? 0) >= offStableMs - toleranceMs) return true;
  }
  return false;
}
