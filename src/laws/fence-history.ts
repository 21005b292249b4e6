import type { JournalEntry, NodeFenceStatus } from '../domain/node-fence.ts';
import type { NodeFence } from '../ports/resources.ts';
import { Timeline } from './timeline.ts';
import type { ObjectState } from './object-states.ts';

/** One life of one NodeFence object. */
export interface FenceHistory {
  name: string;
  uid: string;
  node: string;
  createdPosition: number;
  createdAt: number;
  /** From where on it is being deleted, its finalizer still on it; Infinity until then. */
  deletionBegunPosition: number;
  /** Infinity while it stands. */
  deletedPosition: number;
  statuses: Timeline<NodeFenceStatus>;
}

/** An intent that stood open in the journal. */
export interface Intent {
  fence: FenceHistory;
  entry: JournalEntry;
  /** When it was first acknowledged by the API. */
  writtenAt: number;
  writtenPosition: number;
  /** It still stood open in the newest status. */
  isStanding: boolean;
  /** What its fence said when it was last seen open. */
  status: NodeFenceStatus;
}

export function fenceHistories(states: Iterable<[name: string, timeline: Timeline<ObjectState>]>): FenceHistory[] {
  const fences: FenceHistory[] = [];
  for (const [name, timeline] of states) {
    let uid: string | undefined;
    let fence: FenceHistory | undefined;
    for (const { position, at, value } of timeline.entries) {
      const object = value.object as NodeFence | undefined;
      if (fence !== undefined && object?.metadata.uid !== uid) {
        fence.deletedPosition = position;
        fence = undefined;
      }
      if (object === undefined) continue;
      if (fence === undefined) {
        uid = object.metadata.uid;
        const statuses = new Timeline<NodeFenceStatus>();
        fence = {
          name,
          uid: uid ?? '',
          node: object.spec.node,
          createdPosition: position,
          createdAt: at,
          deletionBegunPosition: Number.POSITIVE_INFINITY,
          deletedPosition: Number.POSITIVE_INFINITY,
          statuses,
        };
        fences.push(fence);
      }
      if (object.metadata.deletionTimestamp !== undefined) fence.deletionBegunPosition = Math.min(fence.deletionBegunPosition, position);
      if (object.status?.journal !== undefined) fence.statuses.add(position, at, object.status);
    }
  }
  return fences;
}

/** Where the incident began that was current just before `position`: the fence's creation, or the first status of that incident. */
export function incidentStart(fence: FenceHistory, position: number): number {
  const incident = fence.statuses.before(position)?.incident;
  const first = fence.statuses.entries.find(({ value }) => value.incident === incident);
  const isFirstIncident = first === undefined || first === fence.statuses.entries[0];
  return isFirstIncident ? fence.createdPosition : first.position;
}

/** The newest intent of a fence that `matches` and stood open at some place before `position`. */
export function intentBefore(fence: FenceHistory, position: number, matches: (entry: JournalEntry) => boolean): Intent | undefined {
  const entries = fence.statuses.between(-1, position);
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const status = entries[index]?.value;
    const entry = status?.journal.find((candidate) => candidate.finishedAt === undefined && matches(candidate));
    if (status === undefined || entry === undefined) continue;
    const first = entries.find(({ value }) => value.journal.some((candidate) => candidate.id === entry.id));
    return { fence, entry, writtenAt: first?.at ?? 0, writtenPosition: first?.position ?? -1, isStanding: index === entries.length - 1, status };
  }
  return undefined;
}
