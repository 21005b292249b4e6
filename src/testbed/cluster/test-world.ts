import { DEFAULT_SCENE, createScene } from './scene.ts';
import type { SceneOptions } from './scene.ts';
import { ApiServer } from '../apiserver/server.ts';
import { inProcessTransport } from '../apiserver/transport.ts';
import type { TraceEvent } from '../../laws/trace.ts';
import type { Random } from '../../ports/random.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { WorldApi } from './api.ts';
import { ClusterControllers } from './cluster-controllers.ts';
import { MemoryDisk } from './disk.ts';
import { JobController } from './jobs/job-controller.ts';
import { PERSISTENT_VOLUME_CLAIMS, WORLD_NODES, WORLD_PODS } from './kinds.ts';
import type { WorldNode, WorldPod } from './kinds.ts';
import { Machine } from './machine.ts';
import { SHORT_CLUSTER, SHORT_KUBELET } from './options.ts';
import type { ClusterOptions } from './options.ts';
import { VOLUME_ATTACHMENTS } from '../../ports/resources.ts';
import type { VolumeAttachment } from '../../ports/objects.ts';
import type { Resource } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';

/** For tests: machines, cluster controllers and the embedded API server on one manual clock. */
export class TestWorld {
  readonly clock = new ManualClock();
  readonly trace: TraceEvent[] = [];
  readonly disk = new MemoryDisk();
  readonly machines = new Map<string, Machine>();
  readonly admin: WorldApi;
  readonly #server: ApiServer;
  readonly #random = countingRandom();

  constructor(nodes: readonly string[], options: Partial<ClusterOptions> = {}) {
    const names = ['admin', 'system:kube-controller-manager', ...nodes.map((node) => `system:node:${node}`)];
    const users = names.map((name) => ({ name, groups: ['system:masters'] }));
    const audit = (event: TraceEvent): void => {
      this.trace.push(event);
    };
    this.#server = new ApiServer({ clock: this.clock, random: this.#random, users, authorization: 'always-allow', audit });
    this.admin = new WorldApi(inProcessTransport(this.#server, 'admin'));
    new ClusterControllers(this.#dependencies('system:kube-controller-manager'), { ...SHORT_CLUSTER, ...options }).start();
    for (const node of nodes) {
      const dependencies = { ...this.#dependencies(`system:node:${node}`), disk: this.disk };
      const machine = new Machine(dependencies, { ...SHORT_KUBELET, node, systemUUID: `uuid-${node}`, bootDelayMs: 1_000 });
      this.machines.set(node, machine);
      machine.powerOn('start');
    }
  }

  /** With the scene's workload running. */
  static async running(nodes: readonly string[], options: Partial<ClusterOptions> = {}, scene: Partial<SceneOptions> = {}): Promise<TestWorld> {
    const world = new TestWorld(nodes, options);
    await createScene(world.admin, { ...DEFAULT_SCENE, replicas: nodes.length, ...scene });
    await world.clock.advance(5_000);
    return world;
  }

  /** From now on Jobs are run. */
  runJobs(): void {
    new JobController(this.#dependencies('system:kube-controller-manager')).start();
  }

  machine(node: string): Machine {
    const machine = this.machines.get(node);
    if (machine === undefined) throw new Error(`no machine ${node}`);
    return machine;
  }

  async node(name: string): Promise<WorldNode> {
    const node = await this.admin.get(WORLD_NODES, { name });
    if (node === undefined) throw new Error(`no Node ${name}`);
    return node;
  }

  pod(name: string): Promise<WorldPod | undefined> {
    return this.admin.get(WORLD_PODS, { namespace: 'default', name });
  }

  async volumeOf(pod: string): Promise<string> {
    return (await this.admin.get(PERSISTENT_VOLUME_CLAIMS, { namespace: 'default', name: `data-${pod}` }))?.spec.volumeName ?? '';
  }

  attachments(): Promise<VolumeAttachment[]> {
    return this.list(VOLUME_ATTACHMENTS);
  }

  async taint(name: string, taints: WorldNode['spec']['taints']): Promise<void> {
    await this.admin.patch(WORLD_NODES, { name }, 'merge', { spec: { taints: [...((await this.node(name)).spec.taints ?? []), ...(taints ?? [])] } });
  }

  async list<T extends KubeObject>(resource: Resource<T>): Promise<T[]> {
    const path =
      resource.group === '' ? `/api/${resource.version}/${resource.plural}` : `/apis/${resource.group}/${resource.version}/${resource.plural}`;
    const response = await inProcessTransport(this.#server, 'admin').request({ method: 'GET', path, deadlineMs: 1_000 });
    return (response.body as { items: T[] }).items;
  }

  /** Requests by one user since the beginning. */
  requestsOf(user: string, verb: string): number {
    return this.trace.filter((event) => event.kind === 'api' && event.user === user && event.verb === verb).length;
  }

  #dependencies(user: string): {
    transport: ReturnType<typeof inProcessTransport>;
    clock: ManualClock;
    random: Random;
    trace: (event: TraceEvent) => void;
  } {
    const trace = (event: TraceEvent): void => {
      this.trace.push(event);
    };
    return { transport: inProcessTransport(this.#server, user), clock: this.clock, random: this.#random, trace };
  }
}

function countingRandom(): Random {
  let count = 0;
  return {
    next: () => ((count += 1) * 0.618_033_988_7) % 1,
    uuid: () => `00000000-0000-4000-8000-${String((count += 1)).padStart(12, '0')}`,
  };
}
