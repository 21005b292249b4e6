import type { StoreBackup } from '../../src/testbed/apiserver/store.ts';
import type { StartUp } from '../../src/testbed/apiserver/troubles.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { createScene, DEFAULT_SCENE } from '../../src/testbed/cluster/scene.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { ApiStatusError, type ApiTransport, type WatchRequest, type WatchSink } from '../../src/ports/api-transport.ts';
import type { Resource } from '../../src/ports/cluster.ts';
import { FENCE_NAMESPACE } from './configuration.ts';
import type { Kernel } from '../../src/testbed/simulation/kernel.ts';
import { WORLD_BEGINS_WALL_MS } from '../../src/testbed/simulation/process-clock.ts';
import type { SimulatedProcess } from '../../src/testbed/simulation/simulated-process.ts';

export const CONTROLLER_USER = 'nodefence';
const ADMIN = 'admin';
const STOPS = 'nodefencestops.ha.k8s.io';
/** What people and health checks ask for, and the fences themselves. */
const WATCHED_BY_JUDGES = [STOPS, 'nodefences.ha.k8s.io', 'nodefenceremediations.ha.k8s.io'] as const;
const NODES = 'nodes';
/** Between a backup and its restore lie hours of a large cluster: what was read before is never reached again. */
const WRITTEN_SINCE = 10_000_000;
/** Share of worlds whose server is of before streams of what is there. */
const WITHOUT_STREAMS = 0.25;
const CONTROLLER_MANAGER = 'system:kube-controller-manager';
/** Who works beside it on Machines and hosts. */
export const CLUSTER_API_USER = 'cluster-api';
/** Its user, and the name under which it speaks to devices. */
export const OPERATOR_USER = 'baremetal-operator';
/** The account of the node daemons, which all of them share. */
export const DAEMON_USER = 'system:serviceaccount:nodefence-system:nodefence-node';
/** Accounts of ours: a server that was started anew denies them everything for a moment, and throttles them where it throttles. */
const OURS: readonly string[] = [CONTROLLER_USER, DAEMON_USER];
const INSIDERS = [CLUSTER_API_USER, OPERATOR_USER, DAEMON_USER];

const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

/** The embedded API server of one simulated world; it answers at once, what lies between is the transports' affair. */
export class SimulatedApi {
  /** For building the world and for looking at its end: no delay, no fault. */
  readonly admin: ApiClient;
  /** For its clock. */
  readonly process: SimulatedProcess;
  readonly #server: ApiServer;
  readonly #audit: (event: ApiEvent) => void;
  readonly #wallMs: () => number;

  /** `tracksManagers`: as every real server does; it costs time, and only the cordon of two hands is told by it. */
  constructor(kernel: Kernel, nodes: readonly string[], audit: (event: ApiEvent) => void, clockRate = 1, tracksManagers = false) {
    const names = [ADMIN, CONTROLLER_USER, CONTROLLER_MANAGER, ...INSIDERS, ...nodes.map((node) => `system:node:${node}`)];
    this.process = kernel.spawn('api-server', clockRate);
    this.#audit = audit;
    this.#wallMs = () => WORLD_BEGINS_WALL_MS + kernel.nowMs;
    this.#server = new ApiServer({
      clock: this.process.clock,
      random: kernel.random('api-server'),
      users: names.map((name) => ({ name, groups: OURS.includes(name) ? [] : ['system:masters'], token: name })),
      authorization: 'always-allow',
      tracksManagers,
      streamsLists: kernel.random('streams-lists').next() >= WITHOUT_STREAMS,
      audit,
      auditTimeMs: this.#wallMs,
    });
    this.admin = new ApiClient({ transport: this.transportFor(ADMIN) });
  }

  transportFor(user: string): ApiTransport {
    const transport = inProcessTransport(this.#server, user, user);
    return user === CONTROLLER_USER ? transport : { ...transport, watch: (request, sink) => this.#watchAnew(transport, request, sink) };
  }

  /** Takes a backup of etcd; the function that is returned restores it: what was written since is gone, and versions begin again below it. */
  backup(): () => void {
    const backup: StoreBackup = this.#server.backup();
    this.#server.advance(WRITTEN_SINCE);
    return () => {
      const before = this.#server.backup();
      this.#server.restore(backup);
      for (const resource of WATCHED_BY_JUDGES) this.#tellOfThoseGone(resource, before, backup);
      this.#tellOfNodes(before, backup);
    };
  }

  /** Custom resources and our namespace. */
  async install(): Promise<void> {
    await sendShipped(this.transportFor(ADMIN), ['crd']);
    await this.admin.create(NAMESPACES, { metadata: { name: FENCE_NAMESPACE } });
  }

  createWorkload(replicas: number): Promise<void> {
    return createScene(this.admin, { ...DEFAULT_SCENE, replicas });
  }

  /** History is compacted: every watch gets 410, and what resumes from before does too. */
  expire(): void {
    this.#server.compact();
    this.#server.endWatches('expire');
  }

  endWatches(): void {
    this.#server.endWatches('close');
  }

  /** It was started anew, and lacks for a moment what it has to read first. */
  startUp(lacks: StartUp): void {
    this.#server.restart(lacks);
  }

  /** Priority and Fairness leaves our accounts no share; returns what ends that. */
  throttle(): () => void {
    return this.#server.throttle(({ name }) => OURS.includes(name));
  }

  /** A stop, a request or a fence that was made since the backup is gone: whoever judges must know it. */
  #tellOfThoseGone(resource: string, before: StoreBackup, after: StoreBackup): void {
    const left = new Set((after.objects.get(resource) ?? []).map(({ metadata }) => metadata.uid));
    for (const { metadata, ...rest } of before.objects.get(resource) ?? []) {
      if (left.has(metadata.uid)) continue;
      const object = { ...rest, metadata: { ...metadata, finalizers: [] } };
      this.#audit({ at: this.#wallMs(), kind: 'api', user: ADMIN, verb: 'delete', resource, name: metadata.name, status: 200, object });
    }
  }

  /** Taints and cordons of before are gone, or back, without a request of anybody. */
  #tellOfNodes(before: StoreBackup, after: StoreBackup): void {
    const stood = new Map((before.objects.get(NODES) ?? []).map((node) => [node.metadata.name, node.metadata.resourceVersion]));
    for (const object of after.objects.get(NODES) ?? []) {
      const { name, resourceVersion } = object.metadata;
      if (!stood.has(name) || stood.get(name) === resourceVersion) continue;
      this.#audit({ at: this.#wallMs(), kind: 'api', user: ADMIN, verb: 'update', resource: NODES, name, status: 200, object });
    }
  }

  /** The cluster's own parts are restarted after a restore, as its guide says; ours are not. */
  #watchAnew(transport: ApiTransport, request: WatchRequest, sink: WatchSink): () => void {
    if (Number(request.query['resourceVersion'] ?? 0) <= this.#server.revision) return transport.watch(request, sink);
    queueMicrotask(() => {
      sink.onEnd(new ApiStatusError(410, 'Expired', 'etcd was restored'));
    });
    return () => undefined;
  }

  /** Bookmarks and timeouts of watches. */
  tick(): void {
    this.#server.tick();
  }
}
