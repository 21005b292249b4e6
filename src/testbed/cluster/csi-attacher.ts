import type { Clock } from '../../ports/clock.ts';
import { VOLUME_ATTACHMENTS } from '../../ports/resources.ts';
import type { VolumeAttachment } from '../../ports/objects.ts';
import type { WorldApi } from './api.ts';
import type { ClusterView } from './cluster-view.ts';
import { CSI_DRIVER } from './kinds.ts';
import type { ClusterOptions } from './options.ts';

/** What external-attacher does beside the drill's CSI driver: some time after a VolumeAttachment was made, the volume is attached. */
export class CsiAttacher {
  readonly #api: WorldApi;
  readonly #clock: Clock;
  readonly #view: ClusterView;
  readonly #options: ClusterOptions;
  /** Monotonic time at which a volume is attached, by UID of the attachment. */
  readonly #dueAtMs = new Map<string, number>();

  constructor(api: WorldApi, clock: Clock, view: ClusterView, options: ClusterOptions) {
    this.#api = api;
    this.#clock = clock;
    this.#view = view;
    this.#options = options;
  }

  async run(): Promise<number | undefined> {
    const waiting = [...this.#view.attachments.all()].filter(isWaiting);
    const uids = new Set(waiting.map(({ metadata }) => metadata.uid ?? ''));
    for (const uid of [...this.#dueAtMs.keys()]) if (!uids.has(uid)) this.#dueAtMs.delete(uid);
    let nextMs: number | undefined;
    for (const attachment of waiting) {
      const waitMs = await this.#attach(attachment);
      if (waitMs !== undefined) nextMs = Math.min(nextMs ?? waitMs, waitMs);
    }
    return nextMs;
  }

  async #attach({ metadata: { name, uid = '' } }: VolumeAttachment): Promise<number | undefined> {
    const dueAtMs = this.#dueAtMs.get(uid) ?? this.#clock.monotonicMs() + this.#options.attachMs;
    this.#dueAtMs.set(uid, dueAtMs);
    const waitMs = dueAtMs - this.#clock.monotonicMs();
    if (waitMs > 0) return waitMs;
    await this.#api.patch(VOLUME_ATTACHMENTS, { name, subresource: 'status' }, 'merge', { metadata: { uid }, status: { attached: true } });
    return undefined;
  }
}

function isWaiting({ metadata, spec, status }: VolumeAttachment): boolean {
  return spec.attacher === CSI_DRIVER && status?.attached !== true && metadata.deletionTimestamp === undefined;
}
