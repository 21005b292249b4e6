import { pathToFileURL } from 'node:url';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { fenceName } from '../../domain/node-fence.ts';
import type { TraceEvent } from '../../laws/trace.ts';
import { ApiClient } from '../../kube/client.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { CONFIG_MAPS, LEASES, SECRETS } from '../../ports/resources.ts';
import { LEADER_LEASE } from '../../manager/composition.ts';
import { NAMESPACE } from '../../manifests/access.ts';
import { compileCache } from '../../testbed/compile-cache.ts';
import { createAuthority } from '../../testbed/certificates.ts';
import { createScene, DEFAULT_SCENE } from '../../testbed/cluster/scene.ts';
import type { BmcReady } from '../../testbed/devices/bmc/bmc-configuration.ts';
import { connect } from '../../testbed/processes/connection.ts';
import { sendShipped } from '../../testbed/shipped/send.ts';
import type { Child } from '../run/child.ts';
import { CONTROLLER_USER } from '../run/cluster-session.ts';
import { SecretsOfDrill } from '../run/credentials.ts';
import { DrillFolder } from '../run/drill-folder.ts';
import { install } from '../run/installation.ts';
import { writeKubeconfig } from '../run/kubeconfig.ts';
import type { Access } from '../run/kubeconfig.ts';
import { pause } from '../run/pause.ts';
import { Exposure } from '../run/exposure.ts';
import { drillProgram, ProcessHost } from '../run/process-host.ts';
import type { Ready } from '../run/process-host.ts';
import { programPath } from '../../testbed/shipped/program.ts';
import { isSettled, readyNodes } from '../run/readiness.ts';
import { fenceConfiguration } from '../run/scene-configuration.ts';
import type { Bmc } from '../run/scene-configuration.ts';
import { Watcher } from '../run/watcher.ts';
import { API, CLUSTER_CONTROLLERS, CONTROLLERS, DAEMON_USER, EVERYBODY, NODES, NOT_SERVED, OPERATOR, SHIPPED, usersOfDrill } from './cast.ts';
import { daemonTimes, FAST, nodeGraceMs, watchdogConfiguration } from './configuration.ts';
import { Network } from './network.ts';
import { DaemonNode } from './node.ts';
import { isKept } from './played.ts';
import type { DaemonFencing, PlayedCluster } from './played.ts';
import { RACK_LABEL, RACKS, TIMES } from './times.ts';

/** Controllers and node daemons, by the names of their processes. */
const OWN = /^(?:ctl|daemon)-/;
/** All BMCs are in one network. */
const BMCS = 'bmcs';
const LOGIN = { username: 'fence', agent: 'redfish' } as const;
const READY_MS = 90_000;
const SETTLED_MS = 90_000;
const LOOK_MS = 200;

interface PlayedBmc {
  child: Child;
  bmc: Bmc;
}

type Serving = { child: Child; server: string; caPem: string };

/** An API server, two controllers and five nodes with their daemons, each in a network namespace of its own. */
export class DaemonCluster implements PlayedCluster {
  readonly #folder = new DrillFolder();
  readonly #network: Network;
  readonly controllers: readonly string[] = CONTROLLERS;
  readonly nodeNames: readonly string[] = NODES;
  nodes: readonly DaemonNode[] = [];
  readonly #processes: ProcessHost;
  readonly #secrets = new SecretsOfDrill();
  readonly #password = this.#secrets.fresh();
  readonly #ended: Child[] = [];
  readonly #exposed: Exposure;
  #programs = 0;
  #serving: Serving | undefined;
  #watcher: Watcher | undefined;

  readonly #fencing: DaemonFencing;
  readonly #storageLostMs: number | undefined;
  readonly #authority = createAuthority('nodefence drill');
  readonly #bmcs = new Map<string, PlayedBmc>();
  readonly #powering = new Map<string, NodeJS.Timeout>();

  constructor(fencing: DaemonFencing, storageLostMs?: number) {
    this.#fencing = fencing;
    this.#storageLostMs = storageLostMs;
    this.#processes = new ProcessHost(this.#folder, { NODE_COMPILE_CACHE: this.#folder.in('compiled'), ...compileCache() });
    this.#exposed = new Exposure(() => this.#processes.running.filter(({ name }) => OWN.test(name)));
    this.#network = Network.create([API, BMCS, ...CONTROLLERS, ...this.nodeNames]);
  }

  /** All that are in the network. */
  get names(): readonly string[] {
    return EVERYBODY;
  }

  get secrets(): readonly string[] {
    return this.#secrets.all;
  }

