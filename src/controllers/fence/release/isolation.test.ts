import { describe, expect, it } from 'vitest';
import type { Evidence, NodeFenceStatus } from '../../../domain/node-fence.ts';
import type { Plan, PlanMethod } from '../../../domain/plan.ts';
import { planOf } from '../../../domain/testing/model.ts';
import { ApiStatusError, TransportError } from '../../../ports/api-transport.ts';
import type { KubeObject, Pod } from '../../../ports/objects.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { FenceHarness, leaseOf, nodeOf, provenStatus } from '../testing/harness.ts';
import { releaseOrder } from '../testing/release-order.ts';
import type { ReleaseOrder, ReleaseReport } from './order.ts';
import { release } from './release.ts';

const RENEWED = '2026-01-01T00:00:00.000000Z';
const CLOSED: Evidence = {
  kind: 'storage-revoked',
  grade: 'read-back',
  source: 'close-1',
  detail: '',
  observedAt: '',
  storages: ['san'],
  bootID: 'boot-1',
};
const CLOSE: PlanMethod = {
  ...{ name: 'close', agent: 'fc-switch', kind: 'fabric', action: 'off', device: 'switch', plug: '1', parameters: {}, deviceMaxLatencyMs: 0 },
  storage: 'san',
  storageMatch: 'class:san',
};
const PLAN: Plan = { ...planOf({ release: 'delete-pods' }), isolation: [{ level: 1, methods: [CLOSE] }] };

function podOf(name: string, claimName?: string): Pod {
  const volumes = claimName === undefined ? [] : [{ name: 'data', persistentVolumeClaim: { claimName } }];
  return { metadata: { name, namespace: 'web', uid: `uid-${name}` }, spec: { nodeName: 'a', volumes }, status: {} };
}

/** The API server has these pods; the watch has not shown any yet. Claim `san` is on the storage that was revoked. */
function harnessWith(...pods: Pod[]): FenceHarness {
  const harness = new FenceHarness(new ManualClock());
  harness.cluster.node = nodeOf();
  harness.cluster.lease = leaseOf(RENEWED);
  const { cluster } = harness.dependencies;
  const get = cluster.get.bind(cluster);
  const volume = (name: string): KubeObject => ({ metadata: { name }, spec: { storageClassName: name, volumeName: name } }) as KubeObject;
  cluster.list = () => Promise.resolve(pods as never);
  cluster.get = (resource, name, namespace) =>
    resource.kind.startsWith('PersistentVolume') ? Promise.resolve(volume(name) as never) : get(resource, name, namespace);
  return harness;
}

function released(harness: FenceHarness, status: Partial<NodeFenceStatus> = {}, more: Partial<ReleaseOrder> = {}): Promise<ReleaseReport> {
  const proven = { ...provenStatus(PLAN), step: 'isolation' as const, evidence: [CLOSED], ...status };
  return release(harness.dependencies, releaseOrder(proven, { renewTime: RENEWED, proof: CLOSED, ...more }));
}

