import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../../domain/node-fence.ts';
import { releasedBefore } from '../../../domain/released-before.ts';
import { planOf } from '../../../domain/testing/model.ts';
import { AgentError } from '../../../ports/agents.ts';
import { ApiStatusError, TransportError } from '../../../ports/api-transport.ts';
import type { Pod, Taint } from '../../../ports/objects.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { OUT_OF_SERVICE_OWNER } from '../ownership.ts';
import { endRelease, recoverRelease } from './end.ts';
import type { ReleaseOrder } from './order.ts';
import { release } from './release.ts';
import { FenceHarness, leaseOf, neverHeardNode, nodeOf, provenStatus } from '../testing/harness.ts';
import { releaseOrder } from '../testing/release-order.ts';

const RENEWED = '2026-01-01T00:00:00.000000Z';
const TAINT: Taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
const FOREIGN: Taint = { key: 'team', value: 'x', effect: 'NoSchedule' };

function harnessWith(): FenceHarness {
  const harness = new FenceHarness(new ManualClock());
  harness.cluster.node = nodeOf({ taints: [FOREIGN] });
  harness.cluster.lease = leaseOf(RENEWED);
  return harness;
}

function orderOf(mode: 'auto' | 'delete-pods' | 'evict' | 'none' = 'auto', more: Partial<ReleaseOrder> = {}): ReleaseOrder {
  return releaseOrder(provenStatus(planOf({ release: mode })), { renewTime: RENEWED, ...more });
}

function podOf(name: string, more: Partial<Pod['metadata']> = {}): Pod {
  return { metadata: { name, namespace: 'web', uid: `uid-${name}`, ...more }, spec: { nodeName: 'a' }, status: {} };
}

