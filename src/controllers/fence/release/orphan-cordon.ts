import { STEPS, levelsOf } from '../../../domain/plan.ts';
import type { Plan } from '../../../domain/plan.ts';
import { fenceName } from '../../../domain/node-fence.ts';
import { ApiStatusError } from '../../../ports/api-transport.ts';
import { cordonTakenBack, isMarkedByUs } from '../../../ports/cordon-marks.ts';
import type { Node } from '../../../ports/objects.ts';
import { NODE_FENCES, NODES } from '../../../ports/resources.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { readyOf } from '../observation.ts';
import { stopOn } from '../snapshot.ts';
import { demandForOrphan } from './orphan-taint.ts';

/**
 * Our cordon on a node whose fence does not know of it: the NodeFence was removed by force. Nobody would take it back, and no pod came to the node any more (P8).
 */
export class OrphanCordons {
  readonly #dependencies: FenceDependencies;
  /** Nodes of which it was told that their cordon stays. */
  readonly #told = new Set<string>();

  constructor(dependencies: FenceDependencies) {
    this.#dependencies = dependencies;
  }

  sees(node: Node, fence: NodeFence | undefined): boolean {
    const { name } = node.metadata;
    if (!isMarkedByUs(node)) this.#told.delete(name);
    const isLeft = isMarkedByUs(node) && isUnknownTo(fence) && readyOf(node)?.status === 'True';
    return isLeft && this.#dependencies.options.mode !== 'observe' && stopOn(this.#dependencies, name) === undefined;
  }

  /** The Node is gone. */
  forget(node: string): void {
    this.#told.delete(node);
  }

  /** From a Ready node; where its fence could have closed storage to it nobody knows whether it did, and a person decides. */
  async mend({ metadata: { name, uid } }: Node): Promise<void> {
    const { cluster, planner } = this.#dependencies;
    if (this.#told.has(name)) return;
    // Our watch may be behind that of Nodes: whoever cordons a node has its fence on record before.
    const [node, fence] = await Promise.all([cluster.get(NODES, name), cluster.get(NODE_FENCES, fenceName(name))]);
    const back = node === undefined || node.metadata.uid !== uid || !isUnknownTo(fence) ? undefined : cordonTakenBack(node);
    if (node === undefined || back === undefined) return;
    if (mayHaveClosed(planner.planFor(node))) {
      this.#told.add(name);
      this.#emit(
        node,
        'OrphanedCordon',
        'it stays, for the fence may have closed storage to the node: check its ways to the storage, then: kubectl uncordon',
      );
      return;
    }
    const { annotations, spec } = back;
    const body = { metadata: { resourceVersion: node.metadata.resourceVersion, annotations }, ...(spec === undefined ? {} : { spec }) };
    const beforeSend = (): void => demandForOrphan(this.#dependencies, name, 'take our cordon from');
    try {
      await cluster.mergePatch(NODES, name, body, { beforeSend });
    } catch (error) {
      // Somebody changed the Node meanwhile: its watch brings it here again.
      if (error instanceof ApiStatusError && error.status === 409) return;
      throw error;
    }
    this.#emit(node, 'OrphanedCordonRemoved', 'it is taken back');
  }

  #emit(node: Node, reason: string, what: string): void {
    const { recorder, log } = this.#dependencies;
    const message = `Our cordon was set by a fence that no NodeFence records any more: ${what}.`;
    recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: node.metadata }, 'Warning', reason, message);
    log.warn('orphaned cordon', { node: node.metadata.name, detail: message });
  }
}

/** There is none, or it has done nothing yet, or is over: it was left with no cordon. */
function isUnknownTo(fence: NodeFence | undefined): boolean {
  if (fence === undefined) return true;
  const { status, metadata } = fence;
  if (metadata.deletionTimestamp !== undefined || status?.restore?.cordoned === true) return false;
  return status?.frozen === undefined || status.state === 'final' || status.journal.length === 0;
}

function mayHaveClosed(plan: Plan): boolean {
  return STEPS.flatMap((step) => levelsOf(plan, step)).some(({ methods }) => methods.some(({ kind }) => kind === 'fabric'));
}
