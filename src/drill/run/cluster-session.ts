import { randomBytes, randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from '../../kube/client.ts';
import { CONTROLLER_ACCOUNT, NAMESPACE } from '../../manifests/access.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { NODE_FENCE_REPORTS } from '../../ports/resources.ts';
import { createAuthority } from '../certificates.ts';
import type { CertificateAuthority } from '../certificates.ts';
import type { TraceEvent } from '../laws/trace.ts';
import { connect } from '../processes/connection.ts';
import { Child } from './child.ts';
import { seeded, WORLD } from './options.ts';
import type { DrillOptions, Fault } from './options.ts';
import { programPath } from './program.ts';
import type { Bmc, Credentials } from './scene-configuration.ts';
import type { Machine } from './setting.ts';

const READY_DEADLINE_MS = 30_000;
const HOST = '127.0.0.1';
/** User name of the fence controller, as the API's audit has it: the ServiceAccount of the shipped manifests, under exactly their rights. */
export const CONTROLLER_USER = `system:serviceaccount:${NAMESPACE}:${CONTROLLER_ACCOUNT}`;
const SERVICE_ACCOUNT_GROUPS = ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'];

interface Member {
  name: string;
  child: Child;
  bmc: Bmc;
}

/** All processes of one drill but the fence controller: API server, cluster controllers, and for each node a BMC that owns its machine. */
export class ClusterSession {
  readonly folder: string;
  /** Of every BMC that the setting gives no others. */
  readonly credentials: Credentials;
  readonly random: () => number;
  readonly secrets: string[] = [];
  private readonly machines: readonly Machine[];
  private readonly authority: CertificateAuthority;
  private readonly tokens = new Map<string, string>();
  private readonly children: Child[] = [];
  private readonly members = new Map<string, Member>();
  private server = '';
  private caPem = '';
  private connected: { transport: ApiTransport; cluster: Cluster } | undefined;

  constructor(options: Pick<DrillOptions, 'seed'>, machines: readonly Machine[]) {
    this.machines = machines;
    this.folder = mkdtempSync(join(tmpdir(), 'nodefence-drill-'));
    this.random = seeded(options.seed);
    this.authority = createAuthority('nodefence drill');
    this.credentials = { username: 'fence', password: this.secret(), caPem: this.authority.certificatePem };
    this.secrets.push(...new Set(machines.flatMap(({ credentials }) => credentials?.password ?? [])));
    for (const part of ['traces', 'logs', 'disk']) mkdirSync(join(this.folder, part));
  }

  get nodes(): readonly string[] {
    return this.machines.map(({ node }) => node);
  }

  get bmcs(): readonly Bmc[] {
    return [...this.members.values()].map((member) => member.bmc);
  }

  /** Calls as the operator, who may do anything. */
  get cluster(): Cluster {
    return this.api.cluster;
  }

  get transport(): ApiTransport {
    return this.api.transport;
  }

  /** API server first, then everything that speaks to it, side by side. */
  async start(): Promise<void> {
    const users = [
      { name: 'operator', groups: ['system:masters'], token: this.token('operator') },
      { name: CONTROLLER_USER, groups: SERVICE_ACCOUNT_GROUPS, token: this.token(CONTROLLER_USER) },
      { name: 'system:kube-controller-manager', groups: ['system:masters'], token: this.token('system:kube-controller-manager') },
      ...this.nodes.map((node) => ({ name: `system:node:${node}`, groups: ['system:masters'], token: this.token(`system:node:${node}`) })),
    ];
    const ready = await this.spawn('api', { users, authorization: 'rbac', trace: this.trace('api') });
    this.server = String(ready['url']);
    this.caPem = String(ready['caPem']);
    const transport = connect({ server: this.server, caPem: this.caPem, token: this.token('operator'), trace: '' });
    this.connected = { transport, cluster: new ApiClient({ transport }) };
  }

  async startWorld(): Promise<void> {
    const controllers = this.spawn('cluster-controllers', {
      ...this.access('system:kube-controller-manager'),
      options: { nodeGraceMs: WORLD.nodeGraceMs },
    });
    await Promise.all([controllers, ...this.machines.map((machine) => this.startMember(machine))]);
  }

  /** A kubeconfig file for this user; its token is in the file only. */
  kubeconfig(user: string): string {
    const path = join(this.folder, `kubeconfig-${user === CONTROLLER_USER ? CONTROLLER_ACCOUNT : user}`);
    const cluster = { server: this.server, 'certificate-authority-data': Buffer.from(this.caPem).toString('base64') };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'drill', cluster }],
      users: [{ name: user, user: { token: this.token(user) } }],
      contexts: [{ name: 'drill', context: { cluster: 'drill', user } }],
      'current-context': 'drill',
    };
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
    return path;
  }

  /** Nodes whose identity the controller has on record. */
  async reports(): Promise<string[]> {
    const reports = await this.cluster.list(NODE_FENCE_REPORTS);
    return reports.filter((report) => report.status?.identity !== undefined).map((report) => report.metadata.name);
  }

  /** Breaks the node. The moment is written into the trace before the blow. */
  breakNode(node: string, fault: Fault): number {
    const member = this.members.get(node);
    if (member === undefined) throw new Error(`no node ${node}: there are ${this.nodes.join(', ')}`);
    if (fault === 'bmc-slow') member.child.tell({ command: 'faults', faults: { offDelayMs: WORLD.bmcSlowMs } });
    if (fault === 'bmc-lies') member.child.tell({ command: 'faults', faults: 'lies' });
    const at = this.now();
    this.record({ kind: 'fault', at, fault, node });
    if (fault === 'hang') member.child.tell({ command: 'machine', line: { command: 'hang' } });
    else member.child.tell({ command: 'panic' });
    return at;
  }

  /** Milliseconds since 1970 on the clock of all traces. */
  now(): number {
    return performance.timeOrigin + performance.now();
  }

  record(event: TraceEvent): void {
    appendFileSync(this.trace('drill'), `${JSON.stringify(event)}\n`);
  }

  /** Everything that was seen from outside so far, in the order of time. */
  traces(): TraceEvent[] {
    const names = ['drill', 'api', 'cluster-controllers', ...this.nodes.flatMap((node) => [`bmc-${node}`, `machine-${node}`])];
    return names.flatMap((name) => readLines(this.trace(name))).sort((a, b) => a.at - b.at);
  }

  trace(name: string): string {
    return join(this.folder, 'traces', `${name}.jsonl`);
  }

  /** A child of the drill that ends with it. */
  async run(name: string, command: readonly string[], ready: boolean): Promise<Child> {
    return (await this.child(name, command, ready)).child;
  }

  /** Ends every process, the youngest first, and removes what they wrote. */
  async stop(): Promise<void> {
    await Promise.all(this.children.map((child) => child.stop(2_000)));
    rmSync(this.folder, { recursive: true, force: true });
  }

  private get api(): { transport: ApiTransport; cluster: Cluster } {
    if (this.connected === undefined) throw new Error('the API server was not started');
    return this.connected;
  }

  private async startMember({ node, systemUUID = this.uuid(), serial, labels, credentials = this.credentials }: Machine): Promise<void> {
    const machine = join(this.folder, `machine-${node}.json`);
    const identity = {
      node,
      systemUUID,
      labels,
      disk: join(this.folder, 'disk'),
      bootDelayMs: WORLD.bootMs,
      options: { renewMs: WORLD.kubeletRenewMs },
    };
    writeFileSync(machine, JSON.stringify({ ...this.access(`system:node:${node}`), ...identity, trace: this.trace(`machine-${node}`) }), {
      mode: 0o600,
    });
    const certificate = this.authority.issue({ commonName: `bmc-${node}`, hosts: [HOST] });
    const { child, ready } = await this.member(node, {
      node,
      uuid: systemUUID,
      serial,
      username: credentials.username,
      password: credentials.password,
      host: HOST,
      certificate,
      trace: this.trace(`bmc-${node}`),
      machine: { command: [process.execPath, program('machine')], configuration: machine },
    });
    const url = new URL(String(ready['url']));
    const bmc = { node, host: url.hostname, port: Number(url.port), fingerprint: String(ready['fingerprint']) };
    this.members.set(node, { name: node, child, bmc });
  }

  private member(node: string, configuration: object): Promise<{ child: Child; ready: Readonly<Record<string, unknown>> }> {
    return this.child(`bmc-${node}`, [process.execPath, program('bmc'), this.write(`bmc-${node}`, configuration)], true);
  }

  private async spawn(name: string, configuration: object): Promise<Readonly<Record<string, unknown>>> {
    return (await this.child(name, [process.execPath, program(name), this.write(name, configuration)], true)).ready;
  }

  private async child(name: string, command: readonly string[], ready: boolean): Promise<{ child: Child; ready: Readonly<Record<string, unknown>> }> {
    const started = await Child.start({
      name,
      command,
      logFile: join(this.folder, 'logs', `${name}.log`),
      ready,
      readyDeadlineMs: READY_DEADLINE_MS,
    });
    this.children.unshift(started.child);
    return started;
  }

  private write(name: string, configuration: object): string {
    const path = join(this.folder, `${name}.json`);
    writeFileSync(path, JSON.stringify(configuration), { mode: 0o600 });
    return path;
  }

  private access(user: string): { server: string; caPem: string; token: string; trace: string } {
    const name = user.startsWith('system:node:') ? `machine-${user.slice('system:node:'.length)}` : 'cluster-controllers';
    return { server: this.server, caPem: this.caPem, token: this.token(user), trace: this.trace(name) };
  }

  private token(user: string): string {
    const token = this.tokens.get(user) ?? this.secret();
    this.tokens.set(user, token);
    return token;
  }

  private secret(): string {
    const secret = randomBytes(18).toString('base64url');
    this.secrets.push(secret);
    return secret;
  }

  private uuid(): string {
    return randomUUID();
  }
}

function program(name: string): string {
  return programPath(`../processes/${name}`);
}

function readLines(path: string): TraceEvent[] {
  try {
    const lines = readFileSync(path, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as TraceEvent);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
