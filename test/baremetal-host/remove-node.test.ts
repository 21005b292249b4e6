import { beforeEach, describe, expect, it } from 'vitest';
import { LifeObservations } from '../../src/controllers/shared/baremetal-host/life-observations.ts';
import { removeNode } from '../../src/controllers/shared/baremetal-host/remove-node.ts';
import { ObjectCache } from '../../src/kube/lister.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { Lease, Node } from '../../src/ports/objects.ts';
import { LEASES, NODE_FENCE_STOPS, NODE_LEASE_NAMESPACE, NODES } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { installedCluster } from '../scenarios/installed-cluster.ts';

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const SILENT_MS = 60_000;

describe('the deletion of the Node of a host that is off', () => {
  let clock: ManualClock;
  let cluster: Cluster;
  let life: LifeObservations;
  let uid: string;

  beforeEach(async () => {
    clock = new ManualClock();
    cluster = await installedCluster();
    uid = (await cluster.create<Node>(NODES, { metadata: { name: 'n' }, spec: {}, status: {} })).metadata.uid ?? '';
    const metadata = { name: 'n', namespace: NODE_LEASE_NAMESPACE };
    const lease = await cluster.create<Lease>(LEASES, { metadata, spec: { renewTime: '2027-01-01T00:00:00.000000Z' } });
    const leases = new ObjectCache<Lease>({}, log);
    leases.put(lease);
    life = new LifeObservations({ clock, leases, nodes: new ObjectCache<Node>({}, log) });
    life.start();
    await clock.advance(SILENT_MS);
  });

  /** Its host is off since now. */
  const remove = (target = uid): Promise<void> =>
    removeNode(
      { cluster, life },
      { apiVersion: 'v1', kind: 'Node', name: 'n', uid: target },
      { source: 'operator', seenMs: clock.monotonicMs(), detail: 'off' },
    );
  const renew = (): Promise<Lease> =>
    cluster.mergePatch(LEASES, 'n', { spec: { renewTime: '2027-01-01T00:00:10.000000Z' } }, { namespace: NODE_LEASE_NAMESPACE });

  it('is done at once where it was silent for long', async () => {
    await remove();
    expect(await cluster.get(NODES, 'n')).toBeUndefined();
  });

  it('is not done of another Node of its name', async () => {
    await expect(remove('another')).rejects.toThrow('is another than');
    expect(await cluster.get(NODES, 'n')).toBeDefined();
  });

  it('is not done after a renewal of its Lease that only a consistent read shows, nor soon after one', async () => {
    await renew();
    await expect(remove()).rejects.toThrow('has not been silent for long enough');
    await clock.advance(SILENT_MS);
    await remove();
    expect(await cluster.get(NODES, 'n')).toBeUndefined();
  });

  it.each([
    [undefined, 15_000],
    [40, 15_000],
    [120, 45_000],
  ])('waits for one and a half renewals of a Lease of %j s', async (leaseDurationSeconds, waitMs) => {
    const spec = { renewTime: '2027-01-01T00:00:10.000000Z', ...(leaseDurationSeconds !== undefined && { leaseDurationSeconds }) };
    life.seeLease(await cluster.mergePatch<Lease>(LEASES, 'n', { spec }, { namespace: NODE_LEASE_NAMESPACE }));
    await clock.advance(waitMs - 1);
    await expect(remove()).rejects.toThrow('has not been silent for long enough');
    await clock.advance(1);
    await remove();
    expect(await cluster.get(NODES, 'n')).toBeUndefined();
  });

  it('is not done when it has shown life since its host was seen off', async () => {
    const proof = { source: 'operator', seenMs: clock.monotonicMs(), detail: 'off' } as const;
    await clock.advance(1_000);
    life.seeLease(await renew());
    await clock.advance(SILENT_MS);
    await expect(removeNode({ cluster, life }, { apiVersion: 'v1', kind: 'Node', name: 'n', uid }, proof)).rejects.toThrow('has shown life');
  });

  it('is not done under a person’s stop', async () => {
    await cluster.create(NODE_FENCE_STOPS, { metadata: { name: 'stop' }, spec: { all: true, reason: 'wait' } });
    await expect(remove()).rejects.toThrow('the stop stop is active: wait');
    expect(await cluster.get(NODES, 'n')).toBeDefined();
  });
});
