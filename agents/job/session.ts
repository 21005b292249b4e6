import { randomUUID } from 'node:crypto';

import { AgentError } from '../../src/ports/agents.ts';
import type { ObjectCall } from '../shared/cluster/object-call.ts';
import { deviceLabel, jobName, jobOf } from './job-spec.ts';
import type { JobOrder } from './job-spec.ts';
import { LOG_WANTED, tailOf } from '../../src/domain/log-tail.ts';
import { isFinished, isOver, JOB_PODS, JOBS } from '../../src/ports/batch.ts';
import { ACTION_ANNOTATION, DEVICE_LABEL, INTENT_ANNOTATION, JOB_LABEL } from './objects.ts';
import type { BatchJob, JobPod, PodTemplate } from '../../src/ports/batch.ts';
import type { JobAction } from './objects.ts';
import { optionLines } from './parameters.ts';
import type { JobParameters } from './parameters.ts';
import { jobOutcome } from './outcome.ts';
import type { JobOutcome } from './outcome.ts';

/** Kept for the end of a call: the log, and to delete a Job that is late. */
const RESERVE_MS = 1_500;
const RESERVE_SHARE = 0.2;
const POLL_MAX_MS = 1_000;
const POLLS = 20;

export interface Ended {
  name: string;
  outcome: JobOutcome;
  /** What the program wrote last. */
  tail: string;
}

/** A Job of another run, or an earlier call, that may still do something. */
export interface Unfinished {
  name: string;
  action: string;
  intent: string;
  /** Undefined: only a pod of it is left. */
  job: BatchJob | undefined;
}

export interface SessionFacts {
  namespace: string;
  parameters: JobParameters;
  template: PodTemplate;
  /** Values that may not be shown. */
  secrets: readonly string[];
  /** A request that creates or deletes has left. */
  hasSent(): boolean;
  /** Deletes a Job after the call, whatever becomes of it; `isSure`: it was created. */
  forget(name: string, isSure: boolean): void;
}

/** The Jobs of one call on one plug of a device. */
export class JobSession {
  readonly #call: ObjectCall;
  readonly #facts: SessionFacts;
  readonly #container: string;
  readonly #reserveMs: number;

  constructor(call: ObjectCall, facts: SessionFacts) {
    this.#call = call;
    this.#facts = facts;
    this.#container = facts.template.spec.containers[0]?.name ?? '';
    this.#reserveMs = Math.min(RESERVE_MS, call.target.deadlineMs * RESERVE_SHARE);
  }

  error(kind: AgentError['kind'], answered: string): AgentError {
    return this.#call.error(kind, answered);
  }