  /** What each process has said, and what ours show of themselves, for the law that secrets stay where they are. */
  texts(): Record<string, string> {
    this.#exposed.end();
    return { ...this.#exposed.texts, ...Object.fromEntries(this.#folder.logs().map(([name, text]) => [`log of ${name}`, text])) };
  }

  /** Milliseconds since 1970 on the clock of all traces. */
  now(): number {
    return performance.timeOrigin + performance.now();
  }

  pause(ms: number): Promise<void> {
    return pause(ms);
  }

  traces(): readonly TraceEvent[] {
    return this.#folder.traces();
  }

  audit(): readonly TraceEvent[] {
    return this.#folder.traceOf(API);
  }

  cut(one: string, other: string): void {
    this.#network.cut(one, other);
  }

  heal(one: string, other: string): void {
    this.#network.heal(one, other);
  }

  fence(node: string): NodeFenceStatus | undefined {
    return this.#watcher?.fences.get(fenceName(node))?.status;
  }

  /** A cluster in which everything runs, and every daemon is kept up with its watchdog armed. */
  async start(tell: (line: string) => void): Promise<void> {
    tell('starting the API server, and the controllers of the cluster');
    this.#exposed.start();
    await this.#startApi();
    const transport = connect(this.#access(OPERATOR));
    const cluster = new ApiClient({ transport });
    await install({ transport, cluster }, () => sendShipped(transport, SHIPPED, NOT_SERVED));
    await this.#program('cluster-controllers', API, { ...this.#access(CLUSTER_CONTROLLERS), options: { nodeGraceMs: nodeGraceMs(this.#fencing) } });
    const watcher = new Watcher({ transport, fleet: [] });
    this.#watcher = watcher;
    await watcher.start();
    tell(
      `starting ${String(CONTROLLERS.length)} × nodefence controller --node-daemons, and ${String(RACKS.length)} machines with nodefence node --self-fence`,
    );
    this.nodes = this.nodeNames.map((name, index) => this.#node(name, RACKS[index] ?? '', tell));
    if (this.#fencing === 'bmc') for (const node of this.nodes) await this.#startBmc(node);
    await this.#configure(cluster);
    for (const name of CONTROLLERS) await this.#startController(name);
    await Promise.all(this.nodes.map((node) => node.start()));
    await watcher.until('every node to be Ready', SETTLED_MS, () => readyNodes(watcher) === RACKS.length);
    await createScene(cluster, { ...DEFAULT_SCENE, replicas: RACKS.length });
    await watcher.until('running pods on every node', SETTLED_MS, () => isSettled(watcher, RACKS.length));
    await this.#untilKept(transport);
  }

  /** Nobody is there any more to grant anything. */
  endControlPlane(): void {
    for (const child of this.#ended) child.signal('SIGKILL');
  }

  /** Resolves when its pods run again on nodes that are well. */
  async settled(): Promise<void> {
    const watcher = this.#watcher;
    await watcher?.until('running pods on healthy nodes', SETTLED_MS, () => isSettled(watcher, RACKS.length));
  }

  #nodeNamed(name: string): DaemonNode {
    const node = this.nodes.find((one) => one.name === name);
    if (node === undefined) throw new Error(`no node ${name}`);
    return node;
  }

  /** The fence has it switched on again. */
  #bootOnceOn(name: string, sinceMs: number): NodeJS.Timeout {
    const timer = setInterval(() => {
      const isOn = this.#folder.traceOf(`bmc-${name}`).some((event) => event.kind === 'power' && event.state === 'on' && event.at > sinceMs);
      if (!isOn) return;
      clearInterval(timer);
      void this.#nodeNamed(name).setPower('on');
    }, LOOK_MS);
    return timer;
  }

  async #startBmc({ name, systemUUID }: DaemonNode): Promise<void> {
    const host = this.#network.address(BMCS);
    const certificate = this.#authority.issue({ commonName: `bmc-${name}`, hosts: [host] });
    const { child, ready } = await this.#program('bmc', BMCS, {
      ...{ node: name, uuid: systemUUID, username: LOGIN.username, password: this.#password, host, certificate },
      trace: this.#folder.trace(`bmc-${name}`),
    });
    const { port, fingerprint } = ready as unknown as BmcReady;
    this.#bmcs.set(name, { child, bmc: { node: name, host, port, fingerprint } });
  }

  async #configure(cluster: Cluster): Promise<void> {
    if (this.#fencing !== 'bmc') {
      for (const map of watchdogConfiguration(this.nodeNames, this.#fencing === 'watchdog')) await cluster.create(CONFIG_MAPS, map);
      return;
    }
    const credentials = { username: LOGIN.username, password: this.#password, caPem: this.#authority.certificatePem };
    const bmcs = [...this.#bmcs.values()].map(({ bmc }) => bmc);
    const settings = { ...daemonTimes(), ...FAST };
    const wishes = { settings, agent: LOGIN.agent, scene: { nodes: RACKS.length }, led: undefined };
    const { configMaps: maps, secrets } = fenceConfiguration(bmcs, credentials, wishes);
    for (const secret of secrets) await cluster.create(SECRETS, secret);
    for (const map of maps) await cluster.create(CONFIG_MAPS, map);
  }

  /** Its power fails: nothing of it runs from that moment on, and its BMC says so. */
  cutPower(name: string): void {
    const played = this.#bmcs.get(name);
    if (played === undefined) throw new Error(`${name} has no BMC`);
    played.child.tell({ command: 'power', state: 'off' });
    void this.#nodeNamed(name).setPower('off');
    this.#powering.set(name, this.#bootOnceOn(name, this.now()));
  }

  async stop(): Promise<void> {
    this.#exposed.end();
    for (const timer of this.#powering.values()) clearInterval(timer);
    this.#watcher?.close();
    try {
      await Promise.all(this.nodes.map((node) => node.close()));
    } finally {
      await this.#processes.stop();
      this.#network.close();
      this.#folder.remove();
    }
  }

  async #startApi(): Promise<void> {
    const users = usersOfDrill((name) => this.#secrets.token(name));
    const { child, ready } = await this.#program(API, API, { users, authorization: 'rbac', host: this.#network.address(API) });
    this.#ended.push(child);
    this.#serving = { child, server: String(ready['url']), caPem: String(ready['caPem']) };
  }

  async #startController(name: string): Promise<void> {
    const flags = ['--mode', 'enforce', '--kubeconfig', this.#kubeconfig(CONTROLLER_USER), '--programs', this.#folder.programs];
    const daemons = ['--node-daemons', '--daemon-address', `${this.#network.address(name)}:7411`, '--daemon-topology-keys', RACK_LABEL];
    const command = [process.execPath, '--import', pathToFileURL(drillProgram('ends-with-stdin')).href, programPath('main'), 'controller'];
    const words = [...flags, ...daemons, '--http-address', `${this.#network.address(name)}:0`, '--log-format', 'json'];
    const { child } = await this.#processes.start(name, this.#network.at(name, [...command, ...words]), false);
    this.#ended.push(child);
  }

  #node(name: string, rack: string, tell: (line: string) => void): DaemonNode {
    return new DaemonNode(name, {
      processes: this.#processes,
      network: this.#network,
      times: TIMES,
      labels: { [RACK_LABEL]: rack },
      access: this.#access(`system:node:${name}`),
      kubeconfig: this.#kubeconfig(DAEMON_USER),
      now: () => this.now(),
      tell,
      hasBmc: this.#fencing === 'bmc',
      storageLostMs: this.#storageLostMs,
    });
  }

  /** `src/testbed/processes/<program>` in the namespace `place`. */
  #program(program: string, place: string, configuration: object): Promise<{ child: Child; ready: Ready }> {
    const file = this.#folder.write(`${program}-${String((this.#programs += 1))}.json`, { trace: this.#folder.trace(program), ...configuration });
    return this.#processes.start(program, this.#network.at(place, [process.execPath, drillProgram(program), file]), true);
  }

  #access(user: string): Access {
    if (this.#serving === undefined) throw new Error('the API server was not started');
    const { server, caPem } = this.#serving;
    return { server, caPem, token: this.#secrets.token(user) };
  }

  #kubeconfig(user: string): string {
    return writeKubeconfig(this.#folder.in(`kubeconfig-${user.slice(user.lastIndexOf(':') + 1)}`), user, this.#access(user));
  }

  async #untilKept(transport: ApiTransport): Promise<void> {
    const endsAtMs = performance.now() + READY_MS;
    for (;;) {
      const states = await Promise.all(this.nodes.map(async (node) => ({ node, status: await node.status() })));
      const missing = states.filter(({ node, status }) => !isKept(status, RACKS.length) || !node.isWatchdogActive);
      if (missing.length === 0) return;
      if (performance.now() > endsAtMs) {
        const lease = await new ApiClient({ transport }).get(LEASES, LEADER_LEASE, NAMESPACE);
        const words = missing.map(({ node, status }) => `${node.name} is ${JSON.stringify(status)}: ${node.lastWords}`);
        throw new Error(
          `not every node is kept up after ${String(READY_MS / 1_000)} s (leader ${lease?.spec.holderIdentity ?? 'none'}):\n${words.join('\n')}`,
        );
      }
      await pause(LOOK_MS);
    }
  }
}
