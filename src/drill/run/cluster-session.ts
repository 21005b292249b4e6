import { mkdirSync } from 'node:fs';
import { ApiClient } from '../../kube/client.ts';
import { CONTROLLER_ACCOUNT, NAMESPACE } from '../../manifests/access.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { NODE_FENCE_REPORTS } from '../../ports/resources.ts';
import { createAuthority } from '../../testbed/certificates.ts';
import { compileCache } from '../../testbed/compile-cache.ts';
import type { CertificateAuthority } from '../../testbed/certificates.ts';
import type { OperatorPace } from '../../testbed/operators/baremetal-operator.ts';
import type { FleetNode } from '../../testbed/operators/fleet.ts';
import type { ManagerOptions } from '../../testbed/operators/machine-manager.ts';
import type { TraceEvent } from '../../laws/trace.ts';
import type { CloudName } from '../../testbed/devices/cloud/kinds.ts';
import type { ClusterOptions } from '../../testbed/cluster/options.ts';
import { connect } from '../../testbed/processes/connection.ts';
import type { Child } from './child.ts';
import { controlPlaneNamed } from './control-plane.ts';
import type { ApiUser, ControlPlane } from './control-plane.ts';
import { SecretsOfDrill } from './credentials.ts';
import { DrillFolder } from './drill-folder.ts';
import { writeKubeconfig, writeKubeconfigWithTokenFile } from './kubeconfig.ts';
import type { Access } from './kubeconfig.ts';
import { inCloud, secretsIn, startCloud } from './cloud-machines.ts';
import type { StartedCloud } from './cloud-machines.ts';
import { startMember } from './members.ts';
import type { Member } from './members.ts';
import { WORLD } from '../faults/names.ts';
import type { SceneHosts } from '../faults/scenes.ts';
import { seeded } from './options.ts';
import type { Agent, Api, DrillOptions } from './options.ts';
import { boundToken } from '../../testbed/shipped/bound-token.ts';
import { hasKubectl, Kubectl } from '../../testbed/shipped/kubectl.ts';
import { ProcessHost } from './process-host.ts';
import { hostDevice } from './scene-configuration.ts';
import type { Bmc, Credentials } from './scene-configuration.ts';
import { KdumpNetwork } from './kdump-network.ts';
import type { DrillSetting, Machine } from './setting.ts';

/** User name of the fence controller, as the API's audit has it: the ServiceAccount of the shipped manifests, under exactly their rights. */
export const CONTROLLER_USER = `system:serviceaccount:${NAMESPACE}:${CONTROLLER_ACCOUNT}`;
const CLUSTER_CONTROLLERS = 'system:kube-controller-manager';
const BAREMETAL_OPERATOR = 'baremetal-operator';
/** User names of health checkers that the drill plays; what they may do is granted by the faults that play them. */
const HEALTH_CHECKERS = ['capi-controller-manager', 'node-healthcheck-operator'] as const;
export type HealthChecker = (typeof HEALTH_CHECKERS)[number];

export type SessionOptions = Pick<DrillOptions, 'seed' | 'agent' | 'api' | 'cloud' | 'compileCache'>;

/** All processes of one drill but the fence controllers: API server, cluster controllers, and for each node a BMC that owns its machine. */
export class ClusterSession {
  readonly folder = new DrillFolder();
  readonly processes: ProcessHost;
  /** Of every BMC that the setting gives no others. */
  readonly credentials: Credentials;
  readonly random: () => number;
  readonly #options: SessionOptions;
  #machines: readonly Machine[];
  #cloud: StartedCloud | undefined;
  readonly #clusterChanges: Partial<ClusterOptions>;
  /** The MCM that is at work beside; absent: its part is nodefence's. */
  readonly manager: ManagerOptions | undefined;
  /** Machines of Cluster API stand for the nodes, on hosts; absent in most drills. */
  readonly hosts: SceneHosts | undefined;
  readonly #hearsKdump: boolean;
  #kdumpNetwork: KdumpNetwork | undefined;
  /** Remedies are configured, and Jobs are run. */
  readonly hasRemedies: boolean;
  readonly #authority: CertificateAuthority = createAuthority('nodefence drill');
  readonly #known = new SecretsOfDrill();
  readonly #members = new Map<string, Member>();
  #plane: ControlPlane | undefined;
  #minding: Child | undefined;
  #connected: { transport: ApiTransport; cluster: Cluster } | undefined;

