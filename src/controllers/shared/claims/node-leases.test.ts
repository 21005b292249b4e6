import { beforeEach, describe, expect, it } from 'vitest';
import { ObjectCache } from '../../../kube/lister.ts';
import { fenceName } from '../../../domain/node-fence.ts';
import type { FenceState } from '../../../domain/node-fence.ts';
import { ApiStatusError, TransportError } from '../../../ports/api-transport.ts';
import type { Cluster, Resource } from '../../../ports/cluster.ts';
import type { KubeObject, Lease, Node } from '../../../ports/objects.ts';
import { LEASES, NODES } from '../../../ports/resources.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import { failureOf } from '../../../ports/jobs.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { LeasePlace } from './lease-place.ts';
import { NodeLeases } from './node-leases.ts';
import { bent, installedCluster } from '../../../../test/scenarios/installed-cluster.ts';

const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const NAMESPACE = 'medik8s-leases';
const FOREIGN: Lease['spec'] = { holderIdentity: 'node-maintenance', leaseDurationSeconds: 60, leaseTransitions: 4 };

describe('node leases', () => {
  let clock: ManualClock;
  let cluster: Cluster;
  let node: Node;
  let leases: ObjectCache<Lease>;
  let fences: ObjectCache<NodeFence>;
  let woken: string[];
  let warnings: string[];
  let isLeading: boolean;
  let writes: number;

  beforeEach(async () => {
    const silent = { debug: () => undefined, info: () => undefined, warn: (message: string) => void warnings.push(message), error: () => undefined };
    clock = new ManualClock({ monotonicMs: 1_000 });
    const installed = await installedCluster();
    await installed.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    node = await installed.create(NODES, { metadata: { name: 'a' }, spec: {}, status: {} });
    writes = 0;
    cluster = bent(installed, {
      create: (...given) => counted(installed.create(...given)),
      mergePatch: (...given) => counted(installed.mergePatch(...given)),
      remove: (...given) => counted(installed.remove(...given)),
    });
    leases = new ObjectCache<Lease>({}, silent);
    fences = new ObjectCache<NodeFence>({}, silent);
    woken = [];
    warnings = [];
    isLeading = true;
  });

  function counted<T>(work: Promise<T>): Promise<T> {
    writes += 1;
    return work;
  }

  function build(more: { cluster?: Cluster } = {}): NodeLeases {
    const nodes = new ObjectCache<Node>({}, { debug: quiet, info: quiet, warn: quiet, error: quiet });
    nodes.put(node);
    const log = { debug: quiet, info: quiet, warn: (message: string) => void warnings.push(message), error: quiet };
    const leadership = {
      get isLeading() {
        return isLeading;
      },
    };
    const wake = (node: string): void => void woken.push(node);
    const place = new LeasePlace({ cluster: more.cluster ?? cluster, clock, log, namespace: NAMESPACE });
    const built = new NodeLeases({ cluster, clock, log, place, leases, nodes, fences, leadership, namespace: NAMESPACE, wake, ...more });
    built.start();
    return built;
  }

  const standing = (): Promise<Lease | undefined> => cluster.get(LEASES, 'node-a', NAMESPACE);
  const watched = async (): Promise<void> => {
    const lease = await standing();
    if (lease === undefined) leases.remove(`${NAMESPACE}/node-a`);
    else leases.put(lease);
  };
  const foreign = async (spec = FOREIGN): Promise<void> => {
    await cluster.create(LEASES, { metadata: { name: 'node-a', namespace: NAMESPACE }, spec });
    await watched();
  };
  const fenced = (state: FenceState): void => {
    const status = { state } as NonNullable<NodeFence['status']>;
    fences.put({ metadata: { name: fenceName('a'), uid: 'f' }, spec: { node: 'a' }, status });
  };

  it('are taken for the Node, and once only', async () => {
    const ours = build();
    expect([await ours.take('a', undefined), await ours.take('a', undefined)]).toEqual([undefined, undefined]);
    const lease = await standing();
    expect(lease?.spec).toMatchObject({ holderIdentity: 'nodefence', leaseDurationSeconds: 300, leaseTransitions: 0 });
    expect(lease?.metadata.ownerReferences).toMatchObject([{ kind: 'Node', name: 'a', uid: node.metadata.uid }]);
    expect(writes).toBe(1);
  });

  it('are not asked for where there is no namespace for them, until it is there', async () => {
    let read = 0;
    let isThere = false;
    const reached = bent(cluster, {
      get: (resource, ...given) => {
        if (resource.kind === 'Namespace') return Promise.resolve(isThere ? ({ metadata: { name: NAMESPACE } } as never) : undefined);
        read += 1;
        return isThere ? cluster.get(resource, ...given) : Promise.reject(new ApiStatusError(403, 'Forbidden', 'no'));
      },
    });
    const ours = build({ cluster: reached });
    expect([await ours.take('a', undefined), read]).toEqual([undefined, 1]);
    expect([await ours.take('a', undefined), read, writes]).toEqual([undefined, 1, 0]);
    isThere = true;
    await foreign();
    expect(await ours.take('a', undefined)).toContain('node-maintenance is held');
  });

  it('of somebody else are waited out from our first sight, then taken with one transition more', async () => {
    await foreign();
    const ours = build();
    await watched();
    const words = 'Lease medik8s-leases/node-a of node-maintenance is held: this node is theirs until it is deleted, or is not renewed for 60 s';
    expect(await ours.take('a', undefined)).toBe(words);
    expect(ours.holdOn('a', undefined)?.message).toBe(words);
    woken = [];
    await clock.advance(60_001);
    expect(woken).toEqual(['a']);
    expect(ours.holdOn('a', undefined)).toBeUndefined();
    expect(await ours.take('a', undefined)).toBeUndefined();
    expect((await standing())?.spec).toMatchObject({ holderIdentity: 'nodefence', leaseTransitions: 5 });
  });

  it('that a watch has not shown yet are seen by a consistent read', async () => {
    const ours = build();
    await cluster.create(LEASES, { metadata: { name: 'node-a', namespace: NAMESPACE }, spec: FOREIGN });
    expect(await ours.take('a', undefined)).toContain('node-maintenance is held');
    expect(ours.holdOn('a', undefined)?.policy).toBe('medik8s-lease');
  });

  it('of the health check that asked for the fence hold nothing and are left to it', async () => {
    await foreign({ ...FOREIGN, holderIdentity: 'NodeHealthCheck-nhc' });
    const ours = build();
    await watched();
    expect(await ours.take('a', { kind: 'NodeFenceRemediation' })).toBeUndefined();
    expect(await ours.take('a', undefined)).toContain('NodeHealthCheck-nhc is held');
    expect((await standing())?.spec.holderIdentity).toBe('NodeHealthCheck-nhc');
  });

  it('that are taken from us hold whatever comes next', async () => {
    const ours = build();
    await ours.take('a', undefined);
    await cluster.mergePatch(LEASES, 'node-a', { spec: { holderIdentity: 'node-maintenance' } }, { namespace: NAMESPACE });
    expect(await ours.take('a', undefined)).toContain('node-maintenance is held');
    expect((await standing())?.spec.holderIdentity).toBe('node-maintenance');
  });

  it('are renewed while the fence is open, a third of the duration apart, and given back at its end', async () => {
    const ours = build();
    fenced('running');
    await ours.take('a', undefined);
    await watched();
    writes = 0;
    for (let minutes = 0; minutes < 10; minutes += 1) {
      await clock.advance(60_000);
      await watched();
    }
    expect(writes).toBeGreaterThanOrEqual(4);
    expect(writes).toBeLessThanOrEqual(6);
    fenced('final');
    await clock.advance(0);
    expect(await standing()).toBeUndefined();
    ours.close();
  });

  it('of a predecessor are adopted: renewed, or given back when the fence is over', async () => {
    await build().take('a', undefined);
    await watched();
    fenced('final');
    build();
    await watched();
    await clock.advance(31_000);
    expect(await standing()).toBeUndefined();
  });

  it('are never written by a replica that does not lead', async () => {
    await build().take('a', undefined);
    await watched();
    isLeading = false;
    writes = 0;
    await clock.advance(400_000);
    expect([writes, (await standing())?.spec.holderIdentity]).toEqual([0, 'nodefence']);
  });

  it('are not taken where the leadership ends between the look and the write: nothing was sent', async () => {
    const losing: Cluster = bent(cluster, {
      get: async (...given) => {
        const found = await cluster.get(...given);
        isLeading = false;
        return found;
      },
    });
    const error: unknown = await build({ cluster: losing })
      .take('a', undefined)
      .catch((thrown: unknown) => thrown);
    expect(failureOf(error).result).toBe('not-sent');
    expect(await cluster.get(LEASES, 'node-a', NAMESPACE)).toBeUndefined();
  });

  it('that another took over meanwhile are not deleted by their uid', async () => {
    const ours = build();
    await ours.take('a', undefined);
    await watched();
    await cluster.mergePatch(LEASES, 'node-a', { spec: { holderIdentity: 'node-maintenance' } }, { namespace: NAMESPACE });
    fenced('final');
    await clock.advance(31_000);
    expect((await standing())?.spec.holderIdentity).toBe('node-maintenance');
    expect(warnings).toContain('node lease not renewed; retried later');
  });

  it.each([
    ['there is no such namespace', new ApiStatusError(404, 'NotFound', 'namespaces "medik8s-leases" not found'), []],
    ['we may not write there', new ApiStatusError(403, 'Forbidden', 'no'), ['node lease not taken: no right to write it; apply config/medik8s']],
  ])('keep nobody from fencing where %s, and are not asked for again at once', async (_where, error, words) => {
    let asked = 0;
    const create = (): Promise<never> => {
      asked += 1;
      return Promise.reject(error);
    };
    const ours = build({ cluster: bent(cluster, { create }) });
    expect([await ours.take('a', undefined), await ours.take('a', undefined)]).toEqual([undefined, undefined]);
    expect([asked, warnings]).toEqual([1, words]);
    await clock.advance(600_000);
    await ours.take('a', undefined);
    expect(asked).toBe(2);
  });

  it('that could not be asked for stop the call: nobody knows whose the node is', async () => {
    const get = <T extends KubeObject>(): Promise<T | undefined> => Promise.reject(new TransportError('timeout', 'no answer'));
    await expect(build({ cluster: bent(cluster, { get }) }).take('a', undefined)).rejects.toThrow('no answer');
  });
});

function quiet(): void {
  return undefined;
}
