import type { Clock } from '../../ports/clock.ts';
import type { WorldApi } from './api.ts';
import type { ClusterView } from './cluster-view.ts';
import { isReady, WORLD_NODES, WORLD_PODS } from './kinds.ts';
import type { WorldPod } from './kinds.ts';
import type { ClusterOptions } from './options.ts';
import { isOutOfService } from './taints.ts';

const ENDED: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);

/**
 * Pod garbage collector (pkg/controller/podgc; KEP-2268): in rounds, every `gcMs`, it force-deletes pods that are already terminating on a NotReady
 * node with the out-of-service taint, whatever they tolerate, and pods of Nodes that a round missed at least the quarantine ago and that are
 * still missing. Between two rounds it sees nothing.
 */
export class PodGarbageCollector {
  readonly #api: WorldApi;
  readonly #clock: Clock;
  readonly #view: ClusterView;
  readonly #options: ClusterOptions;
  /** Missing Node → until when its pods are left alone. */
  readonly #quarantineEndsMs = new Map<string, number>();
  #roundAtMs: number | undefined;

  constructor(api: WorldApi, clock: Clock, view: ClusterView, options: ClusterOptions) {
    this.#api = api;
    this.#clock = clock;
    this.#view = view;
    this.#options = options;
  }

  /** Runs a round at each tick of the period while there is anything to do; sleeps otherwise. */
  async run(): Promise<number | undefined> {
    const candidates = [...this.#view.pods.all()].filter((pod) => this.#isOrphan(pod) || this.#isStranded(pod));
    if (candidates.length === 0) {
      this.#quarantineEndsMs.clear();
      this.#roundAtMs = undefined;
      return undefined;
    }
    this.#roundAtMs ??= this.#nextRoundMs();
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#roundAtMs) return this.#roundAtMs - nowMs;
    this.#roundAtMs = this.#nextRoundMs();
    await this.#round(candidates, nowMs);
    return Math.max(0, this.#roundAtMs - this.#clock.monotonicMs());
  }

  async #round(candidates: readonly WorldPod[], nowMs: number): Promise<void> {
    const deleted = await this.#deletedNodes(candidates, nowMs);
    for (const pod of candidates) if (!this.#isOrphan(pod) || deleted.has(pod.spec.nodeName ?? '')) await this.#remove(pod);
  }

  #nextRoundMs(): number {
    const { gcMs } = this.#options;
    return (Math.floor(this.#clock.monotonicMs() / gcMs) + 1) * gcMs;
  }

  /** Nodes whose quarantine is over and that the API server does not have either; what is newly missing goes into it. */
  async #deletedNodes(candidates: readonly WorldPod[], nowMs: number): Promise<ReadonlySet<string>> {
    const missing = new Set(candidates.filter((pod) => this.#isOrphan(pod)).map((pod) => pod.spec.nodeName ?? ''));
    const deleted = new Set<string>();
    for (const name of missing) {
      const endsMs = this.#quarantineEndsMs.get(name);
      if (endsMs === undefined) this.#quarantineEndsMs.set(name, nowMs + this.#options.orphanQuarantineMs);
      else if (nowMs >= endsMs && (await this.#api.get(WORLD_NODES, { name })) === undefined) deleted.add(name);
    }
    for (const name of this.#quarantineEndsMs.keys()) if (!missing.has(name)) this.#quarantineEndsMs.delete(name);
    return deleted;
  }

  /** A pod that had not ended is marked as failed first. */
  async #remove(pod: WorldPod): Promise<void> {
    if (!ENDED.has(pod.status?.phase ?? '')) {
      const { namespace, name, uid } = pod.metadata;
      await this.#api.patch(WORLD_PODS, { namespace, name, subresource: 'status' }, 'merge', { metadata: { uid }, status: { phase: 'Failed' } });
    }
    await this.#api.remove(WORLD_PODS, pod, 0);
  }

  #isOrphan(pod: WorldPod): boolean {
    return pod.spec.nodeName !== undefined && this.#view.nodes.get(pod.spec.nodeName) === undefined;
  }

  #isStranded(pod: WorldPod): boolean {
    const node = this.#view.nodes.get(pod.spec.nodeName ?? '');
    return pod.metadata.deletionTimestamp !== undefined && node !== undefined && !isReady(node) && isOutOfService(node);
  }
}
