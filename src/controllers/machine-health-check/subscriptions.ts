import type { Lister } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';

interface Subscription {
  lister: object;
  unsubscribe: () => void;
}

/** Listers that come and go, by name. */
export class Subscriptions {
  readonly #subscriptions = new Map<string, Subscription>();

  /** This lister under this name from now on, or none. Was it another before? */
  set<T extends KubeObject>(name: string, lister: Lister<T> | undefined, changed: (before: T | undefined, after: T | undefined) => void): boolean {
    const standing = this.#subscriptions.get(name);
    if (standing?.lister === lister) return false;
    standing?.unsubscribe();
    this.#subscriptions.delete(name);
    if (lister !== undefined) this.#subscriptions.set(name, { lister, unsubscribe: lister.onChange(changed) });
    return true;
  }

  /** Only these names. */
  retain(names: ReadonlySet<string>): void {
    for (const [name, { unsubscribe }] of [...this.#subscriptions]) {
      if (names.has(name)) continue;
      unsubscribe();
      this.#subscriptions.delete(name);
    }
  }
}
