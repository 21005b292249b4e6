import { readFileSync } from 'node:fs';
import type { NodeFenceStatus, Timeline } from '../../domain/node-fence.ts';
import type { LawName, LawResult } from '../../laws/law.ts';
import type { TraceEvent } from '../../laws/trace.ts';
import type { Fault } from '../faults/names.ts';
import type { ChildrenFound } from '../faults/script.ts';
import type { Refusals } from './refusals.ts';

/** How a node that broke has ended; times as in `DrillResult`. */
export interface VictimResult {
  node: string;
  outcome: string;
  timeline: Partial<Record<keyof Timeline, number>>;
}

/** The one object that `--json` prints. Times are milliseconds since the fault; a time that was not reached is absent. */
export interface DrillResult {
  fault: Fault;
  seed: number;
  nodes: number;
  agent: string;
  apiServer: string;
  /** Controllers that ran side by side. */
  replicas: number;
  /** Who led, in order; `at` counts from the fault. */
  leaders: { replica: string; epoch: number; at: number }[];
  node: string;
  outcome: string;
  expected: boolean;
  /** Why it is not what this fault must lead to; empty when it is. */
  problems: string[];
  /** What the fault did after its first blow, and when. */
  did?: string;
  /** Descendants of a controller that was killed. */
  children?: ChildrenFound;
  timeline: Partial<Record<keyof Timeline, number>>;
  /** When the successors of its pods wrote to all of its volumes, by the disk. */
  replacedAt?: number;
  /** Further nodes that broke. */
  others?: VictimResult[];
  laws: Record<LawName, LawResult>;
  devices: { at: number; device: string; plug: string; action: string; read?: string }[];
  writers: { overlaps: number };
  /** The search for planted passwords and tokens (P9): how many of them, and where. */
  planted: { secrets: number; writes: number; texts: number; processes: number; found: number };
  /** All that processes of ours asked of the API server, and what of it was refused under the shipped rights. */
  rights: Refusals;
  api: Record<'list' | 'watch' | 'get' | 'patch' | 'create' | 'update' | 'delete', number>;
  /** Lists after the first sync, by resource; none but the stops that law P6 reads consistently may be there. */
  listsAfterSync: Record<string, number>;
  controller: { rssMb: number; cpuMs: number };
  message: string;
}

export function timelineOf(status: NodeFenceStatus | undefined, faultAtMs: number): DrillResult['timeline'] {
  const timeline: DrillResult['timeline'] = { failedAt: 0 };
  for (const [name, at] of Object.entries(status?.timeline ?? {}) as [keyof Timeline, string][]) {
    if (name !== 'failedAt') timeline[name] = Math.round(Date.parse(at) - faultAtMs);
  }
  return timeline;
}

export function devicesOf(trace: readonly TraceEvent[], faultAtMs: number): DrillResult['devices'] {
  return trace.flatMap((event) =>
    event.kind !== 'device' || event.at < faultAtMs || event.action === 'login'
      ? []
      : [
          {
            at: Math.round(event.at - faultAtMs),
            device: event.device,
            plug: event.plug,
            action: event.want === undefined ? event.action : `${event.action} ${event.want}`,
            ...(event.shown === undefined ? {} : { read: event.shown }),
          },
        ],
  );
}

/** Requests of the controller, counted by verb from the API server's audit. */
export function requestsOf(trace: readonly TraceEvent[], user: string): DrillResult['api'] {
  const counts = { list: 0, watch: 0, get: 0, patch: 0, create: 0, update: 0, delete: 0 };
  for (const event of trace) {
    if (event.kind === 'api' && event.user === user && event.verb in counts) counts[event.verb as keyof typeof counts] += 1;
  }
  return counts;
}

/** Lists that were answered; one that was refused has read nothing. */
export function listsAfter(trace: readonly TraceEvent[], user: string, fromMs: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const event of trace) {
    if (event.kind === 'api' && event.user === user && event.verb === 'list' && event.status < 300 && event.at > fromMs)
      counts[event.resource] = (counts[event.resource] ?? 0) + 1;
  }
  return counts;
}

/** Resident memory and CPU time of a running process, from the kernel's own books; zero where there are none. */
export function usageOf(pid: number): DrillResult['controller'] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    // Fields 14 and 15 of proc(5), counted from the state; a tick is 10 ms on every Linux.
    return { rssMb: Math.round(kilobytes / 1024), cpuMs: (Number(fields[11]) + Number(fields[12])) * 10 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { rssMb: 0, cpuMs: 0 };
    throw error;
  }
}
