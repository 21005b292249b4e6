import { definitionOf } from './any-definition.ts';
import { ApiServer } from '../apiserver/server.ts';
import { inProcessTransport } from '../apiserver/transport.ts';
import { TransportError } from '../../ports/api-transport.ts';
import type { ApiRequest, ApiResponse, ApiTransport } from '../../ports/api-transport.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster, Resource } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { SystemRandom } from '../../runtime/system-random.ts';

/** The client of whoever is tested here, on a wire of this world; the world has none of its own. */
export type Reach = (transport: ApiTransport) => Cluster;

/** How the API server treats the agent; it serves the operators of the cluster as ever. */
export interface ApiFault {
  latencyMs?: number;
  /** Every write is answered 403. */
  refusesWrites?: boolean;
  /** No answer at all, until the request's own deadline. */
  hangs?: boolean;
  failure?: TransportError;
  status?: { code: number; reason: string; message: string };
  /** That many requests are answered 429 first. */
  rateLimited?: number;
  /** A write is done, and answered, so late. */
  writesTakeMs?: number;
}

const DEFINITIONS: Resource<KubeObject & { spec: unknown }> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

/** A cluster in which somebody else's objects stand for machines or storages: an API server of ours, and that way to it which the agent has. */
export class ObjectWorld {
  readonly clock: Clock;
  /** As the operators of the cluster reach it. */
  readonly cluster: Cluster;
  /** As the agent reaches it. */
  readonly seen: Cluster;
  fault: ApiFault = {};
  /** Writes to these paths are answered 403. */
  refuse: (path: string) => boolean = () => false;
  /** What containers have written, by `namespace/pod/container`. */
  readonly logs = new Map<string, string>();
  readonly writes: { method: string; path: string; body: unknown }[] = [];

  private constructor(clock: Clock, reach: Reach) {
    this.clock = clock;
    const users = [{ name: 'admin', groups: ['system:masters'] }];
    const logOf = (...place: string[]): string | undefined => this.logs.get(place.join('/'));
    const server = new ApiServer({ clock, random: new SystemRandom(), users, authorization: 'rbac', logOf });
    const transport = inProcessTransport(server, 'admin');
    this.cluster = reach(transport);
    this.seen = reach(this.#faulty(transport));
  }

  /** With a definition of each resource, that takes whatever somebody writes, and one namespace. */
  static async with(clock: Clock, resources: readonly Resource[], namespace: string, reach: Reach): Promise<ObjectWorld> {
    const world = new ObjectWorld(clock, reach);
    await world.cluster.create(NAMESPACES, { metadata: { name: namespace } });
    for (const resource of resources) await world.cluster.create(DEFINITIONS, definitionOf(resource));
    return world;
  }

  /** Writes the status as an operator does; creates nothing. */
  async status<T extends KubeObject>(resource: Resource<T>, name: string, status: object, namespace?: string): Promise<void> {
    const options = { subresource: 'status' as const, ...(namespace === undefined ? {} : { namespace }) };
    await this.cluster.mergePatch(resource, name, { status }, options);
  }

  #faulty(transport: ApiTransport): ApiTransport {
    return {
      request: (request) => this.#request(transport, request),
      watch: (request, sink) => transport.watch(request, sink),
    };
  }

  async #request(transport: ApiTransport, { beforeSend, ...request }: ApiRequest): Promise<ApiResponse> {
    beforeSend?.();
    const { fault, clock } = this;
    const isWrite = request.method !== 'GET';
    if (isWrite) this.writes.push({ method: request.method, path: request.path, body: request.body });
    if (fault.hangs === true) {
      await clock.sleep(request.deadlineMs);
      throw new TransportError('timeout', `${request.method} ${request.path}: no answer within ${request.deadlineMs} ms`);
    }
    if (fault.latencyMs !== undefined) await clock.sleep(fault.latencyMs);
    if (fault.failure !== undefined) throw fault.failure;
    if (fault.status !== undefined) return refusal(fault.status.code, fault.status.reason, fault.status.message);
    if ((fault.rateLimited ?? 0) > 0) {
      this.fault = { ...fault, rateLimited: (fault.rateLimited ?? 0) - 1 };
      return refusal(429, 'TooManyRequests', 'too many requests, please try again later');
    }
    if (isWrite && (fault.refusesWrites === true || this.refuse(request.path)))
      return refusal(403, 'Forbidden', 'user "nodefence" cannot write this resource');
    if (isWrite && fault.writesTakeMs !== undefined) await clock.sleep(fault.writesTakeMs);
    return transport.request(request);
  }
}

function refusal(code: number, reason: string, message: string): ApiResponse {
  return { status: code, body: { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason, message, metadata: {} }, headers: {} };
}
