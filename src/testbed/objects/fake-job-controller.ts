import type { ObjectWorld } from './object-world.ts';
import { isFinished, JOB_PODS, JOBS, projected } from './job-kinds.ts';
import type { NodeSelectorRequirement, ProgramJob, ProgramPod, ProgramPodSpec } from './job-kinds.ts';

/** One run of the admin's program: what it is told, and what it has to say. */
export interface ProgramRun {
  job: string;
  node: string;
  /** The lines of the file of arguments. */
  arguments: Readonly<Record<string, string>>;
  /** Name of the Secret that is mounted. */
  secret: string | undefined;
}

export interface ProgramEnd {
  code: number;
  log: string;
  /** Before it ends; its work is done when it does. */
  afterMs?: number;
  /** In the moment in which it ends; not at all where it is killed before. */
  work?(): void;
}

/** What keeps a pod from running its program. */
export type PodTrouble = { waiting: { reason: string; message: string } } | { evicted: string } | { unplaced: string };

interface Started {
  endsAtMs: number;
  end: ProgramEnd;
}

/** Job controller, scheduler and kubelets of a cluster, as far as Jobs of one pod need them. */
export class FakeJobController {
  readonly nodes = ['worker-1', 'worker-2'];
  readonly runs: ProgramRun[] = [];
  trouble: PodTrouble | undefined;
  /** Pods whose node is cut off: nothing is told of them any more, and no deletion reaches them. */
  readonly cutOff = new Set<string>();
  /** Jobs that were there and not finished, when all was last looked at. */
  open = 0;
  readonly #world: ObjectWorld;
  readonly #namespace: string;
  readonly #program: (run: ProgramRun) => ProgramEnd;
  readonly #started = new Map<string, Started>();
  #serial = 0;

  constructor(world: ObjectWorld, namespace: string, program: (run: ProgramRun) => ProgramEnd) {
    this.#world = world;
    this.#namespace = namespace;
    this.#program = program;
  }

  async jobs(): Promise<ProgramJob[]> {
    return this.#world.cluster.list(JOBS, { namespace: this.#namespace });
  }

  async pods(): Promise<ProgramPod[]> {
    return this.#world.cluster.list(JOB_PODS, { namespace: this.#namespace });
  }

  /** One look around, of all of them. */
  async step(): Promise<void> {
    const [jobs, pods] = [await this.jobs(), await this.pods()];
    for (const job of jobs) if (!isFinished(job) && !pods.some((pod) => owns(job, pod))) await this.#makePod(job);
    for (const pod of pods) await this.#kept(pod);
    for (const job of await this.jobs()) await this.#judged(job, await this.pods());
    this.open = (await this.jobs()).filter((job) => !isFinished(job)).length;
  }

