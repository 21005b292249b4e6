import { ApiStatusError } from '../../ports/api-transport.ts';
import { timestamp } from '../../ports/clock.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KubeObject, Lease, NodeCondition, Taint } from '../../ports/objects.ts';
import type { WorldApi } from './api.ts';
import type { ClusterView } from './cluster-view.ts';
import { isPodReady, WORLD_NODES, WORLD_PODS } from './kinds.ts';
import type { WorldNode } from './kinds.ts';
import type { ClusterOptions } from './options.ts';
import { NOT_READY, UNREACHABLE, UNSCHEDULABLE } from './taints.ts';

/** Of these nothing is known any more when nothing is heard of a kubelet, whether it ever spoke of them or not. */
const TOLD_BY_KUBELETS: readonly string[] = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];
const MANAGED: readonly string[] = [NOT_READY, UNREACHABLE, UNSCHEDULABLE];

/** Ready and the pressures become Unknown when nothing is heard of a kubelet; taints follow the Ready condition (kube-controller-manager's node lifecycle). */
export class NodeLifecycle {
  readonly #api: WorldApi;
  readonly #clock: Clock;
  readonly #view: ClusterView;
  readonly #options: ClusterOptions;
  /** Monotonic time of the last lease or heartbeat, by our own receipt. */
  readonly #heardAtMs = new Map<string, number>();

  constructor(api: WorldApi, clock: Clock, view: ClusterView, options: ClusterOptions) {
    this.#api = api;
    this.#clock = clock;
    this.#view = view;
    this.#options = options;
  }

  heardLease(before: KubeObject | undefined, after: KubeObject | undefined): void {
    const lease = after as Lease | undefined;
    if (lease !== undefined && (before as Lease | undefined)?.spec.renewTime !== lease.spec.renewTime) this.#hear(lease.metadata.name);
  }

  /** Returns whether the node itself has changed in a way that matters here. */
  heardNode(before: KubeObject | undefined, after: KubeObject | undefined): void {
    const [old, now] = [before as WorldNode | undefined, after as WorldNode | undefined];
    if (now === undefined) {
      if (old !== undefined) this.#heardAtMs.delete(old.metadata.name);
      return;
    }
    if (old === undefined || readyOf(old)?.lastHeartbeatTime !== readyOf(now)?.lastHeartbeatTime) this.#hear(now.metadata.name);
  }

  async run(): Promise<number | undefined> {
    let nextMs: number | undefined;
    for (const node of [...this.#view.nodes.all()]) {
      const silentForMs = this.#clock.monotonicMs() - (this.#heardAtMs.get(node.metadata.name) ?? this.#clock.monotonicMs());
      const leftMs = this.#options.nodeGraceMs - silentForMs;
      if (leftMs <= 0) await this.#declareUnknown(node);
      else nextMs = Math.min(nextMs ?? leftMs, leftMs);
      await this.#setTaints(node);
    }
    return nextMs;
  }

  #hear(node: string): void {
    this.#heardAtMs.set(node, this.#clock.monotonicMs());
  }

  async #declareUnknown(node: WorldNode): Promise<void> {
    const ready = readyOf(node);
    if (ready?.status === 'Unknown') return;
    const now = timestamp(this.#clock);
    const { name, resourceVersion, creationTimestamp } = node.metadata;
    const conditions = TOLD_BY_KUBELETS.map((type) => {
      const told = conditionOf(node, type);
      const [reason, message] =
        told === undefined
          ? ['NodeStatusNeverUpdated', 'Kubelet never posted node status.']
          : ['NodeStatusUnknown', 'Kubelet stopped posting node status.'];
      const lastHeartbeatTime = told?.lastHeartbeatTime ?? creationTimestamp ?? now;
      return { type, status: 'Unknown', reason, message, lastHeartbeatTime, lastTransitionTime: now };
    });
    const status = { conditions };
    await this.#patch({ name, subresource: 'status' }, 'strategic', { metadata: { resourceVersion }, status });
    await this.#markPodsNotReady(name);
  }

  async #markPodsNotReady(node: string): Promise<void> {
    for (const pod of [...this.#view.pods.all()]) {
      if (pod.spec.nodeName !== node || !isPodReady(pod)) continue;
      const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: timestamp(this.#clock) }];
      const { namespace, name, uid } = pod.metadata;
      try {
        await this.#api.patch(WORLD_PODS, { namespace, name, subresource: 'status' }, 'strategic', { metadata: { uid }, status: { conditions } });
      } catch (error) {
        if (!isMoved(error)) throw error;
      }
    }
  }

  async #setTaints(seen: WorldNode): Promise<void> {
    const wanted = wantedTaints(seen);
    const managed = (seen.spec.taints ?? []).filter((taint) => MANAGED.includes(taint.key));
    if (sameTaints(managed, wanted)) return;
    const node = await this.#api.get(WORLD_NODES, { name: seen.metadata.name });
    if (node === undefined) return;
    const timeAdded = timestamp(this.#clock).replace(/\.\d+Z$/, 'Z');
    const present = node.spec.taints ?? [];
    const kept = present.filter((taint) => !MANAGED.includes(taint.key) || wantedTaints(node).some((want) => sameTaint(want, taint)));
    const missing = wantedTaints(node).filter((want) => !present.some((taint) => sameTaint(want, taint)));
    const added = missing.map((taint) => (taint.effect === 'NoExecute' ? { ...taint, timeAdded } : taint));
    const { name, resourceVersion } = node.metadata;
    await this.#patch({ name }, 'merge', { metadata: { resourceVersion }, spec: { taints: [...kept, ...added] } });
  }

  /** A conflict needs no answer: the change that caused it wakes the loop. */
  async #patch(place: { name: string; subresource?: string }, kind: 'merge' | 'strategic', patch: object): Promise<void> {
    try {
      await this.#api.patch(WORLD_NODES, place, kind, patch);
    } catch (error) {
      if (!isMoved(error)) throw error;
    }
  }
}

function readyOf(node: WorldNode): NodeCondition | undefined {
  return conditionOf(node, 'Ready');
}

function conditionOf(node: WorldNode, type: string): NodeCondition | undefined {
  return node.status.conditions?.find((condition) => condition.type === type);
}

function wantedTaints(node: WorldNode): Taint[] {
  const status = readyOf(node)?.status;
  const key = status === 'True' ? undefined : status === 'Unknown' ? UNREACHABLE : NOT_READY;
  const taints: Taint[] =
    key === undefined
      ? []
      : [
          { key, effect: 'NoSchedule' },
          { key, effect: 'NoExecute' },
        ];
  if (node.spec.unschedulable === true) taints.push({ key: UNSCHEDULABLE, effect: 'NoSchedule' });
  return taints;
}

function sameTaint(left: Taint, right: Taint): boolean {
  return left.key === right.key && left.effect === right.effect;
}

function sameTaints(left: readonly Taint[], right: readonly Taint[]): boolean {
  return left.length === right.length && left.every((taint) => right.some((other) => sameTaint(taint, other)));
}

function isMoved(error: unknown): boolean {
  return error instanceof ApiStatusError && (error.status === 409 || error.status === 404);
}
