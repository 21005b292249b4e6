import type { AgentError, AgentErrorKind, Target } from '../../../src/ports/agents.ts';
import { ApiStatusError, TransportError } from '../../../src/ports/api-transport.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { Cluster, ListOptions, PodLogOptions, RemoveOptions, Resource } from '../../../src/ports/cluster.ts';
import type { KubeObject } from '../../../src/ports/objects.ts';
import { Call } from '../call.ts';
import type { ConnectedClusters } from './connected-clusters.ts';

/** Others write to the same object; each try starts from a fresh GET. */
const ATTEMPTS_MAX = 8;

/** One call of an agent whose device is an object of a cluster: every request within the call's deadline, every failure typed and in the server's words. */
export class ObjectCall {
  readonly #call: Call;
  readonly #cluster: Cluster;

  private constructor(call: Call, cluster: Cluster) {
    this.#call = call;
    this.#cluster = cluster;
  }

  /** Runs `work` with the cluster that the text of a kubeconfig names, the own without one. */
  static async run<T>(
    clusters: ConnectedClusters,
    clock: Clock,
    target: Target,
    { asked, kubeconfig }: { asked: string; kubeconfig: string | undefined },
    work: (call: ObjectCall) => Promise<T>,
  ): Promise<T> {
    const call = new Call(clock, target, asked);
    try {
      if (call.ended !== undefined) throw call.endedError();
      const cluster = await call.within(clusters.reach(kubeconfig)).catch((error: unknown) => {
        throw call.ended === undefined && error instanceof Error ? call.error('Misconfigured', error.message) : error;
      });
      return await work(new ObjectCall(call, cluster));
    } finally {
      call.release();
    }
  }

  get target(): Target {
    return this.#call.target;
  }

  /** The deadline is over, or the call was given up. */
  get isOver(): boolean {
    return this.#call.ended !== undefined;
  }

  get remainingMs(): number {
    return this.#call.remainingMs;
  }

  /** Waits at most until the call is over; does not reject. */
  pause(delayMs: number): Promise<void> {
    return this.#call.pause(delayMs);
  }

  error(kind: AgentErrorKind, answered: string): AgentError {
    return this.#call.error(kind, answered);
  }

  get<T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string): Promise<T | undefined> {
    return this.#typed(this.#cluster.get(resource, name, namespace));
  }

  list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<T[]> {
    return this.#typed(this.#cluster.list(resource, options));
  }

  /** What a container has written, as `Cluster.podLog`. */
  podLog(pod: string, namespace: string, options: PodLogOptions): Promise<string> {
    const log = this.#cluster.podLog?.(pod, namespace, options);
    if (log === undefined) throw this.error('Misconfigured', 'logs cannot be read from here');
    return this.#typed(log);
  }

  /** The lease check is made in the turn in which the request leaves. */
  create<T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> {
    this.#mayStillSend();
    return this.#typed(this.#cluster.create(resource, object, { beforeSend: this.#beforeSend }));
  }

  remove(resource: Resource, name: string, options: RemoveOptions): Promise<boolean> {
    this.#mayStillSend();
    return this.#typed(this.#cluster.remove(resource, name, { ...options, beforeSend: this.#beforeSend }));
  }

  /**
   * Changes an object by merge patch under its resourceVersion. `plan` sees it as just read and gives the patch, or undefined when it is as wanted;
   * a lost race starts from a fresh GET. Resolves with the object as it is then.
   */
  async edit<T extends KubeObject>(resource: Resource<T>, first: T, plan: (object: T) => object | undefined): Promise<T> {
    let object = first;
    for (let attempt = 1; ; attempt += 1) {
      const patch = plan(object);
      if (patch === undefined) return object;
      this.#mayStillSend();
      const { name, namespace, resourceVersion } = object.metadata;
      const whole = withVersion(patch, resourceVersion);
      const options = { beforeSend: this.#beforeSend, ...(namespace === undefined ? {} : { namespace }) };
      try {
        return await this.#call.within(this.#cluster.mergePatch(resource, name, whole, options));
      } catch (error) {
        if (!(error instanceof ApiStatusError && error.status === 409) || attempt >= ATTEMPTS_MAX) throw this.#translated(error);
      }
      const fresh = await this.get(resource, name, namespace);
      if (fresh === undefined) throw this.error('Refused', `${resource.kind} ${name} is gone`);
      object = fresh;
    }
  }

  /** The lease check, and whether the call may still send: in the turn in which the request leaves. */
  beforeSend(): void {
    this.#mayStillSend();
    this.target.beforeSend();
  }

  readonly #beforeSend = (): void => this.beforeSend();

  #mayStillSend(): void {
    if (this.#call.ended !== undefined) throw this.error('NotSent', 'the call was over before anything was sent');
  }

  /** What somebody else was asked to do about the object, with the failures of the API server typed. */
  answerOf<R>(answer: Promise<R>): Promise<R> {
    return this.#typed(answer);
  }

  async #typed<R>(answer: Promise<R>): Promise<R> {
    try {
      return await this.#call.within(answer);
    } catch (error) {
      throw this.#translated(error);
    }
  }

  #translated(error: unknown): unknown {
    if (error instanceof ApiStatusError) {
      const kind = error.status === 429 || error.status >= 500 ? 'Unreachable' : 'Refused';
      return Object.assign(this.error(kind, `${error.status} ${error.reason}: ${error.message}`), { cause: error });
    }
    if (error instanceof TransportError) return this.error(error.kind === 'timeout' ? 'Timeout' : 'Unreachable', error.message);
    return error;
  }
}

function withVersion(patch: object, resourceVersion: string | undefined): object {
  const { metadata, ...rest } = patch as { metadata?: object };
  return { ...rest, metadata: { ...metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) } };
}