  /** A Job of its own, gone with the call. */
  async status(): Promise<Ended> {
    const order = this.#order('status', randomUUID());
    const name = jobName(order);
    let isSure = false;
    try {
      const { metadata } = await this.#created(order);
      isSure = true;
      return await this.#ended(name, metadata.uid);
    } finally {
      if (this.#facts.hasSent()) this.#facts.forget(name, isSure);
    }
  }

  /** The one Job of this intent; one that is there already is waited for. It stays to be looked at, unless it is late or was given up. */
  async change(action: 'on' | 'off' | 'run'): Promise<Ended> {
    const order = this.#order(action, '');
    const name = jobName(order);
    let isSure = false;
    try {
      const { metadata } = await this.#created(order);
      isSure = true;
      const ended = await this.#ended(name, metadata.uid);
      if (ended.outcome.state !== 'exited') this.#facts.forget(name, true);
      return ended;
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      const isNotThere = !this.#facts.hasSent() || (!isSure && (error.kind === 'Refused' || error.kind === 'Misconfigured'));
      if (isNotThere) throw error;
      this.#facts.forget(name, isSure);
      throw this.error(error.kind === 'NotSent' ? 'Timeout' : error.kind, `${error.facts.answered}; Job ${name} is deleted, and may still act`);
    }
  }

  /** Jobs of this plug that change something and are not over. One of this same intent, which a crash left, is waited for: at most half of the call. */
  async unfinished(): Promise<Unfinished[]> {
    const { intent, deadlineMs } = this.#call.target;
    for (;;) {
      const open = await this.#unfinishedNow();
      const isWorthIt = open.some(({ job, intent: other }) => job !== undefined && other === intent);
      if (!isWorthIt || this.#call.remainingMs < deadlineMs / 2) return open;
      await this.#call.pause(this.#pollMs);
    }
  }

  /** Takes back what may still do the opposite; its pod may go on for some seconds. */
  async takeBack({ job }: Unfinished): Promise<void> {
    if (job === undefined) return;
    const { name, uid } = job.metadata;
    await this.#call.remove(JOBS, name, { namespace: this.#facts.namespace, propagationPolicy: 'Background', ...(uid === undefined ? {} : { uid }) });
  }

  /** What the Job of this intent said, where it is over; empty otherwise. */
  async said(action: 'on' | 'off' | 'run'): Promise<string> {
    if (this.#call.target.intent === undefined) return '';
    const name = jobName(this.#order(action, ''));
    const job = await this.#call.get(JOBS, name, this.#facts.namespace);
    if (job === undefined) return '';
    const ended = await this.#look(name, job.metadata.uid);
    return ended.state === 'exited' ? describeEnd({ name, outcome: ended, tail: await this.#tail(ended.pod) }) : '';
  }

  #order(action: JobAction, serial: string): JobOrder {
    const { target } = this.#call;
    const { namespace, parameters } = this.#facts;
    const { ip, username, options } = parameters;
    const own = { action, nodename: target.identity.node, plug: target.plug === '' ? undefined : target.plug, ip, username };
    const lines = Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
    return {
      namespace,
      node: target.identity.node,
      action,
      device: target.device,
      plug: target.plug,
      intent: target.intent ?? `job-${randomUUID()}`,
      serial,
      arguments: [...lines, ...optionLines(options)],
      secret: target.secret,
      deadlineMs: this.#call.remainingMs - this.#reserveMs,
    };
  }

  /** By name one Job only can be created for one intent: an answer that was lost, and a second controller, find the first. */
  async #created(order: JobOrder): Promise<BatchJob> {
    const job = jobOf(order, this.#facts.template);
    try {
      return await this.#call.create(JOBS, job);
    } catch (error) {
      if (!(error instanceof AgentError) || error.kind === 'NotSent' || this.#call.isOver) throw error;
      const there = await this.#call.get(JOBS, job.metadata.name, order.namespace);
      if (there === undefined) throw error;
      const { annotations = {} } = there.metadata;
      if (annotations[INTENT_ANNOTATION] !== order.intent || annotations[ACTION_ANNOTATION] !== order.action)
        throw this.error('Refused', `there is another Job ${job.metadata.name}`);
      return there;
    }
  }

  async #ended(name: string, uid: string | undefined): Promise<Ended> {
    const { target } = this.#call;
    let last: JobOutcome = { state: 'going', message: `nothing was heard of it within ${target.deadlineMs} ms`, hasBegun: true };
    for (;;) {
      last = await this.#look(name, uid).catch((error: unknown) => {
        const isPassing = error instanceof AgentError && (error.kind === 'Unreachable' || error.kind === 'Timeout') && !this.#call.isOver;
        if (isPassing) return last;
        throw error;
      });
      if (last.state === 'exited') return { name, outcome: last, tail: await this.#tail(last.pod) };
      const leftMs = this.#call.remainingMs - this.#reserveMs;
      if (last.state === 'failed' || leftMs <= 0) return { name, outcome: last, tail: '' };
      await this.#call.pause(Math.min(this.#pollMs, leftMs));
    }
  }

  async #look(name: string, uid: string | undefined): Promise<JobOutcome> {
    const { namespace } = this.#facts;
    const [job, pods] = await Promise.all([
      this.#call.get(JOBS, name, namespace),
      this.#call.list(JOB_PODS, { namespace, labelSelector: `${JOB_LABEL}=${name}` }),
    ]);
    const own = pods.filter(({ metadata }) => (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid));
    const same = job?.metadata.uid === uid ? job : undefined;
    return jobOutcome(same, own, { container: this.#container, node: this.#call.target.identity.node });
  }

  async #tail(pod: string): Promise<string> {
    const { namespace, secrets } = this.#facts;
    try {
      return tailOf(await this.#call.podLog(pod, namespace, { container: this.#container, ...LOG_WANTED }), secrets);
    } catch (error) {
      // What is not known of its words does not change how it ended.
      if (error instanceof AgentError && !this.#call.isOver) return `(its log cannot be read: ${error.facts.answered})`;
      throw error;
    }
  }

  async #unfinishedNow(): Promise<Unfinished[]> {
    const { namespace } = this.#facts;
    const where = { namespace, labelSelector: `${DEVICE_LABEL}=${deviceLabel(this.#call.target)}` };
    const [jobs, pods] = await Promise.all([this.#call.list(JOBS, where), this.#call.list(JOB_PODS, where)]);
    const going = jobs.filter((job) => !isFinished(job)).map((job) => ({ ...factsOf(job), job }));
    const named = new Set(going.map(({ name }) => name));
    const left = pods.filter((pod) => !isOver(pod)).flatMap((pod) => (named.has(jobOfPod(pod)) ? [] : [{ ...factsOf(pod), job: undefined }]));
    return [...going, ...left].filter(({ action }) => action !== 'status');
  }

  get #pollMs(): number {
    return Math.min(POLL_MAX_MS, this.#call.target.deadlineMs / POLLS);
  }
}

/** `Job nf-x: exit code 0: <what it wrote last>`. */
export function describeEnd({ name, outcome, tail }: Ended): string {
  return `Job ${name}: ${outcome.message}${tail === '' ? '' : `: ${tail.replaceAll('\n', ' / ')}`}`;
}

function jobOfPod({ metadata }: JobPod): string {
  return metadata.labels?.[JOB_LABEL] ?? metadata.name;
}

function factsOf({ metadata }: BatchJob | JobPod): Omit<Unfinished, 'job'> {
  const { labels = {}, annotations = {} } = metadata;
  return { name: labels[JOB_LABEL] ?? metadata.name, action: annotations[ACTION_ANNOTATION] ?? '', intent: annotations[INTENT_ANNOTATION] ?? '' };
}
