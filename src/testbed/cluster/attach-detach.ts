import type { Clock } from '../../ports/clock.ts';
import type { VolumeAttachment } from '../../ports/objects.ts';
import { VOLUME_ATTACHMENTS } from '../../ports/resources.ts';
import type { WorldApi } from './api.ts';
import type { ClusterView } from './cluster-view.ts';
import { CSI_DRIVER, isPodFinished, isReady, volumeInUseName } from './kinds.ts';
import type { WorldNode } from './kinds.ts';
import type { ClusterOptions } from './options.ts';
import { isOutOfService } from './taints.ts';

/**
 * Has volumes of scheduled pods attached and detaches those that no pod uses: when the kubelet says that they are unmounted, at once on a node
 * with the out-of-service taint, or by force from a node that is unhealthy or gone after `forceDetachMs`. A ReadWriteOnce volume is never on two nodes.
 */
export class AttachDetach {
  readonly #api: WorldApi;
  readonly #clock: Clock;
  readonly #view: ClusterView;
  readonly #options: ClusterOptions;
  /** Monotonic time since which a volume is attached without need, by attachment name. */
  readonly #unneededAtMs = new Map<string, number>();
  /** What the kubelets of deleted Nodes last said that they have mounted, by node, for as long as a volume is attached there and no other Node is. */
  readonly #leftInUse = new Map<string, readonly string[]>();

  constructor(api: WorldApi, clock: Clock, view: ClusterView, options: ClusterOptions) {
    this.#api = api;
    this.#clock = clock;
    this.#view = view;
    this.#options = options;
  }

  /** With its Node goes nothing of what a kubelet has mounted, as far as anybody knows. */
  heardNode(before: WorldNode | undefined, after: WorldNode | undefined): void {
    if (after !== undefined) this.#leftInUse.delete(after.metadata.name);
    else if (before?.status.volumesInUse !== undefined) this.#leftInUse.set(before.metadata.name, before.status.volumesInUse);
  }

  async run(): Promise<number | undefined> {
    const needed = this.#needed();
    let nextMs: number | undefined;
    const wait = (waitMs: number | undefined): void => {
      if (waitMs !== undefined) nextMs = Math.min(nextMs ?? waitMs, waitMs);
    };
    const holders = new Set<string>();
    for (const attachment of [...this.#view.attachments.all()]) {
      const name = attachment.metadata.name;
      holders.add(volumeOf(attachment));
      if (!needed.has(name)) wait(await this.#detach(attachment));
      else this.#unneededAtMs.delete(name);
    }
    for (const [name, { volume, node }] of needed) if (!holders.has(volume)) await this.#attach(name, volume, node);
    this.#forgetGone();
    return nextMs;
  }

  /** By attachment name: what pods that are bound to a node need. */
  #needed(): Map<string, { volume: string; node: string }> {
    const needed = new Map<string, { volume: string; node: string }>();
    for (const pod of this.#view.pods.all()) {
      const node = pod.spec.nodeName;
      if (node === undefined || isPodFinished(pod)) continue;
      for (const { persistentVolumeClaim } of pod.spec.volumes ?? []) {
        if (persistentVolumeClaim === undefined) continue;
        const volume = this.#view.claims.get(`${pod.metadata.namespace ?? ''}/${persistentVolumeClaim.claimName}`)?.spec.volumeName;
        if (volume !== undefined) needed.set(`csi-${volume}-${node}`, { volume, node });
      }
    }
    return needed;
  }

  async #attach(name: string, volume: string, node: string): Promise<void> {
    const attachment: VolumeAttachment = {
      metadata: { name },
      spec: { attacher: CSI_DRIVER, nodeName: node, source: { persistentVolumeName: volume } },
    };
    await this.#api.ensure(VOLUME_ATTACHMENTS, attachment);
  }

  async #detach(attachment: VolumeAttachment): Promise<number | undefined> {
    const { name } = attachment.metadata;
    const node = this.#view.nodes.get(attachment.spec.nodeName);
    const sinceMs = this.#unneededAtMs.get(name) ?? this.#clock.monotonicMs();
    this.#unneededAtMs.set(name, sinceMs);
    const inUse = node === undefined ? this.#leftInUse.get(attachment.spec.nodeName) : node.status.volumesInUse;
    const isMounted = inUse?.includes(volumeInUseName(volumeOf(attachment))) === true;
    if (isMounted && (node === undefined || !isOutOfService(node))) {
      if (node !== undefined && isReady(node)) return undefined;
      const leftMs = sinceMs + this.#options.forceDetachMs - this.#clock.monotonicMs();
      if (leftMs > 0) return leftMs;
    }
    await this.#api.remove(VOLUME_ATTACHMENTS, attachment);
    return undefined;
  }

  #forgetGone(): void {
    for (const name of [...this.#unneededAtMs.keys()]) if (this.#view.attachments.get(name) === undefined) this.#unneededAtMs.delete(name);
    const attachedTo = new Set([...this.#view.attachments.all()].map(({ spec }) => spec.nodeName));
    for (const node of [...this.#leftInUse.keys()]) if (!attachedTo.has(node)) this.#leftInUse.delete(node);
  }
}

function volumeOf(attachment: VolumeAttachment): string {
  return attachment.spec.source.persistentVolumeName ?? '';
}