describe('a release', () => {
  it('sets our taint beside those of others, under the resource version that was read, with our mark', async () => {
    const harness = harnessWith();
    const report = await release(harness.dependencies, orderOf());
    expect(report).toMatchObject({ result: 'succeeded', released: { by: 'out-of-service', evidence: 'off-1' } });
    expect(harness.cluster.writes).toEqual([
      {
        verb: 'patch',
        name: 'a',
        body: {
          metadata: { resourceVersion: '7', annotations: { [OUT_OF_SERVICE_OWNER]: 'node-fence-a/fence-1/1' } },
          spec: { taints: [FOREIGN, TAINT] },
        },
      },
    ]);
  });

  it.each([
    ['the lease was renewed after the last off read', { lease: leaseOf('2026-01-01T00:00:09.000000Z') }],
    ['the Node is Ready', { node: nodeOf({ ready: 'True' }) }],
    ['another boot ID appeared', { node: nodeOf({ bootID: 'boot-2' }) }],
    ['its kubelet wrote that it is not Ready', { node: nodeOf({ ready: 'False', heartbeat: '2026-01-01T00:00:09Z' }) }],
    ['the Node was replaced under its name', { node: { ...nodeOf(), metadata: { name: 'a', uid: 'uid-b' } } }],
    ['the Node is gone', { node: undefined }],
  ])('is void when a consistent read shows that %s', async (_words, change) => {
    for (const mode of ['auto', 'delete-pods', 'evict'] as const) {
      const harness = harnessWith();
      harness.pods.items = [podOf('web-0')];
      Object.assign(harness.cluster, change);
      expect((await release(harness.dependencies, orderOf(mode))).result).toBe('voided');
      expect(harness.cluster.writes).toEqual([]);
    }
  });

  it('stands when the node lifecycle controller marks a Node that never had Ready: it puts the time at which that was made', async () => {
    const harness = harnessWith();
    harness.cluster.node = neverHeardNode('marked');
    expect((await release(harness.dependencies, orderOf('auto', { heartbeat: undefined }))).result).toBe('succeeded');
  });

  it('writes nothing when a stop, a hold or a lost lease comes in between', async () => {
    const harness = harnessWith();
    const mayGoOn = (): void => {
      throw new AgentError('NotSent', { device: '', plug: '', asked: 'release', answered: 'a stop stands' });
    };
    await expect(release(harness.dependencies, orderOf('auto', { mayGoOn }))).rejects.toThrow('a stop stands');
    expect(harness.cluster.writes).toEqual([]);
  });

  it('takes nothing for released under a stop, though no pod is left to be asked for', async () => {
    const harness = harnessWith();
    harness.pods.items = [];
    const mayGoOn = (): void => {
      throw new AgentError('NotSent', { device: '', plug: '', asked: 'release', answered: 'a stop stands' });
    };
    await expect(release(harness.dependencies, orderOf('delete-pods', { mayGoOn }))).rejects.toThrow('a stop stands');
  });

  it('reads the Node again when somebody else changed it meanwhile', async () => {
    const harness = harnessWith();
    let conflicts = 2;
    harness.cluster.beforePatch = () => {
      conflicts -= 1;
      if (conflicts >= 0) throw new ApiStatusError(409, 'Conflict', 'the object has been modified');
    };
    expect((await release(harness.dependencies, orderOf())).result).toBe('succeeded');
  });

  it('deletes pods by uid in batches, and asks for life again before each', async () => {
    const harness = harnessWith();
    harness.pods.items = Array.from({ length: 45 }, (_pod, index) => podOf(`web-${index}`));
    let asked = 0;
    harness.cluster.beforeLease = () => {
      asked += 1;
      if (asked === 3) harness.cluster.lease = leaseOf('2026-01-01T00:00:09.000000Z');
    };
    const report = await release(harness.dependencies, orderOf('delete-pods'));
    const deleted = harness.cluster.writes.filter((write) => write.verb === 'remove');
    expect(report, 'life was seen between the batches').toMatchObject({ result: 'voided', released: { pods: 40, left: 5 } });
    expect(deleted.length).toBe(40);
    expect(deleted[0]?.body).toEqual({ namespace: 'web', uid: 'uid-web-0', gracePeriodSeconds: 0 });
  });

  it('evicts what a budget lets go, and does not keep the node off for the rest', async () => {
    const harness = harnessWith();
    harness.pods.items = [podOf('db-0'), podOf('db-1'), podOf('web-0')];
    harness.cluster.budgeted.add('db-1');
    const report = await release(harness.dependencies, orderOf('evict'));
    expect(report).toMatchObject({ result: 'succeeded', released: { by: 'evict', pods: 2 } });
    expect(report.message).toContain('1 kept, asked for again until release_timeout: web/db-1 (the disruption budget db needs 2 healthy pods)');
    expect(harness.cluster.writes.map((write) => write.name)).toEqual(['db-0', 'web-0']);
  });

  it('leaves pods of DaemonSets and static pods alone', async () => {
    const harness = harnessWith();
    const owned = (kind: string): Partial<Pod['metadata']> => ({
      ownerReferences: [{ apiVersion: 'v1', kind, name: 'x', uid: 'x', controller: true }],
    });
    harness.pods.items = [podOf('daemon', owned('DaemonSet')), podOf('static', owned('Node')), podOf('web-0', owned('StatefulSet'))];
    await release(harness.dependencies, orderOf('delete-pods'));
    expect(harness.cluster.writes.map((write) => write.name)).toEqual(['web-0']);
  });

  it('tells what it had let go when a stop or an old proof ends it', async () => {
    const harness = harnessWith();
    harness.pods.items = Array.from({ length: 45 }, (_pod, index) => podOf(`web-${index}`));
    let asked = 0;
    const mayGoOn = (): void => {
      asked += 1;
      if (asked > 22) throw new AgentError('NotSent', { device: '', plug: '', asked: 'release', answered: 'the last off read is too old' });
    };
    const report = await release(harness.dependencies, orderOf('delete-pods', { mayGoOn }));
    expect(report, 'the proof is asked for each pod, in the turn of its call').toMatchObject({
      result: 'not-sent',
      released: { pods: 20, left: 25, batch: 1 },
    });
    expect(report.released?.names).toHaveLength(16);
    expect(report.message).toContain('too old; before that, delete-pods: 20 pods');
  });

  it('lets a paced batch go, the most important first, and tells how many follow; the taint comes with the last', async () => {
    const harness = harnessWith();
    const plan = planOf({ release: 'auto', podsPerMinute: 12 });
    harness.pods.items = ['c', 'a', 'b'].map((name, index) => ({ ...podOf(name), spec: { nodeName: 'a', priority: index } }));
    const order = orderOf('auto', { status: provenStatus(plan) });
    const first = await release(harness.dependencies, order);
    expect(first).toMatchObject({ result: 'succeeded', released: { by: 'delete-pods', pods: 2, left: 1, batch: 1, names: ['web/b', 'web/a'] } });
    expect(harness.cluster.writes.map((write) => write.name)).toEqual(['b', 'a']);
    expect(harness.cluster.node?.spec.taints).toEqual([FOREIGN]);
    harness.pods.items = harness.pods.items.filter(({ metadata }) => metadata.name === 'c');
    const again = { ...order.status, ...(first.released === undefined ? {} : { released: first.released }) };
    const last = await release(harness.dependencies, { ...order, status: again });
    expect(last).toMatchObject({ result: 'succeeded', released: { by: 'out-of-service', pods: 3, left: 0, batch: 2 } });
    expect(harness.cluster.node?.spec.taints).toEqual([FOREIGN, TAINT]);
  });

  it('is voided by a Node that still counts as Ready: it flipped back while it was being switched off', async () => {
    const harness = harnessWith();
    harness.cluster.node = nodeOf({ ready: 'True' });
    expect((await release(harness.dependencies, orderOf('auto'))).result).toBe('voided');
    expect(harness.cluster.node.spec.taints).toEqual([]);
  });

  it('deletes VolumeAttachments after the last pod, and none while pods are left', async () => {
    const harness = harnessWith();
    harness.pods.items = [podOf('web-0'), podOf('web-1')];
    harness.volumeAttachments.items = [{ metadata: { name: 'csi-1', uid: 'uid-csi-1' }, spec: { attacher: 'x', nodeName: 'a', source: {} } }];
    const order = orderOf('delete-pods', { status: provenStatus(planOf({ release: 'delete-pods', podsPerMinute: 6 })) });
    await release(harness.dependencies, order);
    expect(harness.cluster.writes.map((write) => write.name)).toEqual(['web-0']);
    harness.pods.items = [podOf('web-1')];
    await release(harness.dependencies, order);
    expect(harness.cluster.writes.map((write) => write.name)).toEqual(['web-0', 'web-1', 'csi-1']);
  });

  it('does nothing where the configuration says release=none', async () => {
    const harness = harnessWith();
    expect((await release(harness.dependencies, orderOf('none'))).result).toBe('voided');
    expect(harness.cluster.writes).toEqual([]);
  });
});

