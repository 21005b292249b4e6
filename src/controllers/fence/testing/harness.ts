import { DEFAULT_TIMING } from '../../../domain/plan.ts';
import type { Plan } from '../../../domain/plan.ts';
import type { NodeFenceStatus } from '../../../domain/node-fence.ts';
import { planOf } from '../../../domain/testing/model.ts';
import { ApiStatusError } from '../../../ports/api-transport.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Cluster, Lister } from '../../../ports/cluster.ts';
import { NO_METRICS } from '../../../ports/metrics.ts';
import type { KubeObject, Lease, Node, Pod, VolumeAttachment } from '../../../ports/objects.ts';
import type { NodeFence, NodeFenceAcknowledgement, NodeFenceReport, NodeFenceStop } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';

/** A watched collection that tests fill by hand. */
export class FakeLister<T extends KubeObject> implements Lister<T> {
  items: T[] = [];
  readonly synced = true;
  freshAtMs = Infinity;
  freshSinceMs = Number.NEGATIVE_INFINITY;

  get(key: string): T | undefined {
    return this.items.find((item) => (item.metadata.namespace === undefined ? '' : `${item.metadata.namespace}/`) + item.metadata.name === key);
  }

  all(): Iterable<T> {
    return this.items;
  }

  byIndex(): readonly T[] {
    return this.items;
  }

  onChange(): () => void {
    return () => undefined;
  }
}

/** What the API server has, and the writes that came. */
export class FakeCluster {
  node: Node | undefined;
  lease: Lease | undefined;
  fence: KubeObject | undefined = { metadata: { name: 'node-fence-a', uid: 'fence-1' } };
  /** Pods that a PodDisruptionBudget keeps. */
  readonly budgeted = new Set<string>();
  /** What the API server has of a pod. */
  podReads: (name: string) => Pod | undefined = () => undefined;
  readonly writes: { verb: string; name: string; body?: unknown }[] = [];
  /** Called before each merge patch; may throw. */
  beforePatch: () => void = () => undefined;
  /** Called before each read of the Lease. */
  beforeLease: () => void = () => undefined;
  /** Called after each write took effect; when it throws, the answer is lost. */
  afterWrite: () => void = () => undefined;

  asCluster(): Cluster {
    const none = (): Promise<never> => Promise.reject(new ApiStatusError(404, 'NotFound', 'not in this test'));
    const answer = (value: KubeObject | undefined): Promise<never> => Promise.resolve(value as never);
    return {
      get: (resource) => {
        if (resource.kind === 'Lease') this.beforeLease();
        if (resource.kind === 'NodeFence') return answer(this.fence);
        return answer(resource.kind === 'Lease' ? this.lease : this.node);
      },
      list: (resource, query) => {
        const pod = resource.kind === 'Pod' ? this.podReads(query?.fieldSelector?.replace('metadata.name=', '') ?? '') : undefined;
        return Promise.resolve((pod === undefined ? [] : [pod]) as never);
      },
      create: none,
      replace: none,
      replaceStatus: none,
      mergePatch: async (resource, name, patch, options) => {
        options?.beforeSend?.();
        this.beforePatch();
        this.writes.push({ verb: 'patch', name, body: patch });
        const { spec, metadata } = patch as { spec?: Node['spec']; metadata?: { annotations?: Record<string, string | null> } };
        if (this.node !== undefined && resource.kind === 'Node') {
          const merged = Object.entries({ ...this.node.metadata.annotations, ...metadata?.annotations });
          const annotations = Object.fromEntries(merged.filter((pair): pair is [string, string] => pair[1] !== null));
          this.node = { ...this.node, spec: { ...this.node.spec, ...spec }, metadata: { ...this.node.metadata, annotations } };
        }
        this.afterWrite();
        return Promise.resolve(this.node as never);
      },
      remove: async (_resource, name, { beforeSend, ...options } = {}) => {
        beforeSend?.();
        return this.#done(() => {
          this.writes.push({ verb: 'remove', name, body: options });
          return true;
        });
      },
      evict: async (name, _namespace, { beforeSend, ...options } = {}) => {
        beforeSend?.();
        if (this.budgeted.has(name))
          return Promise.reject(new ApiStatusError(429, 'TooManyRequests', 'the disruption budget db needs 2 healthy pods'));
        return this.#done(() => {
          this.writes.push({ verb: 'evict', name, body: options });
        });
      },
    };
  }

  #done<T>(effect: () => T): Promise<T> {
    const answer = effect();
    try {
      this.afterWrite();
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
    return Promise.resolve(answer);
  }
}

