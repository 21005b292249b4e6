import { LOG_WANTED, tailOf } from '../../../domain/log-tail.ts';
import { ApiStatusError, TransportError } from '../../../ports/api-transport.ts';
import { isFinished, isOver, JOB_PODS, JOBS } from '../../../ports/batch.ts';
import type { BatchJob, JobPod } from '../../../ports/batch.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import { SECRETS } from '../../../ports/resources.ts';
import { isOfIntent, REMEDY_JOB_LABEL, REMEDY_NODE_LABEL, remedyJobName } from './intent.ts';
import type { RemedyIntent } from './intent.ts';
import { remedyOutcome } from './outcome.ts';
import type { RemedyOutcome, RemedyWatch } from './outcome.ts';
import { remedyJob, secretsOf } from './spec.ts';
import type { RemedyOrder, RemedyPod } from './spec.ts';

/** An older intent creates nothing: its Job may have been there, have acted, and be gone. Far below the time for which an ended Job is kept. */
export const BEGINS_WITHIN_MS = 60_000;

/** Where a remedy's Job begins. */
export type Begun = { kind: 'there'; job: BatchJob } | { kind: 'too-late' } | { kind: 'another'; name: string };

export interface Begin {
  order: RemedyOrder;
  pod: RemedyPod;
  /** Since its intent was written, by our clock. */
  ageMs: number;
  /** Throws where it must not begin any more: a stop, a hold, a lost lease. Asked in the turn in which the bytes leave. */
  mayBegin: () => void;
}

/** The Jobs of remedies in one namespace. Nothing is kept here: the intent names the Job. */
export class RemedyJobs {
  readonly #cluster: Cluster;
  readonly #namespace: string;

  constructor(cluster: Cluster, namespace: string) {
    this.#cluster = cluster;
    this.#namespace = namespace;
  }

  /** The one Job of this intent, which stands written; one that is there already is taken for it. Rejects when it is not known whether there is one. */
  async begin({ order, pod, ageMs, mayBegin }: Begin): Promise<Begun> {
    const { intent } = order;
    if (ageMs > BEGINS_WITHIN_MS) return (await this.#find(intent)) ?? { kind: 'too-late' };
    try {
      const job = await this.#cluster.create(JOBS, remedyJob(order, pod), { beforeSend: mayBegin });
      return { kind: 'there', job };
    } catch (error) {
      const mayBeThere = error instanceof TransportError || (error instanceof ApiStatusError && (error.status === 409 || error.status >= 500));
      const found = mayBeThere ? await this.#find(intent) : undefined;
      if (found === undefined) throw error;
      return found;
    }
  }

  /** The Job of this intent; `another`: one that has its name. */
  async find(intent: RemedyIntent): Promise<BatchJob | 'another' | undefined> {
    const found = await this.#find(intent);
    return found?.kind === 'there' ? found.job : found && 'another';
  }

  /** `uid`: of the Job that was created for this intent; empty: it is gone, and its pods may not be. */
  async observe(intent: RemedyIntent, uid: string, watch: Omit<RemedyWatch, 'node'>): Promise<RemedyOutcome> {
    const { job, pods } = await this.#read(intent, uid);
    return remedyOutcome(job, pods, { ...watch, node: intent.node });
  }

  /** Those of this program, of any node: what a predecessor began. Absent `nodeUid`: of all nodes. */
  async standing(nodeUid?: string): Promise<BatchJob[]> {
    const labelSelector = nodeUid === undefined ? REMEDY_NODE_LABEL : `${REMEDY_NODE_LABEL}=${nodeUid}`;
    return this.#cluster.list(JOBS, { namespace: this.#namespace, labelSelector });
  }

  /** Nothing of it runs, or will: the next remedy may begin. `uid`: as for `observe`. */
  async isQuiet(intent: RemedyIntent, uid: string): Promise<boolean> {
    const { job, pods } = await this.#read(intent, uid);
    return (job === undefined || isFinished(job)) && pods.every(isOver);
  }

  /** Ends it, with its pods. `false`: it was gone already. */
  async end({ metadata: { name, uid } }: BatchJob): Promise<boolean> {
    return this.#cluster.remove(JOBS, name, { namespace: this.#namespace, propagationPolicy: 'Background', ...(uid !== undefined && { uid }) });
  }

  /** The end of what its first container wrote, without the value of any Secret that the pod could read; in words where that can not be told. */
  async tail(job: BatchJob, pod: string): Promise<string> {
    const container = job.spec.template.spec.containers[0]?.name ?? '';
    try {
      const secrets = await this.#secretValues(secretsOf(job.spec.template));
      if (typeof secrets === 'string') return `(its log is not shown: Secret ${secrets} can not be read, so that its values could not be hidden)`;
      const log = await this.#cluster.podLog?.(pod, this.#namespace, { container, ...LOG_WANTED });
      return log === undefined ? '' : tailOf(log, secrets);
    } catch (error) {
      if (!(error instanceof ApiStatusError) && !(error instanceof TransportError)) throw error;
      return `(its log can not be read: ${error.message})`;
    }
  }

  async #find(intent: RemedyIntent): Promise<Begun | undefined> {
    const job = await this.#cluster.get(JOBS, remedyJobName(intent), this.#namespace);
    if (job === undefined) return undefined;
    return isOfIntent(job, intent) ? { kind: 'there', job } : { kind: 'another', name: job.metadata.name };
  }

  async #read(intent: RemedyIntent, uid: string): Promise<{ job: BatchJob | undefined; pods: JobPod[] }> {
    const name = remedyJobName(intent);
    const [job, pods] = await Promise.all([
      this.#cluster.get(JOBS, name, this.#namespace),
      this.#cluster.list(JOB_PODS, { namespace: this.#namespace, labelSelector: `${REMEDY_JOB_LABEL}=${name}` }),
    ]);
    const own = uid === '' ? pods : pods.filter(({ metadata }) => (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid));
    return { job: job?.metadata.uid === uid ? job : undefined, pods: own };
  }

  /** Or the name of one that can not be read. One that is not there hides nothing. */
  async #secretValues(names: readonly string[]): Promise<string[] | string> {
    const values: string[] = [];
    for (const name of names) {
      try {
        const secret = await this.#cluster.get(SECRETS, name, this.#namespace);
        values.push(...Object.values(secret?.data ?? {}).flatMap((encoded) => [encoded, Buffer.from(encoded, 'base64').toString()]));
      } catch (error) {
        if (!(error instanceof ApiStatusError) && !(error instanceof TransportError)) throw error;
        return name;
      }
    }
    return values;
  }
}
