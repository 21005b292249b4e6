import { ApiStatusError } from '../../ports/api-transport.ts';
import type { WorldApi } from './api.ts';
import type { ClusterView } from './cluster-view.ts';
import { isReady } from './kinds.ts';
import type { WorldNode, WorldPod } from './kinds.ts';
import { admits } from './node-affinity.ts';
import { NOT_READY, tolerates, UNSCHEDULABLE } from './taints.ts';

/** Binds pods whose claims are bound to Ready nodes that they may run on, where the fewest pods are. */
export class Scheduler {
  readonly #api: WorldApi;
  readonly #view: ClusterView;
  /** Bindings that the cache does not show yet: pod UID to node. */
  readonly #assumed = new Map<string, string>();

  constructor(api: WorldApi, view: ClusterView) {
    this.#api = api;
    this.#view = view;
  }

  async run(): Promise<undefined> {
    const pods = [...this.#view.pods.all()];
    const unbound = new Set(pods.filter((pod) => pod.spec.nodeName === undefined).map((pod) => pod.metadata.uid));
    for (const uid of [...this.#assumed.keys()]) if (!unbound.has(uid)) this.#assumed.delete(uid);
    for (const pod of pods) {
      const isWaiting = pod.spec.nodeName === undefined && pod.metadata.deletionTimestamp === undefined;
      if (!isWaiting || this.#assumed.has(pod.metadata.uid ?? '') || !this.#hasVolumes(pod)) continue;
      const node = this.#nodeFor(pod);
      if (node !== undefined) await this.#bind(pod, node);
    }
  }

  async #bind(pod: WorldPod, node: string): Promise<void> {
    const uid = pod.metadata.uid ?? '';
    this.#assumed.set(uid, node);
    try {
      await this.#api.bind(pod, node);
    } catch (error) {
      this.#assumed.delete(uid);
      const isGone = error instanceof ApiStatusError && (error.status === 404 || error.status === 409);
      if (!isGone) throw error;
    }
  }

  #hasVolumes(pod: WorldPod): boolean {
    return (pod.spec.volumes ?? []).every(({ persistentVolumeClaim }) => {
      if (persistentVolumeClaim === undefined) return true;
      return this.#view.claims.get(`${pod.metadata.namespace ?? ''}/${persistentVolumeClaim.claimName}`)?.status?.phase === 'Bound';
    });
  }

  #nodeFor(pod: WorldPod): string | undefined {
    const load = new Map<string, number>();
    for (const other of this.#view.pods.all()) {
      const node = other.spec.nodeName ?? this.#assumed.get(other.metadata.uid ?? '');
      if (node !== undefined) load.set(node, (load.get(node) ?? 0) + 1);
    }
    const names = [...this.#view.nodes.all()].filter((node) => mayRun(pod, node)).map((node) => node.metadata.name);
    names.sort((left, right) => (load.get(left) ?? 0) - (load.get(right) ?? 0) || (left < right ? -1 : 1));
    return names[0];
  }
}

function mayRun(pod: WorldPod, node: WorldNode): boolean {
  if (node.metadata.deletionTimestamp !== undefined || !admits(pod.spec, node)) return false;
  const taints = node.spec.taints ?? [];
  // Whoever is not ready, or cordoned, is tainted for it a moment later.
  const coming = [...(isReady(node) ? [] : [NOT_READY]), ...(node.spec.unschedulable === true ? [UNSCHEDULABLE] : [])];
  const missing = coming.filter((key) => !taints.some((taint) => taint.key === key)).map((key) => ({ key, effect: 'NoSchedule' as const }));
  const barring = [...taints, ...missing].filter((taint) => taint.effect !== 'PreferNoSchedule');
  return barring.every((taint) => (pod.spec.tolerations ?? []).some((toleration) => tolerates(toleration, taint)));
}