describe('the end of a release', () => {
  it('takes only our taint, and reads it absent', async () => {
    const harness = harnessWith();
    await release(harness.dependencies, orderOf());
    const report = await endRelease(harness.dependencies, 'a', orderOf().status, () => undefined);
    expect(report.result).toBe('succeeded');
    expect(harness.cluster.node?.spec.taints).toEqual([FOREIGN]);
    expect(harness.cluster.node?.metadata.annotations?.[OUT_OF_SERVICE_OWNER]).toBeUndefined();
  });

  it('has failed when our taint is still read after it was taken back', async () => {
    const harness = harnessWith();
    await release(harness.dependencies, orderOf());
    const { cluster } = harness.dependencies;
    const deaf = { ...cluster, mergePatch: <T>(): Promise<T> => Promise.resolve(harness.cluster.node as T) };
    const report = await endRelease({ ...harness.dependencies, cluster: deaf }, 'a', orderOf().status, () => undefined);
    expect(report).toEqual({ result: 'failed', message: 'our out-of-service taint is still set after it was removed' });
  });

  it('leaves the same taint of an admin, which does not carry our mark', async () => {
    const harness = harnessWith();
    harness.cluster.node = nodeOf({ taints: [TAINT] });
    await endRelease(harness.dependencies, 'a', orderOf().status, () => undefined);
    expect(harness.cluster.node.spec.taints).toEqual([TAINT]);
    expect(harness.cluster.writes).toEqual([]);
  });

  it('does not claim the taint that an admin had set before us', async () => {
    const harness = harnessWith();
    harness.cluster.node = nodeOf({ taints: [TAINT] });
    await release(harness.dependencies, orderOf());
    await endRelease(harness.dependencies, 'a', orderOf().status, () => undefined);
    expect(harness.cluster.node.spec.taints).toEqual([TAINT]);
  });

  it('leaves what took the place of ours, and a NoSchedule taint of the same key', async () => {
    const harness = harnessWith();
    await release(harness.dependencies, orderOf());
    const theirs: Taint[] = [
      { ...TAINT, value: 'maintenance' },
      { ...TAINT, effect: 'NoSchedule' },
    ];
    if (harness.cluster.node !== undefined) harness.cluster.node = { ...harness.cluster.node, spec: { taints: theirs } };
    const report = await endRelease(harness.dependencies, 'a', orderOf().status, () => undefined);
    expect(report).toMatchObject({ result: 'succeeded' });
    expect(report.message).toContain('that nodefence did not set stays');
    expect(harness.cluster.node?.spec.taints).toEqual(theirs);
    expect(harness.cluster.node?.metadata.annotations?.[OUT_OF_SERVICE_OWNER], 'our mark goes').toBeUndefined();
  });

  it('does not take away a taint from which somebody has taken our mark', async () => {
    const harness = harnessWith();
    await release(harness.dependencies, orderOf());
    if (harness.cluster.node !== undefined)
      harness.cluster.node = { ...harness.cluster.node, metadata: { ...harness.cluster.node.metadata, annotations: {} } };
    await endRelease(harness.dependencies, 'a', orderOf().status, () => undefined);
    expect(harness.cluster.node?.spec.taints).toEqual([FOREIGN, TAINT]);
  });

  it('names what keeps the machine off, with the PersistentVolume', async () => {
    const harness = harnessWith();
    harness.pods.items = [podOf('db-0')];
    harness.volumeAttachments.items = [
      { metadata: { name: 'csi-1' }, spec: { attacher: 'x', nodeName: 'a', source: { persistentVolumeName: 'pv-1' } } },
    ];
    const status = { ...orderOf().status, released: { by: 'out-of-service' as const, at: RENEWED, pods: 1, evidence: 'off-1' } };
    const report = await endRelease(harness.dependencies, 'a', status, () => undefined);
    expect(report.message).toBe('release_timeout over: 1 pods (web/db-0) and 1 VolumeAttachments (PersistentVolume pv-1 by csi-1) are left');
    expect(report.released).toMatchObject({ timedOut: true });
  });
});

