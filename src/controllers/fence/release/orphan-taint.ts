import { fenceName } from '../../../domain/node-fence.ts';
import { AgentError } from '../../../ports/agents.ts';
import type { Node } from '../../../ports/objects.ts';
import { NODE_FENCES, NODES } from '../../../ports/resources.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { readyOf } from '../observation.ts';
import { stopOn } from '../snapshot.ts';
import { workloadOf } from '../workload.ts';
import { isMarked, removeTaint } from './out-of-service.ts';

/** Between two looks at what still keeps an orphaned taint on its node. */
const RESYNC_MS = 5_000;
/** What a write must still fit into the lease with. */
const WRITE_MS = 5_000;

/**
 * Our out-of-service taint on a node whose fence does not know of it: the NodeFence was removed by force, or a crash fell between the two objects. No pod
 * could run there any more, and nobody would take it back (P8).
 */
export class OrphanTaints {
  readonly #dependencies: FenceDependencies;
  /** Monotonic time of the first sight of an orphan, by node. */
  readonly #seenAtMs = new Map<string, number>();

  constructor(dependencies: FenceDependencies) {
    this.#dependencies = dependencies;
  }

  sees(node: Node, fence: NodeFence | undefined): boolean {
    const isOrphan = this.#isOrphan(node, fence);
    if (!isOrphan) this.#seenAtMs.delete(node.metadata.name);
    return isOrphan;
  }

  /** The Node is gone. */
  forget(node: string): void {
    this.#seenAtMs.delete(node);
  }

  /** Takes it back from a Ready node once nothing of the old boot is left in the API, at the latest after `release_timeout`. A failed node gets a fence first. */
  async mend(node: Node): Promise<void> {
    const { clock, planner, queue, listers, cluster } = this.#dependencies;
    const { name, uid } = node.metadata;
    const nowMs = clock.monotonicMs();
    const sinceMs = this.#seenAtMs.get(name) ?? nowMs;
    this.#seenAtMs.set(name, sinceMs);
    const { pods, terminating, volumeAttachments } = workloadOf(listers, name);
    const isOver = nowMs >= sinceMs + planner.planFor(node).timing.releaseTimeoutMs;
    if (!isOver && terminating + volumeAttachments > 0) {
      queue.add(name, RESYNC_MS);
      return;
    }
    // Our watch of NodeFences may be behind that of Nodes: whoever releases has it on record before.
    const [standing, fence] = await Promise.all([cluster.get(NODES, name), cluster.get(NODE_FENCES, fenceName(name))]);
    if (standing === undefined || standing.metadata.uid !== uid || !this.#isUnrecorded(standing, fence)) return;
    await removeTaint(this.#dependencies, node.metadata, () => demandForOrphan(this.#dependencies, name, 'take our out-of-service taint from'));
    this.#seenAtMs.delete(name);
    this.#emit(node, `our out-of-service taint was set without a fence that records it: it is removed; ${pods} pods are on the node`);
  }

  #isOrphan(node: Node, fence: NodeFence | undefined): boolean {
    const { options } = this.#dependencies;
    return options.mode !== 'observe' && stopOn(this.#dependencies, node.metadata.name) === undefined && this.#isUnrecorded(node, fence);
  }

  /** On a node that is well, and no fence knows of it. */
  #isUnrecorded(node: Node, fence: NodeFence | undefined): boolean {
    const isFailed = this.#dependencies.fastDetection?.failureOf(node.metadata.name) !== undefined;
    if (!isMarked(node) || readyOf(node)?.status !== 'True' || isFailed) return false;
    const status = fence?.status;
    if (status === undefined || status.state === 'final') return fence?.metadata.deletionTimestamp === undefined;
    const isReleasing = status.journal.some((entry) => entry.finishedAt === undefined && entry.agent === 'kubernetes');
    return status.restore?.taints === undefined && !isReleasing;
  }

  #emit(node: Node, message: string): void {
    const { recorder, log } = this.#dependencies;
    recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: node.metadata }, 'Warning', 'OrphanedTaintRemoved', message);
    log.warn('orphaned taint removed', { node: node.metadata.name, detail: message });
  }
}

/** Throws when a stop or a lost lease forbids to take back what nobody records. `what`: in words, before the Node's name. */
export function demandForOrphan(dependencies: FenceDependencies, node: string, what: string): void {
  const stop = stopOn(dependencies, node);
  if (stop === undefined && dependencies.leadership.mayBegin(WRITE_MS)) return;
  const answered = stop === undefined ? 'the leader lease does not cover it' : `${stop.by} is active`;
  throw new AgentError('NotSent', { device: 'Kubernetes API', plug: '', asked: `${what} Node ${node}`, answered });
}
