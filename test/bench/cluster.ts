import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { connect } from '../connection.ts';
import { Child } from '../../src/drill/run/child.ts';
import { CONTROLLER_USER } from '../../src/drill/run/cluster-session.ts';
import { install } from '../../src/drill/run/installation.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { NAMESPACE } from '../../src/manifests/access.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { ConfigMap, Lease, Node } from '../../src/ports/objects.ts';
import { CONFIG_MAPS, NODE_FENCE_REPORTS, NODE_LEASE_NAMESPACE, SECRETS } from '../../src/ports/resources.ts';

/** Objects of so many nodes are made in one turn of the API server. */
const NODES_AT_ONCE = 250;
/** Reports come at a pace of their own, eight a second: what the machine said counts meanwhile. */
const KNOWN_WITHIN_MS = 20_000;
/** Of thousands of nodes, for who measures what a cluster does that is long installed. */
export const ALL_KNOWN_WITHIN_MS = 900_000;
/** Both processes write a CPU profile into the folder that is named so. */
const PROFILED = process.env['BENCH_PROFILE'] === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${process.env['BENCH_PROFILE']}`];
const READY_DEADLINE_MS = 30_000;
const GROUPS = ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'];
/** Never fails; its lease is renewed, so that the controller's view of leases stays fresh. */
export const LIVELY_NODE = 'lively';
/** Of every node until it fails. */
export const FIRST_HEARTBEAT = timestamp();
/** No delay before the first device call; the rest as short as the inequalities of timing allow. */
const SETTINGS = {
  isolation_delay: '0',
  power_management_delay: '0',
  set_deadline: '1s',
  settle: '3100ms',
  off_stable: '1s',
  power_timeout: '11s',
  healthy_delay: '1s',
  probation: '10s',
  life_wait: '3s',
  kubelet_lease_renewal: '500ms',
  kubelet_read_latency: '500ms',
  // A soak fails each node more often than that within what is a day of its own clock.
  max_fences_per_day: '1000000',
};

/** Judged as in production, and wide open: what fails is failed on purpose, and nobody renews the leases of thousands of nodes here. */
const POLICIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'max-unhealthy': { percentage: '100' },
  'max-concurrent': { max: '100000', max_per_domain: '100000' },
  'startup-grace': { duration: '0' },
  'controller-isolated': { grace: '1s', min_reachable: '0' },
};

export interface BenchOptions {
  /** On each node. */
  pods?: number;
  /** `rate`: so many fences begin within the window. Without it, any number. */
  pace?: { max: number; window: string };
  /** Absent: as short as timing allows. */
  lifeWait?: string;
  /** How long a NodeFence that is final is kept; default: that of the product. */
  historyTtl?: string;
}

export interface StartOptions {
  /** Is `callsFile` wanted? Default: yes. */
  keepsCalls?: boolean;
  /** How long to wait for the reports of all nodes. */
  knownWithinMs?: number;
}

export interface ControllerUse {
  rssMb: number;
  /** What is left of the heap after a full collection. */
  heapMb: number;
  cpuMs: number;
  /** Ready to run, and no core was free. */
  waitedMs: number;
  /** Of the event loop, since the last question. */
  lagP99Ms: number;
  lagMaxMs: number;
  /** What the process holds open. */
  handles: Record<string, number>;
}

/** An API server with many nodes and a controller, each a process of its own. */
export class BenchCluster {
  readonly folder: string;
  readonly nodes: readonly string[];
  readonly cluster: Cluster;
  readonly transport: ApiTransport;
  readonly #api: Child;
  readonly #access: { server: string; caPem: string };
  readonly #controllerToken: string;
  #controller: ChildProcess | undefined;

  private constructor(
    count: number,
    api: Child,
    access: { server: string; caPem: string },
    tokens: { operator: string; controller: string },
    folder: string,
  ) {
    this.folder = folder;
    this.#api = api;
    this.#access = access;
    this.#controllerToken = tokens.controller;
    this.transport = connect({ ...access, token: tokens.operator });
    this.cluster = new ApiClient({ transport: this.transport });
    this.nodes = Array.from({ length: count }, (_unused, index) => `node-${index + 1}`);
  }

  static async start(count: number, options: BenchOptions = {}): Promise<BenchCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'nodefence-bench-'));
    const tokens = { operator: randomBytes(18).toString('base64url'), controller: randomBytes(18).toString('base64url') };
    const users = [
      { name: 'operator', groups: ['system:masters'], token: tokens.operator },
      { name: CONTROLLER_USER, groups: GROUPS, token: tokens.controller },
    ];
    const file = join(folder, 'api.json');
    writeFileSync(file, JSON.stringify({ users, authorization: 'rbac', trace: join(folder, 'api.jsonl') }), { mode: 0o600 });
    const program = fileURLToPath(new URL('../../src/testbed/processes/api.ts', import.meta.url));
    const command = [process.execPath, ...PROFILED, program, file];
    const { child, ready } = await Child.start({
      name: 'api',
      command,
      logFile: join(folder, 'api.log'),
      ready: true,
      readyDeadlineMs: READY_DEADLINE_MS,
    });
    const bench = new BenchCluster(count, child, { server: String(ready['url']), caPem: String(ready['caPem']) }, tokens, folder);
    await install(bench);
    await bench.#populate(options);
    return bench;
  }

  /** Starts the controller; resolves when it has synced and holds an identity for every node. Milliseconds of the sync. */
  async startController(
    onSet: (node: string, state: string) => void,
    { keepsCalls = true, knownWithinMs = KNOWN_WITHIN_MS }: StartOptions = {},
  ): Promise<number> {
    const file = join(this.folder, 'controller.json');
    writeFileSync(file, JSON.stringify({ ...this.#access, token: this.#controllerToken, ...(keepsCalls ? { calls: this.callsFile } : {}) }), {
      mode: 0o600,
    });
    const log = openSync(join(this.folder, 'controller.log'), 'a');
    const controller = fork(fileURLToPath(new URL('controller/main.ts', import.meta.url)), [file], {
      stdio: ['ignore', log, log, 'ipc'],
      env: { ...process.env, MALLOC_ARENA_MAX: '1' },
      execArgv: ['--expose-gc', '--max-semi-space-size=2', ...PROFILED],
    });
    closeSync(log);
    this.#controller = controller;
    const synced = await new Promise<number>((resolve, reject) => {
      const onExit = (): void =>
        reject(new Error(`the controller ended: ${readFileSync(join(this.folder, 'controller.log'), 'utf8').slice(-2_000)}`));
      controller.once('exit', onExit);
      controller.on('message', (message: { synced?: boolean; tookMs?: number; set?: string; node?: string }) => {
        if (message.set !== undefined) onSet(message.node ?? '', message.set);
        if (message.synced !== true) return;
        controller.off('exit', onExit);
        resolve(message.tookMs ?? 0);
      });
    });
    await this.#untilKnown(knownWithinMs);
    return synced;
  }

  /** The controller's use of the machine so far; its device calls lie in `callsFile` then. */
  async usage(): Promise<ControllerUse> {
    const controller = this.#controller;
    if (controller === undefined) throw new Error('the controller was not started');
    if (!controller.connected) throw new Error(`the controller ended: ${readFileSync(join(this.folder, 'controller.log'), 'utf8').slice(-2_000)}`);
    return new Promise((resolve) => {
      const onMessage = (message: ControllerUse & { done?: boolean }): void => {
        if (message.done !== true) return;
        controller.off('message', onMessage);
        resolve(message);
      };
      controller.on('message', onMessage);
      controller.send({ usage: true });
    });
  }

  get callsFile(): string {
    return join(this.folder, 'calls.json');
  }

  /** Bytes of the API server's audit so far. */
  auditSize(): number {
    return statSync(join(this.folder, 'api.jsonl')).size;
  }

  audit(fromByte: number): ApiEvent[] {
    const file = openSync(join(this.folder, 'api.jsonl'), 'r');
    const buffer = Buffer.alloc(this.auditSize() - fromByte);
    readSync(file, buffer, 0, buffer.length, fromByte);
    closeSync(file);
    const lines = buffer.toString('utf8').split('\n');
    return lines.slice(0, -1).map((line) => JSON.parse(line) as ApiEvent);
  }

  async stop(): Promise<void> {
    if (this.#controller?.connected === true) this.#controller.disconnect();
    await this.#api.stop(5_000);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Heartbeats of nodes that are well: so many renewals a second, made in the process of the API server. */
  renewLeases(nodes: readonly string[], perSecond: number): void {
    this.#api.tell({ command: 'renew', nodes, perSecond });
  }

  async #populate({ pods = 0, pace = { max: 100_000, window: '10m' }, historyTtl, lifeWait }: BenchOptions): Promise<void> {
    const { cluster } = this;
    const more = { ...(historyTtl !== undefined && { history_ttl: historyTtl }), ...(lifeWait !== undefined && { life_wait: lifeWait }) };
    const settings = { ...SETTINGS, ...more };
    await cluster.create(SECRETS, {
      metadata: { name: 'login', namespace: NAMESPACE },
      data: { password: Buffer.from('secret').toString('base64') },
    });
    await cluster.create(CONFIG_MAPS, configMap('fence-cluster-config', { 'config.properties': properties(settings) }));
    await cluster.create(CONFIG_MAPS, configMap('template', { 'template.properties': properties({ agent_name: 'simulated', secret: 'login' }) }));
    for (const [policy, values] of Object.entries({ ...POLICIES, rate: { max: String(pace.max), window: pace.window } }))
      await cluster.create(CONFIG_MAPS, configMap(`fence-policy-${policy}`, { 'config.properties': properties(values) }));
    const names = [...this.nodes, LIVELY_NODE];
    for (let from = 0; from < names.length; from += NODES_AT_ONCE) {
      const some = names.slice(from, from + NODES_AT_ONCE);
      this.#api.tell({ command: 'create', writes: some.flatMap((name) => writesOf(name, pods)) });
      await this.#untilThere(some.at(-1) ?? '');
    }
  }

  async #untilThere(name: string): Promise<void> {
    while ((await this.cluster.get(CONFIG_MAPS, `fence-config-${name}`, NAMESPACE)) === undefined) await pause(20);
  }

  async #untilKnown(withinMs: number): Promise<void> {
    const giveUpAtMs = performance.now() + withinMs;
    for (let known = 0; known < this.nodes.length && performance.now() < giveUpAtMs;) {
      await pause(500);
      const reports = await this.cluster.list(NODE_FENCE_REPORTS);
      known = reports.filter((report) => report.status?.identity !== undefined).length;
    }
  }
}

/** A node with all that belongs to it; its configuration comes last. */
function writesOf(name: string, pods: number): { path: string; body: object }[] {
  return [
    { path: '/api/v1/nodes', body: nodeNamed(name) },
    { path: `/apis/coordination.k8s.io/v1/namespaces/${NODE_LEASE_NAMESPACE}/leases`, body: leaseOf(name) },
    ...Array.from({ length: pods }, (_unused, index) => ({ path: '/api/v1/namespaces/default/pods', body: podOf(name, index) })),
    { path: `/api/v1/namespaces/${NAMESPACE}/configmaps`, body: configurationOf(name) },
  ];
}

function podOf(nodeName: string, index: number): object {
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  return {
    metadata: { name: `${nodeName}-pod-${index}`, namespace: 'default' },
    spec: { nodeName, containers: [{ name: 'main', image: 'none' }] },
    status,
  };
}

function nodeNamed(name: string): Node {
  const nodeInfo = { bootID: `${name}-boot-1`, systemUUID: `${name}-uuid`, machineID: name };
  return {
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    spec: {},
    status: { conditions: [ready('True', FIRST_HEARTBEAT)], nodeInfo },
  };
}

/** The heartbeat is the kubelet's: it stays when the node controller declares the Node Unknown. */
export function ready(status: 'True' | 'Unknown', heartbeat: string): NonNullable<Node['status']['conditions']>[number] {
  const reason = status === 'True' ? 'KubeletReady' : 'NodeStatusUnknown';
  return { type: 'Ready', status, reason, message: '', lastTransitionTime: timestamp(), lastHeartbeatTime: heartbeat };
}

export function timestamp(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}

function leaseOf(name: string): Lease {
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  return { metadata: { name, namespace: NODE_LEASE_NAMESPACE }, spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime } };
}

function configurationOf(node: string): ConfigMap {
  const method = (action: string): string => properties({ template: 'template', ip: node, action });
  return configMap(`fence-config-${node}`, {
    'config.properties': properties({ isolation: 'mark-unschedulable', power_management: 'off on', recovery: 'mark-schedulable' }),
    'fence-method-off': method('off'),
    'fence-method-on': method('on'),
  });
}

function configMap(name: string, data: Record<string, string>): ConfigMap {
  return { metadata: { name, namespace: NAMESPACE }, data };
}

function properties(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}
