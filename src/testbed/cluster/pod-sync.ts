import { timestamp } from '../../ports/clock.ts';
import type { Clock } from '../../ports/clock.ts';
import type { VolumeAttachment } from '../../ports/objects.ts';
import type { WorldApi } from './api.ts';
import { isPodFinished, isPodReady, keyOf, PERSISTENT_VOLUME_CLAIMS, WORLD_PODS } from './kinds.ts';
import type { WorldPod } from './kinds.ts';
import { Programs } from './jobs/programs.ts';
import type { Ended } from './jobs/programs.ts';
import type { Mirror } from './mirror.ts';
import type { NodeStatus } from './node-status.ts';
import type { KubeletOptions } from './options.ts';
import type { Workload } from './workload.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';

export interface PodSyncParts {
  api: WorldApi;
  clock: Clock;
  options: KubeletOptions;
  pods: Mirror<WorldPod>;
  attachments: Mirror<VolumeAttachment>;
  nodeStatus: NodeStatus;
  workload: Workload;
}

/** Makes the containers of one node what its pods in the API say, one pass at a time. */
export class PodSync {
  readonly #parts: PodSyncParts;
  /** Monotonic time at which a pod may start, or must stop. */
  readonly #startAtMs = new Map<string, number>();
  readonly #stopAtMs = new Map<string, number>();
  readonly #volumes = new Map<string, readonly string[]>();
  readonly #programs: Programs;

  constructor(parts: PodSyncParts) {
    this.#parts = parts;
    this.#programs = new Programs(parts.clock);
  }

  /** Returns after how many milliseconds it must run again, if nothing changes before. */
  async run(): Promise<number | undefined> {
    const { pods, attachments } = this.#parts;
    if (!pods.isSynced || !attachments.isSynced) return undefined;
    await this.#stopVanished();
    let nextMs: number | undefined;
    for (const pod of [...pods.all()]) {
      const waitMs = pod.metadata.deletionTimestamp === undefined ? await this.#keepRunning(pod) : await this.#terminate(pod);
      if (waitMs !== undefined) nextMs = Math.min(nextMs ?? waitMs, waitMs);
    }
    return nextMs;
  }

  async #stopVanished(): Promise<void> {
    const { pods, workload, nodeStatus } = this.#parts;
    const present = new Set([...pods.all()].map((pod) => pod.metadata.uid));
    for (const uid of workload.running) if (!present.has(uid)) workload.stop(uid);
    for (const times of [this.#startAtMs, this.#stopAtMs, this.#volumes]) {
      for (const uid of [...times.keys()]) if (!present.has(uid)) times.delete(uid);
    }
    this.#programs.keepOnly(present);
    await nodeStatus.mount(workload.volumes);
  }

  async #keepRunning(pod: WorldPod): Promise<number | undefined> {
    const { workload, clock, options, nodeStatus } = this.#parts;
    const uid = pod.metadata.uid ?? '';
    if (isPodFinished(pod)) return undefined;
    const ended = this.#programs.endOf(pod, workload.isRunning(uid));
    if (ended !== undefined) return this.#end(pod, ended);
    if (workload.isRunning(uid)) {
      if (!isPodReady(pod)) await this.#post(pod, true);
      return this.#programs.waitMs(uid);
    }
    if (isPodReady(pod)) await this.#post(pod, false);
    const volumes = await this.#volumesOf(pod);
    if (volumes?.every((volume) => this.#isAttached(volume)) !== true) return undefined;
    const startAtMs = this.#startAtMs.get(uid) ?? clock.monotonicMs() + options.startDelayMs;
    this.#startAtMs.set(uid, startAtMs);
    const waitMs = startAtMs - clock.monotonicMs();
    if (waitMs > 0) return waitMs;
    await nodeStatus.mount([...workload.volumes, ...volumes]);
    if (!this.#mayStillStart(pod, volumes)) return 0;
    workload.start(uid, keyOf(pod), volumes);
    this.#programs.began(pod);
    await this.#post(pod, true);
    return this.#programs.waitMs(uid);
  }

  /** It ran once, and runs no more. */
  async #end(pod: WorldPod, { phase, reason, message, terminated }: Ended): Promise<undefined> {
    const { workload, nodeStatus } = this.#parts;
    workload.stop(pod.metadata.uid ?? '');
    await nodeStatus.mount(workload.volumes);
    const conditions = this.#conditions(false);
    const containerStatuses = this.#containerStatuses(pod, false, { terminated });
    await this.#patch(pod, { phase, conditions, containerStatuses, ...(reason !== undefined && { reason, message }) });
  }

  /** The mount took a round trip, in which the pod may have been deleted or its volume detached. */
  #mayStillStart(pod: WorldPod, volumes: readonly string[]): boolean {
    const now = this.#parts.pods.get(keyOf(pod));
    const isSame = now?.metadata.uid === pod.metadata.uid && now?.metadata.deletionTimestamp === undefined;
    return isSame && volumes.every((volume) => this.#isAttached(volume));
  }

  async #terminate(pod: WorldPod): Promise<number | undefined> {
    const { workload, clock, nodeStatus, api } = this.#parts;
    const uid = pod.metadata.uid ?? '';
    if (workload.isRunning(uid)) {
      const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1_000;
      const stopAtMs = this.#stopAtMs.get(uid) ?? clock.monotonicMs() + graceMs;
      this.#stopAtMs.set(uid, stopAtMs);
      const waitMs = stopAtMs - clock.monotonicMs();
      if (waitMs > 0) return waitMs;
      workload.stop(uid);
    }
    await nodeStatus.mount(workload.volumes);
    await api.remove(WORLD_PODS, pod, 0);
    return undefined;
  }

