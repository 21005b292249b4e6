import type { Plan } from '../../../domain/plan.ts';
import { isReleasable } from '../../../domain/release-plan.ts';
import type { PodFacts } from '../../../domain/release-plan.ts';
import { isOnStorage } from '../../../domain/storage-match.ts';
import type { VolumeFacts } from '../../../domain/storage-match.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import type { PersistentVolume, Pod } from '../../../ports/objects.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../../ports/resources.ts';
import { factsOf } from '../../shared/release/pod-facts.ts';

/** Sources of volumes that no other node ever sees, or that cannot be written. */
const HARMLESS: ReadonlySet<string> = new Set(['configMap', 'secret', 'projected', 'downwardAPI', 'emptyDir', 'image']);

/** Pods of a node with the storages of their writable volumes, all of it from consistent reads. */
export async function podsWithStorages(cluster: Cluster, node: string, plan: Plan): Promise<PodFacts[]> {
  const pods = await cluster.list(PODS, { fieldSelector: `spec.nodeName=${node}` });
  const volumes = new Volumes(cluster, matchesOf(plan));
  return Promise.all(
    pods.map(async (pod) => {
      const facts = factsOf(pod);
      return isReleasable(facts) ? { ...facts, ...(await volumes.of(pod)) } : facts;
    }),
  );
}

/** By storage, what its methods say of the volumes on it. */
function matchesOf(plan: Plan): Map<string, string[]> {
  const matches = new Map<string, string[]>();
  for (const { storage, storageMatch } of plan.isolation.flatMap(({ methods }) => methods)) {
    if (storage !== undefined && storageMatch !== undefined) matches.set(storage, [...(matches.get(storage) ?? []), storageMatch]);
  }
  return matches;
}

type Storages = Pick<PodFacts, 'storages' | 'hasUnknownVolume'>;

class Volumes {
  readonly #cluster: Cluster;
  readonly #matches: ReadonlyMap<string, readonly string[]>;
  readonly #known = new Map<string, Promise<PersistentVolume | undefined>>();

  constructor(cluster: Cluster, matches: ReadonlyMap<string, readonly string[]>) {
    this.#cluster = cluster;
    this.#matches = matches;
  }

  /** `hasUnknownVolume`: one that it may write to is on no declared storage, or nothing says on which. */
  async of(pod: Pod): Promise<Storages> {
    const each = await Promise.all((pod.spec.volumes ?? []).map((volume) => this.#storagesOf(pod, volume)));
    const writable = each.filter((storages) => storages !== undefined);
    return { storages: [...new Set(writable.flat())], hasUnknownVolume: writable.some((storages) => storages.length === 0) };
  }

  /** `undefined`: nothing can be written there that outlives the pod. */
  async #storagesOf(pod: Pod, volume: NonNullable<Pod['spec']['volumes']>[number]): Promise<string[] | undefined> {
    const source = Object.keys(volume).find((key) => key !== 'name') ?? '';
    if (HARMLESS.has(source) || isMountedReadOnly(volume, source)) return undefined;
    if (source === 'ephemeral') return this.#onVolume(await this.#bound(pod, `${pod.metadata.name}-${volume.name}`));
    const claim = volume.persistentVolumeClaim;
    return claim === undefined ? [] : this.#onVolume(await this.#bound(pod, claim.claimName));
  }

  async #bound(pod: Pod, claimName: string): Promise<PersistentVolume | undefined> {
    const namespace = pod.metadata.namespace ?? 'default';
    const key = `${namespace}/${claimName}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const found = this.#read(namespace, claimName);
    this.#known.set(key, found);
    return found;
  }

  async #read(namespace: string, claimName: string): Promise<PersistentVolume | undefined> {
    const claim = await this.#cluster.get(PERSISTENT_VOLUME_CLAIMS, claimName, namespace);
    const name = claim?.spec.volumeName;
    return name === undefined ? undefined : this.#cluster.get(PERSISTENT_VOLUMES, name);
  }

  #onVolume(volume: PersistentVolume | undefined): string[] {
    if (volume === undefined) return [];
    const facts = volumeFactsOf(volume);
    return [...this.#matches].filter(([, matches]) => matches.some((match) => isOnStorage(match, facts))).map(([storage]) => storage);
  }
}

/**
 * The pod's own volume source says `readOnly: true`: the kubelet then mounts it read-only for every container. Nothing else says so: ReadOnlyMany only matches
 * a claim to a volume and forbids no write, and `readOnly` of a volumeMount binds that one container.
 */
function isMountedReadOnly(volume: object, source: string): boolean {
  const said: unknown = Object.entries(volume).find(([key]) => key === source)?.[1];
  return typeof said === 'object' && said !== null && 'readOnly' in said && said.readOnly === true;
}

function volumeFactsOf({ metadata, spec }: PersistentVolume): VolumeFacts {
  const { csi, nfs, iscsi } = spec;
  return {
    name: metadata.name,
    storageClass: spec.storageClassName,
    driver: csi?.driver,
    handle: csi?.volumeHandle,
    nfs: nfs?.server ?? csi?.volumeAttributes?.['server'],
    iscsi: iscsi?.targetPortal ?? csi?.volumeAttributes?.['targetPortal'],
  };
}
