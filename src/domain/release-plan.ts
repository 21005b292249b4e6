import { EVIDENCE_RULES } from './evidence.ts';
import type { EvidenceKind, ReleaseMode } from './plan.ts';

/** What a release reads of one pod; of a whole cluster's API, nothing else. */
export interface PodFacts {
  namespace: string;
  name: string;
  uid: string | undefined;
  /** By the API server's clock. */
  createdAt?: string | undefined;
  /** The value of its PriorityClass, as admission has resolved it. */
  priority: number;
  priorityClass: string | undefined;
  /** Kind of the owner that controls it; empty for a bare pod. `Node`: static or mirror pod. */
  ownerKind: string;
  ownerName: string;
  /** It tolerates the out-of-service taint for ever: it is meant to stay. */
  isMeantToStay: boolean;
  /** It tolerates the taint for a time: Kubernetes takes it when that is over. */
  staysForNow: boolean;
  isTerminating: boolean;
  /** Deletion with grace 0 was asked for: only a finalizer keeps it. */
  isForced: boolean;
  /** What keeps it until whoever set them takes them away; absent: nothing, or it is not being deleted. */
  finalizers?: readonly string[];
  /** Its own grace is 0: a deletion or eviction without a grace is one by force. */
  endsAtOnce?: boolean;
  /** Storages of its writable volumes; `unknown` where one of them is on no declared storage. */
  storages: readonly string[];
  hasUnknownVolume: boolean;
}

export interface AttachmentFacts {
  name: string;
  uid: string | undefined;
  /** The PersistentVolume. */
  volume: string | undefined;
  /** Its deletion was asked for: it goes once the volume is detached. */
  isTerminating?: boolean;
}

/** What a release rests on: evidence, or none because the kubelet answers (a remedy). */
export interface ReleaseBasis {
  kind: EvidenceKind | 'alive';
  /** Storages that were read back as revoked. */
  storages?: readonly string[];
}

/** `force`: deletion with grace 0; `graceful`: deletion with the pod's own grace; `evict`: under PodDisruptionBudgets; `evict-force`: the same with grace 0. */
export type Treatment = 'force' | 'graceful' | 'evict' | 'evict-force';

export interface ReleaseChoice {
  /** Resolved: `auto` is for the caller, who knows the server. */
  mode: Exclude<ReleaseMode, 'auto' | 'none'>;
  podsPerMinute?: number | undefined;
  /** Names of PriorityClasses that go before all others, in this order. */
  priorityOrder?: readonly string[] | undefined;
}

/** What may be done to the workload of one node, and in which order. */
export interface ReleasePlan {
  /** The out-of-service taint ends it. */
  taint: boolean;
  treatment: Treatment;
  /** Everything that the release frees, in order; with the taint they are freed by it, unless batches come before it. */
  pods: readonly PodFacts[];
  /** Pods of `pods` that are deleted or evicted before the taint; without it, all of them. */
  batched: readonly PodFacts[];
  /** Pods of `pods` that somebody has made on the node since the release began, and that no batch is for. */
  madeSince: readonly PodFacts[];
  /** Workload that is left alone, for it tolerates the taint for ever: nobody lets it go, and it waits on the node. */
  staying: readonly PodFacts[];
  /** Pods of `pods` that Kubernetes deletes by force once the taint stands, at the next round of its garbage collector: they are deleted at once instead. */
  taken: readonly PodFacts[];
  /** Deleted when no pod of `batched` is left to be deleted. */
  attachments: readonly AttachmentFacts[];
}

interface Scope {
  permitsTaint: boolean;
  permitsForcedDeletion: boolean;
  permitsDetach: boolean;
  scopedToStorage: boolean;
}

const ALIVE: Scope = { permitsTaint: false, permitsForcedDeletion: false, permitsDetach: false, scopedToStorage: false };

/**
 * The rules of a release as one table: what the proof permits, within what the configuration chose (P1). `begunAt`: of its first batch; absent: this is the
 * first. Whoever makes a pod anew on this very node, as a Deployment that names it, would have a batch for each, without an end.
 */
export function releasePlan(
  basis: ReleaseBasis,
  choice: ReleaseChoice,
  pods: readonly PodFacts[],
  attachments: readonly AttachmentFacts[],
  begunAt?: string,
): ReleasePlan {
  const scope = basis.kind === 'alive' ? ALIVE : EVIDENCE_RULES[basis.kind];
  const freed = pods.filter((pod) => isReleasable(pod) && (!scope.scopedToStorage || isCutOff(pod, basis.storages ?? []))).sort(byOrder(choice));
  const taint = choice.mode === 'out-of-service' && scope.permitsTaint;
  const isToGo = (pod: PodFacts): boolean => !(scope.permitsForcedDeletion ? pod.isForced : pod.isTerminating);
  const isMadeSince = (pod: PodFacts): boolean => !pod.isTerminating && wasMadeAfter(pod, begunAt);
  const isTaken = (pod: PodFacts): boolean => !pod.isForced && (!pod.staysForNow || pod.isTerminating);
  return {
    taint,
    treatment: treatmentOf(basis, choice, scope),
    pods: freed,
    batched: taint && !isPaced(choice) ? [] : freed.filter((pod) => isToGo(pod) && !isMadeSince(pod)),
    madeSince: freed.filter(isMadeSince),
    staying: scope.scopedToStorage ? [] : pods.filter((pod) => pod.isMeantToStay && isOfWorkload(pod)),
    taken: taint ? freed.filter(isTaken) : [],
    attachments: choice.mode === 'delete-pods' && scope.permitsDetach ? attachments.filter(({ isTerminating }) => isTerminating !== true) : [],
  };
}

