import type { VolumeAttachment } from '../../ports/objects.ts';
import { VOLUME_ATTACHMENTS } from '../../ports/resources.ts';
import type { NodeEvent } from '../../laws/trace.ts';
import { WorldApi } from './api.ts';
import type { WorldDependencies } from './dependencies.ts';
import type { Disk } from './disk.ts';
import { WORLD_NODES, WORLD_PODS } from './kinds.ts';
import type { WorldNode, WorldPod } from './kinds.ts';
import { Loop } from './loop.ts';
import { Mirror } from './mirror.ts';
import { NodeLease } from './node-lease.ts';
import { NodeStatus } from './node-status.ts';
import type { KubeletOptions } from './options.ts';
import { PodSync } from './pod-sync.ts';
import { SwitchedTransport } from './switched-transport.ts';
import { Workload } from './workload.ts';

export interface KubeletDependencies extends WorldDependencies {
  disk: Disk;
}

/** One boot of one node: its kubelet, and the containers that outlive it until the power goes. */
export class Kubelet {
  readonly #dependencies: KubeletDependencies;
  readonly #options: KubeletOptions;
  readonly #network: SwitchedTransport;
  readonly #workload: Workload;
  readonly #nodeStatus: NodeStatus;
  readonly #parts: { start(): void; stop(): void }[];
  readonly #podLoop: Loop;
  #isUp = false;

  constructor(dependencies: KubeletDependencies, options: KubeletOptions) {
    const { transport, clock, random, disk, trace } = dependencies;
    this.#dependencies = dependencies;
    this.#options = options;
    this.#network = new SwitchedTransport(transport, clock);
    const api = new WorldApi(this.#network);
    this.#workload = new Workload(clock, disk, trace, options);
    this.#nodeStatus = new NodeStatus(api, clock, random, options);
    const watched = { transport: this.#network, clock, random };
    const poke = (): void => {
      this.#podLoop.poke();
    };
    const pods = new Mirror<WorldPod>({
      ...watched,
      resource: WORLD_PODS,
      fieldSelector: `spec.nodeName=${options.node}`,
      onChange: poke,
      onSync: poke,
    });
    const isHere = (attachment: VolumeAttachment | undefined): boolean => attachment?.spec.nodeName === options.node;
    const attachments = new Mirror<VolumeAttachment>({
      ...watched,
      resource: VOLUME_ATTACHMENTS,
      onChange: (before, after) => {
        if (isHere(before) || isHere(after)) poke();
      },
      onSync: poke,
    });
    const node = new Mirror<WorldNode>({
      ...watched,
      resource: WORLD_NODES,
      fieldSelector: `metadata.name=${options.node}`,
      onChange: (_before, after) => {
        this.#nodeStatus.observe(after);
      },
    });
    const sync = new PodSync({ api, clock, options, pods, attachments, nodeStatus: this.#nodeStatus, workload: this.#workload });
    this.#podLoop = new Loop(clock, random, () => sync.run());
    this.#parts = [new NodeLease(api, clock, random, options), this.#nodeStatus, pods, attachments, node];
  }

  /** UIDs of the pods whose containers run, whatever the kubelet does. */
  get running(): readonly string[] {
    return this.#workload.running;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  start(): void {
    this.#isUp = true;
    this.#record('kubelet-up');
    for (const part of this.#parts) part.start();
  }

  /** The kubelet does nothing any more; its containers go on writing. */
  hang(): void {
    if (!this.#isUp) return;
    this.#record('hang');
    this.#down();
  }

  /** Its disk is full, or has room again. */
  fill(isFull: boolean): void {
    this.#nodeStatus.fill(isFull);
  }

  /** Its container runtime does not answer, or does again: the node is not Ready by its own word, and what runs goes on. */
  ail(isIll: boolean): void {
    this.#nodeStatus.ail(isIll);
  }

  /** Cut off from the API; kubelet and containers go on. */
  partition(): void {
    this.#network.cut();
  }

  heal(): void {
    this.#network.heal();
  }

  /** Kernel panic or power off: everything ends at once, nothing more is sent. */
  stop(): void {
    this.#down();
    this.#workload.stopAll();
  }

  /** An orderly shutdown: containers stop, then the node says that it is not ready. */
  async shutdown(): Promise<void> {
    this.#workload.stopAll();
    await this.#nodeStatus.postShutdown();
    this.stop();
  }

  #down(): void {
    if (this.#isUp) this.#record('kubelet-down');
    this.#isUp = false;
    this.#workload.seal();
    this.#podLoop.stop();
    for (const part of this.#parts) part.stop();
    this.#network.cut();
  }

  #record(what: NodeEvent['what']): void {
    const { node, bootID } = this.#options;
    this.#dependencies.trace({ kind: 'node', at: this.#dependencies.clock.wallMs(), node, what, bootID });
  }
}