describe('a release of what wrote to revoked storage', () => {
  it('frees that alone, of the pods that the API server has now, and binds this boot to its storage', async () => {
    const harness = harnessWith(podOf('db-0', 'san'), podOf('other-0', 'nas'), podOf('web-0'));
    const report = await released(harness);
    expect(harness.cluster.writes.map(({ verb, name }) => `${verb} ${name}`)).toEqual(['remove db-0']);
    expect(report).toEqual({
      result: 'succeeded',
      message: 'delete-pods: 1 pod: pod web/db-0 1, of a on storage-revoked, whose writable volumes are all on san',
      storageRelease: { at: expect.any(String) as string, pods: 1, evidence: 'close-1', names: ['web/db-0'], storages: ['san'], bootID: 'boot-1' },
    });
  });

  it('binds nothing where it lets nothing go', async () => {
    const report = await released(harnessWith(podOf('other-0', 'nas')));
    expect(report).toEqual({ result: 'succeeded', message: expect.stringContaining('0 pods') as string });
  });

  it('binds this boot too where nobody knows whether a pod was let go', async () => {
    const harness = harnessWith(podOf('db-0', 'san'));
    harness.cluster.afterWrite = () => {
      throw new TransportError('timeout', 'no answer in time');
    };
    const report = await released(harness);
    expect(report.storageRelease).toMatchObject({ pods: 0, left: 1, batch: 1, kept: [{ pod: 'web/db-0', isUnsure: true }], bootID: 'boot-1' });
  });

  it('binds this boot where of two pods one was let go and one was refused', async () => {
    const harness = harnessWith(podOf('db-0', 'san'), podOf('db-1', 'san'));
    harness.cluster.afterWrite = () => {
      harness.cluster.afterWrite = () => undefined;
      throw new ApiStatusError(403, 'Forbidden', 'no');
    };
    const { storageRelease } = await released(harness);
    expect(storageRelease).toMatchObject({ pods: 1, left: 1, names: ['web/db-1'], kept: [{ pod: 'web/db-0', by: 'no' }], bootID: 'boot-1' });
  });

  it('adds to what was let go before, and keeps its storages: the boot stays bound to all of them', async () => {
    const before = { at: 'then', pods: 2, evidence: 'close-0', names: ['web/old-0'], storages: ['nas'], left: 1, batch: 1 };
    const whole = { by: 'out-of-service' as const, at: 'never', pods: 9, evidence: 'off-1' };
    const report = await released(harnessWith(podOf('db-0', 'san')), { storageRelease: before, released: whole });
    expect(report.released).toBeUndefined();
    expect(report.storageRelease).toEqual({
      ...{ at: 'then', pods: 3, evidence: 'close-1', names: ['web/old-0', 'web/db-0'], storages: ['nas', 'san'] },
      ...{ bootID: 'boot-1', left: 0, batch: 2 },
    });
    const none = await released(harnessWith(), { storageRelease: before });
    expect(none.storageRelease, 'asking in vain is no batch').toMatchObject({ pods: 2, storages: ['nas', 'san'], batch: 1, left: 0 });
  });

  it('binds every boot where none is known', async () => {
    const { bootID: _none, ...proof } = CLOSED;
    const harness = harnessWith(podOf('db-0', 'san'));
    if (harness.cluster.node !== undefined)
      harness.cluster.node = { ...harness.cluster.node, status: { ...harness.cluster.node.status, nodeInfo: {} } };
    const report = await released(harness, {}, { proof });
    expect(report.storageRelease).toMatchObject({ pods: 1 });
    expect(report.storageRelease).not.toHaveProperty('bootID');
  });

  it('is for what has come to the node since it recovered, and for nothing that is made there anew and anew since the release began', async () => {
    const at = '2026-01-01T10:00:00Z';
    const made = (name: string, hour: string): Pod => {
      const pod = podOf(name, 'san');
      return { ...pod, metadata: { ...pod.metadata, creationTimestamp: `2026-01-01T${hour}:00:00Z` } };
    };
    const before = { at, pods: 2, evidence: 'close-0', storages: ['san'], batch: 1 };
    const ran = (restart: number): NodeFenceStatus['journal'] => [
      {
        ...{ id: 'release-1', step: 'isolation', level: 1, operation: 'release', method: 'release', agent: 'kubernetes', device: '', plug: '' },
        ...{ action: 'release', attempt: 1, restart, runner: 'in-process', epoch: 3, deadlineMs: 1 },
        ...{ startedAt: '2026-01-01T12:00:00Z', finishedAt: '2026-01-01T12:00:01Z', result: 'succeeded' },
      },
    ];
    const freed = async (restart: number): Promise<string[]> => {
      const harness = harnessWith(made('since-recovery', '11'), made('anew', '13'));
      await released(harness, { storageRelease: before, restarts: 1, journal: ran(restart) });
      return harness.cluster.writes.map(({ name }) => name);
    };
    expect(await freed(0), 'of a restart before').toEqual(['anew', 'since-recovery']);
    expect(await freed(1)).toEqual(['since-recovery']);
  });

  it('lets nothing go when its pods cannot be read', async () => {
    const harness = harnessWith();
    harness.dependencies.cluster.list = () => Promise.reject(new ApiStatusError(500, 'InternalError', 'etcd'));
    await expect(released(harness)).rejects.toThrow('etcd');
  });
});
