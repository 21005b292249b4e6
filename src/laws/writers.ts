import type { DiskEvent, TraceEvent } from './trace.ts';

/**
 * How often two writers of one volume overlapped: somebody wrote after another had begun, or began below the counter that stood there and so
 * had not seen what the other wrote. A writer is one pod on one node.
 */
export function countOverlaps(trace: readonly TraceEvent[]): number {
  const volumes = new Map<string, { writer: string; counter: number; former: Set<string> }>();
  let overlaps = 0;
  const writes = trace.filter((event): event is DiskEvent => event.kind === 'disk').sort((left, right) => left.at - right.at);
  for (const { volume, node, podUID, counter } of writes) {
    const writer = `${node} ${podUID}`;
    const state = volumes.get(volume);
    if (state === undefined) {
      volumes.set(volume, { writer, counter, former: new Set() });
      continue;
    }
    const isOther = state.writer !== writer;
    if (isOther && (state.former.has(writer) || counter <= state.counter)) overlaps += 1;
    if (isOther) state.former.add(state.writer);
    state.writer = writer;
    state.counter = counter;
  }
  return overlaps;
}

/** When the last volume that a pod on this node wrote to at the time of the fault was written to by its successor; `undefined` while one waits. */
export function replacedAt(trace: readonly TraceEvent[], node: string, faultAtMs: number): number | undefined {
  const writes = trace.filter((event): event is DiskEvent => event.kind === 'disk').sort((left, right) => left.at - right.at);
  const before = new Map(writes.filter(({ at }) => at <= faultAtMs).map((write) => [write.volume, write]));
  const hostages = [...before.values()].filter((write) => write.node === node);
  const firsts = hostages.map(
    ({ volume, podUID }) => writes.find((write) => write.at > faultAtMs && write.volume === volume && write.podUID !== podUID)?.at,
  );
  return firsts.length === 0 || firsts.includes(undefined) ? undefined : Math.max(...firsts.map((at) => at ?? 0));
}
