import { freeze } from '../../src/drill/apiserver/json.ts';
import { ApiServer } from '../../src/drill/apiserver/server.ts';
import { inProcessTransport } from '../../src/drill/apiserver/transport.ts';
import type { ApiEvent } from '../../src/drill/laws/trace.ts';
import { createScene, DEFAULT_SCENE } from '../../src/drill/world/scene.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/manifests/definitions.ts';
import type { CustomResourceDefinition } from '../../src/manifests/definitions.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { Resource } from '../../src/ports/cluster.ts';
import { FENCE_NAMESPACE } from './configuration.ts';
import type { Kernel } from './kernel/kernel.ts';
import { WORLD_BEGINS_WALL_MS } from './kernel/process-clock.ts';
import type { SimulatedProcess } from './kernel/simulated-process.ts';

export const CONTROLLER_USER = 'nodefence';
const ADMIN = 'admin';
const CONTROLLER_MANAGER = 'system:kube-controller-manager';

const DEFINITIONS: Resource<CustomResourceDefinition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

/** Frozen, so that all worlds of a process share them. */
const INSTALLED = freeze(structuredClone(CUSTOM_RESOURCE_DEFINITIONS));

/** The embedded API server of one simulated world; it answers at once, what lies between is the transports' affair. */
export class SimulatedApi {
  /** For building the world and for looking at its end: no delay, no fault. */
  readonly admin: ApiClient;
  /** For its clock. */
  readonly process: SimulatedProcess;
  readonly #server: ApiServer;

  /** `tracksManagers`: as every real server does; it costs time, and only the cordon of two hands is told by it. */
  constructor(kernel: Kernel, nodes: readonly string[], audit: (event: ApiEvent) => void, clockRate = 1, tracksManagers = false) {
    const names = [ADMIN, CONTROLLER_USER, CONTROLLER_MANAGER, ...nodes.map((node) => `system:node:${node}`)];
    this.process = kernel.spawn('api-server', clockRate);
    this.#server = new ApiServer({
      clock: this.process.clock,
      random: kernel.random('api-server'),
      users: names.map((name) => ({ name, groups: ['system:masters'], token: name })),
      authorization: 'always-allow',
      tracksManagers,
      audit,
      auditTimeMs: () => WORLD_BEGINS_WALL_MS + kernel.nowMs,
    });
    this.admin = new ApiClient({ transport: this.transportFor(ADMIN) });
  }

  transportFor(user: string): ApiTransport {
    return inProcessTransport(this.#server, user, user);
  }

  /** Custom resources and our namespace. */
  async install(): Promise<void> {
    for (const definition of INSTALLED) {
      await this.admin.create(DEFINITIONS, definition);
    }
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

  /** Bookmarks and timeouts of watches. */
  tick(): void {
    this.#server.tick();
  }
}
