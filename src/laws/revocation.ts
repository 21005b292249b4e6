import type { Expectations } from './expectations.ts';
import type { ApiAction, History, PlacedEvent } from './history.ts';
import type { DeviceEvent } from './trace.ts';

/** Storage that was revoked before a release that rests on it. */
export interface Revocation {
  /** The last of the reads that it needs. */
  position: number;
  /** The same of the reads after a place; `undefined`: they do not suffice. */
  anewAfter: (place: number) => number | undefined;
  /** The fence was asked to go no further than isolation: its node lives on, without that storage. */
  isToLive: boolean;
  /** What must hold of it (P1), and the complaint otherwise. */
  checks: readonly (readonly [holds: boolean, why: string])[];
}

/** What a release in isolation rests on; `undefined` when it rests on something else. It never lets go more than pods. */
export function revocationBehind(history: History, expectations: Expectations, release: ApiAction): Revocation | undefined {
  const fence = history.fenceOf(release.node, release.position);
  const status = fence?.statuses.before(release.position);
  const proof = status?.evidence.findLast((item) => item.voidedAt === undefined);
  if (fence === undefined || status?.step !== 'isolation' || proof?.kind !== 'storage-revoked') return undefined;
  const from = history.incidentStart(fence, release.position);
  const events = history.storageEvents.filter(({ position, event }) => event.node === release.node && position > from && position < release.position);
  const paths = new Set(
    events.filter(({ event }) => event.action === 'set' && event.want === 'off').map(({ event }) => `${event.device} ${event.plug}`),
  );
  const provenAfter = (place: number): (PlacedEvent<DeviceEvent> | undefined)[] =>
    [...paths].map((path) =>
      closedFrom(
        events.filter(({ position, event }) => position > place && `${event.device} ${event.plug}` === path),
        expectations,
      ),
    );
  const proven = provenAfter(-1);
  const lastOf = (reads: typeof proven): number => Math.max(-1, ...reads.map((read) => read?.position ?? -1));
  return {
    position: lastOf(proven),
    anewAfter: (place) => {
      const anew = provenAfter(place);
      return anew.includes(undefined) ? undefined : lastOf(anew);
    },
    isToLive: status.lastStep === 'isolation',
    checks: [
      [release.what.startsWith('pod '), 'revoked storage lets pods go, and nothing else'],
      [paths.size > 0, `no path of ${release.node} to its storage had been closed`],
      [!proven.includes(undefined), `not every path of ${release.node} to its storage had been read closed stably`],
    ],
  };
}

/** The read with which enough of them agreed, after the last set. */
function closedFrom(events: readonly PlacedEvent<DeviceEvent>[], expectations: Expectations): PlacedEvent<DeviceEvent> | undefined {
  const last = events.findLastIndex(({ event }) => event.action === 'set' || (event.action === 'read' && event.shown !== 'off'));
  const reads = events.slice(last + 1).filter(({ event }) => event.action === 'read');
  const first = reads[0]?.event.at ?? 0;
  return reads.find(
    ({ event }, index) => index + 1 >= expectations.stableReads && event.at - first >= expectations.offStableMs - expectations.toleranceMs,
  );
}
