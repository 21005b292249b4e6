import { MESSAGES_MIN } from '../../domain/kdump/dump.ts';
import type { HeardDump } from '../../domain/kdump/dump.ts';
import { KDUMP_POLICY } from '../../domain/kdump/hold.ts';
import type { Hold } from '../../domain/node-fence.ts';
import type { KernelDumps } from '../../ports/kdump.ts';
import { KERNEL_DUMP } from '../../ports/resources.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';

/** What the leader last reported of a dump of the node. */
export interface DumpRow {
  isDumping: boolean;
  message: string;
  since: string;
}

/** Undefined: nothing was reported, as where nobody listens or nothing was ever heard. */
export function dumpOf(report: NodeFenceReport | undefined): DumpRow | undefined {
  const condition = report?.status?.conditions?.find(({ type }) => type === KERNEL_DUMP);
  return condition && { isDumping: condition.status === 'True', message: condition.message, since: condition.lastTransitionTime };
}

/** As the leader's listener would say, by what it reported: messages have come until now, and none comes from now on. `hold`: what stands in the fence. */
export function reportedDumps(reportOf: (node: string) => NodeFenceReport | undefined, hold: Hold | undefined, nowMs: number): KernelDumps {
  const recorded = [...(hold === undefined ? [] : [hold]), ...(hold?.besides ?? [])].find(({ policy }) => policy === KDUMP_POLICY);
  return {
    factsOf: (node) => {
      const heard = heardIn(dumpOf(reportOf(node)), nowMs);
      return { isArmed: recorded?.reason === 'kdump-awaited', ...(heard === undefined ? {} : { heard }) };
    },
    recognise: () => ({ state: 'unheard', detail: 'an explanation hears nothing' }),
  };
}

function heardIn(row: DumpRow | undefined, nowMs: number): HeardDump | undefined {
  if (row?.isDumping !== true) return undefined;
  const [, count = '', source = ''] = /^(\d+) kdump messages came from (\S+)/u.exec(row.message) ?? [];
  const firstMs = Date.parse(row.since);
  return Number.isNaN(firstMs) ? undefined : { source, first: row.since, firstMs, lastMs: nowMs, count: Math.max(Number(count), MESSAGES_MIN) };
}
