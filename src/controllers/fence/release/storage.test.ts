import { describe, expect, it } from 'vitest';
import { releasePlan } from '../../../domain/release-plan.ts';
import { planOf } from '../../../domain/testing/model.ts';
import type { Plan, PlanMethod } from '../../../domain/plan.ts';
import type { KubeObject, PersistentVolume, Pod } from '../../../ports/objects.ts';
import { FenceHarness } from '../testing/harness.ts';
import { podsWithStorages } from './storage.ts';

type Volume = NonNullable<Pod['spec']['volumes']>[number] & Record<string, unknown>;

const DATABASE: Volume = { name: 'db', persistentVolumeClaim: { claimName: 'db' } };

function planRevoking(storage: string, storageMatch: string): Plan {
  const close: PlanMethod = {
    name: 'close',
    agent: 'fc-switch',
    kind: 'fabric',
    action: 'off',
    device: 'switch',
    plug: '1',
    parameters: {},
    storage,
    storageMatch,
    deviceMaxLatencyMs: 0,
  };
  return { ...planOf(), isolation: [{ level: 1, methods: [close] }] };
}

/** Names of the pods that would be force-deleted once `san` is revoked; its class is `san`, and `share` is an NFS export. */
async function freed(volumes: readonly Volume[], accessModes: readonly string[]): Promise<string[]> {
  const share = { accessModes, nfs: { server: 'filer', path: '/share' } };
  const objects: Record<string, KubeObject> = {
    'PersistentVolumeClaim/db': { metadata: { name: 'db' }, spec: { volumeName: 'pv-db' } } as KubeObject,
    'PersistentVolumeClaim/share': { metadata: { name: 'share' }, spec: { volumeName: 'pv-share' } } as KubeObject,
    'PersistentVolumeClaim/app-0-share': { metadata: { name: 'app-0-share' }, spec: { volumeName: 'pv-share' } } as KubeObject,
    'PersistentVolume/pv-db': { metadata: { name: 'pv-db' }, spec: { storageClassName: 'san' } } as PersistentVolume,
    'PersistentVolume/pv-share': { metadata: { name: 'pv-share' }, spec: share } as KubeObject,
  };
  const pod: Pod = { metadata: { name: 'app-0', namespace: 'web', uid: 'uid-app-0' }, spec: { nodeName: 'a', volumes: [...volumes] }, status: {} };
  const cluster = {
    ...new FenceHarness({} as never).dependencies.cluster,
    list: () => Promise.resolve([pod as never]),
    get: (resource: { kind: string }, name: string) => Promise.resolve(objects[`${resource.kind}/${name}`] as never),
  };
  const pods = await podsWithStorages(cluster, 'a', planRevoking('san', 'class:san'));
  return releasePlan({ kind: 'storage-revoked', storages: ['san'] }, { mode: 'delete-pods' }, pods, []).batched.map(({ name }) => name);
}

const MODES = [[[]], [['ReadOnlyMany']], [['ReadWriteOnce']], [['ReadOnlyMany', 'ReadWriteMany']]];

describe('a pod whose database is on revoked storage', () => {
  it('is freed when that is all it writes to', async () => {
    expect(await freed([DATABASE], ['ReadWriteMany'])).toEqual(['app-0']);
  });

  it.each(MODES)('stays when a claim of access modes %j is mounted read-write beside it: ReadOnlyMany forbids no write', async (modes) => {
    expect(await freed([DATABASE, { name: 'share', persistentVolumeClaim: { claimName: 'share' } }], modes)).toEqual([]);
    expect(await freed([DATABASE, { name: 'share', persistentVolumeClaim: { claimName: 'share', readOnly: false } }], modes)).toEqual([]);
    expect(await freed([DATABASE, { name: 'share', ephemeral: { volumeClaimTemplate: {} } }], modes)).toEqual([]);
  });

  it.each(MODES)('is freed when its own volume source mounts the claim of access modes %j read-only', async (modes) => {
    expect(await freed([DATABASE, { name: 'share', persistentVolumeClaim: { claimName: 'share', readOnly: true } }], modes)).toEqual(['app-0']);
  });

  it('is freed beside an inline volume only if that says readOnly: true itself', async () => {
    const inline = (more: object): Volume => ({ name: 'share', nfs: { server: 'filer', path: '/share', ...more } });
    expect(await freed([DATABASE, inline({})], [])).toEqual([]);
    expect(await freed([DATABASE, inline({ readOnly: false })], [])).toEqual([]);
    expect(await freed([DATABASE, inline({ readOnly: true })], [])).toEqual(['app-0']);
    expect(await freed([DATABASE, { name: 'host', hostPath: { path: '/data' } }], []), 'a path of the host outlives the pod').toEqual([]);
  });

  it('is freed beside what only its own node sees', async () => {
    expect(await freed([DATABASE, { name: 'tmp', emptyDir: {} }, { name: 'conf', configMap: { name: 'conf' } }], [])).toEqual(['app-0']);
  });
});
