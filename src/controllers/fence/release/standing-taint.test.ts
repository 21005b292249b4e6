import { describe, expect, it } from 'vitest';
import { planOf } from '../../../domain/testing/model.ts';
import { ApiStatusError } from '../../../ports/api-transport.ts';
import type { Taint } from '../../../ports/objects.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { OUT_OF_SERVICE_OWNER } from '../ownership.ts';
import { FenceHarness, leaseOf, nodeOf, provenStatus } from '../testing/harness.ts';
import { releaseOrder } from '../testing/release-order.ts';
import { endRelease, recoverRelease } from './end.ts';
import type { ReleaseOrder, ReleaseReport } from './order.ts';
import { removeTaint } from './out-of-service.ts';
import { release } from './release.ts';

const OURS: Taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
const OTHER_VALUE: Taint = { ...OURS, value: 'person' };
const OTHER_EFFECT: Taint = { ...OURS, effect: 'NoSchedule' };
/** As the node controller sets it on a node that does not answer. */
const UNREACHABLE: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
/** Of somebody who marks machines in the words of Kubernetes. */
const NAMESAKE: Taint = { ...OURS, key: 'example.org/out-of-service' };
const MARK = 'node-fence-a/fence-1/1';
const STATUS = provenStatus(planOf());

/** Node `a` with these taints, and with our mark if any. */
function harnessOf(taints: readonly Taint[], mark?: string): FenceHarness {
  const harness = new FenceHarness(new ManualClock());
  const node = nodeOf({ taints: [...taints] });
  harness.cluster.node = { ...node, metadata: { ...node.metadata, annotations: mark === undefined ? {} : { [OUT_OF_SERVICE_OWNER]: mark } } };
  harness.cluster.lease = leaseOf('t1');
  return harness;
}

function released({ dependencies }: FenceHarness, more: Partial<ReleaseOrder> = {}): Promise<ReleaseReport> {
  return release(dependencies, releaseOrder(STATUS, { renewTime: 't1', ...more }));
}

function bodies({ cluster }: FenceHarness): unknown[] {
  return cluster.writes.map(({ body }) => body);
}

function marked(mark: string | null): object {
  return { metadata: { resourceVersion: '7', annotations: { [OUT_OF_SERVICE_OWNER]: mark } } };
}

describe('an out-of-service taint that stands before the release', () => {
  it('of a person is neither changed nor claimed, and our mark beside it goes', async () => {
    const harness = harnessOf([OTHER_VALUE], 'node-fence-a/earlier/1');
    expect((await released(harness)).message).toContain('an out-of-service taint already that nodefence did not set');
    expect(bodies(harness)).toEqual([marked(null)]);
    const unmarked = harnessOf([OTHER_VALUE]);
    expect((await released(unmarked)).message).toContain('that nodefence did not set');
    expect(bodies(unmarked)).toEqual([]);
  });

  it('of another effect lets nothing go by itself: ours is set beside it', async () => {
    const harness = harnessOf([OTHER_EFFECT]);
    expect((await released(harness)).message).not.toContain('did not set');
    expect(bodies(harness)).toEqual([{ ...marked(MARK), spec: { taints: [OTHER_EFFECT, OURS] } }]);
  });

  it.each([
    ['another one of its effect', UNREACHABLE],
    ['one of another key in its words', NAMESAKE],
  ])('is not %s: ours is set beside that', async (_what, other) => {
    const harness = harnessOf([other]);
    await released(harness);
    expect(bodies(harness)).toEqual([{ ...marked(MARK), spec: { taints: [other, OURS] } }]);
  });

  it('of an earlier fence of ours is taken over by the mark alone, and of this one is left as it is', async () => {
    const earlier = harnessOf([OURS], 'node-fence-a/earlier/1');
    await released(earlier);
    expect(bodies(earlier)).toEqual([marked(MARK)]);
    const own = harnessOf([OURS], MARK);
    await released(own);
    expect(bodies(own)).toEqual([]);
  });

  it('is not there though the mark is: the taint is set all the same', async () => {
    const harness = harnessOf([], MARK);
    await released(harness);
    expect(bodies(harness)).toEqual([{ ...marked(MARK), spec: { taints: [OURS] } }]);
  });
});

describe('the end of a release', () => {
  it('takes our taint away from between those of others', async () => {
    const harness = harnessOf([UNREACHABLE, OURS, NAMESAKE], MARK);
    await removeTaint(harness.dependencies, { name: 'a', uid: 'uid-a' }, () => undefined);
    expect(bodies(harness)).toEqual([{ ...marked(null), spec: { taints: [UNREACHABLE, NAMESAKE] } }]);
  });

  it.each([
    ['value', OTHER_VALUE],
    ['effect', OTHER_EFFECT],
  ])('leaves a taint of another %s, takes our mark away, and is through', async (_what, foreign) => {
    const harness = harnessOf([foreign], MARK);
    const report = await endRelease(harness.dependencies, 'a', STATUS, () => undefined);
    expect(report).toMatchObject({ result: 'succeeded', message: expect.stringContaining('that nodefence did not set stays') as string });
    expect(bodies(harness)).toEqual([marked(null)]);
  });

  it('touches no Node without our mark', async () => {
    const harness = harnessOf([OURS]);
    expect(await endRelease(harness.dependencies, 'a', STATUS, () => undefined)).toMatchObject({ result: 'succeeded' });
    expect(bodies(harness)).toEqual([]);
  });

  it.each([
    [409, 5],
    [403, 1],
  ])('is tried again after a conflict alone, and not for ever: HTTP %i, %i times', async (status, times) => {
    const harness = harnessOf([OURS], MARK);
    let tries = 0;
    harness.cluster.beforePatch = () => {
      tries += 1;
      throw new ApiStatusError(status, 'No', 'no');
    };
    await expect(endRelease(harness.dependencies, 'a', STATUS, () => undefined)).rejects.toThrow('no');
    expect(tries).toBe(times);
  });
});

it('a release in isolation that a crash cut off is not through because our taint of before stands', async () => {
  const order = { node: 'a', status: { ...STATUS, step: 'isolation' as const } };
  const report = await recoverRelease(harnessOf([OURS], MARK).dependencies, order, 'release');
  expect(report.result).not.toBe('found-done');
  expect(report.released).toBeUndefined();
});

it('a release is void when a kubelet speaks that had said nothing of the Node before', async () => {
  const harness = harnessOf([]);
  harness.cluster.node = nodeOf({ ready: 'False', heartbeat: '2026-01-01T00:00:09Z' });
  const report = await released(harness, { heartbeat: undefined });
  expect(report).toMatchObject({
    result: 'voided',
    message: expect.stringContaining('the kubelet wrote its status at 2026-01-01T00:00:09Z') as string,
  });
  expect(bodies(harness)).toEqual([]);
});
