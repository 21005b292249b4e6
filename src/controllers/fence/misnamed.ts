import { FENCE_NAME_PREFIX, fenceName, isNamedAsItsNode } from '../../domain/node-fence.ts';
import { GROUP, VERSION } from '../../ports/resources.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { FenceDependencies } from './dependencies.ts';

/**
 * A NodeFence that bears the name of one node's and says another (`spec.node`): whom it is to fence nobody knows, so that nothing is done for it, to neither of
 * them. While it stands no other can be made for the node whose name it bears, and that is told.
 */
export class MisnamedFences {
  readonly #dependencies: Pick<FenceDependencies, 'recorder' | 'log' | 'metrics' | 'listers'>;
  /** By the node whose name it bears: which one was told. */
  readonly #told = new Map<string, string>();

  constructor(dependencies: Pick<FenceDependencies, 'recorder' | 'log' | 'metrics' | 'listers'>) {
    this.#dependencies = dependencies;
  }

  /** `fence`: such a one that bears the name of this node's; it is told once. `true`: there is one, and nothing is done to this node. */
  stands(name: string, fence: NodeFence | undefined): boolean {
    if (fence === undefined) {
      this.#told.delete(name);
      return false;
    }
    const which = `${fence.metadata.uid ?? ''} ${fence.spec.node}`;
    if (this.#told.get(name) !== which) this.#tell(name, fence);
    this.#told.set(name, which);
    return true;
  }

  #tell(name: string, fence: NodeFence): void {
    const { recorder, log, metrics, listers } = this.#dependencies;
    const { metadata } = fence;
    const message = describeMisnamed(name, fence);
    metrics.problem('MisnamedFence');
    log.warn('fence that says another node', { node: name, detail: message });
    recorder.event({ apiVersion: `${GROUP}/${VERSION}`, kind: 'NodeFence', metadata }, 'Warning', 'MisnamedFence', message);
    const node = listers.nodes.get(name);
    if (node !== undefined) recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: node.metadata }, 'Warning', 'MisnamedFence', message);
  }
}

/** `name`: of the node whose name it bears. */
export function describeMisnamed(name: string, { metadata, spec }: NodeFence): string {
  return `NodeFence ${metadata.name} says node ${spec.node}: it is no fence of either, nothing is done for it, and node ${name} cannot be fenced while it stands. Correct its spec.node, or delete it: kubectl delete nodefence ${metadata.name}`;
}

/** That one of these bears the name of this node's fence and says another node, in words; `undefined`: none does. */
export function misnamedFor(name: string, fences: Iterable<NodeFence>): string | undefined {
  for (const fence of fences) if (fence.metadata.name === fenceName(name) && !isNamedAsItsNode(fence)) return describeMisnamed(name, fence);
  return undefined;
}

/** Whom a change of a NodeFence concerns: the node that it says, and the one whose name it bears. */
export function concernedBy(fence: NodeFence): readonly string[] {
  const { name } = fence.metadata;
  const { node } = fence.spec;
  return isNamedAsItsNode(fence) || !name.startsWith(FENCE_NAME_PREFIX) ? [node] : [node, name.slice(FENCE_NAME_PREFIX.length)];
}