  /** `cluster`: where the cluster's controllers are to be otherwise than in every drill. */
  constructor(
    options: SessionOptions,
    machines: readonly Machine[],
    {
      cluster = {},
      manager,
      hosts,
      hearsKdump = false,
      hasRemedies = false,
    }: Pick<DrillSetting, 'cluster' | 'manager' | 'hosts' | 'hearsKdump' | 'hasRemedies'> = {},
  ) {
    this.#options = options;
    this.#clusterChanges = cluster;
    this.manager = manager;
    this.hosts = hosts;
    this.#hearsKdump = hearsKdump;
    this.hasRemedies = hasRemedies;
    this.#machines = machines;
    this.processes = new ProcessHost(this.folder, {
      NODE_COMPILE_CACHE: options.compileCache ?? this.folder.in('compiled'),
      ...(options.compileCache === undefined && compileCache()),
    });
    this.random = seeded(options.seed);
    this.credentials = { username: 'fence', password: this.#known.fresh(), caPem: this.#authority.certificatePem };
    this.#known.all.push(...new Set(machines.flatMap(({ credentials }) => credentials?.password ?? [])));
  }

  get agent(): Agent {
    return this.#options.agent;
  }

  /** The cloud that its machines are instances of; absent in most drills. */
  get cloudOfMachines(): StartedCloud | undefined {
    return this.#cloud;
  }

  get apiServer(): Api {
    return this.#options.api;
  }

  get nodes(): readonly string[] {
    return this.#machines.filter(({ isStranger }) => isStranger !== true).map(({ node }) => node);
  }

  /** Nodes that Machines stand for; none in most drills. */
  get fleet(): readonly FleetNode[] {
    return this.#machines.flatMap(({ node, zone }) => (zone === undefined ? [] : [{ node, zone }]));
  }

  get bmcs(): readonly Bmc[] {
    return [...this.#members.values()].map((member) => member.bmc);
  }

  /** Every password and token of this drill. */
  get secrets(): readonly string[] {
    return this.#known.all;
  }

  /** Calls as the operator, who may do anything. */
  get cluster(): Cluster {
    return this.#api.cluster;
  }

  get transport(): ApiTransport {
    return this.#api.transport;
  }

  get controlPlane(): ControlPlane {
    if (this.#plane === undefined) throw new Error('the API server was not started');
    return this.#plane;
  }

  /** Where messages of crash kernels are heard; absent in most drills. */
  get kdump(): KdumpNetwork | undefined {
    return this.#kdumpNetwork;
  }

  /** The API server, which everything else speaks to. */
  async start(): Promise<void> {
    if (this.#hearsKdump) this.#kdumpNetwork = await KdumpNetwork.reserve(this.nodes);
    const masters = ['operator', CLUSTER_CONTROLLERS, BAREMETAL_OPERATOR, ...this.nodes.map((node) => `system:node:${node}`)];
    const users: ApiUser[] = [
      ...masters.map((name) => ({ name, groups: ['system:masters'], token: this.#known.token(name) })),
      ...HEALTH_CHECKERS.map((name) => ({ name, groups: ['system:authenticated'], token: this.#known.token(name) })),
    ];
    const start = controlPlaneNamed(this.#options.api);
    this.#plane = await start({ processes: this.processes, users, nodeGraceMs: WORLD.nodeGraceMs });
    const transport = connect(this.#access('operator'));
    this.#connected = { transport, cluster: new ApiClient({ transport }) };
  }

  /** kubectl as the operator; undefined where this machine has none that serves. */
  async kubectl(): Promise<Kubectl | undefined> {
    const home = this.folder.in('kubectl');
    mkdirSync(home, { recursive: true });
    return (await hasKubectl(home)) ? new Kubectl(this.kubeconfig('operator'), home) : undefined;
  }

  /** From now on the replicas come with a token of the ServiceAccount that was installed. */
  async bindController(): Promise<void> {
    this.#known.bind(CONTROLLER_USER, await boundToken(this.transport, NAMESPACE, CONTROLLER_ACCOUNT));
  }

  /** Cluster controllers, BMCs and machines, side by side. */
  async startWorld(): Promise<void> {
    const { processes, credentials } = this;
    const authority = this.#authority;
    const controllers = processes.program('cluster-controllers', 'cluster-controllers', {
      ...this.#access(CLUSTER_CONTROLLERS),
      trace: this.folder.trace('cluster-controllers'),
      options: { ...this.controlPlane.clusterOptions, ...this.#clusterChanges },
      hasMachines: this.fleet.length > 0,
      hasHosts: this.hosts !== undefined,
      // A real kube-controller-manager runs them itself.
      hasJobs: this.hasRemedies && this.#options.api === 'embedded',
      ...(this.manager !== undefined && { manager: this.manager }),
    });
    if (this.#options.cloud !== undefined) {
      await Promise.all([controllers, this.#startCloud(this.#options.cloud)]);
      return;
    }
    const members = this.#machines.map(async (machine) => {
      const access = this.#access(`system:node:${machine.node}`);
      this.#members.set(machine.node, await startMember(machine, { processes, authority, credentials, access, agent: this.#options.agent }));
    });
    await Promise.all([controllers, ...members]);
  }

  async #startCloud(name: CloudName): Promise<void> {
    this.#machines = await inCloud(name, this.#machines);
    const accessOf = (node: string): Access => this.#access(`system:node:${node}`);
    this.#cloud = await startCloud(name, this.#machines, { processes: this.processes, accessOf });
    this.#known.all.push(...secretsIn(this.#cloud.environment));
    for (const member of this.#cloud.members) this.#members.set(member.node, member);
  }

  /** The baremetal-operator, over the BMCs of all nodes; they must be up, and the hosts made. */
  async startOperator(pace: OperatorPace): Promise<void> {
    const devices = Object.fromEntries(this.bmcs.map((bmc) => [bmc.node, hostDevice(bmc, this.credentials, this.agent)]));
    const trace = this.folder.trace(BAREMETAL_OPERATOR);
    const configuration = { ...this.#access(BAREMETAL_OPERATOR), trace, devices, pace };
    this.#minding = (await this.processes.program(BAREMETAL_OPERATOR, BAREMETAL_OPERATOR, configuration)).child;
  }

  /** The process of the baremetal-operator. */
  get operator(): Child {
    if (this.#minding === undefined) throw new Error('nobody minds the hosts of this drill');
    return this.#minding;
  }

  /** Calls as one of the users. */
  transportOf(user: HealthChecker | typeof CONTROLLER_USER): ApiTransport {
    return connect(this.#access(user));
  }

  /** A kubeconfig file for this user; its token is in the file only, that of the controller in a file beside. */
  kubeconfig(user: string): string {
    if (user !== CONTROLLER_USER) return writeKubeconfig(this.folder.in(`kubeconfig-${user}`), user, this.#access(user));
    return writeKubeconfigWithTokenFile(this.folder.in(`kubeconfig-${CONTROLLER_ACCOUNT}`), user, this.#access(user));
  }

  /** Nodes whose identity the controller has on record. */
  async reports(): Promise<string[]> {
    const reports = await this.cluster.list(NODE_FENCE_REPORTS);
    return reports.filter((report) => report.status?.identity !== undefined).map((report) => report.metadata.name);
  }

  /** BMC and machine of a node. */
  member(node: string): Member {
    const member = this.#members.get(node);
    if (member === undefined) throw new Error(`no node ${node}: there are ${this.nodes.join(', ')}`);
    return member;
  }

  /** A new password, which the judge knows as one that may stand nowhere. */
  freshPassword(): string {
    return this.#known.fresh();
  }

  /** Milliseconds since 1970 on the clock of all traces. */
  now(): number {
    return performance.timeOrigin + performance.now();
  }

  record(event: TraceEvent): void {
    this.folder.record(event);
  }

  /** Everything that was seen from outside so far, in the order of time. */
  traces(): TraceEvent[] {
    return this.folder.traces();
  }

  /** Ends every process and removes what they wrote. */
  async stop(): Promise<void> {
    await this.processes.stop();
    this.#kdumpNetwork?.close();
    this.folder.remove();
  }

  get #api(): { transport: ApiTransport; cluster: Cluster } {
    if (this.#connected === undefined) throw new Error('the API server was not started');
    return this.#connected;
  }

  #access(user: string): Access {
    const { server, caPem } = this.controlPlane;
    return { server, caPem, token: this.#known.token(user) };
  }
}
