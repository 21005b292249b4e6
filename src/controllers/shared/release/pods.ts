import type { PodFacts, Treatment } from '../../../domain/release-plan.ts';
import { AgentError } from '../../../ports/agents.ts';
import { ApiStatusError, TransportError } from '../../../ports/api-transport.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import { PODS } from '../../../ports/resources.ts';
import { isOverWithin } from '../over-within.ts';
import type { AskedPods, Refused } from './asked-pods.ts';

/** Deletions or evictions under way at once; life is asked for anew before each such handful. */
const AT_ONCE = 20;
/** What is not answered by then keeps none of the others, and the proof grows old: the call goes on without the operation. */
const ANSWER_WAIT_MS = 1_000;
/** Before a pod that a PodDisruptionBudget keeps is asked for again: others may make room at any time. */
const BUDGET_MS = 5_000;
const RETRY_AFTER_MAX_MS = 30_000;

export interface LetGoDependencies {
  cluster: Cluster;
  clock: Clock;
}

/** What letting go may rest on. */
export interface LetGoOrder {
  /** What was asked for in vain so far. */
  asked: AskedPods;
  /** Makes sure by consistent reads that nothing has changed since the proof; rejects where something has. Before each handful of pods. */
  verify(): Promise<unknown>;
  /** Throws when the proof does not stand any more, or nothing may be written. Asked by each write in the turn in which its bytes leave. */
  readonly mayGoOn: () => void;
  /** A call goes on that is not waited for any longer. Never rejects. */
  readonly outlives: (call: Promise<unknown>) => void;
}

/** What one operation let go before it ended, or was stopped. */
export interface Course {
  freed: PodFacts[];
  /** Somebody else had removed them, or another pod stands under the name. */
  gone: PodFacts[];
}

type Answer =
  | { kind: 'freed' | 'gone' }
  | { kind: 'kept'; refused: Refused }
  /** It says nothing of this pod: the operation ends. `refused`: the pod may have been let go all the same. */
  | { kind: 'stop'; error: unknown; refused?: Refused };

/** Deletes or evicts these pods, each on its own: none waits for another's answer, nor fails with it. What is done stands in `course` whenever it throws. */
export async function letGo(
  dependencies: LetGoDependencies,
  order: LetGoOrder,
  pods: readonly PodFacts[],
  treatment: Treatment,
  course: Course,
): Promise<void> {
  for (let index = 0; index < pods.length; index += AT_ONCE) {
    await order.verify();
    await askForAll(dependencies, order, pods.slice(index, index + AT_ONCE), treatment, course);
  }
}

async function askForAll(
  dependencies: LetGoDependencies,
  order: LetGoOrder,
  pods: readonly PodFacts[],
  treatment: Treatment,
  { freed, gone }: Course,
): Promise<void> {
  const waitedFor = new Set(pods);
  const stops: unknown[] = [];
  const calls = pods.map(async (pod) => {
    const beforeSend = (): void => {
      // Its intent stands only for as long as the operation does.
      if (!waitedFor.has(pod))
        throw new AgentError('NotSent', { device: 'Kubernetes API', plug: '', asked: 'release', answered: 'its operation is over' });
      order.mayGoOn();
    };
    const answer = await ask(dependencies, order.asked, pod, treatment, beforeSend);
    if (!waitedFor.delete(pod)) return;
    if (answer.kind === 'freed') freed.push(pod);
    if (answer.kind === 'gone') gone.push(pod);
    if (answer.kind === 'stop') stops.push(answer.error);
  });
  const all = Promise.all(calls);
  await isOverWithin(dependencies.clock, ANSWER_WAIT_MS, all);
  if (waitedFor.size > 0) order.outlives(all);
  waitedFor.clear();
  if (stops.length > 0) throw stops[0];
}

