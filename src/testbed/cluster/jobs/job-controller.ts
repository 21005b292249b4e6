import { ApiStatusError } from '../../../ports/api-transport.ts';
import { timestamp } from '../../../ports/clock.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Random } from '../../../ports/random.ts';
import { WorldApi } from '../api.ts';
import type { WorldDependencies } from '../dependencies.ts';
import { WORLD_PODS } from '../kinds.ts';
import type { WorldPod } from '../kinds.ts';
import { Loop } from '../loop.ts';
import { Mirror } from '../mirror.ts';
import { endOf, WORLD_JOBS } from './kinds.ts';
import type { JobCondition, WorldJob } from './kinds.ts';

const SECOND_MS = 1_000;
/** Before the second pod of a Job; twice as long before each further one (DefaultJobPodFailureBackOff). */
const BACKOFF_MS = 10_000;
const DEFAULT_BACKOFF_LIMIT = 6;
const NAME_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const NAME_LENGTH = 5;

/** Pods of one Job that was seen, by uid: a pod that vanishes has failed. */
interface Seen {
  pods: Map<string, 'active' | 'failed' | 'succeeded'>;
  failedAtMs: number;
}

/**
 * Job and TTL controller (pkg/controller/job, pkg/controller/ttlafterfinished), as far as Jobs of one pod need them: a pod by the template, the conditions
 * FailureTarget and Failed, SuccessCriteriaMet and Complete, `backoffLimit`, `activeDeadlineSeconds` from `startTime`, `ttlSecondsAfterFinished`.
 * Pods carry no tracking finalizer; a Job that is deleted loses its pods by the garbage collector.
 */
export class JobController {
  readonly #api: WorldApi;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #jobs: Mirror<WorldJob>;
  readonly #pods: Mirror<WorldPod>;
  readonly #loop: Loop;
  readonly #seen = new Map<string, Seen>();

  constructor(dependencies: WorldDependencies) {
    const { transport, clock, random } = dependencies;
    this.#api = new WorldApi(transport);
    this.#clock = clock;
    this.#random = random;
    this.#loop = new Loop(clock, random, () => this.#run());
    const poke = (): void => this.#loop.poke();
    this.#jobs = new Mirror<WorldJob>({ ...dependencies, resource: WORLD_JOBS, onChange: poke, onSync: poke });
    const changed = (before: WorldPod | undefined, after: WorldPod | undefined): void => {
      if (before !== undefined && after === undefined) this.#gone(before);
      poke();
    };
    this.#pods = new Mirror<WorldPod>({ ...dependencies, resource: WORLD_PODS, onChange: changed, onSync: poke });
  }

  start(): void {
    this.#jobs.start();
    this.#pods.start();
  }

  stop(): void {
    this.#loop.stop();
    this.#jobs.stop();
    this.#pods.stop();
  }

  async #run(): Promise<number | undefined> {
    if (!this.#jobs.isSynced || !this.#pods.isSynced) return undefined;
    const jobs = [...this.#jobs.all()];
    for (const uid of [...this.#seen.keys()]) if (!jobs.some(({ metadata }) => metadata.uid === uid)) this.#seen.delete(uid);
    let nextMs: number | undefined;
    for (const job of jobs) {
      const waitMs = await this.#settle(job);
      if (waitMs !== undefined) nextMs = Math.min(nextMs ?? waitMs, waitMs);
    }
    return nextMs;
  }

  /** Returns after how many milliseconds time alone changes something. */
  async #settle(job: WorldJob): Promise<number | undefined> {
    if (job.metadata.deletionTimestamp !== undefined) return undefined;
    const end = endOf(job);
    if (end !== undefined) return this.#expire(job, end);
    if (job.spec.suspend === true) return undefined;
    if (job.status?.startTime === undefined) {
      await this.#patch(job, { startTime: timestamp(this.#clock), active: 0 });
      return undefined;
    }
    return this.#pursue(job, job.status.startTime);
  }

  async #pursue(job: WorldJob, startTime: string): Promise<number | undefined> {
    const seen = this.#count(job);
    const states = [...seen.pods.values()];
    const failed = states.filter((state) => state === 'failed').length;
    const target = job.status?.conditions?.find(({ type }) => type === 'FailureTarget');
    if (target !== undefined) return this.#fail(job, target, failed);
    if (states.includes('succeeded')) return this.#complete(job, failed);
    const { backoffLimit = DEFAULT_BACKOFF_LIMIT, activeDeadlineSeconds } = job.spec;
    if (failed > backoffLimit) return this.#doom(job, 'BackoffLimitExceeded', 'Job has reached the specified backoff limit');
    const deadlineMs = activeDeadlineSeconds === undefined ? Infinity : Date.parse(startTime) + SECOND_MS * activeDeadlineSeconds;
    const leftMs = deadlineMs - this.#clock.wallMs();
    if (leftMs <= 0) return this.#doom(job, 'DeadlineExceeded', 'Job was active longer than specified deadline');
    const backoffMs = failed === 0 ? 0 : seen.failedAtMs + BACKOFF_MS * 2 ** (failed - 1) - this.#clock.monotonicMs();
    if (!states.includes('active') && backoffMs <= 0) await this.#makePod(job, seen);
    const waitMs = Math.min(leftMs, states.includes('active') || backoffMs <= 0 ? Infinity : backoffMs);
    return waitMs === Infinity ? undefined : waitMs;
  }

  /** A pod that is being deleted, or that is gone, has failed unless it had succeeded. */
  #count(job: WorldJob): Seen {
    const uid = job.metadata.uid ?? '';
    const seen = this.#seen.get(uid) ?? { pods: new Map<string, 'active' | 'failed' | 'succeeded'>(), failedAtMs: 0 };
    this.#seen.set(uid, seen);
    for (const { status, metadata } of this.#podsOf(job)) {
      const podUid = metadata.uid ?? '';
      if (status?.phase === 'Succeeded') seen.pods.set(podUid, 'succeeded');
      else if (status?.phase === 'Failed' || metadata.deletionTimestamp !== undefined) this.#failed(seen, podUid);
      else seen.pods.set(podUid, 'active');
    }
    return seen;
  }

