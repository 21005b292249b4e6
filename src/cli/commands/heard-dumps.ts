import { dumpEndsAtMs, MESSAGES_MIN } from '../../domain/kdump/dump.ts';
import { KDUMP_POLICY } from '../../domain/kdump/hold.ts';
import { readRecords } from '../../domain/kdump/record.ts';
import type { DumpRecord, DumpState } from '../../domain/kdump/record.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { DEFAULT_DAEMON_TIMING } from '../../domain/timing-daemon.ts';
import type { Lease } from '../../ports/objects.ts';

/** What was heard of the crash kernel of one node, by all replicas together; also the shape of `-o json`. Times are RFC 3339, by their clocks. */
export interface HeardDumpRow {
  state: DumpState;
  since: string;
  last: string;
  count: number;
  source: string;
  /** Replicas. */
  heardBy: string[];
  /** The fence waits for it: until then if no more messages come, and until then whatever comes. Absent: nothing waits. */
  heldUntil?: string;
  heldAtMostUntil?: string;
}

/** A replica that is gone says for ever that messages come. */
const STALE_MS = 30_000;

/** By node; what the Lease of the replicas says now. */
export function heardDumps(lease: Lease | undefined): Map<string, HeardDumpRow> {
  const rows = new Map<string, HeardDumpRow>();
  for (const [replica, records] of readRecords(lease?.metadata.annotations, '')) {
    for (const [node, record] of records) rows.set(node, joined(rows.get(node), record, record.by ?? replica));
  }
  return rows;
}

/** As it stands at this moment, beside the fence of the node. `undefined`: the node lives, and dumped before. */
export function dumpNow(
  row: HeardDumpRow | undefined,
  isReady: boolean,
  status: NodeFenceStatus | undefined,
  nowMs: number,
): HeardDumpRow | undefined {
  if (row === undefined || isReady) return undefined;
  const times = status?.frozen?.plan.kdump;
  const finishedTimeoutMs = times?.finishedTimeoutMs ?? DEFAULT_DAEMON_TIMING.kdumpFinishedTimeoutMs;
  const [firstMs, lastMs] = [Date.parse(row.since), Date.parse(row.last)];
  const isSilent = nowMs > lastMs + finishedTimeoutMs + STALE_MS;
  const shown: HeardDumpRow = isSilent ? { ...row, state: 'FINISHED' } : row;
  const holds = [...(status?.hold === undefined ? [] : [status.hold]), ...(status?.hold?.besides ?? [])];
  const isHeld = holds.some(({ policy, reason }) => policy === KDUMP_POLICY && reason === 'kdump-dumping');
  if (!isHeld || times === undefined) return shown;
  const heldUntil = new Date(dumpEndsAtMs({ ...row, firstMs, lastMs, first: row.since }, times)).toISOString();
  return { ...shown, heldUntil, heldAtMostUntil: new Date(firstMs + times.maxDurationMs).toISOString() };
}

function joined(row: HeardDumpRow | undefined, { state, first, last, count, source }: DumpRecord, by: string): HeardDumpRow {
  if (row === undefined) return { state, since: first, last, count, source, heardBy: [by] };
  const isNewer = Date.parse(last) > Date.parse(row.last);
  const most = Math.max(count, row.count);
  const newest = isNewer ? state : row.state;
  return {
    state: newest === 'STARTED' && most >= MESSAGES_MIN ? 'DUMPING' : newest,
    since: Date.parse(first) < Date.parse(row.since) ? first : row.since,
    last: isNewer ? last : row.last,
    count: most,
    source: isNewer ? source : row.source,
    heardBy: [...row.heardBy, by].sort(),
  };
}
