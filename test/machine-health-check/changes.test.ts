import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/controllers/machine-health-check/actions.ts';
import type { HealthCheckCache } from '../../src/controllers/machine-health-check/cache.ts';
import { decide } from '../../src/controllers/machine-health-check/decide.ts';
import { observe } from '../../src/controllers/machine-health-check/observe.ts';
import { keyOf } from '../../src/controllers/machine-health-check/snapshot.ts';
import { changes, START } from './cluster-changes.ts';
import { ago, checkObject, CLUSTER, clusterObject, machineObject } from './objects.ts';
import { plain } from './plain.ts';
import { joined } from './snapshot.ts';
import { WatchedCluster } from './watched-cluster.ts';

function decideAll(cache: HealthCheckCache, nowMs: number): Map<string, Decision> {
  return new Map(cache.checks().map((read) => [keyOf(read.check), decide(observe(cache, read), nowMs)]));
}

/** Two checks, each of one of the two Machines. */
function twoChecks(): { cluster: WatchedCluster; put: (name: string, nodeName: string) => void } {
  const cluster = new WatchedCluster();
  cluster.clusters.put(clusterObject());
  for (const pool of ['a', 'b']) cluster.checks.put(checkObject(pool, { selector: { matchLabels: { pool } } }));
  const put = (pool: string, nodeName: string): void => {
    const object = machineObject(`m-${pool}`, { nodeName, labels: { pool } });
    cluster.machines.put({ ...object, spec: { clusterName: CLUSTER, providerID: nodeName } });
  };
  for (const name of ['n1', 'n2']) cluster.nodes.put({ metadata: { name, uid: name }, spec: { providerID: name }, status: {} });
  put('a', 'n1');
  put('b', 'n2');
  return { cluster, put };
}