/** `beforeSend`: asks for the proof in the turn in which the bytes leave. */
async function ask(
  { cluster, clock }: LetGoDependencies,
  asked: AskedPods,
  pod: PodFacts,
  treatment: Treatment,
  beforeSend: () => void,
): Promise<Answer> {
  asked.asks(pod);
  const answer = await send(cluster, pod, treatment, beforeSend).catch((error: unknown) => answerOf(cluster, pod, treatment, error));
  const refused = 'refused' in answer ? answer.refused : undefined;
  if (refused === undefined) asked.isOver(pod);
  else asked.refused(pod, refused, clock.monotonicMs());
  return answer;
}

/** Every write that lets a pod go: that pod, by its uid. By force it must not come late: the machine may run again, and the pod with it. */
async function send(cluster: Cluster, pod: PodFacts, treatment: Treatment, beforeSend: () => void): Promise<Answer> {
  const { namespace, name, uid, endsAtOnce = false } = pod;
  const isForced = treatment === 'force' || treatment === 'evict-force';
  const how = {
    ...(uid === undefined ? {} : { uid }),
    ...(isForced ? { gracePeriodSeconds: 0 } : {}),
    ...(isForced || endsAtOnce ? {} : { mayBeLate: true }),
    beforeSend,
  };
  if (treatment === 'force' || treatment === 'graceful') {
    return { kind: (await cluster.remove(PODS, name, { namespace, ...how })) ? 'freed' : 'gone' };
  }
  await cluster.evict(name, namespace, how);
  return { kind: 'freed' };
}

/** What a failed call says of its pod, or of the API server. */
async function answerOf(cluster: Cluster, pod: PodFacts, treatment: Treatment, error: unknown): Promise<Answer> {
  if (error instanceof TransportError) {
    const refused = { by: `the API server did not answer: ${error.message}`, isUnsure: true };
    const isAway = error.kind === 'unreachable' || error.kind === 'aborted';
    return isAway ? { kind: 'stop', error, refused: { ...refused, againInMs: 0 } } : { kind: 'kept', refused };
  }
  if (!(error instanceof ApiStatusError)) return { kind: 'stop', error };
  const by =
    error.status === 504 ? `${error.message}: not done within the time that was set for it; an admission webhook hangs, or etcd` : error.message;
  if (error.status === 404) return { kind: 'gone' };
  if (error.status === 401) return { kind: 'stop', error };
  if (error.status === 429) return busyOrKept(treatment, error);
  if (error.status === 503) return { kind: 'stop', error, refused: { by, isUnsure: true, againInMs: 0 } };
  if (error.status === 409 || error.status === 500) return readBack(cluster, pod, treatment, error);
  return { kind: 'kept', refused: { by, isUnsure: error.status > 500 } };
}

/** 429 of an eviction is a PodDisruptionBudget; of a deletion it is the API server, which has no time for anybody. */
function busyOrKept(treatment: Treatment, error: ApiStatusError): Answer {
  if (treatment === 'force' || treatment === 'graceful') return { kind: 'stop', error };
  const againInMs = Math.max(BUDGET_MS, Math.min(error.retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
  return { kind: 'kept', refused: { by: error.message, isUnsure: false, againInMs } };
}

/** The server has answered, so what it did stands: the pod itself says whether it was let go. */
async function readBack(cluster: Cluster, { namespace, name, uid }: PodFacts, treatment: Treatment, error: ApiStatusError): Promise<Answer> {
  const by = error.message;
  try {
    // By a list of one: its role may list pods, and not get them.
    const [standing] = await cluster.list(PODS, { namespace, fieldSelector: `metadata.name=${name}` });
    if (standing === undefined || (uid !== undefined && standing.metadata.uid !== uid)) return { kind: error.status === 409 ? 'gone' : 'freed' };
    const { deletionTimestamp, deletionGracePeriodSeconds } = standing.metadata;
    const isGraceful = treatment === 'graceful' || treatment === 'evict';
    if (deletionTimestamp !== undefined && (isGraceful || deletionGracePeriodSeconds === 0)) return { kind: 'freed' };
    return { kind: 'kept', refused: { by, isUnsure: false } };
  } catch (unread) {
    return { kind: 'kept', refused: { by: `${by}; and it could not be read: ${String(unread)}`, isUnsure: true } };
  }
}
