import type { Lister, OwnWrites } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';

/** What this process wrote and its watch has not shown yet, by name. */
export class WrittenObjects<T extends KubeObject> {
  readonly #watched: Pick<Lister<T>, 'get'>;
  readonly #written = new Map<string, T>();

  constructor(watched: Pick<Lister<T>, 'get'>) {
    this.#watched = watched;
  }

  /** The watched object or our own later write of it, whichever is newer. */
  newest(name: string): T | undefined {
    const watched = this.#watched.get(name);
    const own = this.#written.get(name);
    if (own === undefined) return watched;
    if (watched !== undefined && version(watched) >= version(own)) {
      this.#written.delete(name);
      return watched;
    }
    return own;
  }

  /** The watch may have shown it before the answer came: it is held once then. */
  wrote(object: T): void {
    this.#written.set(object.metadata.name, object);
    this.newest(object.metadata.name);
  }

  /** What the watch shows is known already: our own write, or what was there before it. To be asked before the newest is. */
  isEcho(watched: T): boolean {
    const own = this.#written.get(watched.metadata.name);
    return own !== undefined && version(watched) <= version(own);
  }

  /** What was written counts no more: it is gone, or nobody knows whether it arrived. */
  forget(name: string): void {
    this.#written.delete(name);
  }

  /** The watch tells that it is gone; one that has taken its name since is another. Returns what was known of it last. */
  gone(watched: T): T {
    const { name, uid } = watched.metadata;
    const own = this.#written.get(name);
    if (own?.metadata.uid !== uid || own === undefined) return watched;
    this.#written.delete(name);
    return version(own) > version(watched) ? own : watched;
  }
}

/** A watched kind that several controllers of this process write: what one of them wrote, all of them see at once, and their writes of one object come one after the other. */
export class WrittenLister<T extends KubeObject> implements Lister<T> {
  readonly #watched: Lister<T>;
  readonly #written: WrittenObjects<T>;
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly own: OwnWrites<T>;

  constructor(watched: Lister<T>) {
    this.#watched = watched;
    this.#written = new WrittenObjects(watched);
    this.own = {
      wrote: (object) => this.#written.wrote(object),
      forget: (name) => this.#written.forget(name),
      inTurn: (name, work) => this.#inTurn(name, work),
    };
    // Before anybody else is told: what the watch has shown need not be kept.
    watched.onChange((before, after) => {
      if (after !== undefined) this.#written.newest(after.metadata.name);
      else if (before !== undefined) this.#written.gone(before);
    });
  }

  get(key: string): T | undefined {
    return this.#written.newest(key);
  }

  all(): Iterable<T> {
    return this.#watched.all();
  }

  byIndex(index: string, value: string): readonly T[] {
    return this.#watched.byIndex(index, value);
  }

  onChange(listener: Parameters<Lister<T>['onChange']>[0]): () => void {
    return this.#watched.onChange(listener);
  }

  get synced(): boolean {
    return this.#watched.synced;
  }

  get freshAtMs(): number {
    return this.#watched.freshAtMs;
  }

  get freshSinceMs(): number {
    return this.#watched.freshSinceMs ?? Number.NEGATIVE_INFINITY;
  }

  get resumedAtMs(): number {
    return this.#watched.resumedAtMs ?? Number.NEGATIVE_INFINITY;
  }

  async #inTurn<R>(name: string, work: () => Promise<R>): Promise<R> {
    const before = this.#turns.get(name) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.#turns.set(name, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(name) === turn) this.#turns.delete(name);
    }
  }
}

/** Resource versions are compared as numbers, as KEP-5504 declares them; anything else counts as oldest. */
function version({ metadata }: KubeObject): bigint {
  const text = metadata.resourceVersion ?? '';
  return /^\d+$/.test(text) ? BigInt(text) : 0n;
}
