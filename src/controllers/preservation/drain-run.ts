import { RELEASE_BEGINS_WITHIN_MS } from '../../domain/proof-age.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { Pod } from '../../ports/objects.ts';
import { PODS } from '../../ports/resources.ts';
import type { ObjectRef } from './actions.ts';
import { PODS_BY_NODE } from './dependencies.ts';
import type { DrainOptions } from './drain.ts';
import { unlessOld } from '../shared/release/proof-age.ts';
import type { ConsistentProofs } from './consistent-proof.ts';
import { Conflict } from '../shared/conflict.ts';
import { isOverWithin } from '../shared/over-within.ts';
import { activeStop } from '../shared/stops.ts';

export interface DrainReach {
  clock: Clock;
  cluster: Cluster;
  pods: Lister<Pod>;
  proofs: Pick<ConsistentProofs, 'readAnew'>;
  /** May a write begin now? Asked in the turn of each. */
  mayWrite: () => boolean;
}

export interface DrainOrder {
  node: ObjectRef;
  options: DrainOptions;
}

const KEPT_OWNERS: ReadonlySet<string> = new Set(['DaemonSet', 'Node']);
const MIRROR = 'kubernetes.io/config.mirror';
const AT_ONCE_MAX = 8;
/** Evictions that have not been answered: one may hang behind an admission webhook for half a minute, and keeps none of the others. */
const UNDER_WAY_MAX = 24;
const ANSWER_WAIT_MS = 1_000;
/** MCM tries again so often what a budget forbids. */
const EVICTION_RETRY_MS = 20_000;
const POLL_MS = 1_000;
const NAMED_MAX = 3;
const NOT_ALLOWED = 'this replica may not write now';

interface Refusals {
  tries: number;
  dueAtMs: number;
  message: string;
}

/** What was refused, by the uid of the pod. */
type Refused = Map<string, Refusals>;

/** What has not been answered, by the uid of the pod. */
type UnderWay = Map<string, Promise<void>>;

interface Asked {
  refused: Refused;
  underWay: UnderWay;
}

/** Moves the pods of one node away. Answers with the reason why it could not; undefined: none is left that must go. Rejects when `signal` aborts. */
export async function drainNode(reach: DrainReach, order: DrainOrder, signal: AbortSignal): Promise<string | undefined> {
  return order.options.isForced ? forced(reach, order, signal) : gentle(reach, order, signal);
}

/** Those of DaemonSets and static ones stay; those that have ended are in nobody's way. */
function mustGo({ metadata, status }: Pod): boolean {
  const owner =
    metadata.ownerReferences?.find(({ controller }) => controller === true) ?? metadata.ownerReferences?.find(({ kind }) => kind === 'Node');
  const isKept = metadata.annotations?.[MIRROR] !== undefined || (owner !== undefined && KEPT_OWNERS.has(owner.kind));
  return !isKept && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}

const uidOf = ({ metadata }: Pod): string => metadata.uid ?? '';
const isGoing = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;
const nameOf = ({ metadata }: Pod): string => `${metadata.namespace ?? 'default'}/${metadata.name}`;

async function podsOn({ cluster }: DrainReach, node: string): Promise<Pod[]> {
  return (await cluster.list(PODS, { fieldSelector: `spec.nodeName=${node}` })).filter(mustGo);
}

async function gentle(reach: DrainReach, { node, options }: DrainOrder, signal: AbortSignal): Promise<string | undefined> {
  const { clock } = reach;
  const endAtMs = clock.monotonicMs() + options.timeoutMs;
  const refused: Refused = new Map();
  const underWay: UnderWay = new Map();
  for (;;) {
    const pods = await podsOn(reach, node.name);
    signal.throwIfAborted();
    if (pods.length === 0) return undefined;
    const nowMs = clock.monotonicMs();
    if (nowMs >= endAtMs) return `it took too long: ${describeDrain(pods, refused)}`;
    const isDue = (pod: Pod): boolean => !isGoing(pod) && !underWay.has(uidOf(pod)) && (refused.get(uidOf(pod))?.dueAtMs ?? 0) <= nowMs;
    const left = await evictSome(reach, pods.filter(isDue), { refused, underWay }, signal);
    const given = pods.find((pod) => (refused.get(uidOf(pod))?.tries ?? 0) >= options.evictionRetriesMax);
    if (given !== undefined) return `refused too often: ${describeDrain([given], refused)}`;
    const nextMs = left > 0 ? clock.monotonicMs() + POLL_MS : endAtMs;
    await untilWorthALook(reach, node.name, pods, Math.min(endAtMs, nextMs, ...dueTimes(pods, refused)), signal);
  }
}