export class FenceHarness {
  readonly cluster = new FakeCluster();
  readonly nodes = new FakeLister<Node>();
  readonly leases = new FakeLister<Lease>();
  readonly pods = new FakeLister<Pod>();
  readonly volumeAttachments = new FakeLister<VolumeAttachment>();
  readonly fences = new FakeLister<NodeFence>();
  readonly stops = new FakeLister<NodeFenceStop>();
  readonly acknowledgements = new FakeLister<NodeFenceAcknowledgement>();
  readonly reports = new FakeLister<NodeFenceReport>();
  readonly dependencies: FenceDependencies;
  plan: Plan = planOf({ timing: DEFAULT_TIMING });

  constructor(clock: Clock, options: Partial<FenceDependencies['options']> = {}) {
    const { nodes, leases, pods, volumeAttachments, fences, stops, acknowledgements, reports } = this;
    const quiet = (): void => undefined;
    const noRunner = (): Promise<never> => Promise.reject(new Error('no runner'));
    this.dependencies = {
      clock,
      random: { next: () => 0.5, uuid: () => 'uuid' },
      cluster: this.cluster.asCluster(),
      listers: { nodes, leases, pods, volumeAttachments, fences, stops, acknowledgements, reports },
      leadership: { epoch: 3, isLeading: true, mayBegin: () => true, actsFromMs: 0 },
      runner: { run: noRunner, recover: noRunner, readState: noRunner },
      planner: { planFor: () => this.plan, parametersFor: () => Promise.resolve({}), stormPolicies: () => [] },
      queue: { add: quiet, addFirst: quiet },
      recorder: { event: quiet },
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      metrics: NO_METRICS.fence,
      options: { mode: 'enforce', ownNode: undefined, outOfService: true, staleAfterMs: 10_000, ...options },
    };
  }
}

/** Node `a`, last heard of long ago. */
export function nodeOf(
  more: { ready?: 'True' | 'False' | 'Unknown'; taints?: Node['spec']['taints']; bootID?: string; since?: string; heartbeat?: string } = {},
): Node {
  const { ready = 'Unknown', taints = [], bootID = 'boot-1', since = '2026-01-01T00:00:00Z', heartbeat = '2026-01-01T00:00:00Z' } = more;
  return {
    metadata: { name: 'a', uid: 'uid-a', resourceVersion: '7' },
    spec: { taints },
    status: {
      conditions: [{ type: 'Ready', status: ready, reason: 'NodeStatusUnknown', lastTransitionTime: since, lastHeartbeatTime: heartbeat }],
      nodeInfo: { bootID, systemUUID: 'sys-a' },
    },
  };
}

/** Node `a` without a word of its kubelet: without Ready, or as the node lifecycle controller marks one that never had it. */
export function neverHeardNode(marked: 'unmarked' | 'marked'): Node {
  const node = nodeOf({ since: '2026-01-01T00:01:00Z', heartbeat: '2025-12-31T00:00:00Z' });
  const conditions = node.status.conditions?.map((ready) => ({ ...ready, reason: 'NodeStatusNeverUpdated' })) ?? [];
  return { ...node, status: { ...node.status, conditions: marked === 'marked' ? conditions : [] } };
}

export function leaseOf(renewTime: string): Lease {
  return { metadata: { name: 'a', namespace: 'kube-node-lease' }, spec: { renewTime } };
}

/** A fence of node `a` whose machine was proven off on `boot-1`. */
export function provenStatus(plan: Plan): NodeFenceStatus {
  return {
    state: 'running',
    step: 'power-management',
    level: 1,
    incident: 1,
    epoch: 3,
    frozen: { nodeUID: 'uid-a', bootID: 'boot-1', plan },
    retries: 0,
    restarts: 0,
    jobs: [],
    journal: [],
    evidence: [{ kind: 'power-off', grade: 'read-back', source: 'off-1', detail: 'Off', observedAt: '2026-01-01T00:00:00Z', bootID: 'boot-1' }],
    timeline: {},
    conditions: [],
    history: [],
  };
}
