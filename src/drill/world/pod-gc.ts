import type { Clock } from '../../ports/clock.ts';
import type { WorldApi } from './api.ts';
import type { ClusterView } from './cluster-view.ts';
import { isReady, WORLD_NODES, WORLD_PODS } from './kinds.ts';
import type { WorldPod } from './kinds.ts';
import type { ClusterOptions } from './options.ts';
import { isOutOfService } from './taints.ts';

/**
 * Pod garbage collector (KEP-2268): every `gcMs` it force-deletes pods that are already terminating on a NotReady node with the
 * out-of-service taint, whatever they tolerate, and pods of Nodes that have not existed for the quarantine.
 */
export class PodGarbageCollector {
  readonly #api: WorldApi;
  readonly #clock: Clock;
  readonly #view: ClusterView;
  readonly #options: ClusterOptions;
  readonly #orphanAtMs = new Map<string, number>();
  #tickAtMs: number | undefined;

  constructor(api: WorldApi, clock: Clock, view: ClusterView, options: ClusterOptions) {
    this.#api = api;
    this.#clock = clock;
    this.#view = view;
    this.#options = options;
  }

  /** Runs on each tick of the period while there is anything to watch; sleeps otherwise. */
  async run(): Promise<number | undefined> {
    const nowMs = this.#clock.monotonicMs();
    const candidates = [...this.#view.pods.all()].filter((pod) => this.#isOrphan(pod) || this.#isStranded(pod));
    if (candidates.length === 0) {
      this.#orphanAtMs.clear();
      this.#tickAtMs = undefined;
      return undefined;
    }
    for (const pod of candidates) if (this.#isOrphan(pod) && !this.#orphanAtMs.has(uidOf(pod))) this.#orphanAtMs.set(uidOf(pod), nowMs);
    this.#tickAtMs ??= this.#nextTickMs();
    if (nowMs < this.#tickAtMs) return this.#tickAtMs - nowMs;
    this.#tickAtMs = this.#nextTickMs();
    for (const pod of candidates) if (await this.#isDue(pod)) await this.#api.remove(WORLD_PODS, pod, 0);
    return Math.max(0, this.#tickAtMs - this.#clock.monotonicMs());
  }

  #nextTickMs(): number {
    const { gcMs } = this.#options;
    return (Math.floor(this.#clock.monotonicMs() / gcMs) + 1) * gcMs;
  }

  async #isDue(pod: WorldPod): Promise<boolean> {
    if (!this.#isOrphan(pod)) return true;
    const orphanAtMs = this.#orphanAtMs.get(uidOf(pod)) ?? this.#clock.monotonicMs();
    if (this.#clock.monotonicMs() - orphanAtMs < this.#options.orphanQuarantineMs) return false;
    return (await this.#api.get(WORLD_NODES, { name: pod.spec.nodeName ?? '' })) === undefined;
  }

  #isOrphan(pod: WorldPod): boolean {
    return pod.spec.nodeName !== undefined && this.#view.nodes.get(pod.spec.nodeName) === undefined;
  }

  #isStranded(pod: WorldPod): boolean {
    const node = this.#view.nodes.get(pod.spec.nodeName ?? '');
    return pod.metadata.deletionTimestamp !== undefined && node !== undefined && !isReady(node) && isOutOfService(node);
  }
}

function uidOf(pod: WorldPod): string {
  return pod.metadata.uid ?? '';
}