/** Resolves with how many were not asked for because too many have not been answered. */
async function evictSome(reach: DrainReach, pods: readonly Pod[], { refused, underWay }: Asked, signal: AbortSignal): Promise<number> {
  for (let asked = 0; asked < pods.length;) {
    const group = pods.slice(asked, asked + Math.min(AT_ONCE_MAX, UNDER_WAY_MAX - underWay.size));
    if (group.length === 0) return pods.length - asked;
    asked += group.length;
    const answers = group.map((pod) => {
      signal.throwIfAborted();
      const answer = (reach.mayWrite() ? evict(reach, pod, refused) : Promise.resolve()).finally(() => underWay.delete(uidOf(pod)));
      underWay.set(uidOf(pod), answer);
      return answer;
    });
    await isOverWithin(reach.clock, ANSWER_WAIT_MS, Promise.all(answers));
    signal.throwIfAborted();
  }
  return 0;
}

function dueTimes(pods: readonly Pod[], refused: Refused): number[] {
  return pods.flatMap((pod) => refused.get(uidOf(pod))?.dueAtMs ?? []);
}

/** Never rejects. */
async function evict({ clock, cluster }: DrainReach, { metadata, spec }: Pod, refused: Refused): Promise<void> {
  const uid = metadata.uid ?? '';
  try {
    // Under its uid: the pod of a StatefulSet comes back under the same name, elsewhere and healthy. Without any grace it is gone at once, ended or not.
    const how = { ...(metadata.uid === undefined ? {} : { uid }), mayBeLate: spec.terminationGracePeriodSeconds !== 0 };
    await cluster.evict(metadata.name, metadata.namespace ?? 'default', how);
    refused.delete(uid);
  } catch (error) {
    // Held back by ourselves: nobody refused it.
    if (error instanceof Conflict || (error instanceof ApiStatusError && error.status === 404)) return;
    const waitMs = Math.max(EVICTION_RETRY_MS, (error instanceof ApiStatusError ? error.retryAfterMs : undefined) ?? 0);
    const tries = (refused.get(uid)?.tries ?? 0) + 1;
    refused.set(uid, { tries, dueAtMs: clock.monotonicMs() + waitMs, message: error instanceof Error ? error.message : String(error) });
  }
}

/** Looks at the watch, which costs nothing, until a pod has gone, an eviction is due, or so long that the watch may have missed something. */
async function untilWorthALook(reach: DrainReach, node: string, before: readonly Pod[], dueAtMs: number, signal: AbortSignal): Promise<void> {
  const { clock, pods } = reach;
  const pollAtMs = Math.min(dueAtMs, clock.monotonicMs() + EVICTION_RETRY_MS);
  const uids = new Set(before.map(({ metadata }) => metadata.uid));
  do {
    await clock.sleep(Math.max(1, Math.min(POLL_MS, pollAtMs - clock.monotonicMs())), signal);
    const left = pods.byIndex(PODS_BY_NODE, node).filter(({ metadata }) => uids.has(metadata.uid));
    if (left.length < uids.size) return;
  } while (clock.monotonicMs() < pollAtMs);
}

/** On proof only, under the uid of each pod. What is asked for once is not waited for: the node can not answer. */
async function forced(reach: DrainReach, { node }: DrainOrder, signal: AbortSignal): Promise<string | undefined> {
  const pods = await podsOn(reach, node.name);
  let problem: string | undefined;
  let atMs = -Infinity;
  for (let start = 0; start < pods.length; start += AT_ONCE_MAX) {
    if (reach.clock.monotonicMs() - atMs > RELEASE_BEGINS_WITHIN_MS) {
      const read = await reach.proofs.readAnew(node, 'isIsolated');
      const why = 'doubt' in read ? read.doubt : await activeStop(reach.cluster, node.name);
      signal.throwIfAborted();
      if ('doubt' in read || why !== undefined) return why;
      ({ atMs } = read);
    }
    const beforeSend = unlessOld(reach.clock, { atMs });
    const answers = await Promise.all(pods.slice(start, start + AT_ONCE_MAX).map((pod) => removed(reach, pod, beforeSend, signal)));
    problem ??= answers.find((answer) => answer !== undefined);
  }
  signal.throwIfAborted();
  return problem;
}

/** Never rejects: why it was not. */
async function removed(reach: DrainReach, { metadata }: Pod, beforeSend: () => void, signal: AbortSignal): Promise<string | undefined> {
  if (signal.aborted || !reach.mayWrite()) return NOT_ALLOWED;
  const { name, namespace = 'default', uid } = metadata;
  try {
    await reach.cluster.remove(PODS, name, { namespace, ...(uid !== undefined && { uid }), gracePeriodSeconds: 0, beforeSend });
    return undefined;
  } catch (error) {
    return error instanceof Conflict ? NOT_ALLOWED : `${namespace}/${name}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function describeDrain(pods: readonly Pod[], refused: Refused): string {
  const named = pods.slice(0, NAMED_MAX).map((pod) => {
    const message = refused.get(pod.metadata.uid ?? '')?.message;
    return message === undefined ? nameOf(pod) : `${nameOf(pod)} (${message})`;
  });
  const more = pods.length > NAMED_MAX ? ` and ${String(pods.length - NAMED_MAX)} more` : '';
  return `${named.join(', ')}${more} ${pods.length === 1 ? 'is' : 'are'} still there`;
}
