import type { OwnerReference } from '../../ports/objects.ts';
import type { WorldApi } from './api.ts';
import type { ClusterView } from './cluster-view.ts';
import { isPodFinished, isPodReady, PERSISTENT_VOLUME_CLAIMS, STATEFUL_SETS, WORLD_PODS } from './kinds.ts';
import type { PersistentVolumeClaim, StatefulSet, WorldPod } from './kinds.ts';
import type { ClusterOptions } from './options.ts';
import { NOT_READY, UNREACHABLE } from './taints.ts';

/** Pods with ordinal names and a volume each; a name is given to a new pod only when the old pod object is gone. */
export class StatefulSetController {
  readonly #api: WorldApi;
  readonly #view: ClusterView;
  readonly #options: ClusterOptions;

  constructor(api: WorldApi, view: ClusterView, options: ClusterOptions) {
    this.#api = api;
    this.#view = view;
    this.#options = options;
  }

  async run(): Promise<undefined> {
    for (const set of [...this.#view.sets.all()]) {
      if (set.metadata.deletionTimestamp === undefined) await this.#scale(set);
    }
  }

  async #scale(set: StatefulSet): Promise<void> {
    const namespace = set.metadata.namespace ?? 'default';
    const replicas = set.spec.replicas ?? 1;
    let [standing, ready] = [0, 0];
    for (let ordinal = 0; ordinal < replicas; ordinal += 1) {
      const pod = this.#view.pods.get(`${namespace}/${set.metadata.name}-${String(ordinal)}`);
      if (pod === undefined) await this.#create(set, namespace, ordinal);
      else {
        standing += 1;
        if (isPodReady(pod)) ready += 1;
        if (isPodFinished(pod) && pod.metadata.deletionTimestamp === undefined) await this.#api.remove(WORLD_PODS, pod);
      }
      const isHealthy = pod !== undefined && isPodReady(pod) && pod.metadata.deletionTimestamp === undefined;
      if (!isHealthy && set.spec.podManagementPolicy !== 'Parallel') break;
    }
    await this.#removeBeyond(set, namespace, replicas);
    await this.#report(set, namespace, standing, ready);
  }

  async #create(set: StatefulSet, namespace: string, ordinal: number): Promise<void> {
    const name = `${set.metadata.name}-${String(ordinal)}`;
    const claims = (set.spec.volumeClaimTemplates ?? []).map(({ metadata, spec }) => ({
      volume: metadata.name,
      claim: `${metadata.name}-${name}`,
      spec,
    }));
    for (const { claim, spec } of claims) {
      if (this.#view.claims.get(`${namespace}/${claim}`) !== undefined) continue;
      const object: PersistentVolumeClaim = { metadata: { name: claim, namespace, ...labelsOf(set) }, spec };
      await this.#api.ensure(PERSISTENT_VOLUME_CLAIMS, object);
    }
    const { template } = set.spec;
    const volumes = [
      ...(template.spec.volumes ?? []),
      ...claims.map(({ volume, claim }) => ({ name: volume, persistentVolumeClaim: { claimName: claim } })),
    ];
    const labels = { ...template.metadata.labels, 'statefulset.kubernetes.io/pod-name': name, 'apps.kubernetes.io/pod-index': String(ordinal) };
    const pod: WorldPod = {
      metadata: { name, namespace, labels, ownerReferences: [ownerOf(set)] },
      spec: { ...template.spec, volumes, tolerations: [...(template.spec.tolerations ?? []), ...this.#defaultTolerations()] },
    };
    await this.#api.ensure(WORLD_PODS, pod);
  }

  /** What the DefaultTolerationSeconds admission plug-in adds. */
  #defaultTolerations(): NonNullable<WorldPod['spec']['tolerations']> {
    const { tolerationSeconds } = this.#options;
    return [NOT_READY, UNREACHABLE].map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }));
  }

  async #removeBeyond(set: StatefulSet, namespace: string, replicas: number): Promise<void> {
    const prefix = `${set.metadata.name}-`;
    for (const pod of [...this.#view.pods.all()]) {
      const isOwned = pod.metadata.ownerReferences?.some((owner) => owner.uid === set.metadata.uid) === true;
      if (!isOwned || pod.metadata.namespace !== namespace || pod.metadata.deletionTimestamp !== undefined) continue;
      if (Number(pod.metadata.name.slice(prefix.length)) >= replicas) await this.#api.remove(WORLD_PODS, pod);
    }
  }

  async #report(set: StatefulSet, namespace: string, standing: number, ready: number): Promise<void> {
    if (set.status?.replicas === standing && (set.status.readyReplicas ?? 0) === ready) return;
    const status = { replicas: standing, readyReplicas: ready, currentReplicas: standing, updatedReplicas: standing };
    await this.#api.patch(STATEFUL_SETS, { namespace, name: set.metadata.name, subresource: 'status' }, 'merge', { status });
  }
}

function labelsOf(set: StatefulSet): { labels: Record<string, string> } {
  return { labels: set.spec.selector.matchLabels };
}

function ownerOf(set: StatefulSet): OwnerReference {
  const { name, uid } = set.metadata;
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid: uid ?? '', controller: true, blockOwnerDeletion: true };
}