describe('a change', () => {
  it('of the Node of a Machine concerns the checks of all Machines that name it, before and after', () => {
    const { cluster, put } = twoChecks();
    const { cache, changes: pending } = cluster.follow();
    pending.take();
    const problems = (): string[] => [...decideAll(cache, cluster.clock.wallMs()).values()].flatMap((decision) => decision.problems);
    expect([...pending.take()]).toEqual([]);
    put('b', 'n1');
    expect([...pending.take()].sort()).toEqual(['default/a', 'default/b']);
    expect(problems().join()).toMatch(/m-a names Node n1, and so does another.*m-b names Node n1, and so does another/);
    put('b', 'n2');
    expect([...pending.take()].sort()).toEqual(['default/a', 'default/b']);
    expect(problems()).toEqual([]);
    put('b', 'n2');
    expect([...pending.take()]).toEqual(['default/b']);
  });

  it('that is no more than a heartbeat of a Node concerns nobody', () => {
    const { cluster } = twoChecks();
    const { changes: pending } = cluster.follow();
    pending.take();
    const ready = { type: 'Ready', status: 'True' as const, lastTransitionTime: ago(600) };
    const beat = (seconds: number, more: object = {}): void => {
      const node = { metadata: { name: 'n1', uid: 'n1' }, spec: { providerID: 'n1' } };
      cluster.nodes.put({ ...node, status: { conditions: [{ ...ready, lastHeartbeatTime: ago(seconds), ...more }] } });
    };
    beat(20);
    expect([...pending.take()]).toEqual(['default/a']);
    beat(10);
    expect([...pending.take()]).toEqual([]);
    beat(0, { status: 'Unknown' });
    expect([...pending.take()]).toEqual(['default/a']);
  });

  it('has every check decided anew for which something has changed, whatever changed', () => {
    fc.assert(
      fc.property(changes, (each) => {
        const cluster = new WatchedCluster();
        const { cache, changes: pending } = cluster.follow();
        const known = new Map<string, Decision>();
        for (const change of [...START, ...each]) {
          change(cluster);
          const changed = pending.take();
          const nowMs = cluster.clock.wallMs();
          const all = decideAll(cache, nowMs);
          for (const [key, decision] of all) {
            const before = known.get(key);
            if (before === undefined || changed.has(key) || (before.nextDueMs ?? Infinity) <= nowMs) known.set(key, decision);
          }
          for (const key of known.keys()) if (!all.has(key)) known.delete(key);
          expect(plain(joined([...known.values()]))).toEqual(plain(joined([...all.values()])));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('is found by a process that has just begun as by one that has followed it', () => {
    fc.assert(
      fc.property(changes, (each) => {
        const cluster = new WatchedCluster();
        const followed = cluster.follow();
        for (const change of [...START, ...each]) {
          change(cluster);
          followed.changes.take();
        }
        // How long a lease is valid is counted from when it was first seen.
        for (const { metadata } of [...cluster.nodeLeases.all()]) cluster.nodeLeases.remove(`${metadata.namespace ?? ''}/${metadata.name}`);
        followed.changes.take();
        // What was dated back while it followed counts for it from when it came.
        cluster.clock.freeze(24 * 3_600_000);
        const begun = cluster.follow();
        begun.changes.take();
        // Whose Nodes were seen here once, and are gone since, only who has followed knows.
        fc.pre([...begun.cache.machines()].every((machine) => begun.cache.placeOf(machine) === followed.cache.placeOf(machine)));
        const nowMs = cluster.clock.wallMs();
        expect(decideAll(begun.cache, nowMs)).toEqual(decideAll(followed.cache, nowMs));
      }),
      { numRuns: 200 },
    );
  });
});

describe('a check that names no Cluster', () => {
  const remote = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'n1' }, spec: {}, status: { conditions: [] } };

  /** One Machine of Cluster c1, on Node n1 that only c1 has. */
  function unnamed(): WatchedCluster {
    const cluster = new WatchedCluster('v1alpha3');
    cluster.clusters.put(clusterObject());
    cluster.checks.put(checkObject('mhc', { unhealthyConditions: [{ type: 'Ready', status: 'Unknown', timeout: '5m' }] }, 'v1alpha3'));
    cluster.machines.put(machineObject('m1', { nodeName: 'n1' }));
    cluster.remoteNodes.put(remote);
    return cluster;
  }

  const nodesOf = (cache: HealthCheckCache): unknown[] =>
    cache.checks().flatMap((read) => observe(cache, read).machines.map(({ subject: { node } }) => (typeof node === 'object' ? 'found' : node)));

  it('has the Nodes of its Machines read where the Cluster of each Machine has them', () => {
    const cluster = unnamed();
    cluster.workloads.set('default/c1', { lister: cluster.remoteNodes, cluster: cluster.dependencies.cluster });
    const { cache, changes: pending } = cluster.follow();
    pending.take();
    expect(nodesOf(cache)).toEqual(['found']);
    cluster.remoteNodes.remove('n1');
    expect([...pending.take()]).toEqual(['default/mhc']);
    expect(nodesOf(cache)).toEqual(['missing']);
  });

  it('says why nothing is concluded where its Cluster has no kubeconfig, and no Machine of it is on a Node here', () => {
    const cluster = unnamed();
    const { cache, changes: pending } = cluster.follow();
    pending.take();
    const problems = [...decideAll(cache, cluster.clock.wallMs()).values()].flatMap((decision) => decision.problems);
    expect(problems.join()).toContain('can not be read: their Cluster has no kubeconfig, and none of them is on a Node of this cluster');
    expect(nodesOf(cache)).toEqual(['unknown']);
  });

  it('concludes nothing of Nodes that can not be read', () => {
    const cluster = unnamed();
    cluster.workloads.set('default/c1', 'unreachable');
    const { cache, changes: pending } = cluster.follow();
    pending.take();
    expect(nodesOf(cache)).toEqual(['unknown']);
  });

  it('concludes nothing of the Nodes of a Cluster that is not there', () => {
    const cluster = unnamed();
    cluster.clusters.remove('default/c1');
    const { cache, changes: pending } = cluster.follow();
    pending.take();
    expect(nodesOf(cache)).toEqual(['unknown']);
  });

  it('concludes nothing of Nodes of which nobody knows yet where they are', () => {
    const cluster = unnamed();
    const { cache } = cluster.follow();
    cache.refresh(new Set(), new Set());
    expect(nodesOf(cache)).toEqual(['unknown']);
  });
});
