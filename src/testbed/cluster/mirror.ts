import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import type { ApiTransport, WatchEvent } from '../../ports/api-transport.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Resource } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { Random } from '../../ports/random.ts';
import { isApiFailure, pathOf } from './api.ts';
import { keyOf } from './kinds.ts';

const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 2_000;
const LIST_DEADLINE_MS = 5_000;

export interface MirrorOptions<T extends KubeObject> {
  transport: ApiTransport;
  clock: Clock;
  random: Random;
  resource: Resource<T>;
  namespace?: string;
  fieldSelector?: string;
  /** After the cache has changed; also once for every object of a list that is new or has changed. */
  onChange: (before: T | undefined, after: T | undefined) => void;
  /** Called when the first list has been delivered. */
  onSync?: () => void;
}

interface ListBody<T> {
  metadata: { resourceVersion: string };
  items: T[];
}

/** A cache of one collection: list, then watch; a lost watch is opened again from where it ended, a 410 lists anew. */
export class Mirror<T extends KubeObject> {
  readonly #options: MirrorOptions<T>;
  readonly #objects = new Map<string, T>();
  #resourceVersion: string | undefined;
  #closeWatch: (() => void) | undefined;
  #cancelRetry: (() => void) | undefined;
  #isStopped = false;
  #isSynced = false;
  #failures = 0;

  constructor(options: MirrorOptions<T>) {
    this.#options = options;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  start(): void {
    void this.#list();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelRetry?.();
    this.#closeWatch?.();
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  all(): IterableIterator<T> {
    return this.#objects.values();
  }

  async #list(): Promise<void> {
    const { transport, resource, namespace } = this.#options;
    try {
      const response = await transport.request({
        method: 'GET',
        path: pathOf(resource, namespace),
        query: this.#query(),
        deadlineMs: LIST_DEADLINE_MS,
      });
      if (this.#isStopped) return;
      if (response.status >= 300)
        throw new ApiStatusError(response.status, 'ListFailed', `list of ${resource.plural}: HTTP ${String(response.status)}`);
      this.#replace(response.body as ListBody<T>);
      this.#watch();
    } catch (error) {
      if (!isApiFailure(error)) throw error;
      this.#retry(true);
    }
  }

  #replace(body: ListBody<T>): void {
    this.#resourceVersion = body.metadata.resourceVersion;
    const listed = new Map(body.items.map((item) => [keyOf(item), item]));
    for (const [key, before] of [...this.#objects]) if (!listed.has(key)) this.#put(key, before, undefined);
    for (const [key, after] of listed) {
      const before = this.#objects.get(key);
      if (before?.metadata.resourceVersion !== after.metadata.resourceVersion) this.#put(key, before, after);
    }
    if (this.#isSynced) return;
    this.#isSynced = true;
    this.#options.onSync?.();
  }

  #put(key: string, before: T | undefined, after: T | undefined): void {
    if (after === undefined) this.#objects.delete(key);
    else this.#objects.set(key, after);
    this.#options.onChange(before, after);
  }

  #watch(): void {
    if (this.#isStopped || this.#resourceVersion === undefined) return;
    const { transport, resource, namespace } = this.#options;
    let isExpired = false;
    const query = { ...this.#query(), resourceVersion: this.#resourceVersion, allowWatchBookmarks: 'true', timeoutSeconds: '300' };
    this.#closeWatch = transport.watch(
      { path: pathOf(resource, namespace), query },
      {
        onOpen: () => {
          this.#failures = 0;
        },
        onEvent: (event) => {
          if (event.type === 'ERROR') isExpired = true;
          else this.#receive(event);
        },
        onEnd: (error) => {
          this.#closeWatch = undefined;
          if (this.#isStopped) return;
          if (error === undefined && !isExpired) this.#watch();
          else this.#retry(isExpired || error instanceof ApiStatusError || !(error instanceof TransportError));
        },
      },
    );
  }

  #receive(event: WatchEvent): void {
    if (this.#isStopped) return;
    const object = event.object as T;
    this.#resourceVersion = object.metadata.resourceVersion;
    if (event.type === 'BOOKMARK') return;
    const key = keyOf(object);
    this.#put(key, this.#objects.get(key), event.type === 'DELETED' ? undefined : object);
  }

  #retry(isRelist: boolean): void {
    if (this.#isStopped) return;
    this.#failures += 1;
    const ceilingMs = Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * 2 ** Math.min(this.#failures, 10));
    this.#cancelRetry = this.#options.clock.after(ceilingMs * (0.5 + this.#options.random.next() / 2), () => {
      if (isRelist || this.#resourceVersion === undefined) void this.#list();
      else this.#watch();
    });
  }

  #query(): Record<string, string> {
    return this.#options.fieldSelector === undefined ? {} : { fieldSelector: this.#options.fieldSelector };
  }
}
