import { describe, expect, it } from 'vitest';
import type { Released } from '../../../domain/node-fence.ts';
import { planOf } from '../../../domain/testing/model.ts';
import { AgentError } from '../../../ports/agents.ts';
import { ApiStatusError, TransportError } from '../../../ports/api-transport.ts';
import type { Pod, VolumeAttachment } from '../../../ports/objects.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { AskedPods } from '../../shared/release/asked-pods.ts';
import { FenceHarness, leaseOf, nodeOf, provenStatus } from '../testing/harness.ts';
import { releaseOrder } from '../testing/release-order.ts';
import type { ReleaseOrder } from './order.ts';
import { release } from './release.ts';

const RENEWED = '2026-01-01T00:00:00.000000Z';
const POD: Pod = { metadata: { name: 'web-0', namespace: 'web', uid: 'uid-web-0' }, spec: { nodeName: 'a' }, status: {} };
const ATTACHED: VolumeAttachment = { metadata: { name: 'csi-1', uid: 'uid-csi-1' }, spec: { attacher: 'x', nodeName: 'a', source: {} } };

function harnessWith(pods: Pod[], clock = new ManualClock()): FenceHarness {
  const harness = new FenceHarness(clock);
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
    expect(await going).toMatchObject({ result: 'succeeded', released: { left: 0, keptVolumes: [{ attachment: 'csi-1', by: 'no' }] } });
  });

  it.each([
    ['a webhook that forbids it', new ApiStatusError(403, 'Forbidden', 'admission webhook "x" denied the request: no'), undefined],
    ['a webhook that cannot be called', new ApiStatusError(500, 'InternalError', 'failed calling webhook "x"'), true],
    ['no answer in time', new TransportError('timeout', 'no answer in time'), true],
  ])('are kept for %s: told, asked for again after a pause, and no failure of the release', async (_why, error, isUnsure) => {
    const { harness, clock, order, asked } = keptBy(error);
    const kept = { attachment: 'csi-1', by: expect.stringContaining(error.message) as string, ...(isUnsure === true && { isUnsure }) };
    const first = await release(harness.dependencies, order());
    expect(first).toMatchObject({ result: 'succeeded', released: { pods: 0, left: 0, batch: 1, keptVolumes: [kept], againInMs: 5_000 } });
    expect(first.message).toContain('1 VolumeAttachment kept, asked for again until release_timeout: csi-1');
    await clock.advance(4_000);
    expect((await release(harness.dependencies, order(first.released))).released).toMatchObject({ batch: 1, keptVolumes: [kept], againInMs: 1_000 });
    expect(asked).toEqual(['csi-1']);
    await clock.advance(1_000);
    expect((await release(harness.dependencies, order(first.released))).released).toMatchObject({ keptVolumes: [kept], againInMs: 10_000 });
    harness.volumeAttachments.items = [];
    expect((await release(harness.dependencies, order(first.released))).released).toMatchObject({ left: 0, keptVolumes: [], againInMs: 0 });
    expect(asked).toEqual(['csi-1', 'csi-1']);
  });

  it.each([
    ['away', new TransportError('unreachable', 'connection refused'), 'interrupted'],
    ['busy', new ApiStatusError(429, 'TooManyRequests', 'later'), 'interrupted'],
    ['not serving', new ApiStatusError(503, 'ServiceUnavailable', 'later'), 'interrupted'],
    ['of no opinion of who asks', new ApiStatusError(401, 'Unauthorized', 'who'), 'failed'],
  ])('are not told as kept where the API server is %s, which says nothing of them', async (_how, error, result) => {
    const { harness, order } = keptBy(error);
    const report = await release(harness.dependencies, order());
    expect(report).toMatchObject({ result, released: { left: 1 } });
    expect(report.released?.keptVolumes).toBeUndefined();
  });

  it('are not asked for again while they are being detached', async () => {
    const { harness, order, asked } = keptBy(new ApiStatusError(403, 'Forbidden', 'no'));
    harness.volumeAttachments.items = [{ ...ATTACHED, metadata: { ...ATTACHED.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }];
    const { result, released } = await release(harness.dependencies, order());
    expect([result, released?.left, released?.keptVolumes, asked]).toEqual(['succeeded', undefined, undefined, []]);
  });
});

/** The API server answers each deletion of the volume so. `order`: the next operation, after what the one before let go. */
function keptBy(error: Error) {
  const clock = new ManualClock();
  const harness = harnessWith([], clock);
  const [memory, asked] = [new AskedPods(), [] as string[]];
  harness.dependencies.cluster.remove = (_resource, name) => {
    asked.push(name);
    return Promise.reject(error);
  };
  const proven = provenStatus(planOf({ release: 'delete-pods' }));
  const order = (released?: Released): ReleaseOrder =>
    releaseOrder({ ...proven, ...(released !== undefined && { released }) }, { renewTime: RENEWED, asked: memory });
  return { clock, harness, order, asked };
}
