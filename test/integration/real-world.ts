import { randomBytes } from 'node:crypto';
import { install } from '../../src/drill/run/installation.ts';
import { Kubectl } from '../../src/testbed/shipped/kubectl.ts';
import { ClusterControllers } from '../../src/testbed/cluster/cluster-controllers.ts';
import { MemoryDisk } from '../../src/testbed/cluster/disk.ts';
import { Machine } from '../../src/testbed/cluster/machine.ts';
import { isReady } from '../../src/testbed/cluster/kinds.ts';
import { BESIDE_CONTROLLER_MANAGER, SHORT_CLUSTER, SHORT_KUBELET } from '../../src/testbed/cluster/options.ts';
import { createScene, DEFAULT_SCENE } from '../../src/testbed/cluster/scene.ts';
import { ApiClient } from '../../src/kube/client.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { Node } from '../../src/ports/objects.ts';
import { CONFIG_MAPS, NODE_FENCE_REPORTS, NODES, PODS, SECRETS } from '../../src/ports/resources.ts';
import type { TraceEvent } from '../../src/laws/trace.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { newUuid, startBmc, TRUSTED_CA } from '../scenarios/bmc.ts';
import type { ScenarioBmc } from '../scenarios/bmc.ts';
import { rightConfiguration } from '../scenarios/configuration.ts';
import { Daemon } from '../scenarios/daemon.ts';
import { until } from '../scenarios/waiting.ts';
import { CONTROLLER_USER, Witness } from '../scenarios/witness.ts';
import { MANAGER, RealServer } from './real-server.ts';

/** Three times and more of what a busy machine takes. */
export const PATIENCE_MS = 90_000;
const BOOT_DELAY_MS = 500;
/** Beyond what one clock rounds and the other does not. */
const CLOCK_SET_MS = 2;

interface Member {
  machine: Machine;
  bmc: ScenarioBmc;
}

/** Simulated machines with their kubelets and BMCs, joined to a real control plane; `nodefence controller` runs as a process, under its own role. */
export class RealWorld {
  readonly server: RealServer;
  readonly cluster: Cluster;
  readonly witness: Witness;
  readonly #login = { username: 'fence', password: randomBytes(18).toString('base64url') };
  readonly #clock = new SystemClock();
  readonly #random = new SystemRandom();
  readonly #disk = new MemoryDisk();
  readonly #members = new Map<string, Member>();
  readonly #controllers: ClusterControllers;
  #daemon: Daemon | undefined;
  #originMs = performance.timeOrigin;

  private constructor(server: RealServer, witness: Witness) {
    this.server = server;
    this.witness = witness;
    this.cluster = new ApiClient({ transport: server.transport('operator') });
    this.#controllers = new ClusterControllers(this.#dependencies(MANAGER), { ...SHORT_CLUSTER, only: BESIDE_CONTROLLER_MANAGER });
  }

  /** Manifests installed, a pod of the workload writing on each node, the controller leading with every identity on record. */
  static async start(nodes: readonly string[], settings: Readonly<Record<string, string>> = {}): Promise<RealWorld> {
    const witness = new Witness();
    const server = await RealServer.start({ masters: nodes.map((node) => `system:node:${node}`), audit: witness.record });
    const world = new RealWorld(server, witness);
    try {
      await world.#begin(nodes, settings);
      return world;
    } catch (error) {
      await world.end();
      throw error;
    }
  }

  member(node: string): Member {
    const member = this.#members.get(node);
    if (member === undefined) throw new Error(`no node ${node}`);
    return member;
  }

  async podsOn(node: string): Promise<string[]> {
    const pods = await this.cluster.list(PODS, { fieldSelector: `spec.nodeName=${node}` });
    return pods.map((pod) => pod.metadata.name);
  }

  /** Violations of the laws, two writers on one volume, secrets that leaked. */
  violations(): string[] {
    const log = JSON.stringify(this.#daemon?.log ?? []);
    return this.witness.violations([this.#login.password, ...this.server.secrets], { log });
  }

  async end(): Promise<void> {
    await this.#daemon?.kill();
    this.#controllers.stop();
    for (const { machine, bmc } of this.#members.values()) {
      machine.powerOff('start');
      await bmc.server.close();
    }
    await this.server.end();
  }

  async #begin(nodes: readonly string[], settings: Readonly<Record<string, string>>): Promise<void> {
    const kubectl = new Kubectl(this.server.kubeconfig('operator'), this.server.folder);
    await install({ transport: this.server.transport('operator'), cluster: this.cluster }, (folders) => kubectl.install(folders));
    await this.server.bindController();
    this.#controllers.start();
    for (const node of nodes) await this.#add(node);
    const ready = async (): Promise<true | undefined> =>
      (await this.cluster.list(NODES)).filter(isSchedulable).length === nodes.length ? true : undefined;
    await until('every node is Ready and without taints', ready, PATIENCE_MS);
    await createScene(this.cluster, { ...DEFAULT_SCENE, replicas: nodes.length });
    const writers = (): Set<string> => new Set(this.witness.trace.flatMap((event) => (event.kind === 'disk' ? [event.node] : [])));
    await until('a pod writes on each node', async () => (nodes.every((node) => writers().has(node)) ? true : undefined), PATIENCE_MS);
    await this.#configure(settings);
    this.#daemon = new Daemon(this.server.kubeconfig(CONTROLLER_USER), ['--mode', 'enforce']);
    const ask = async (): Promise<true | undefined> => {
      const reports = await this.cluster.list(NODE_FENCE_REPORTS);
      return reports.filter((report) => report.status?.identity !== undefined).length === nodes.length ? true : undefined;
    };
    await until('the identity of every node is on record', ask, PATIENCE_MS);
  }

  async #configure(settings: Readonly<Record<string, string>>): Promise<void> {
    const bmcs = [...this.#members].map(([node, { bmc }]) => ({ node, host: bmc.server.host, port: bmc.server.port }));
    const configuration = rightConfiguration(bmcs, { ...this.#login, ca: TRUSTED_CA });
    configuration.set(settings);
    for (const secret of configuration.secrets) await this.cluster.create(SECRETS, secret);
    for (const configMap of configuration.configMaps) await this.cluster.create(CONFIG_MAPS, configMap);
  }

  async #add(node: string): Promise<void> {
    const uuid = newUuid();
    const dependencies = { ...this.#dependencies(`system:node:${node}`), disk: this.#disk };
    const machine = new Machine(dependencies, { ...SHORT_KUBELET, node, systemUUID: uuid, bootDelayMs: BOOT_DELAY_MS });
    const bmc = await startBmc(node, { uuid, machine }, this.#login, { clock: this.#clock, trace: this.#record });
    this.#members.set(node, { machine, bmc });
    machine.powerOn('start');
  }

  readonly #record = (event: TraceEvent): void => this.witness.record({ ...event, at: this.#now() });

  /** The clock by which the API server's audit tells the time, with fractions. It may have been set since this process began. */
  #now(): number {
    const wallMs = Date.now();
    const ms = this.#originMs + performance.now();
    if (Math.abs(ms - wallMs) <= CLOCK_SET_MS) return ms;
    this.#originMs += wallMs - ms;
    return wallMs;
  }

  #dependencies(user: string): ConstructorParameters<typeof ClusterControllers>[0] {
    return { transport: this.server.transport(user), clock: this.#clock, random: this.#random, trace: this.#record };
  }
}

function isSchedulable(node: Node): boolean {
  return isReady(node) && (node.spec.taints ?? []).length === 0;
}