describe('the out-of-service taint', () => {
  it('of an earlier fence of ours is taken over under our mark', async () => {
    const harness = harnessWith();
    const left = nodeOf({ taints: [TAINT] });
    harness.cluster.node = { ...left, metadata: { ...left.metadata, annotations: { [OUT_OF_SERVICE_OWNER]: 'node-fence-a/fence-0/7' } } };
    await release(harness.dependencies, orderOf());
    expect(harness.cluster.node.metadata.annotations).toEqual({ [OUT_OF_SERVICE_OWNER]: 'node-fence-a/fence-1/1' });
    expect(harness.cluster.node.spec.taints).toEqual([TAINT]);
  });

  it('of somebody else counts as theirs in the words of the release', async () => {
    const harness = harnessWith();
    harness.cluster.node = nodeOf({ taints: [TAINT] });
    const report = await release(harness.dependencies, orderOf());
    expect(report.message).toContain('an out-of-service taint already that nodefence did not set');
    expect(harness.cluster.writes).toEqual([]);
  });
});

describe('a release whose answers are lost', () => {
  const lost = (): never => {
    throw new TransportError('timeout', 'no answer in time');
  };

  it.each(['delete-pods', 'evict'] as const)('tells of whom nobody knows whether it was let go (%s), and counts it when it is gone', async (mode) => {
    const harness = harnessWith();
    harness.pods.items = [podOf('db-0')];
    harness.cluster.afterWrite = lost;
    const order = orderOf(mode);
    const report = await release(harness.dependencies, order);
    expect(report).toMatchObject({ released: { by: mode, pods: 0, names: [], left: 1, kept: [{ pod: 'web/db-0', isUnsure: true }] } });
    const status = { ...order.status, ...(report.released === undefined ? {} : { released: report.released }) };
    expect(releasedBefore(status), 'a sign of life after it is an alarm').toBe(' A release had begun. Whether web/db-0 was released is unknown.');
    harness.pods.items = [];
    const again = await release(harness.dependencies, { ...order, status });
    expect(again).toMatchObject({ result: 'succeeded', released: { pods: 1, names: ['web/db-0'], left: 0, kept: [] } });
  });

  it('counts a taint that may have been set, and its pods once only', async () => {
    const harness = harnessWith();
    harness.pods.items = [podOf('db-0')];
    harness.cluster.afterWrite = lost;
    const order = orderOf();
    const first = await release(harness.dependencies, order);
    expect(first).toMatchObject({ result: 'interrupted', released: { by: 'out-of-service', pods: 1, left: 1 } });
    harness.cluster.afterWrite = () => undefined;
    const status = { ...order.status, ...(first.released === undefined ? {} : { released: first.released }) };
    const again = await release(harness.dependencies, { ...order, status });
    expect(again).toMatchObject({ result: 'succeeded', released: { by: 'out-of-service', pods: 1, names: ['web/db-0'], left: 0, batch: 2 } });
  });

  it('tells of volumes that they may have been detached', async () => {
    const harness = harnessWith();
    harness.volumeAttachments.items = [{ metadata: { name: 'csi-1' }, spec: { attacher: 'x', nodeName: 'a', source: {} } }];
    harness.cluster.afterWrite = lost;
    const keptVolumes = [{ attachment: 'csi-1', isUnsure: true }];
    expect(await release(harness.dependencies, orderOf('delete-pods'))).toMatchObject({ result: 'succeeded', released: { pods: 0, keptVolumes } });
  });

  it('ends when the API server is away, and asks again as soon as it is back', async () => {
    const harness = harnessWith();
    harness.pods.items = [podOf('db-0')];
    harness.cluster.afterWrite = () => {
      throw new TransportError('unreachable', 'connection refused');
    };
    const order = orderOf('delete-pods');
    expect(await release(harness.dependencies, order)).toMatchObject({ result: 'interrupted', released: { pods: 0, left: 1 } });
    harness.cluster.afterWrite = () => undefined;
    expect(await release(harness.dependencies, order)).toMatchObject({ result: 'succeeded', released: { pods: 1 } });
  });

  it('counts nothing when the API server refused it', async () => {
    const harness = harnessWith();
    harness.pods.items = [podOf('db-0')];
    harness.cluster.afterWrite = () => {
      throw new ApiStatusError(403, 'Forbidden', 'no');
    };
    const report = await release(harness.dependencies, orderOf('delete-pods'));
    expect(report.released).toMatchObject({ pods: 0, names: [], left: 1, kept: [{ pod: 'web/db-0', by: 'no' }], againInMs: 5_000 });
  });
});