  async #makePod(job: ProgramJob): Promise<void> {
    const { template } = job.spec;
    const trouble = this.trouble;
    const isPlaced = trouble === undefined || !('unplaced' in trouble);
    const node = isPlaced ? this.nodes.find((name) => admits(template.spec, name)) : undefined;
    this.#serial += 1;
    const name = `${job.metadata.name}-${this.#serial}`;
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: job.metadata.name, uid: job.metadata.uid ?? '', controller: true };
    const metadata = { ...template.metadata, name, namespace: this.#namespace, ownerReferences: [owner] };
    const pod: ProgramPod = { metadata, spec: { ...template.spec, ...(node === undefined ? {} : { nodeName: node }) } };
    await this.#world.cluster.create(JOB_PODS, pod);
    if (node === undefined) return this.#unplaced(name);
    await this.#begin(name, node, job);
  }

  async #unplaced(name: string): Promise<void> {
    const words = this.trouble !== undefined && 'unplaced' in this.trouble ? this.trouble.unplaced : 'no node fits';
    await this.#tell(name, { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: words }] });
  }

  async #begin(name: string, node: string, { metadata, spec }: ProgramJob): Promise<void> {
    const trouble = this.trouble;
    const container = spec.template.spec.containers[0]?.name ?? '';
    if (trouble !== undefined && 'waiting' in trouble)
      return this.#tell(name, { phase: 'Pending', containerStatuses: [{ name: container, state: { waiting: trouble.waiting } }] });
    if (trouble !== undefined && 'evicted' in trouble) return this.#tell(name, { phase: 'Failed', reason: 'Evicted', message: trouble.evicted });
    const lines = projected(spec.template, 'arguments')
      .split('\n')
      .filter((line) => line !== '');
    const run: ProgramRun = {
      job: metadata.name,
      node,
      arguments: Object.fromEntries(lines.map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])),
      secret: spec.template.spec.volumes?.find(({ secret }) => secret !== undefined)?.secret?.secretName,
    };
    this.runs.push(run);
    const end = this.#program(run);
    this.#started.set(name, { end, endsAtMs: this.#world.clock.monotonicMs() + (end.afterMs ?? 0) });
    await this.#tell(name, { phase: 'Running', containerStatuses: [{ name: container, state: { running: {} } }] });
  }

  /** What a kubelet does with a pod of its own. */
  async #kept(pod: ProgramPod): Promise<void> {
    const { name, deletionTimestamp } = pod.metadata;
    const started = this.#started.get(name);
    const isCutOff = this.cutOff.has(name);
    if (started !== undefined && this.#world.clock.monotonicMs() >= started.endsAtMs) {
      this.#started.delete(name);
      started.end.work?.();
      this.#world.logs.set(`${this.#namespace}/${name}/${containerOf(pod)}`, started.end.log);
      if (!isCutOff) await this.#exited(pod, started.end.code);
    }
    if (deletionTimestamp === undefined || isCutOff) return;
    this.#started.delete(name);
    await this.#world.cluster.remove(JOB_PODS, name, { namespace: this.#namespace, gracePeriodSeconds: 0 });
  }

  async #exited(pod: ProgramPod, exitCode: number): Promise<void> {
    const terminated = { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' };
    const containerStatuses = [{ name: containerOf(pod), state: { terminated } }];
    await this.#world.status(JOB_PODS, pod.metadata.name, { phase: exitCode === 0 ? 'Succeeded' : 'Failed', containerStatuses }, this.#namespace);
  }

  async #judged(job: ProgramJob, pods: readonly ProgramPod[]): Promise<void> {
    if (isFinished(job)) return;
    const phase = pods.find((pod) => owns(job, pod))?.status?.phase;
    if (phase !== 'Succeeded' && phase !== 'Failed') return;
    const condition =
      phase === 'Succeeded'
        ? { type: 'Complete', status: 'True' }
        : { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
    await this.#world.status(JOBS, job.metadata.name, { conditions: [condition] }, this.#namespace);
  }

  async #tell(name: string, status: ProgramPod['status'] & object): Promise<void> {
    await this.#world.status(JOB_PODS, name, status, this.#namespace);
  }
}

function containerOf({ spec }: ProgramPod): string {
  return spec.containers[0]?.name ?? '';
}

function owns({ metadata }: ProgramJob, pod: ProgramPod): boolean {
  return (pod.metadata.ownerReferences ?? []).some(({ uid }) => uid === metadata.uid);
}

/** Required node affinity, as the scheduler reads it: any term, all of its requirements. */
function admits({ affinity }: ProgramPodSpec, node: string): boolean {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const meets = ({ key, operator, values = [] }: NodeSelectorRequirement): boolean => {
    const value = key === 'metadata.name' || key === 'kubernetes.io/hostname' ? node : '';
    return operator === 'NotIn' ? !values.includes(value) : operator === 'In' && values.includes(value);
  };
  return terms.length === 0 || terms.some((term) => [...(term.matchExpressions ?? []), ...(term.matchFields ?? [])].every(meets));
}
