import type { KubeObject, Lease, VolumeAttachment } from '../../ports/objects.ts';
import type { Resource } from '../../ports/cluster.ts';
import { LEASES, NODE_LEASE_NAMESPACE, VOLUME_ATTACHMENTS } from '../../ports/resources.ts';
import type { WorldDependencies } from './dependencies.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STATEFUL_SETS, WORLD_NODES, WORLD_PODS } from './kinds.ts';
import type { PersistentVolume, PersistentVolumeClaim, StatefulSet, WorldNode, WorldPod } from './kinds.ts';
import { Mirror } from './mirror.ts';

/** What changed; each controller says which of these wake it. */
export type Topic = 'nodes' | 'pods' | 'leases' | 'claims' | 'volumes' | 'sets' | 'attachments';

/** The caches that all cluster controllers share, as in kube-controller-manager. */
export class ClusterView {
  readonly nodes: Mirror<WorldNode>;
  readonly pods: Mirror<WorldPod>;
  readonly leases: Mirror<Lease>;
  readonly claims: Mirror<PersistentVolumeClaim>;
  readonly volumes: Mirror<PersistentVolume>;
  readonly sets: Mirror<StatefulSet>;
  readonly attachments: Mirror<VolumeAttachment>;
  readonly #listeners = new Map<Topic, ((before: KubeObject | undefined, after: KubeObject | undefined) => void)[]>();
  readonly #mirrors: readonly { start(): void; stop(): void; readonly isSynced: boolean }[];

  constructor(dependencies: WorldDependencies) {
    const mirror = <T extends KubeObject>(topic: Topic, resource: Resource<T>, namespace?: string): Mirror<T> =>
      new Mirror<T>({
        ...dependencies,
        resource,
        ...(namespace === undefined ? {} : { namespace }),
        onChange: (before, after) => {
          this.#announce(topic, before, after);
        },
        onSync: () => {
          if (this.isSynced) for (const every of this.#listeners.keys()) this.#announce(every, undefined, undefined);
        },
      });
    this.nodes = mirror('nodes', WORLD_NODES);
    this.pods = mirror('pods', WORLD_PODS);
    this.leases = mirror('leases', LEASES, NODE_LEASE_NAMESPACE);
    this.claims = mirror('claims', PERSISTENT_VOLUME_CLAIMS);
    this.volumes = mirror('volumes', PERSISTENT_VOLUMES);
    this.sets = mirror('sets', STATEFUL_SETS);
    this.attachments = mirror('attachments', VOLUME_ATTACHMENTS);
    this.#mirrors = [this.nodes, this.pods, this.leases, this.claims, this.volumes, this.sets, this.attachments];
  }

  get isSynced(): boolean {
    return this.#mirrors.every((mirror) => mirror.isSynced);
  }

  start(): void {
    for (const mirror of this.#mirrors) mirror.start();
  }

  stop(): void {
    for (const mirror of this.#mirrors) mirror.stop();
  }

  on(topics: readonly Topic[], listener: (before: KubeObject | undefined, after: KubeObject | undefined) => void): void {
    for (const topic of topics) this.#listeners.set(topic, [...(this.#listeners.get(topic) ?? []), listener]);
  }

  #announce(topic: Topic, before: KubeObject | undefined, after: KubeObject | undefined): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(before, after);
  }
}
