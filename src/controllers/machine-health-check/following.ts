import type { Lister } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';

/** What is done about a change; `before` as the lister tells it. */
export interface Follower<T extends KubeObject> {
  put: (object: T, before: T | undefined) => void;
  remove: (object: T) => void;
}

/** Takes what a lister holds, and every change from now on. The returned function ends that. */
export function follow<T extends KubeObject>(lister: Lister<T>, { put, remove }: Follower<T>): () => void {
  for (const object of lister.all()) put(object, undefined);
  return lister.onChange((before, after) => {
    if (after !== undefined) put(after, before);
    else if (before !== undefined) remove(before);
  });
}

interface Following {
  lister: object;
  leave: () => void;
}

/** Listers that come and go, by name. */
export class Followings {
  readonly #followings = new Map<string, Following>();

  /** Follows this lister under this name from now on, and no other. */
  attach<T extends KubeObject>(name: string, lister: Lister<T>, follower: Follower<T>): void {
    if (this.#followings.get(name)?.lister === lister) return;
    this.detach(name);
    const end = follow(lister, follower);
    const leave = (): void => {
      end();
      for (const object of lister.all()) follower.remove(object);
    };
    this.#followings.set(name, { lister, leave });
  }

  /** What it held is gone. */
  detach(name: string): void {
    this.#followings.get(name)?.leave();
    this.#followings.delete(name);
  }

  /** Only these names. */
  retain(names: ReadonlySet<string>): void {
    for (const name of [...this.#followings.keys()]) if (!names.has(name)) this.detach(name);
  }
}
