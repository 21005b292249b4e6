import type { KubeObject } from './objects.ts';

/** A kind of Kubernetes object as the API addresses it. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  group: string;
  version: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  /** Never set; carries the object's type. */
  readonly object?: T;
}

/**
 * Calls to the API server that are not answered from a cache. Every method rejects with `ApiStatusError` (the server said no) or
 * `TransportError` (no answer; the effect is unknown). Reads are consistent reads (resourceVersion unset).
 */
export interface Cluster {
  /** `undefined` when there is no such object (404). */
  get<T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string): Promise<T | undefined>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<T[]>;
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  /** PUT of the main resource; `metadata.uid` and `metadata.resourceVersion` must be set: 409 when either has moved. */
  replace<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  /** PUT of the status subresource, under the same precondition. */
  replaceStatus<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  /** RFC 7386 merge patch; put `metadata.resourceVersion` into `patch` for compare-and-swap. */
  mergePatch<T extends KubeObject>(resource: Resource<T>, name: string, patch: object, options?: PatchOptions): Promise<T>;
  /** `false` when it was gone already. 409 when `uid` names another object, or `resourceVersion` another version of it. */
  remove(resource: Resource, name: string, options?: RemoveOptions): Promise<boolean>;
  /** policy/v1 Eviction: 429 when a PodDisruptionBudget forbids it, 409 when `uid` names another pod. */
  evict(name: string, namespace: string, options?: EvictOptions): Promise<void>;
  /** What a container has written so far, at most as much as the options say. Absent: logs cannot be read from here. */
  podLog?(name: string, namespace: string, options: PodLogOptions): Promise<string>;
}

/** corev1.PodLogOptions, as far as it is used. */
export interface PodLogOptions {
  container: string;
  /** The newest lines. */
  tailLines: number;
  /** Of those lines, from the first one on. */
  limitBytes: number;
}

export interface ListOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

/** What every write may be tied to. */
export interface WriteOptions {
  /**
   * Throws when the write must not begin any more (a lost lease, a stop, a proof that is void). Called in the synchronous turn in which the bytes leave, as
   * `Target.beforeSend`; the write rejects with what it threw, and nothing was sent.
   */
  beforeSend?: (() => void) | undefined;
}

export interface PatchOptions extends WriteOptions {
  namespace?: string;
  subresource?: 'status';
}

/** Of what frees or ends an object. */
export interface EndOptions extends WriteOptions {
  /**
   * It harms nobody whenever it takes effect, so that it may wait for the slowest admission webhook, half a minute and more. Absent: the server is told to
   * give it up before its caller does.
   */
  mayBeLate?: boolean;
}

export interface EvictOptions extends EndOptions {
  uid?: string;
  gracePeriodSeconds?: number;
}

export interface RemoveOptions extends EndOptions {
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  gracePeriodSeconds?: number;
  /** What becomes of the objects that it owns. Absent: as the server does with this kind; a Job leaves its pods behind. */
  propagationPolicy?: 'Background';
}

/** A watched collection. Objects are frozen; a change replaces the object. */
export interface Lister<T extends KubeObject> {
  /** `key` is `name`, or `namespace/name` for a namespaced resource. */
  get(key: string): T | undefined;
  all(): Iterable<T>;
  /** Objects under one value of an index declared when the lister was built. */
  byIndex(index: string, value: string): readonly T[];
  /** Called after the cache has changed; `before` is undefined for an addition, `after` for a removal. A new uid under an old name is a removal, then an addition. Returns the unsubscribe function. */
  onChange(listener: (before: T | undefined, after: T | undefined) => void): () => void;
  /** The first list has been delivered. */
  readonly synced: boolean;
  /** Monotonic time at which the watch was last known to be live (an event, a bookmark, an open). */
  readonly freshAtMs: number;
  /**
   * Monotonic time since which nothing can have been missed for long: the last opening of the watch, or list, after so long a silence that a heartbeat may
   * have fallen into it. What was not received before that is no silence of anybody. Absent: since the first list.
   */
  readonly freshSinceMs?: number;
  /** The same after a silence that no live watch keeps: an outage of the API server, or a start. Absent: there was none. */
  readonly resumedAtMs?: number;
  /** What this process wrote of them: `get` shows it before the watch does. Absent: the watch alone is shown. */
  readonly own?: OwnWrites<T>;
}

/** Own writes of one kind, kept until the watch has shown them. */
export interface OwnWrites<T extends KubeObject> {
  /** As the API server answered. */
  wrote(object: T): void;
  /** Nobody knows whether it arrived, or it is gone. */
  forget(name: string): void;
  /** One at a time for each name, in the order of the calls, whatever became of the one before: who comes later builds on what came before. */
  inTurn<R>(name: string, work: () => Promise<R>): Promise<R>;
}
