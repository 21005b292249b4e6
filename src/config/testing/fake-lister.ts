import type { Lister } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';

/** A watched collection that a test fills by hand. */
export class FakeLister<T extends KubeObject> implements Lister<T> {
  readonly synced = true;
  readonly freshAtMs = 0;
  readonly objects = new Map<string, T>();
  readonly #listeners: ((before: T | undefined, after: T | undefined) => void)[] = [];

  get(key: string): T | undefined {
    return this.objects.get(key);
  }
  all(): Iterable<T> {
    return this.objects.values();
  }
  byIndex(): readonly T[] {
    return [];
  }
  onChange(listener: (before: T | undefined, after: T | undefined) => void): () => void {
    this.#listeners.push(listener);
    return () => undefined;
  }

  put(object: T): void {
    const key = keyOf(object);
    const before = this.objects.get(key);
    this.objects.set(key, object);
    for (const listener of this.#listeners) listener(before, object);
  }

  remove(object: T): void {
    this.objects.delete(keyOf(object));
    for (const listener of this.#listeners) listener(object, undefined);
  }
}

function keyOf({ metadata }: KubeObject): string {
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
}