  /** Names of the PersistentVolumes that the pod writes; `undefined` while a claim is not bound. */
  async #volumesOf(pod: WorldPod): Promise<readonly string[] | undefined> {
    const uid = pod.metadata.uid ?? '';
    const known = this.#volumes.get(uid);
    if (known !== undefined) return known;
    const names: string[] = [];
    for (const volume of pod.spec.volumes ?? []) {
      if (volume.persistentVolumeClaim === undefined) continue;
      const place = { namespace: pod.metadata.namespace, name: volume.persistentVolumeClaim.claimName };
      const claim = await this.#parts.api.get(PERSISTENT_VOLUME_CLAIMS, place);
      if (claim?.spec.volumeName === undefined) return undefined;
      names.push(claim.spec.volumeName);
    }
    this.#volumes.set(uid, names);
    return names;
  }

  #isAttached(volume: string): boolean {
    for (const attachment of this.#parts.attachments.all()) {
      const { nodeName, source } = attachment.spec;
      const isOurs = nodeName === this.#parts.options.node && source.persistentVolumeName === volume;
      if (isOurs && attachment.status?.attached === true && attachment.metadata.deletionTimestamp === undefined) return true;
    }
    return false;
  }

  async #post(pod: WorldPod, isRunning: boolean): Promise<void> {
    const now = timestamp(this.#parts.clock);
    const state = isRunning ? { running: { startedAt: now } } : { waiting: { reason: 'ContainerCreating' } };
    const address = this.#parts.options.address ?? '127.0.0.1';
    const [conditions, containerStatuses] = [this.#conditions(isRunning), this.#containerStatuses(pod, isRunning, state)];
    const status = { phase: isRunning ? 'Running' : 'Pending', conditions, containerStatuses, hostIP: address, podIP: address, startTime: now };
    await this.#patch(pod, status);
  }

  #conditions(isRunning: boolean): object[] {
    const now = timestamp(this.#parts.clock);
    const word = isRunning ? 'True' : 'False';
    return ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
      type,
      status: type === 'PodScheduled' || type === 'Initialized' ? 'True' : word,
      lastTransitionTime: now,
    }));
  }

  #containerStatuses(pod: WorldPod, isRunning: boolean, state: object): object[] {
    const names = pod.spec.containers?.map((container) => container.name) ?? [];
    return names.map((name) => ({ name, image: 'drill', imageID: '', ready: isRunning, started: isRunning, restartCount: 0, state }));
  }

  async #patch(pod: WorldPod, status: object): Promise<void> {
    const place = { namespace: pod.metadata.namespace, name: pod.metadata.name, subresource: 'status' };
    try {
      await this.#parts.api.patch(WORLD_PODS, place, 'strategic', { metadata: { uid: pod.metadata.uid }, status });
    } catch (error) {
      // 422: a pod of another uid has the name by now.
      const isGone = error instanceof ApiStatusError && [404, 409, 422].includes(error.status);
      if (!isGone) throw error;
    }
  }
}
