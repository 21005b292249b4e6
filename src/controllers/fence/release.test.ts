import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../domain/node-fence.ts';
import { planOf } from '../../domain/testing/model.ts';
import { AgentError } from '../../ports/agents.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Pod, Taint } from '../../ports/objects.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { OUT_OF_SERVICE_OWNER } from './ownership.ts';
import { endRelease, release } from './release.ts';
import type { ReleaseOrder } from './release.ts';
import { FenceBench, leaseOf, nodeOf, provenStatus } from './testing/bench.ts';

const RENEWED = '2026-01-01T00:00:00.000000Z';
const TAINT: Taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
const FOREIGN: Taint = { key: 'team', value: 'x', effect: 'NoSchedule' };

function benchWith(): FenceBench {
  const bench = new FenceBench(new ManualClock());
  bench.cluster.node = nodeOf({ taints: [FOREIGN] });
  bench.cluster.lease = leaseOf(RENEWED);
  return bench;
}

function orderOf(mode: 'auto' | 'delete-pods' | 'evict' | 'none' = 'auto', more: Partial<ReleaseOrder> = {}): ReleaseOrder {
  const status = provenStatus(planOf({ release: mode }));
  return { node: 'a', status, proof: status.evidence[0] as Evidence, renewTime: RENEWED, mayGoOn: () => undefined, ...more };
}

function podOf(name: string, more: Partial<Pod['metadata']> = {}): Pod {
  return { metadata: { name, namespace: 'web', uid: `uid-${name}`, ...more }, spec: { nodeName: 'a' }, status: {} };
}

describe('a release', () => {
  it('sets our taint beside those of others, under the resource version that was read, with our mark', async () => {
    const bench = benchWith();
    const report = await release(bench.dependencies, orderOf());
    expect(report).toMatchObject({ result: 'succeeded', released: { by: 'out-of-service', evidence: 'off-1' } });
    expect(bench.cluster.writes).toEqual([
      {
        verb: 'patch',
        name: 'a',
        body: { metadata: { resourceVersion: '7', annotations: { [OUT_OF_SERVICE_OWNER]: 'node-fence-a' } }, spec: { taints: [FOREIGN, TAINT] } },
      },
    ]);
  });

  it.each([
    ['the lease was renewed after the last off read', { lease: leaseOf('2026-01-01T00:00:09.000000Z') }],
    ['the Node is Ready', { node: nodeOf({ ready: 'True' }) }],
    ['another boot ID appeared', { node: nodeOf({ bootID: 'boot-2' }) }],
    ['the Node was replaced under its name', { node: { ...nodeOf(), metadata: { name: 'a', uid: 'uid-b' } } }],
    ['the Node is gone', { node: undefined }],
  ])('is void when the API shows at its quorum that %s', async (_words, quorum) => {
    for (const mode of ['auto', 'delete-pods', 'evict'] as const) {
      const bench = benchWith();
      bench.pods.items = [podOf('web-0')];
      Object.assign(bench.cluster, quorum);
      expect((await release(bench.dependencies, orderOf(mode))).result).toBe('voided');
      expect(bench.cluster.writes).toEqual([]);
    }
  });

  it('writes nothing when a stop, a hold or a lost lease comes in between', async () => {
    const bench = benchWith();
    const mayGoOn = (): void => {
      throw new AgentError('NotSent', { device: '', plug: '', asked: 'release', answered: 'a stop stands' });
    };
    await expect(release(bench.dependencies, orderOf('auto', { mayGoOn }))).rejects.toThrow('a stop stands');
    expect(bench.cluster.writes).toEqual([]);
  });

  it('reads the Node again when somebody else changed it meanwhile', async () => {
    const bench = benchWith();
    let conflicts = 2;
    bench.cluster.beforePatch = () => {
      conflicts -= 1;
      if (conflicts >= 0) throw new ApiStatusError(409, 'Conflict', 'the object has been modified');
    };
    expect((await release(bench.dependencies, orderOf())).result).toBe('succeeded');
  });

  it('deletes pods by uid in batches, and asks for life again before each', async () => {
    const bench = benchWith();
    bench.pods.items = Array.from({ length: 45 }, (_pod, index) => podOf(`web-${index}`));
    let asked = 0;
    const mayGoOn = (): void => {
      asked += 1;
      if (asked === 3) bench.cluster.lease = leaseOf('2026-01-01T00:00:09.000000Z');
    };
    const report = await release(bench.dependencies, orderOf('delete-pods', { mayGoOn }));
    const deleted = bench.cluster.writes.filter((write) => write.verb === 'remove');
    expect(report, 'life was seen between the batches').toMatchObject({ result: 'voided' });
    expect(deleted.length).toBeLessThan(60);
    expect(deleted[0]?.body).toEqual({ namespace: 'web', uid: 'uid-web-0', gracePeriodSeconds: 0 });
  });

  it('evicts what a budget lets go, and does not keep the node off for the rest', async () => {
    const bench = benchWith();
    bench.pods.items = [podOf('db-0'), podOf('db-1'), podOf('web-0')];
    bench.cluster.budgeted.add('db-1');
    const report = await release(bench.dependencies, orderOf('evict'));
    expect(report).toMatchObject({ result: 'succeeded', released: { by: 'evict', pods: 2 } });
    expect(report.message).toContain('a PodDisruptionBudget keeps 1 more, until release_timeout');
    expect(bench.cluster.writes.map((write) => write.name)).toEqual(['db-0', 'web-0']);
  });

  it('leaves pods of DaemonSets and static pods alone', async () => {
    const bench = benchWith();
    const owned = (kind: string): Partial<Pod['metadata']> => ({
      ownerReferences: [{ apiVersion: 'v1', kind, name: 'x', uid: 'x', controller: true }],
    });
    bench.pods.items = [podOf('daemon', owned('DaemonSet')), podOf('static', owned('Node')), podOf('web-0', owned('StatefulSet'))];
    await release(bench.dependencies, orderOf('delete-pods'));
    expect(bench.cluster.writes.map((write) => write.name)).toEqual(['web-0']);
  });

  it('does nothing where the configuration says release=none', async () => {
    const bench = benchWith();
    expect((await release(bench.dependencies, orderOf('none'))).result).toBe('voided');
    expect(bench.cluster.writes).toEqual([]);
  });
});

describe('the end of a release', () => {
  it('takes only our taint, and reads it absent', async () => {
    const bench = benchWith();
    await release(bench.dependencies, orderOf());
    const report = await endRelease(bench.dependencies, 'a', orderOf().status);
    expect(report.result).toBe('succeeded');
    expect(bench.cluster.node?.spec.taints).toEqual([FOREIGN]);
    expect(bench.cluster.node?.metadata.annotations?.[OUT_OF_SERVICE_OWNER]).toBeUndefined();
  });

  it('leaves the same taint of an admin, which does not carry our mark', async () => {
    const bench = benchWith();
    bench.cluster.node = nodeOf({ taints: [TAINT] });
    await endRelease(bench.dependencies, 'a', orderOf().status);
    expect(bench.cluster.node.spec.taints).toEqual([TAINT]);
    expect(bench.cluster.writes).toEqual([]);
  });

  it('does not claim the taint that an admin had set before us', async () => {
    const bench = benchWith();
    bench.cluster.node = nodeOf({ taints: [TAINT] });
    await release(bench.dependencies, orderOf());
    await endRelease(bench.dependencies, 'a', orderOf().status);
    expect(bench.cluster.node.spec.taints).toEqual([TAINT]);
  });
});
