import { timestamp } from '../../ports/clock.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Random } from '../../ports/random.ts';
import type { WorldApi } from './api.ts';
import { isReady, volumeInUseName, WORLD_NODES } from './kinds.ts';
import type { WorldNode } from './kinds.ts';
import { Loop } from './loop.ts';
import type { KubeletOptions } from './options.ts';

const DISK_PRESSURE = 'DiskPressure';
const FULL = { status: 'True', reason: 'KubeletHasDiskPressure', message: 'kubelet has disk pressure' };

/** What a kubelet says beside Ready. */
const PRESSURES = [
  { type: 'MemoryPressure', reason: 'KubeletHasSufficientMemory', message: 'kubelet has sufficient memory available' },
  { type: DISK_PRESSURE, reason: 'KubeletHasNoDiskPressure', message: 'kubelet has no disk pressure' },
  { type: 'PIDPressure', reason: 'KubeletHasSufficientPID', message: 'kubelet has sufficient PID available' },
];

/** Registers the Node and posts its status: boot ID, conditions, mounted volumes. */
export class NodeStatus {
  readonly #api: WorldApi;
  readonly #clock: Clock;
  readonly #options: KubeletOptions;
  readonly #loop: Loop;
  #posted: string | undefined;
  #inUse: readonly string[] = [];
  /** Since when it is Ready and has room, by its own word. */
  #readySince: string | undefined;
  #wellSince: string | undefined;
  /** Since when its disk is full; undefined: it is not. */
  #fullSince: string | undefined;
  /** Since when its container runtime does not answer; undefined: it does. */
  #illSince: string | undefined;

  constructor(api: WorldApi, clock: Clock, random: Random, options: KubeletOptions) {
    this.#api = api;
    this.#clock = clock;
    this.#options = options;
    this.#loop = new Loop(clock, random, () => this.#heartbeat());
  }

  start(): void {
    this.#loop.poke();
  }

  stop(): void {
    this.#loop.stop();
  }

  /** The Node was seen in the API: a kubelet that reads NotReady of itself, or no Node at all, posts at once. */
  observe(node: WorldNode | undefined): void {
    if (node === undefined) this.#posted = undefined;
    if (node !== undefined && (isReady(node) || this.#illSince !== undefined)) return;
    this.#readySince = undefined;
    this.#wellSince = undefined;
    this.#loop.poke();
  }

  /** The disk of the node is full, or has room again: told at once. */
  fill(isFull: boolean): void {
    this.#fullSince = isFull ? (this.#fullSince ?? timestamp(this.#clock)) : undefined;
    this.#wellSince = undefined;
    this.#loop.poke();
  }

  /** Its container runtime does not answer any more, or does again: told at once, as long as the kubelet lives. */
  ail(isIll: boolean): void {
    this.#illSince = isIll ? (this.#illSince ?? timestamp(this.#clock)) : undefined;
    this.#loop.poke();
  }

  /** Resolves when the API knows that exactly these volumes are mounted here. */
  async mount(volumes: readonly string[]): Promise<void> {
    const wanted = [...new Set(volumes)].sort().map(volumeInUseName);
    if (wanted.join() === this.#inUse.join()) return;
    const { node } = this.#options;
    await this.#api.patch(WORLD_NODES, { name: node, subresource: 'status' }, 'merge', { status: { volumesInUse: wanted } });
    this.#inUse = wanted;
  }

  /** A last word before an orderly shutdown. */
  async postShutdown(): Promise<void> {
    await this.#patch({ conditions: [this.#ready('False', 'KubeletNotReady', 'node is shutting down')] });
  }

  async #heartbeat(): Promise<number> {
    if (this.#posted === undefined) await this.#register();
    const { node, bootID, systemUUID, address } = this.#options;
    const conditions = [...this.#pressures(), this.#ownWord()];
    const nodeInfo = {
      bootID,
      machineID: systemUUID ?? node,
      systemUUID: systemUUID ?? '',
      kubeletVersion: 'v1.32.0',
      osImage: 'drill',
      ...VERSIONS,
    };
    const addresses = [
      { type: 'InternalIP', address: address ?? '127.0.0.1' },
      { type: 'Hostname', address: node },
    ];
    const size = { cpu: '4', memory: '8Gi', pods: '110' };
    const isFirst = this.#posted !== bootID;
    await this.#patch({ conditions, ...(isFirst ? { nodeInfo, addresses, capacity: size, allocatable: size, volumesInUse: this.#inUse } : {}) });
    this.#posted = bootID;
    return this.#options.heartbeatMs;
  }

  async #register(): Promise<void> {
    const { node, providerID, labels } = this.#options;
    const spec = providerID === undefined ? {} : { providerID };
    const known = { 'kubernetes.io/hostname': node, 'kubernetes.io/os': 'linux', ...labels };
    if ((await this.#api.get(WORLD_NODES, { name: node })) !== undefined) return;
    const metadata = { name: node, labels: known, annotations: CONTROLLER_ATTACHES };
    await this.#api.ensure(WORLD_NODES, { metadata, spec, status: {} } as WorldNode);
  }

  #ownWord(): object {
    if (this.#illSince === undefined) return this.#ready('True', 'KubeletReady', 'kubelet is posting ready status');
    return { ...this.#ready('False', 'KubeletNotReady', 'container runtime is down'), lastTransitionTime: this.#illSince };
  }

  #ready(status: 'True' | 'False', reason: string, message: string): object {
    const now = timestamp(this.#clock);
    this.#readySince = status === 'True' ? (this.#readySince ?? now) : undefined;
    return { type: 'Ready', status, reason, message, lastHeartbeatTime: now, lastTransitionTime: this.#readySince ?? now };
  }

  #pressures(): object[] {
    const now = timestamp(this.#clock);
    this.#wellSince ??= now;
    const lastTransitionTime = this.#wellSince;
    return PRESSURES.map((pressure) => {
      const isFull = pressure.type === DISK_PRESSURE && this.#fullSince !== undefined;
      const told = isFull ? { ...FULL, lastTransitionTime: this.#fullSince } : { status: 'False', lastTransitionTime };
      return { ...pressure, lastHeartbeatTime: now, ...told };
    });
  }

  async #patch(status: object): Promise<void> {
    await this.#api.patch(WORLD_NODES, { name: this.#options.node, subresource: 'status' }, 'strategic', { status });
  }
}

/** Without it the attach-detach controller leaves the node's volumes to its kubelet (pkg/volume/util, ControllerManagedAttachAnnotation). */
const CONTROLLER_ATTACHES = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };

const VERSIONS = {
  kernelVersion: '6.1.0',
  architecture: 'amd64',
  operatingSystem: 'linux',
  containerRuntimeVersion: 'drill://1',
  kubeProxyVersion: '',
};
