import type { NodeGuard } from '../../ports/preservation.ts';
import { sameContent } from '../../domain/canonical.ts';
import type { Decision } from './actions.ts';
import type { PreservationCache } from './cache.ts';
import type { Freshness } from './freshness.ts';
import { isKnownValue } from './marks.ts';
import { PRESERVE } from './names.ts';

/** What fences are told, node by node, put together from the decisions about the pools. */
export class Guards {
  readonly #cache: Pick<PreservationCache, 'kinds'>;
  readonly #freshness: Pick<Freshness, 'isUnknown'>;
  #guards: ReadonlyMap<string, NodeGuard> = new Map();
  #preserved: ReadonlySet<string> = new Set();
  #wasUnknown = true;
  /** Of these something else is said than was told. */
  readonly #changed = new Set<string>();
  readonly #listeners = new Set<(nodes: readonly string[]) => void>();

  constructor(cache: Pick<PreservationCache, 'kinds'>, freshness: Pick<Freshness, 'isUnknown'>) {
    this.#cache = cache;
    this.#freshness = freshness;
  }

  guardOf(node: string): NodeGuard | 'unknown' | undefined {
    const guard = this.#guards.get(node);
    if (guard !== undefined || !this.#freshness.isUnknown) return guard;
    const word = this.#cache.kinds.Node.get(node)?.facts.annotations[PRESERVE];
    // The node's word counts before its machine's.
    return word !== undefined && isKnownValue(word) ? undefined : 'unknown';
  }

  isPreserved(node: string): boolean {
    return this.#preserved.has(node);
  }

  onChange(listener: (nodes: readonly string[]) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The decisions that stand. */
  take(decisions: readonly Pick<Decision, 'guards' | 'views'>[]): void {
    const guards = new Map(decisions.flatMap((decision) => decision.guards.map((guard) => [guard.node, guard] as const)));
    const views = decisions.flatMap((decision) => decision.views);
    const preserved = new Set(views.flatMap(({ node, isPreserved }) => (isPreserved && node !== undefined ? [node] : [])));
    for (const node of [...guards.keys(), ...this.#guards.keys(), ...preserved, ...this.#preserved]) {
      const isSame = sameContent(guards.get(node), this.#guards.get(node)) && preserved.has(node) === this.#preserved.has(node);
      if (!isSame) this.#changed.add(node);
    }
    this.#guards = guards;
    this.#preserved = preserved;
  }

  /** Calls the listeners with the nodes of which something else is said than before: all, where what is unknown has turned. */
  tell(): void {
    const isUnknown = this.#freshness.isUnknown;
    const nodes = isUnknown === this.#wasUnknown ? [...this.#changed] : [...this.#cache.kinds.Node.keys()];
    this.#wasUnknown = isUnknown;
    this.#changed.clear();
    if (nodes.length > 0) for (const listener of [...this.#listeners]) listener(nodes);
  }
}
