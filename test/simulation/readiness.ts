import type { ApiEvent } from '../../src/laws/trace.ts';
import type { Node } from '../../src/ports/objects.ts';

/** Which nodes are Ready, as the API server stored it. */
export class Readiness {
  readonly #ready = new Set<string>();
  readonly #cordoned = new Set<string>();
  #changedAtMs = 0;

  /** Whether the node is Ready now; `undefined`: this is of no Node. */
  hear({ resource, verb, name, object, status }: ApiEvent, nowMs: number): boolean | undefined {
    if (resource !== 'nodes' || name === undefined || object === undefined || status >= 300) return undefined;
    const conditions = (object as Node).status.conditions ?? [];
    const isReady = verb !== 'delete' && conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');
    if (isReady !== this.#ready.has(name)) this.#changedAtMs = nowMs;
    this.#ready[isReady ? 'add' : 'delete'](name);
    this.#cordoned[(object as Node).spec.unschedulable === true ? 'add' : 'delete'](name);
    return isReady;
  }

  /** It takes new pods. */
  isOpen(node: string): boolean {
    return this.#ready.has(node) && !this.#cordoned.has(node);
  }

  has(node: string): boolean {
    return this.#ready.has(node);
  }

  /** When a node came or went last. */
  get changedAtMs(): number {
    return this.#changedAtMs;
  }
}
