import type { Clock } from '../../ports/clock.ts';
import type { WorldApi } from './api.ts';
import type { ClusterView } from './cluster-view.ts';
import { isPodFinished, WORLD_PODS } from './kinds.ts';
import type { WorldPod } from './kinds.ts';
import { toleratedMs } from './taints.ts';

/** Deletes pods that do not tolerate a NoExecute taint of their node, after their `tolerationSeconds` (tainteviction controller). */
export class TaintEviction {
  readonly #api: WorldApi;
  readonly #clock: Clock;
  readonly #view: ClusterView;
  /** Monotonic time since which a pod's node has been tainted, by pod UID. */
  readonly #taintedAtMs = new Map<string, number>();

  constructor(api: WorldApi, clock: Clock, view: ClusterView) {
    this.#api = api;
    this.#clock = clock;
    this.#view = view;
  }

  async run(): Promise<number | undefined> {
    let nextMs: number | undefined;
    const tainted = new Set<string>();
    for (const pod of [...this.#view.pods.all()]) {
      const waitMs = this.#waitMs(pod, tainted);
      if (waitMs === undefined) continue;
      if (waitMs <= 0) await this.#api.remove(WORLD_PODS, pod);
      else nextMs = Math.min(nextMs ?? waitMs, waitMs);
    }
    for (const uid of [...this.#taintedAtMs.keys()]) if (!tainted.has(uid)) this.#taintedAtMs.delete(uid);
    return nextMs;
  }

  /** `undefined`: it may stay. */
  #waitMs(pod: WorldPod, tainted: Set<string>): number | undefined {
    const node = this.#view.nodes.get(pod.spec.nodeName ?? '');
    const taints = (node?.spec.taints ?? []).filter((taint) => taint.effect === 'NoExecute');
    if (taints.length === 0 || pod.metadata.deletionTimestamp !== undefined || isPodFinished(pod)) return undefined;
    const uid = pod.metadata.uid ?? '';
    tainted.add(uid);
    const sinceMs = this.#taintedAtMs.get(uid) ?? this.#clock.monotonicMs();
    this.#taintedAtMs.set(uid, sinceMs);
    const allowedMs = toleratedMs(pod, taints);
    return allowedMs === undefined ? undefined : sinceMs + allowedMs - this.#clock.monotonicMs();
  }
}