describe('a release that a crash cut off', () => {
  it('was done when our taint stands, whatever batches came before it', async () => {
    const harness = harnessWith();
    await release(harness.dependencies, orderOf());
    const released = { by: 'delete-pods' as const, at: RENEWED, pods: 4, evidence: 'off-1', left: 2, batch: 3 };
    const order = { node: 'a', status: { ...orderOf().status, released } };
    expect(await recoverRelease(harness.dependencies, order, 'release')).toMatchObject({
      result: 'found-done',
      released: { by: 'out-of-service', pods: 4, left: 0, batch: 4 },
    });
    expect((await recoverRelease(harness.dependencies, order, 'release-end')).result).toBe('found-not-done');
  });

  it('was not done when the taint there is not ours', async () => {
    const harness = harnessWith();
    harness.cluster.node = nodeOf({ taints: [TAINT] });
    const order = { node: 'a', status: orderOf().status };
    expect((await recoverRelease(harness.dependencies, order, 'release')).result).toBe('found-not-done');
    expect((await recoverRelease(harness.dependencies, order, 'release-end')).result).toBe('found-done');
  });

  it('may have let pods go where pods are deleted: it counts as begun, and goes on', async () => {
    const harness = harnessWith();
    for (const mode of ['delete-pods', 'evict'] as const) {
      const order = { node: 'a', status: orderOf(mode).status };
      expect(await recoverRelease(harness.dependencies, order, 'release')).toMatchObject({
        result: 'interrupted',
        released: { by: mode, pods: 0, evidence: 'off-1', left: 1, batch: 1 },
      });
    }
    const paced = { node: 'a', status: provenStatus(planOf({ release: 'auto', podsPerMinute: 6 })) };
    expect((await recoverRelease(harness.dependencies, paced, 'release')).released, 'batches come before the taint').toMatchObject({ left: 1 });
  });

  it('binds the node to its storage when a batch of isolation may have let a pod go', async () => {
    const harness = harnessWith();
    const { status } = orderOf();
    const proof: Evidence = { ...(status.evidence[0] as Evidence), kind: 'storage-revoked', source: 'close-1', storages: ['san'], bootID: 'boot-1' };
    const report = await recoverRelease(harness.dependencies, { node: 'a', status: { ...status, step: 'isolation', evidence: [proof] } }, 'release');
    expect(report).toMatchObject({ result: 'interrupted', storageRelease: { pods: 0, left: 1, storages: ['san'], bootID: 'boot-1' } });
    expect(report.released).toBeUndefined();
  });
});
