import { ApiStatusError, type ApiRequest, type ApiResponse, type ApiTransport } from '../ports/api-transport.ts';
import type { Cluster, EvictOptions, ListOptions, PatchOptions, PodLogOptions, RemoveOptions, Resource, WriteOptions } from '../ports/cluster.ts';
import type { KubeObject, Pod } from '../ports/objects.ts';
import { GROUP, NODE_FENCE_STOPS, PODS } from '../ports/resources.ts';
import { servedBy, strangeNotFound } from './discovery.ts';
import { listPages } from './paged-list.ts';
import { apiVersionOf, pathOf, type Address } from './resource-path.ts';
import { asObject, isNotFoundOf, statusError } from './status.ts';
import { wholeObject } from './whole.ts';

export interface ApiClientOptions {
  transport: ApiTransport;
  /** For one request, or one page of a list. Default 5 s: an intent write and the set after it take 10 s at most. */
  deadlineMs?: number;
  /** Gives up every call when aborted. */
  signal?: AbortSignal;
  /** Of every call; absent: each by what it is. */
  lane?: ApiRequest['lane'];
  /** Another cluster than that of this program, in which our own kinds need not be installed: they count as empty there. */
  isForeign?: boolean;
}

type Wish = Pick<ApiRequest, 'method'> &
  Partial<Pick<ApiRequest, 'body' | 'contentType' | 'query' | 'accept' | 'beforeSend'>> & { mayBeLate?: boolean };

/** The server gives a write up before we do: what nobody waits for takes no effect any more, whatever keeps its connection open. */
const SERVER_SHARE = 0.8;
/** Of any request, by the server's own bound; the slowest admission webhook takes 30 s. */
const SERVER_LONGEST_MS = 34_000;
const PATIENCE_MS = 35_000;

/** `Cluster` over the wire. Retries nothing: whether a write may be repeated is the caller's decision. */
export class ApiClient implements Cluster {
  readonly #transport: ApiTransport;
  readonly #deadlineMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #isForeign: boolean;
  readonly #lane: ApiRequest['lane'];

  constructor(options: ApiClientOptions) {
    this.#transport = options.transport;
    this.#deadlineMs = options.deadlineMs ?? 5_000;
    this.#signal = options.signal;
    this.#isForeign = options.isForeign === true;
    this.#lane = options.lane;
  }

