import type { NodeGuard } from '../../ports/preservation.ts';
import { sameContent } from '../../domain/canonical.ts';
import type { Decision } from './actions.ts';

/** What fences are told, node by node, put together from the decisions of the parts. */
export class Guards {
  #guards = new Map<string, NodeGuard>();
  #preserved = new Set<string>();
  readonly #listeners = new Set<(nodes: readonly string[]) => void>();

  guardOf(node: string): NodeGuard | undefined {
    return this.#guards.get(node);
  }

  isPreserved(node: string): boolean {
    return this.#preserved.has(node);
  }

  onChange(listener: (nodes: readonly string[]) => void): () => void {
    const own = (nodes: readonly string[]): void => {
      listener(nodes);
    };
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** The decisions that stand; answers with the nodes of which something else is said than before. */
  take(decisions: Iterable<Pick<Decision, 'guards' | 'views'>>): string[] {
    const guards = new Map<string, NodeGuard>();
    const preserved = new Set<string>();
    for (const decision of decisions) {
      for (const guard of decision.guards) guards.set(guard.node, guard);
      for (const { node, isPreserved } of decision.views) if (isPreserved && node !== undefined) preserved.add(node);
    }
    const changed = [...new Set([...guards.keys(), ...this.#guards.keys(), ...preserved, ...this.#preserved])].filter(
      (node) => !sameContent(guards.get(node), this.#guards.get(node)) || preserved.has(node) !== this.#preserved.has(node),
    );
    this.#guards = guards;
    this.#preserved = preserved;
    return changed;
  }

  tell(nodes: readonly string[]): void {
    if (nodes.length > 0) for (const listener of [...this.#listeners]) listener(nodes);
  }
}
