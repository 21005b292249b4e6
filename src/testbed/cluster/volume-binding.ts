import type { WorldApi } from './api.ts';
import type { ClusterView } from './cluster-view.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from './kinds.ts';
import type { PersistentVolume, PersistentVolumeClaim } from './kinds.ts';

/** Binds claims to static volumes of their class and access modes, lowest name first. */
export class VolumeBinding {
  readonly #api: WorldApi;
  readonly #view: ClusterView;

  constructor(api: WorldApi, view: ClusterView) {
    this.#api = api;
    this.#view = view;
  }

  async run(): Promise<undefined> {
    const taken = new Set<string>();
    for (const claim of [...this.#view.claims.all()]) {
      if (claim.spec.volumeName !== undefined && claim.status?.phase === 'Bound') continue;
      const volume = this.#volumeFor(claim, taken);
      if (volume === undefined) continue;
      taken.add(volume.metadata.name);
      await this.#bind(claim, volume);
    }
  }

  #volumeFor(claim: PersistentVolumeClaim, taken: ReadonlySet<string>): PersistentVolume | undefined {
    const { namespace, name } = claim.metadata;
    const volumes = [...this.#view.volumes.all()].sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1));
    const reserved = volumes.find(({ spec }) => spec.claimRef?.namespace === namespace && spec.claimRef?.name === name);
    return reserved ?? volumes.find((volume) => volume.spec.claimRef === undefined && !taken.has(volume.metadata.name) && fits(claim, volume));
  }

  async #bind(claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
    const { namespace, name, uid } = claim.metadata;
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid };
    const { resourceVersion } = volume.metadata;
    const volumeName = volume.metadata.name;
    if (volume.spec.claimRef?.uid !== uid) {
      await this.#api.patch(PERSISTENT_VOLUMES, { name: volumeName }, 'merge', { metadata: { resourceVersion }, spec: { claimRef } });
    }
    await this.#api.patch(PERSISTENT_VOLUMES, { name: volumeName, subresource: 'status' }, 'merge', { status: { phase: 'Bound' } });
    await this.#api.patch(PERSISTENT_VOLUME_CLAIMS, { namespace, name }, 'merge', { spec: { volumeName } });
    const { accessModes, capacity } = volume.spec;
    const status = { phase: 'Bound', accessModes, capacity };
    await this.#api.patch(PERSISTENT_VOLUME_CLAIMS, { namespace, name, subresource: 'status' }, 'merge', { status });
  }
}

function fits(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  const modes = volume.spec.accessModes ?? [];
  return claim.spec.storageClassName === volume.spec.storageClassName && (claim.spec.accessModes ?? []).every((mode) => modes.includes(mode));
}
