import { RUN_MAX_MS } from '../../../domain/remedy/position.ts';
import type { PodTemplateRemedy, RemedyUse } from '../../../domain/remedy/configuration.ts';
import type { BatchJob } from '../../../ports/batch.ts';
import type { Clock } from '../../../ports/clock.ts';
import { REMEDY_NODE_LABEL } from '../job/intent.ts';
import type { RemedyIntent } from '../job/intent.ts';
import { BEGINS_WITHIN_MS } from '../job/jobs.ts';
import type { RemedyJobs } from '../job/jobs.ts';
import type { TargetFacts } from '../job/spec.ts';
import type { RunContext, RunKind, SeenRun } from './run-kind.ts';

/** A remedy that is a pod: one Job for each run, which its intent names. */
export class JobRuns implements RunKind {
  readonly #jobs: RemedyJobs;
  readonly #clock: Clock;
  readonly #namespace: string;

  constructor(jobs: RemedyJobs, clock: Clock, namespace: string) {
    this.#jobs = jobs;
    this.#clock = clock;
    this.#namespace = namespace;
  }

  async observe(context: RunContext): Promise<SeenRun> {
    const { position, memory, use } = context;
    const intent = intentOf(context);
    const job = await this.#jobs.find(intent);
    // The answer to its creation may have been lost.
    if (job !== undefined && job !== 'another') memory.begins(context.run);
    if (job === 'another') return { outcome: 'failed', message: 'another Job has the name of its Job' };
    if (job === undefined && position.phase === 'starting' && !memory.hasBegun(context.run)) {
      const isOld = memory.isInherited(position.threshold) && this.#ageMs(context) > BEGINS_WITHIN_MS;
      return isOld ? { outcome: 'failed', message: 'a controller before this one may have begun it, and its Job is gone' } : { outcome: 'absent' };
    }
    const watch = { runOn: podOf(use)?.runOn ?? 'target', ageMs: this.#ageMs(context), deadlineMs: deadlineOf(use) };
    const seen = await this.#jobs.observe(intent, job?.metadata.uid ?? '', watch);
    const named = { pod: seen.pod };
    if (seen.state === 'running') return { outcome: 'running', ...named };
    if (seen.state === 'failed' && seen.mustGo) return { outcome: 'running', message: seen.message, mustGo: true, ...named };
    // Nothing follows while something of it may still act.
    if (!(await this.#jobs.isQuiet(intent, job?.metadata.uid ?? ''))) return { outcome: 'running', message: 'its pod has not ended yet', ...named };
    if (seen.state === 'succeeded') return { outcome: 'succeeded', ...named };
    if (memory.hasEnded(context.run)) return { outcome: 'failed', message: 'it was ended before it had ended by itself', ...named };
    // One that was begun and is gone before it was written down as seen is begun no more: absent would begin it.
    return { outcome: job === undefined && position.phase === 'running' ? 'absent' : 'failed', message: seen.message, ...named };
  }

  async begin(context: RunContext & { use: RemedyUse }, mayBegin: () => void): Promise<void> {
    const { use, memory, node, position } = context;
    const pod = podOf(use);
    if (pod === undefined) throw new Error(`${use.name} is no remedy with a podTemplate`);
    const order = { namespace: this.#namespace, intent: intentOf(context), target: targetOf(context), deadlineMs: deadlineOf(use) };
    const ageMs = memory.isInherited(position.threshold) ? this.#ageMs(context) : 0;
    const begun = await this.#jobs.begin({ order, pod, ageMs, mayBegin });
    if (begun.kind === 'another')
      throw new Error(`a Job ${begun.name} of another remedy is there: delete it, or node ${node.metadata.name} has no remedy`);
    memory.begins(context.run);
  }

  async cancel(context: RunContext): Promise<void> {
    const job = await this.#jobs.find(intentOf(context));
    if (job !== undefined && job !== 'another') await this.#jobs.end(job);
  }

  async tail(context: RunContext, pod: string): Promise<string> {
    const job = await this.#jobs.find(intentOf(context));
    return job === undefined || job === 'another' ? '' : this.#jobs.tail(job, pod);
  }

  #ageMs({ memory, position }: RunContext): number {
    return memory.ageMs(position.threshold, { monotonicMs: this.#clock.monotonicMs(), wallMs: this.#clock.wallMs() });
  }
}

export function intentOf({ node, position, run }: Pick<RunContext, 'node' | 'position' | 'run'>): RemedyIntent {
  const { name, uid = '' } = node.metadata;
  return { node: name, nodeUid: uid, condition: position.threshold, run: run.id, attempt: position.attempt, remedy: run.remedy };
}

function podOf(use: RemedyUse | undefined): PodTemplateRemedy | undefined {
  return use?.remedy.kind === 'podTemplate' ? use.remedy : undefined;
}

/** What its template says, within the time of a run. */
function deadlineOf(use: RemedyUse | undefined): number {
  const seconds = podOf(use)?.template.spec['activeDeadlineSeconds'];
  return typeof seconds === 'number' && seconds > 0 ? Math.min(RUN_MAX_MS, 1_000 * seconds) : RUN_MAX_MS;
}

function targetOf({ node, threshold, position }: RunContext): TargetFacts {
  const { status, spec } = node;
  const type = threshold?.conditionType ?? position.threshold;
  const condition = status.conditions?.find((each) => each.type === type);
  return {
    condition: { type, status: condition?.status ?? '', reason: condition?.reason ?? '' },
    providerId: spec.providerID ?? '',
    addresses: (status.addresses ?? []).map(({ address }) => address),
    taints: spec.taints ?? [],
  };
}

/** uid of the Node that it is for. */
export function nodeOfJob({ metadata }: BatchJob): string | undefined {
  return metadata.labels?.[REMEDY_NODE_LABEL];
}
