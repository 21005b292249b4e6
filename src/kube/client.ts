import type { ApiRequest, ApiResponse, ApiTransport } from '../ports/api-transport.ts';
import type { Cluster, ListOptions, PodLogOptions, RemoveOptions, Resource } from '../ports/cluster.ts';
import type { KubeObject, Pod } from '../ports/objects.ts';
import { PODS } from '../ports/resources.ts';
import { listPages } from './paged-list.ts';
import { apiVersionOf, pathOf, type Address } from './resource-path.ts';
import { asObject, statusError } from './status.ts';

export interface ApiClientOptions {
  transport: ApiTransport;
  /** For one request, or one page of a list. Default 5 s: an intent write must fit into `call` (design 10). */
  deadlineMs?: number;
  /** Gives up every call when aborted. */
  signal?: AbortSignal;
}

type Wish = Pick<ApiRequest, 'method'> & Partial<Pick<ApiRequest, 'body' | 'contentType' | 'query' | 'accept'>>;

/** `Cluster` over the wire. Retries nothing: whether a write may be repeated is the caller's decision. */
export class ApiClient implements Cluster {
  readonly #transport: ApiTransport;
  readonly #deadlineMs: number;
  readonly #signal: AbortSignal | undefined;

  constructor(options: ApiClientOptions) {
    this.#transport = options.transport;
    this.#deadlineMs = options.deadlineMs ?? 5_000;
    this.#signal = options.signal;
  }

  async get<T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string): Promise<T | undefined> {
    const what = `get ${resource.plural}/${name}`;
    const response = await this.#send(pathOf(resource, { name, namespace }), { method: 'GET' });
    return response.status === 404 ? undefined : this.#object(what, resource, response);
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<T[]> {
    const signal = this.#signal === undefined ? {} : { signal: this.#signal };
    const { items } = await listPages(this.#transport, resource, { ...options, ...signal, deadlineMs: this.#deadlineMs });
    return items;
  }

  async create<T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> {
    const path = pathOf(resource, { namespace: namespaceOf(resource, object) });
    return this.#write(`create ${resource.plural}/${object.metadata.name}`, resource, path, { method: 'POST', body: typed(resource, object) });
  }

  replace<T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> {
    return this.#put(resource, object, {});
  }

  replaceStatus<T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> {
    return this.#put(resource, object, { subresource: 'status' });
  }

  mergePatch<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    patch: object,
    options: { namespace?: string; subresource?: 'status' } = {},
  ): Promise<T> {
    const wish: Wish = { method: 'PATCH', body: patch, contentType: 'application/merge-patch+json' };
    return this.#write(`patch ${resource.plural}/${name}`, resource, pathOf(resource, { ...options, name }), wish);
  }

  async remove(resource: Resource, name: string, options: RemoveOptions = {}): Promise<boolean> {
    const { uid, resourceVersion } = options;
    const preconditions = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
      ...(options.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: options.gracePeriodSeconds }),
      ...(options.propagationPolicy === undefined ? {} : { propagationPolicy: options.propagationPolicy }),
    };
    const response = await this.#send(pathOf(resource, { name, namespace: options.namespace }), { method: 'DELETE', body });
    if (response.status === 404) {
      return false;
    }
    succeeded(`delete ${resource.plural}/${name}`, response);
    return true;
  }

  async evict(name: string, namespace: string, options: { gracePeriodSeconds?: number } = {}): Promise<void> {
    const pods: Resource<Pod> = PODS;
    const path = pathOf(pods, { name, namespace, subresource: 'eviction' });
    const ask = (apiVersion: string): Promise<ApiResponse> =>
      this.#send(path, { method: 'POST', body: { apiVersion, kind: 'Eviction', metadata: { name, namespace }, deleteOptions: { ...options } } });
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

  async #put<T extends KubeObject>(resource: Resource<T>, object: T, address: Pick<Address, 'subresource'>): Promise<T> {
    const { name, uid, resourceVersion } = object.metadata;
    const what = `replace ${resource.plural}/${name}`;
    if (uid === undefined || uid === '' || resourceVersion === undefined || resourceVersion === '') {
      return Promise.reject(
        new Error(`${what}: metadata.uid and metadata.resourceVersion must be set, or the write would not be a compare-and-swap`),
      );
    }
    const path = pathOf(resource, { ...address, name, namespace: namespaceOf(resource, object) });
    return this.#write(what, resource, path, { method: 'PUT', body: typed(resource, object) });
  }

  async #write<T extends KubeObject>(what: string, resource: Resource<T>, path: string, wish: Wish): Promise<T> {
    return this.#object(what, resource, await this.#send(path, wish));
  }

  #object<T extends KubeObject>(what: string, resource: Resource<T>, response: ApiResponse): T {
    succeeded(what, response);
    return typed(resource, asObject(what, response.body) as T);
  }

  #send(path: string, wish: Wish): Promise<ApiResponse> {
    const signal = this.#signal === undefined ? {} : { signal: this.#signal };
    return this.#transport.request({ ...wish, ...signal, path, deadlineMs: this.#deadlineMs });
  }
}

function succeeded(what: string, response: ApiResponse): void {
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
