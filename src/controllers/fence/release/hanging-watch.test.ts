import { describe, expect, it } from 'vitest';
import { planOf } from '../../../domain/testing/model.ts';
import type { Pod, VolumeAttachment } from '../../../ports/objects.ts';
import type { Resource } from '../../../ports/cluster.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { NodeObservation } from '../observation.ts';
import { takeSnapshot } from '../snapshot.ts';
import { FenceHarness, leaseOf, nodeOf, provenStatus } from '../testing/harness.ts';
import { releaseOrder } from '../testing/release-order.ts';
import { endRelease } from './end.ts';
import { release } from './release.ts';

const RENEWED = '2026-01-01T00:00:00.000000Z';
const POD: Pod = { metadata: { name: 'db-0', namespace: 'web', uid: 'uid-db-0' }, spec: { nodeName: 'a' }, status: {} };
const volume = (name: string, nodeName: string): VolumeAttachment => ({
  metadata: { name, uid: `uid-${name}` },
  spec: { attacher: 'csi', nodeName, source: { persistentVolumeName: `pv-${name}` } },
});

/** The API server has a pod and a volume of the node; the watch of one of the two kinds has shown nothing for as long as no live one does. */
function hanging(kind: 'pods' | 'volumeAttachments'): FenceHarness {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  harness.cluster.node = nodeOf();
  harness.cluster.lease = leaseOf(RENEWED);
  harness[kind].freshAtMs = clock.monotonicMs() - harness.dependencies.options.staleAfterMs - 1;
  const lists = { Pod: [POD], VolumeAttachment: [volume('csi-1', 'a'), volume('csi-2', 'b')] };
  harness.dependencies.cluster.list = (({ kind: of }: Resource) => Promise.resolve(lists[of as keyof typeof lists])) as never;
  return harness;
}

describe.each(['pods', 'volumeAttachments'] as const)('where the watch of %s hangs', (kind) => {
  it('a release lets go what the API server has, not what was seen last', async () => {
    const harness = hanging(kind);
    const report = await release(harness.dependencies, releaseOrder(provenStatus(planOf({ release: 'delete-pods' })), { renewTime: RENEWED }));
    expect(report.released).toMatchObject({ pods: 1, names: ['web/db-0'] });
    expect(harness.cluster.writes.map(({ name }) => name)).toEqual(['db-0', 'csi-1']);
  });

  it('its end names what is left, which nobody sees', async () => {
    const harness = hanging(kind);
    const status = { ...provenStatus(planOf()), released: { by: 'delete-pods' as const, at: RENEWED, pods: 1, evidence: 'off-1' } };
    const { message, released } = await endRelease(harness.dependencies, 'a', status, () => undefined);
    expect(message).toContain('release_timeout over: 1 pods (web/db-0) and 1 VolumeAttachments');
    expect(released).toMatchObject({ timedOut: true });
  });

  it('the decision is told that it does not know what is left', () => {
    const { dependencies } = hanging(kind);
    const of = (harness: FenceHarness): unknown =>
      takeSnapshot(harness.dependencies, 'a', undefined, new NodeObservation(0), { inFlight: new Set(), reports: [] }, undefined).workload;
    expect(of({ dependencies } as FenceHarness)).toMatchObject({ pods: 0, isUnsure: true });
    expect(of(new FenceHarness(new ManualClock()))).not.toHaveProperty('isUnsure');
  });
});
