import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import type { ApiRequest, ApiResponse, ApiTransport } from '../../ports/api-transport.ts';
import type { Resource } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';

/** Path of a collection, of one object, or of its subresource. */
export function pathOf(resource: Resource, namespace?: string, name?: string, subresource?: string): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${namespace}` : '';
  const tail = (name === undefined ? '' : `/${name}`) + (subresource === undefined ? '' : `/${subresource}`);
  return `${root}${scope}/${resource.plural}${tail}`;
}

/** Which object a call is about. */
export interface Place {
  namespace?: string | undefined;
  name: string;
  subresource?: string;
}

interface StatusBody {
  reason?: string;
  message?: string;
}

/** The few calls that kubelets and cluster controllers make. Rejects with `ApiStatusError` or `TransportError`. */
export class WorldApi {
  readonly #transport: ApiTransport;
  readonly #deadlineMs: number;
  constructor(transport: ApiTransport, deadlineMs = 5_000) {
    this.#transport = transport;
    this.#deadlineMs = deadlineMs;
  }

  /** `undefined` when there is no such object. */
  async get<T extends KubeObject>(resource: Resource<T>, place: Place): Promise<T | undefined> {
    const response = await this.#transport.request({ method: 'GET', path: placePath(resource, place), deadlineMs: this.#deadlineMs });
    return response.status === 404 ? undefined : (checked(response) as T);
  }

  async create<T extends KubeObject>(resource: Resource<T>, object: KubeObject): Promise<T> {
    return (await this.#send('POST', pathOf(resource, object.metadata.namespace), withType(resource, object))) as T;
  }

  /** As `create`; an object that stands already is left as it is. */
  async ensure<T extends KubeObject>(resource: Resource<T>, object: KubeObject): Promise<void> {
    try {
      await this.create(resource, object);
    } catch (error) {
      if (!(error instanceof ApiStatusError && error.status === 409)) throw error;
    }
  }

  async replace<T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> {
    const { namespace, name } = object.metadata;
    return (await this.#send('PUT', pathOf(resource, namespace, name), withType(resource, object))) as T;
  }

  async bind(pod: KubeObject, node: string): Promise<void> {
    const { namespace, name, uid } = pod.metadata;
    await this.#send('POST', `/api/v1/namespaces/${namespace ?? ''}/pods/${name}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    });
  }

  async patch<T extends KubeObject>(resource: Resource<T>, place: Place, kind: 'merge' | 'strategic', patch: object): Promise<T> {
    const contentType = kind === 'merge' ? 'application/merge-patch+json' : 'application/strategic-merge-patch+json';
    return (await this.#send('PATCH', placePath(resource, place), patch, contentType)) as T;
  }

  /** An object that is gone already, or that is another one by now, is no failure. */
  async remove(resource: Resource, object: KubeObject, gracePeriodSeconds?: number): Promise<void> {
    const { namespace, name, uid } = object.metadata;
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      ...(uid === undefined ? {} : { preconditions: { uid } }),
    };
    const path = pathOf(resource, namespace, name);
    const response = await this.#transport.request({ method: 'DELETE', path, body, deadlineMs: this.#deadlineMs });
    if (response.status !== 404 && response.status !== 409) checked(response);
  }

  async #send(method: ApiRequest['method'], path: string, body: unknown, contentType?: string): Promise<unknown> {
    const request: ApiRequest = { method, path, body, deadlineMs: this.#deadlineMs };
    return checked(await this.#transport.request(contentType === undefined ? request : { ...request, contentType }));
  }
}

/** Failures that a level-triggered loop answers by trying again; anything else is a defect and must surface. */
export function isApiFailure(error: unknown): error is ApiStatusError | TransportError {
  return error instanceof ApiStatusError || error instanceof TransportError;
}

function placePath(resource: Resource, place: Place): string {
  return pathOf(resource, place.namespace, place.name, place.subresource);
}

function withType(resource: Resource, object: KubeObject): KubeObject {
  const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
  return { ...object, apiVersion, kind: resource.kind };
}

function checked(response: ApiResponse): unknown {
  if (response.status < 300) return response.body;
  const body = (typeof response.body === 'object' && response.body !== null ? response.body : {}) as StatusBody;
  throw new ApiStatusError(response.status, body.reason ?? 'Unknown', body.message ?? `HTTP ${String(response.status)}`);
}