  #gone({ metadata, status }: WorldPod): void {
    const owners = (metadata.ownerReferences ?? []).flatMap(({ uid }) => this.#seen.get(uid) ?? []);
    for (const seen of owners) if (status?.phase !== 'Succeeded') this.#failed(seen, metadata.uid ?? '');
  }

  #failed(seen: Seen, podUid: string): void {
    if (seen.pods.get(podUid) === 'failed') return;
    seen.pods.set(podUid, 'failed');
    seen.failedAtMs = this.#clock.monotonicMs();
  }

  #podsOf({ metadata: { uid } }: WorldJob): WorldPod[] {
    return [...this.#pods.all()].filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid) === true);
  }

  async #makePod(job: WorldJob, seen: Seen): Promise<void> {
    const { name, namespace = 'default', uid = '' } = job.metadata;
    const { metadata = {}, spec } = job.spec.template;
    const letters = Array.from({ length: NAME_LENGTH }, () => NAME_LETTERS[Math.floor(this.#random.next() * NAME_LETTERS.length)]);
    const known = { 'controller-uid': uid, 'job-name': name };
    const labels = {
      ...metadata.labels,
      ...known,
      ...Object.fromEntries(Object.entries(known).map(([key, value]) => [`batch.kubernetes.io/${key}`, value])),
    };
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true, blockOwnerDeletion: true };
    const made = await this.#api.create(WORLD_PODS, {
      metadata: { ...metadata, name: `${name}-${letters.join('')}`, namespace, labels, ownerReferences: [owner] },
      spec,
    } as WorldPod);
    // The cache shows it later: it must not be made again meanwhile.
    seen.pods.set(made.metadata.uid ?? '', 'active');
    await this.#patch(job, { active: 1, failed: [...seen.pods.values()].filter((state) => state === 'failed').length });
  }

  async #doom(job: WorldJob, reason: string, message: string): Promise<undefined> {
    await this.#patch(job, { conditions: [...(job.status?.conditions ?? []), this.#condition('FailureTarget', reason, message)] });
  }

  /** It has failed when none of its pods is left that runs. */
  async #fail(job: WorldJob, { reason = '', message = '' }: JobCondition, failed: number): Promise<undefined> {
    const running = this.#podsOf(job).filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
    for (const pod of running) if (pod.metadata.deletionTimestamp === undefined) await this.#api.remove(WORLD_PODS, pod);
    if (running.length > 0) return;
    await this.#patch(job, { active: 0, failed, conditions: [...(job.status?.conditions ?? []), this.#condition('Failed', reason, message)] });
  }

  async #complete(job: WorldJob, failed: number): Promise<undefined> {
    const [reason, message] = ['CompletionsReached', 'Reached expected number of succeeded pods'];
    const conditions = [
      ...(job.status?.conditions ?? []),
      this.#condition('SuccessCriteriaMet', reason, message),
      this.#condition('Complete', reason, message),
    ];
    await this.#patch(job, { active: 0, succeeded: 1, failed, completionTime: timestamp(this.#clock), conditions });
  }

  async #expire(job: WorldJob, { lastTransitionTime = '' }: JobCondition): Promise<number | undefined> {
    const { ttlSecondsAfterFinished } = job.spec;
    if (ttlSecondsAfterFinished === undefined) return undefined;
    const leftMs = Date.parse(lastTransitionTime) + SECOND_MS * ttlSecondsAfterFinished - this.#clock.wallMs();
    if (leftMs > 0) return leftMs;
    await this.#api.remove(WORLD_JOBS, job);
    return undefined;
  }

  #condition(type: string, reason: string, message: string): JobCondition {
    const now = timestamp(this.#clock);
    return { type, status: 'True', reason, message, lastProbeTime: now, lastTransitionTime: now };
  }

  /** A conflict needs no answer: the change that caused it wakes the loop. */
  async #patch({ metadata: { namespace, name, uid, resourceVersion } }: WorldJob, status: WorldJob['status']): Promise<void> {
    try {
      await this.#api.patch(WORLD_JOBS, { namespace, name, subresource: 'status' }, 'merge', { metadata: { uid, resourceVersion }, status });
    } catch (error) {
      if (!(error instanceof ApiStatusError) || (error.status !== 404 && error.status !== 409)) throw error;
    }
  }
}
