import { describe, expect, it } from 'vitest';
import { planOf } from '../../../domain/testing/model.ts';
import { AgentError } from '../../../ports/agents.ts';
import { ApiStatusError } from '../../../ports/api-transport.ts';
import type { Pod, VolumeAttachment } from '../../../ports/objects.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { FenceHarness, leaseOf, nodeOf, provenStatus } from '../testing/harness.ts';
import { releaseOrder } from '../testing/release-order.ts';
import type { ReleaseOrder } from './order.ts';
import { release } from './release.ts';

const RENEWED = '2026-01-01T00:00:00.000000Z';
const POD: Pod = { metadata: { name: 'web-0', namespace: 'web', uid: 'uid-web-0' }, spec: { nodeName: 'a' }, status: {} };
const ATTACHED: VolumeAttachment = { metadata: { name: 'csi-1', uid: 'uid-csi-1' }, spec: { attacher: 'x', nodeName: 'a', source: {} } };

function harnessWith(pods: Pod[]): FenceHarness {
  const harness = new FenceHarness(new ManualClock());
  harness.cluster.node = nodeOf();
  harness.cluster.lease = leaseOf(RENEWED);
  harness.pods.items = pods;
  harness.volumeAttachments.items = [ATTACHED];
  return harness;
}

function orderOf(): ReleaseOrder {
  return releaseOrder(provenStatus(planOf({ release: 'delete-pods' })), { renewTime: RENEWED });
}

describe('the volumes of a node that is released without a taint', () => {
  it('go after the last pod, each as the one that was seen', async () => {
    const harness = harnessWith([POD]);
    await release(harness.dependencies, orderOf());
    expect(harness.cluster.writes).toMatchObject([
      { verb: 'remove', name: 'web-0' },
      { verb: 'remove', name: 'csi-1', body: { uid: 'uid-csi-1' } },
    ]);
  });

  it('stay when the node shows life between the last pod and them', async () => {
    const harness = harnessWith([POD]);
    harness.cluster.afterWrite = () => {
      harness.cluster.lease = leaseOf('2026-01-01T00:00:09.000000Z');
    };
    expect((await release(harness.dependencies, orderOf())).result).toBe('voided');
    expect(harness.cluster.writes.map(({ name }) => name)).toEqual(['web-0']);
  });

  it('stay when a stop comes before their deletion leaves', async () => {
    const harness = harnessWith([]);
    let asked = 0;
    const mayGoOn = (): void => {
      asked += 1;
      // The look before the pods, the look before the volumes, and the turn of the deletion itself.
      if (asked === 3) throw new AgentError('NotSent', { device: '', plug: '', asked: 'release', answered: 'a stop stands' });
    };
    expect(await release(harness.dependencies, { ...orderOf(), mayGoOn })).toMatchObject({ result: 'not-sent', released: { left: 1 } });
    expect(harness.cluster.writes).toEqual([]);
  });

  it('stay as long as the API server refuses a pod', async () => {
    const harness = harnessWith([POD]);
    harness.cluster.afterWrite = () => {
      harness.cluster.afterWrite = () => undefined;
      throw new ApiStatusError(403, 'Forbidden', 'no');
    };
    const report = await release(harness.dependencies, orderOf());
    expect(report.released).toMatchObject({ left: 1, kept: [{ pod: 'web/web-0' }] });
    expect(harness.cluster.writes.map(({ name }) => name)).toEqual(['web-0']);
  });

  it('are all answered for before the release ends, though one of them is refused', async () => {
    const harness = harnessWith([]);
    harness.volumeAttachments.items = ['csi-1', 'csi-2'].map((name) => ({ ...ATTACHED, metadata: { name } }));
    let answer: () => void = () => undefined;
    const hangs = new Promise<boolean>((resolve) => {
      answer = () => {
        resolve(true);
      };
    });
    harness.dependencies.cluster.remove = (_resource, name) =>
      name === 'csi-1' ? Promise.reject(new ApiStatusError(403, 'Forbidden', 'no')) : hangs;
    let isOver = false;
    const going = release(harness.dependencies, orderOf()).finally(() => {
      isOver = true;
    });
    await new ManualClock().settle();
    expect(isOver, 'a deletion is under way').toBe(false);
    answer();
    expect(await going).toMatchObject({ result: 'failed', message: expect.stringContaining('no') as string, released: { left: 1 } });
  });
});
