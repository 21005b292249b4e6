import type { OwnerReference, Pod } from '../../ports/objects.ts';

/** Whose pods ran on a node, told from the pods alone: nothing is read for it. */
export interface WorkloadOnNode {
  /** `Deployment shop/web`. */
  workload: string;
  /** When the first of its pods there was made. */
  sinceMs: number;
}

/** More owners of one node are not counted for one problem. */
export const WORKLOADS_MAX = 16;
const TEMPLATE_HASH = 'pod-template-hash';
/** They are on every node, so that they say nothing of any; `Node`: static pods. */
const EVERYWHERE: ReadonlySet<string> = new Set(['DaemonSet', 'Node']);
const ENDED: ReadonlySet<string | undefined> = new Set(['Succeeded', 'Failed']);
/** `<CronJob>-<minute since 1970 for which it was due>`. */
const OF_CRON_JOB = /^(?<name>.+)-(?<minute>\d{8})$/u;
const DAY_MS = 86_400_000;

export function workloadsOn(pods: readonly Pod[]): WorkloadOnNode[] {
  const since = new Map<string, number>();
  for (const pod of pods) {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
    if (owner === undefined || EVERYWHERE.has(owner.kind) || ENDED.has(pod.status?.phase)) continue;
    const createdMs = Date.parse(pod.metadata.creationTimestamp ?? '');
    const madeMs = Number.isNaN(createdMs) ? 0 : createdMs;
    const workload = nameOf(owner, pod, madeMs);
    since.set(workload, Math.min(madeMs, since.get(workload) ?? Infinity));
  }
  return [...since].map(([workload, sinceMs]) => ({ workload, sinceMs }));
}

/** Those that were there then. Who was counted for the same elsewhere comes first, then who came last: that is where a culprit is looked for. */
export function chosenWorkloads(all: readonly WorkloadOnNode[], atMs: number, isSuspect: (workload: string) => boolean): string[] {
  const there = all.filter(({ sinceMs }) => sinceMs <= atMs).map((one) => ({ ...one, rank: isSuspect(one.workload) ? 0 : 1 }));
  return there
    .sort((one, other) => one.rank - other.rank || other.sinceMs - one.sinceMs || (one.workload < other.workload ? -1 : 1))
    .slice(0, WORKLOADS_MAX)
    .map(({ workload }) => workload);
}

/** A ReplicaSet and a Job of a CronJob change with every rollout and run: the name behind them does not. */
function nameOf({ kind, name }: OwnerReference, { metadata: { namespace = '', labels } }: Pod, madeMs: number): string {
  const hash = labels?.[TEMPLATE_HASH];
  if (kind === 'ReplicaSet' && hash !== undefined && name.endsWith(`-${hash}`)) return `Deployment ${namespace}/${name.slice(0, -hash.length - 1)}`;
  const scheduled = kind === 'Job' ? OF_CRON_JOB.exec(name)?.groups : undefined;
  const isDueThen = scheduled !== undefined && Math.abs(Number(scheduled['minute']) * 60_000 - madeMs) < DAY_MS;
  return isDueThen ? `CronJob ${namespace}/${scheduled['name']}` : `${kind} ${namespace}/${name}`;
}
