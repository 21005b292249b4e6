import { describe, expect, it } from 'vitest';
import type { Evidence, NodeFenceStatus, Released } from '../../../domain/node-fence.ts';
import { planOf } from '../../../domain/testing/model.ts';
import { ApiStatusError } from '../../../ports/api-transport.ts';
import type { Pod, Taint, VolumeAttachment } from '../../../ports/objects.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { OUT_OF_SERVICE_OWNER } from '../ownership.ts';
import { FenceHarness, leaseOf, nodeOf, provenStatus } from '../testing/harness.ts';
import { releaseOrder } from '../testing/release-order.ts';
import { endRelease, recoverRelease } from './end.ts';
import type { ReleaseReport } from './order.ts';
import { release } from './release.ts';

const OURS: Taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
const RELEASED: Released = { by: 'delete-pods', at: 'then', pods: 2, evidence: 'off-1', names: ['web/x'], left: 3, batch: 4 };
const CLOSED: Evidence = { kind: 'storage-revoked', grade: 'read-back', source: 'close-1', detail: '', observedAt: '', storages: ['san'] };

const podOf = (name: string): Pod => ({ metadata: { name, namespace: 'web', uid: `uid-${name}` }, spec: { nodeName: 'a' } });
const attached: VolumeAttachment = { metadata: { name: 'csi-1' }, spec: { attacher: 'x', nodeName: 'a', source: { persistentVolumeName: 'pv-1' } } };

function harnessOf(pods: readonly string[], taints: Taint[] = []): FenceHarness {
  const harness = new FenceHarness(new ManualClock());
  const node = nodeOf({ taints });
  harness.cluster.node = { ...node, metadata: { ...node.metadata, annotations: { [OUT_OF_SERVICE_OWNER]: 'node-fence-a/fence-1/1' } } };
  harness.cluster.lease = leaseOf('t1');
  harness.pods.items = pods.map(podOf);
  return harness;
}

function ended(harness: FenceHarness, released: Partial<Released> = {}): Promise<ReleaseReport> {
  const status = { ...provenStatus(planOf()), released: { ...RELEASED, ...released } };
  return endRelease(harness.dependencies, 'a', status, () => undefined);
}

describe('the end of a release', () => {
  it('says when the last volume was detached, beside what was released', async () => {
    expect(await ended(harnessOf([]))).toEqual({
      result: 'succeeded',
      message: 'no pod and no VolumeAttachment is left',
      released: { ...RELEASED, volumesDetachedAt: expect.any(String) as string },
    });
  });

  it('names four of those that are left, and what keeps them', async () => {
    const harness = harnessOf(['a', 'b', 'c', 'd']);
    const kept = [{ pod: 'web/b', by: 'webhook "x"' }];
    const report = await ended(harness, { kept });
    expect(report.message).toBe('release_timeout over: 4 pods (web/a, web/b, kept: webhook "x", web/c, web/d) and 0 VolumeAttachments are left');
    expect(report.released).toEqual({ ...RELEASED, kept, timedOut: true });
    harness.pods.items = ['a', 'b', 'c', 'd', 'e'].map(podOf);
    harness.volumeAttachments.items = [attached];
    expect((await ended(harness)).message).toContain(
      '5 pods (web/a, web/b, web/c, web/d and 1 more) and 1 VolumeAttachments (PersistentVolume pv-1 by csi-1)',
    );
    const keptVolumes = [{ attachment: 'csi-1', by: 'webhook "y"' }];
    expect((await ended(harness, { keptVolumes })).message).toContain('(PersistentVolume pv-1 by csi-1, kept: webhook "y")');
  });

  it('names the finalizers of a pod that is deleted and stays', async () => {
    const harness = harnessOf([]);
    const pod = podOf('db-0');
    const metadata = {
      ...pod.metadata,
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
      finalizers: ['team.example/backup'],
    };
    harness.pods.items = [{ ...pod, metadata }];
    expect((await ended(harness)).message).toContain('1 pods (web/db-0, kept: finalizer (team.example/backup)) and 0 VolumeAttachments are left');
  });

  it('waits for nothing where the proof was void', async () => {
    const report = await ended(harnessOf(['a']), { voidedAt: 'then' });
    expect(report).toEqual({ result: 'succeeded', message: 'our taint is gone; without waiting for pods and volumes' });
  });
});

describe('a release that a crash cut off', () => {
  const recovered = (
    harness: FenceHarness,
    status: Partial<NodeFenceStatus>,
    release: 'auto' | 'delete-pods' = 'delete-pods',
  ): Promise<ReleaseReport> =>
    recoverRelease(harness.dependencies, { node: 'a', status: { ...provenStatus(planOf({ release })), ...status } }, 'release');

  it('has let go by its taint what stands on the node, beside what batches had', async () => {
    const harness = harnessOf(['a', 'b', 'c'], [OURS]);
    const first = { by: 'out-of-service', at: expect.any(String) as string, pods: 3, evidence: 'off-1' };
    expect(await recovered(harness, {}, 'auto')).toEqual({ result: 'found-done', message: 'after a crash our taint is set', released: first });
    const later = { by: 'out-of-service', at: 'then', pods: 5, evidence: 'off-1', left: 0, batch: 5 };
    expect((await recovered(harness, { released: RELEASED }, 'auto')).released).toEqual(later);
  });

  it('of pods has let go nobody knows how many more, on the latest proof', async () => {
    const [first] = provenStatus(planOf()).evidence;
    const evidence = [first as Evidence, { ...(first as Evidence), source: 'off-2' }];
    const storageRelease = { at: 'never', pods: 9, evidence: 'close-1', storages: ['san'] };
    expect(await recovered(harnessOf([]), { evidence, released: RELEASED, storageRelease })).toEqual({
      result: 'interrupted',
      message: 'after a crash our taint is not set; which pods were let go before it is not known',
      released: { by: 'delete-pods', at: 'then', pods: 2, evidence: 'off-2', left: 3, batch: 5 },
    });
  });

  it.each(['delete-pods', 'auto'] as const)('counts as begun where nobody can read what came of it: %s', async (release) => {
    const harness = harnessOf(['a']);
    harness.dependencies.cluster.get = () => Promise.reject(new ApiStatusError(503, 'ServiceUnavailable', 'etcd'));
    const released = { by: 'delete-pods', at: expect.any(String) as string, pods: 0, evidence: 'off-1', left: 1, batch: 1 };
    expect(await recovered(harness, {}, release)).toEqual({ result: 'interrupted', message: 'API server: etcd', released });
  });

  it('in isolation binds the storages of before as well, and every boot where none is known', async () => {
    const storageRelease = { at: 'then', pods: 1, evidence: 'close-0', storages: ['nas'], batch: 1 };
    const report = await recovered(harnessOf([]), { step: 'isolation', evidence: [CLOSED], storageRelease, released: RELEASED });
    expect(report.storageRelease).toEqual({ at: 'then', pods: 1, evidence: 'close-1', left: 1, batch: 2, storages: ['nas', 'san'] });
  });
});

it('a taint that the API server refuses lets nothing go', async () => {
  const harness = harnessOf(['a']);
  harness.cluster.beforePatch = () => {
    throw new ApiStatusError(403, 'Forbidden', 'no');
  };
  await expect(release(harness.dependencies, releaseOrder(provenStatus(planOf()), { renewTime: 't1' }))).rejects.toThrow('no');
});