  async get<T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string): Promise<T | undefined> {
    const what = `get ${resource.plural}/${name}`;
    const response = await this.#send(pathOf(resource, { name, namespace }), { method: 'GET' });
    return response.status === 404 && (await this.#isAbsent(what, resource, name, response)) ? undefined : this.#object(what, resource, response);
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<T[]> {
    try {
      const lane = this.#lane ?? (resource.plural === NODE_FENCE_STOPS.plural && resource.group === GROUP ? 'urgent' : undefined);
      const prune = (object: T): T => wholeObject(resource, object);
      return (await listPages(this.#transport, resource, { ...options, ...this.#patience, lane, prune })).items;
    } catch (error) {
      if (!(error instanceof ApiStatusError) || error.status !== 404) throw error;
      const unserved = await this.#unserved(`list ${resource.plural}`, resource, error.message);
      if (this.#isForeign && resource.group === GROUP) return [];
      throw unserved;
    }
  }

  async create<T extends KubeObject>(resource: Resource<T>, object: T, { beforeSend }: WriteOptions = {}): Promise<T> {
    const path = pathOf(resource, { namespace: namespaceOf(resource, object) });
    const wish: Wish = { method: 'POST', body: typed(resource, object), beforeSend };
    return this.#write(`create ${resource.plural}/${object.metadata.name}`, resource, path, wish);
  }

  replace<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#put(resource, object, {}, options);
  }

  replaceStatus<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#put(resource, object, { subresource: 'status' }, options);
  }

  mergePatch<T extends KubeObject>(resource: Resource<T>, name: string, patch: object, { beforeSend, ...address }: PatchOptions = {}): Promise<T> {
    const wish: Wish = { method: 'PATCH', body: patch, contentType: 'application/merge-patch+json', beforeSend };
    return this.#write(`patch ${resource.plural}/${name}`, resource, pathOf(resource, { ...address, name }), wish);
  }

  async remove(resource: Resource, name: string, options: RemoveOptions = {}): Promise<boolean> {
    const { uid, resourceVersion, beforeSend, mayBeLate = false } = options;
    const preconditions = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
      ...(options.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: options.gracePeriodSeconds }),
      ...(options.propagationPolicy === undefined ? {} : { propagationPolicy: options.propagationPolicy }),
    };
    const response = await this.#send(pathOf(resource, { name, namespace: options.namespace }), { method: 'DELETE', body, beforeSend, mayBeLate });
    const what = `delete ${resource.plural}/${name}`;
    if (response.status === 404 && (await this.#isAbsent(what, resource, name, response))) {
      return false;
    }
    succeeded(what, response);
    return true;
  }

  async evict(name: string, namespace: string, { beforeSend, uid, mayBeLate = false, ...grace }: EvictOptions = {}): Promise<void> {
    const pods: Resource<Pod> = PODS;
    const path = pathOf(pods, { name, namespace, subresource: 'eviction' });
    const deleteOptions = { ...grace, ...(uid === undefined ? {} : { preconditions: { uid } }) };
    const ask = (apiVersion: string): Promise<ApiResponse> =>
      this.#send(path, {
        method: 'POST',
        body: { apiVersion, kind: 'Eviction', metadata: { name, namespace }, deleteOptions },
        beforeSend,
        mayBeLate,
      });
    const response = await ask('policy/v1');
    // Kubernetes before 1.22 knows the beta version only, and calls the other a bad request.
    succeeded(`evict ${namespace}/${name}`, response.status === 400 ? await ask('policy/v1beta1') : response);
  }

  async podLog(name: string, namespace: string, { container, tailLines, limitBytes }: PodLogOptions): Promise<string> {
    const query = { container, tailLines: String(tailLines), limitBytes: String(limitBytes) };
    const path = pathOf(PODS, { name, namespace, subresource: 'log' });
    const response = await this.#send(path, { method: 'GET', query, accept: 'application/json, */*' });
    succeeded(`read log of ${namespace}/${name}`, response);
    // A server may call a log JSON when its text is.
    return typeof response.body === 'string' ? response.body : JSON.stringify(response.body);
  }

  async #put<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    address: Pick<Address, 'subresource'>,
    { beforeSend }: WriteOptions,
  ): Promise<T> {
    const { name, uid, resourceVersion } = object.metadata;
    const what = `replace ${resource.plural}/${name}`;
    if (uid === undefined || uid === '' || resourceVersion === undefined || resourceVersion === '') {
      return Promise.reject(
        new Error(`${what}: metadata.uid and metadata.resourceVersion must be set, or the write would not be a compare-and-swap`),
      );
    }
    const path = pathOf(resource, { ...address, name, namespace: namespaceOf(resource, object) });
    return this.#write(what, resource, path, { method: 'PUT', body: typed(resource, object), beforeSend });
  }

  async #write<T extends KubeObject>(what: string, resource: Resource<T>, path: string, wish: Wish): Promise<T> {
    const response = await this.#send(path, wish);
    if (response.status === 404 && !isNotFoundOf(response.body)) {
      throw await this.#unserved(what, resource, response.body);
    }
    return this.#object(what, resource, response);
  }

  /** A 404 that names the object; or of a kind that need not be there, and is not. Rejects where it may be anybody's. */
  async #isAbsent(what: string, resource: Resource, name: string, response: ApiResponse): Promise<boolean> {
    if (isNotFoundOf(response.body, resource, name)) {
      return true;
    }
    const unserved = await this.#unserved(what, resource, response.body);
    if (this.#isRequired(resource)) {
      throw unserved;
    }
    return true;
  }

  /** What a 404 that names nothing comes to, where discovery agrees that the kind is not served; else rejects. */
  async #unserved(what: string, { group, version, plural }: Resource, body: unknown): Promise<ApiStatusError> {
    const served = await servedBy(this.#transport, group, version, this.#patience);
    if (served?.has(plural) === true) {
      throw strangeNotFound(what, body);
    }
    return new ApiStatusError(404, 'NotFound', `${what}: the server does not serve ${plural} of ${group === '' ? version : `${group}/${version}`}`);
  }

  /** Every cluster serves what Kubernetes brings with it, and ours what this program is installed with. */
  #isRequired({ group }: Resource): boolean {
    return group === GROUP ? !this.#isForeign : !group.includes('.') || group.endsWith('.k8s.io');
  }

  get #patience(): { deadlineMs: number; signal?: AbortSignal } {
    return { deadlineMs: this.#deadlineMs, ...(this.#signal === undefined ? {} : { signal: this.#signal }) };
  }

  #object<T extends KubeObject>(what: string, resource: Resource<T>, response: ApiResponse): T {
    succeeded(what, response);
    return typed(resource, wholeObject(resource, asObject(what, response.body) as T));
  }

  #send(path: string, { mayBeLate = false, ...wish }: Wish): Promise<ApiResponse> {
    const patience = mayBeLate ? { ...this.#patience, deadlineMs: Math.max(PATIENCE_MS, this.#deadlineMs) } : this.#patience;
    const serverMs = Math.floor(mayBeLate ? SERVER_LONGEST_MS : this.#deadlineMs * SERVER_SHARE);
    const query = wish.method === 'GET' ? {} : { query: { ...wish.query, timeout: `${String(serverMs)}ms` } };
    return this.#transport.request({ ...wish, ...query, ...patience, path, lane: this.#lane ?? laneOf(path, wish.method, mayBeLate) });
  }
}

/** A deletion hangs as long as the slowest admission webhook, an eviction is a deletion. What waits it out must not hold up what may not. */
function laneOf(path: string, method: Wish['method'], mayBeLate: boolean): ApiRequest['lane'] {
  if (mayBeLate) {
    return 'patient';
  }
  return method === 'DELETE' || path.endsWith('/eviction') ? 'slow' : undefined;
}

function succeeded(what: string, response: ApiResponse): void {
  if (response.status === 404 && !isNotFoundOf(response.body)) {
    throw strangeNotFound(what, response.body);
  }
  if (response.status < 200 || response.status > 299) {
    throw statusError(what, response);
  }
}

function typed<T extends KubeObject>(resource: Resource<T>, object: T): T {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}

function namespaceOf(resource: Resource, object: KubeObject): string | undefined {
  const { namespace, name } = object.metadata;
  if (resource.namespaced && namespace === undefined) {
    throw new Error(`${resource.kind} ${name}: metadata.namespace is needed`);
  }
  return resource.namespaced ? namespace : undefined;
}
