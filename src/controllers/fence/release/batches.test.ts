import { describe, expect, it } from 'vitest';
import type { Released } from '../../../domain/node-fence.ts';
import type { Plan } from '../../../domain/plan.ts';
import { planOf } from '../../../domain/testing/model.ts';
import { ApiStatusError } from '../../../ports/api-transport.ts';
import type { Pod } from '../../../ports/objects.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { FenceHarness, leaseOf, nodeOf, provenStatus } from '../testing/harness.ts';
import { releaseOrder } from '../testing/release-order.ts';
import type { ReleaseOrder, ReleaseReport } from './order.ts';
import { release } from './release.ts';

const RENEWED = '2026-01-01T00:00:00.000000Z';
const NO = new ApiStatusError(403, 'Forbidden', 'no');

function podOf(name: string, more: Partial<Pod['metadata']> = {}): Pod {
  return { metadata: { name, namespace: 'web', uid: `uid-${name}`, ...more }, spec: { nodeName: 'a' }, status: {} };
}

/** The next batch of the pods of node `a`; `refusing`: those that the API server does not let go. */
class Batch {
  readonly harness: FenceHarness;
  readonly asked: string[] = [];
  readonly order: ReleaseOrder;

  constructor(
    plan: Partial<Plan>,
    pods: readonly Pod[],
    before?: Partial<Released>,
    answer: (name: string) => Promise<boolean> = () => Promise.resolve(true),
    clock = new ManualClock(),
  ) {
    this.harness = new FenceHarness(clock);
    const { cluster, dependencies } = this.harness;
    cluster.node = nodeOf();
    cluster.lease = leaseOf(RENEWED);
    this.harness.pods.items = [...pods];
    dependencies.cluster.remove = (_resource, name) => {
      this.asked.push(name);
      return answer(name);
    };
    const released = { by: 'delete-pods' as const, at: 'then', pods: 2, evidence: 'off-0', names: ['web/x', 'web/y'], left: 3, batch: 4, ...before };
    this.order = releaseOrder({ ...provenStatus(planOf(plan)), ...(before === undefined ? {} : { released }) }, { renewTime: RENEWED });
  }

  release(): Promise<ReleaseReport> {
    return release(this.harness.dependencies, this.order);
  }
}

const FORCED = { deletionTimestamp: RENEWED, deletionGracePeriodSeconds: 0 };
const refusing =
  (...names: string[]) =>
  (name: string) =>
    names.includes(name) ? Promise.reject(NO) : Promise.resolve(true);