/** The clocks of a controller and of an API server differ by less. */
const CLOCKS_APART_MS = 60_000;

function wasMadeAfter({ createdAt = '' }: PodFacts, at = ''): boolean {
  return Date.parse(createdAt) > Date.parse(at) + CLOCKS_APART_MS;
}

function treatmentOf(basis: ReleaseBasis, { mode }: ReleaseChoice, { permitsForcedDeletion }: Scope): Treatment {
  if (mode === 'evict' || basis.kind === 'alive') return permitsForcedDeletion ? 'evict-force' : 'evict';
  return permitsForcedDeletion ? 'force' : 'graceful';
}

/** Pods of DaemonSets, static and mirror pods are left alone, and those that tolerate the taint for ever. */
export function isReleasable(pod: Pick<PodFacts, 'ownerKind' | 'isMeantToStay'>): boolean {
  return isOfWorkload(pod) && !pod.isMeantToStay;
}

function isOfWorkload(pod: Pick<PodFacts, 'ownerKind'>): boolean {
  return pod.ownerKind !== 'DaemonSet' && pod.ownerKind !== 'Node';
}

/** It writes to storages, and every one of them is revoked. A pod without any is not freed by storage evidence: the proof says nothing of it. */
function isCutOff({ storages, hasUnknownVolume }: PodFacts, revoked: readonly string[]): boolean {
  return !hasUnknownVolume && storages.length > 0 && storages.every((storage) => revoked.includes(storage));
}

export function isPaced({ podsPerMinute, priorityOrder }: Pick<ReleaseChoice, 'podsPerMinute' | 'priorityOrder'>): boolean {
  return podsPerMinute !== undefined || (priorityOrder ?? []).length > 0;
}

/** PriorityClass, then StatefulSets before others, then the name: a total order. */
function byOrder({ priorityOrder = [] }: ReleaseChoice): (one: PodFacts, other: PodFacts) => number {
  return (one, other) =>
    rankOf(one, priorityOrder) - rankOf(other, priorityOrder) ||
    other.priority - one.priority ||
    Number(one.ownerKind !== 'StatefulSet') - Number(other.ownerKind !== 'StatefulSet') ||
    compare(podName(one), podName(other)) ||
    compare(one.uid ?? '', other.uid ?? '');
}

function rankOf({ priorityClass }: PodFacts, order: readonly string[]): number {
  const rank = priorityClass === undefined ? -1 : order.indexOf(priorityClass);
  return rank < 0 ? order.length : rank;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Without a pace, pods of one journal operation: more would outlive the proof. */
const BATCH_MAX = 100;
const BATCHES_PER_MINUTE = 6;
/** Before pods that a PodDisruptionBudget keeps are asked for again. */
const EVICT_AGAIN_MS = 5_000;

export interface Pace {
  size: number;
  intervalMs: number;
}

/** How many pods one batch has, and from one batch to the next. */
export function paceOf({ mode, podsPerMinute }: Pick<ReleaseChoice, 'podsPerMinute'> & { mode: ReleaseMode }): Pace {
  const leastMs = mode === 'evict' ? EVICT_AGAIN_MS : 0;
  if (podsPerMinute === undefined) return { size: BATCH_MAX, intervalMs: leastMs };
  const size = Math.min(BATCH_MAX, Math.max(1, Math.floor(podsPerMinute / BATCHES_PER_MINUTE)));
  return { size, intervalMs: Math.max(leastMs, Math.ceil((size * 60_000) / podsPerMinute)) };
}

/** The next batch: with `priority_order` it ends where the priority does. */
export function nextBatch({ batched }: Pick<ReleasePlan, 'batched'>, choice: ReleaseChoice): readonly PodFacts[] {
  const batch = batched.slice(0, paceOf(choice).size);
  const first = batch[0];
  if (first === undefined || (choice.priorityOrder ?? []).length === 0) return batch;
  const end = batch.findIndex((pod) => pod.priority !== first.priority || pod.priorityClass !== first.priorityClass);
  return end < 0 ? batch : batch.slice(0, end);
}

/** `namespace/name`. */
export function podName({ namespace, name }: Pick<PodFacts, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

const WORKLOADS_NAMED_MAX = 8;

/** Per workload and in total: `12 pods: StatefulSet web/db 3, ReplicaSet web/shop-5 9`. */
export function inTotal(pods: readonly PodFacts[]): string {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const workload = pod.ownerKind === '' ? `pod ${podName(pod)}` : `${pod.ownerKind} ${pod.namespace}/${pod.ownerName}`;
    counts.set(workload, (counts.get(workload) ?? 0) + 1);
  }
  const total = `${pods.length} ${pods.length === 1 ? 'pod' : 'pods'}`;
  if (pods.length === 0) return total;
  const named = [...counts].slice(0, WORKLOADS_NAMED_MAX).map(([workload, count]) => `${workload} ${count}`);
  const rest = counts.size - named.length;
  return `${total}: ${named.join(', ')}${rest > 0 ? ` and ${rest} more workloads` : ''}`;
}
