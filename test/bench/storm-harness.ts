import type { StormPolicy } from '../../src/domain/policies/policy.ts';
import { DEFAULT_TIMING } from '../../src/domain/plan.ts';
import { planOf } from '../../src/domain/testing/model.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import { ObjectCache } from '../../src/kube/lister.ts';
import type { KubeObject, Lease, Node, Pod, VolumeAttachment } from '../../src/ports/objects.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import type { FenceDependencies } from '../../src/controllers/fence/dependencies.ts';
import { FenceHarness, nodeOf, provenStatus } from '../../src/controllers/fence/testing/harness.ts';
import { Storm } from '../../src/controllers/fence/storm/storm.ts';

const PLAN = planOf({ timing: DEFAULT_TIMING });

/** A storm shell over caches that tests fill, as watches do. */
export class StormHarness {
  readonly clock = new ManualClock();
  readonly nodes: ObjectCache<Node>;
  readonly leases: ObjectCache<Lease>;
  readonly pods: ObjectCache<Pod>;
  readonly fences: ObjectCache<NodeFence>;
  readonly woken: { node: string; atMs: number }[] = [];
  readonly lifeAtMs = new Map<string, number>();
  readonly gauges: ReadonlyMap<string, number>[] = [];
  policies: readonly StormPolicy[];
  readonly dependencies: FenceDependencies;
  readonly storm: Storm;

  constructor(nodes: readonly string[], policies: readonly StormPolicy[], more: Partial<FenceDependencies> = {}) {
    const harness = new FenceHarness(this.clock);
    const { log, metrics, planner } = harness.dependencies;
    const cache = <T extends KubeObject>(indexes = {}): ObjectCache<T> => new ObjectCache<T>(indexes, log);
    const byNode = (object: { spec: { nodeName?: string } }): readonly string[] => (object.spec.nodeName === undefined ? [] : [object.spec.nodeName]);
    this.policies = policies;
    this.nodes = cache<Node>();
    this.leases = cache<Lease>();
    this.pods = cache<Pod>({ node: byNode });
    this.fences = cache<NodeFence>();
    const volumeAttachments = cache<VolumeAttachment>({ node: byNode });
    for (const lister of [this.nodes, this.leases]) lister.reopened(this.clock.monotonicMs());
    this.dependencies = {
      ...harness.dependencies,
      listers: { ...harness.dependencies.listers, nodes: this.nodes, leases: this.leases, pods: this.pods, fences: this.fences, volumeAttachments },
      planner: { ...planner, planFor: () => PLAN, stormPolicies: () => this.policies },
      queue: { ...harness.dependencies.queue, add: (node) => this.woken.push({ node, atMs: this.clock.monotonicMs() }) },
      metrics: { ...metrics, policies: (held) => this.gauges.push(held) },
      ...more,
    };
    for (const name of nodes) {
      this.lifeAtMs.set(name, this.clock.monotonicMs());
      this.leases.put({ metadata: { name, namespace: 'kube-node-lease' }, spec: {} });
      this.ready(name, 'True');
    }
    this.storm = new Storm(this.dependencies, (node) => this.lifeAtMs.get(node));
  }

  ready(name: string, ready: 'True' | 'Unknown', more: Partial<Node['metadata']> = {}): void {
    const node = nodeOf({ ready });
    this.nodes.put({ ...node, metadata: { ...node.metadata, name, uid: `uid-${name}`, ...more } });
  }

  /** Time in which every node was heard of. */
  pass(elapsedMs: number): void {
    this.clock.freeze(elapsedMs);
    for (const lister of [this.nodes, this.leases]) lister.freshAtMs = this.clock.monotonicMs();
    for (const name of this.lifeAtMs.keys()) this.lifeAtMs.set(name, this.clock.monotonicMs());
  }

  fail(...names: string[]): void {
    for (const name of names) this.ready(name, 'Unknown');
  }

  fence(node: string, more: Partial<NodeFenceStatus> = {}): NodeFence {
    const frozen = { nodeUID: `uid-${node}`, bootID: 'boot-1', plan: PLAN };
    const status: NodeFenceStatus = { ...provenStatus(PLAN), frozen, state: 'new', step: 'isolation', evidence: [], ...more };
    const fence = { metadata: { name: `node-fence-${node}`, uid: `fence-${node}` }, spec: { node }, status };
    this.storm.seeFence(node, fence);
    return fence;
  }

  /** As `fence`, of a node that somebody asks for. */
  request(node: string, more: Partial<NodeFenceStatus> = {}): NodeFence {
    const fence = this.fence(node, more);
    const requestedBy = { apiVersion: 'v1', kind: 'Person', name: 'somebody', uid: 'request-1' };
    const asked: NodeFence = { ...fence, spec: { ...fence.spec, requestedBy } };
    this.storm.seeFence(node, asked);
    return asked;
  }

  /** Policies that hold this node, as a decision sees them. */
  holding(node: string): string[] {
    return this.storm.holdsOn(node).map(({ policy }) => policy);
  }

  get lastGauge(): Record<string, number> {
    return Object.fromEntries(this.gauges.at(-1) ?? []);
  }
}