describe('a batch', () => {
  it('adds to those before it, and keeps the time of the first', async () => {
    const { released } = await new Batch({ release: 'delete-pods' }, [podOf('a')], {}).release();
    expect(released).toEqual({ by: 'delete-pods', at: 'then', pods: 3, evidence: 'off-1', names: ['web/x', 'web/y', 'web/a'], left: 0, batch: 5 });
  });

  it('that only asks in vain is none: it does not put off the end of the release', async () => {
    const { released } = await new Batch({ release: 'delete-pods' }, [podOf('a')], {}, refusing('a')).release();
    expect(released).toMatchObject({ pods: 2, left: 1, batch: 4, againInMs: 5_000 });
  });

  it('goes on at once while a pod is left that was never asked for', async () => {
    const plan = { release: 'delete-pods', podsPerMinute: 12 } as const;
    const { released, message } = await new Batch(
      plan,
      ['a', 'b', 'c'].map((name) => podOf(name)),
      {},
      refusing('a'),
    ).release();
    expect(released).toMatchObject({ pods: 3, left: 2, batch: 5 });
    expect(released).not.toHaveProperty('againInMs');
    expect(message).toContain('1 kept, asked for again until release_timeout: web/a (no); 1 more follow');
  });

  it('that is not answered yet has had its turn in the pace, once', async () => {
    const clock = new ManualClock();
    const plan = { release: 'delete-pods', podsPerMinute: 12 } as const;
    const batch = new Batch(
      plan,
      ['a', 'b', 'c'].map((name) => podOf(name)),
      {},
      () => new Promise(() => undefined),
      clock,
    );
    const first = batch.release();
    await clock.settle();
    await clock.advance(1_000);
    expect((await first).released).toMatchObject({ pods: 2, left: 3, batch: 5 });
    batch.harness.pods.items = ['a', 'b'].map((name) => podOf(name));
    expect((await batch.release()).released, 'nobody was asked for').toMatchObject({ pods: 2, left: 2, batch: 4 });
  });

  it('is for no pod that was made on this very node since the release began: whoever makes it anew would have one for each, without an end', async () => {
    const at = '2026-01-01T10:00:00.000Z';
    const made = (name: string, minute: string): Pod => podOf(name, { creationTimestamp: `2026-01-01T10:${minute}Z` });
    const pods = [made('late', '01:00'), made('anew', '01:01'), podOf('old', { creationTimestamp: '2025-01-01T00:00:00Z' })];
    const batch = new Batch({ release: 'delete-pods', podsPerMinute: 60 }, pods, { at });
    const { released, message } = await batch.release();
    expect(batch.asked).toEqual(['late', 'old']);
    expect(released).toMatchObject({ pods: 4, left: 0 });
    expect(message).toContain('1 pod: pod web/anew 1, made on a since the release began');
    const tainted = new Batch({ release: 'auto', podsPerMinute: 60 }, pods.slice(1, 2), { at });
    expect((await tainted.release()).released, 'the taint waits for none of them').toMatchObject({ by: 'out-of-service' });
  });

  it('names what it leaves alone because it tolerates the taint for ever: nobody else would say why that waits', async () => {
    const staying: Pod = { ...podOf('db-0'), spec: { nodeName: 'a', tolerations: [{ operator: 'Exists' }] } };
    const { message } = await new Batch({ release: 'auto' }, [podOf('a'), staying]).release();
    expect(message).toContain('left alone, for they tolerate the out-of-service taint for ever: 1 pod: pod web/db-0 1');
  });

  it('of one pod that a finalizer keeps, or that is gone, asks for nothing again', async () => {
    const batch = new Batch({ release: 'auto', podsPerMinute: 60 }, [podOf('a'), podOf('gone'), podOf('held', FORCED)], {}, (name) =>
      Promise.resolve(name !== 'gone'),
    );
    const { released } = await batch.release();
    expect(batch.asked, 'nor behind the taint').toEqual(['a', 'gone']);
    expect(released, 'the one that is held was counted before').toMatchObject({ by: 'out-of-service', pods: 3, left: 0, batch: 5 });
  });

  it('with the taint counts those that it refused: Kubernetes lets them go', async () => {
    const batch = new Batch({ release: 'auto', podsPerMinute: 60 }, [podOf('a'), podOf('b')], {}, refusing('a'));
    expect((await batch.release()).released).toMatchObject({ by: 'out-of-service', pods: 4, left: 0, kept: [{ pod: 'web/a', by: 'no' }] });
  });

  it('counts of those nobody had answered for the ones that are gone, and no others', async () => {
    const kept = [
      { pod: 'web/late', by: 'no answer', isUnsure: true },
      { pod: 'web/a', by: 'no answer', isUnsure: true },
      { pod: 'web/other', by: 'no' },
    ];
    const report = await new Batch({ release: 'delete-pods' }, [podOf('a')], { kept }).release();
    expect(report.released).toMatchObject({ pods: 4, names: ['web/x', 'web/y', 'web/late', 'web/a'], kept: [] });
    expect(report.message).toContain('; gone since then: web/late');
  });

  it('tells no more of those that were kept than a NodeFence takes', async () => {
    const names = Array.from({ length: 20 }, (_name, index) => `p-${String(index)}`);
    const { released } = await new Batch(
      { release: 'delete-pods' },
      names.map((name) => podOf(name)),
      undefined,
      refusing(...names),
    ).release();
    expect(released).toMatchObject({ pods: 0, left: 20 });
    expect(released?.kept).toHaveLength(16);
  });

  it('forgets those that it was refused once they are gone', async () => {
    const batch = new Batch({ release: 'delete-pods' }, [podOf('a')], undefined, refusing('a'));
    await batch.release();
    batch.harness.pods.items = [podOf('a', { uid: 'uid-of-another' })];
    expect((await batch.release()).released?.kept, 'another of its name is asked for at once').toMatchObject([{ pod: 'web/a' }]);
    expect(batch.asked).toEqual(['a', 'a']);
    expect(batch.order.asked.keptOf([{ namespace: 'web', name: 'a', uid: 'uid-a' }])).toEqual([]);
  });

  it('says nothing of pods that follow where none does', async () => {
    const { message } = await new Batch({ release: 'delete-pods' }, [podOf('a')]).release();
    expect(message).toBe('delete-pods: 1 pod: pod web/a 1, of a on power-off');
  });
});

it('a release deletes pods where Kubernetes knows no out-of-service taint', async () => {
  const harness = new FenceHarness(new ManualClock(), { outOfService: false });
  harness.cluster.node = nodeOf();
  harness.cluster.lease = leaseOf(RENEWED);
  harness.pods.items = [podOf('a')];
  const report = await release(harness.dependencies, releaseOrder(provenStatus(planOf({ release: 'auto' })), { renewTime: RENEWED }));
  expect(report.released).toMatchObject({ by: 'delete-pods', pods: 1 });
  expect(harness.cluster.writes.map(({ verb, name }) => `${verb} ${name}`)).toEqual(['remove a']);
});
