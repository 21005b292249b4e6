import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../../domain/node-fence.ts';
import { planOf } from '../../../domain/testing/model.ts';
import { AgentError } from '../../../ports/agents.ts';
import { ApiStatusError, TransportError } from '../../../ports/api-transport.ts';
import type { Pod } from '../../../ports/objects.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { FenceHarness, leaseOf, nodeOf, provenStatus } from '../testing/harness.ts';
import { releaseOrder } from '../testing/release-order.ts';
import { AskedPods } from '../../shared/release/asked-pods.ts';
import type { ReleaseOrder, ReleaseReport } from './order.ts';
import { release } from './release.ts';

const RENEWED = '2026-01-01T00:00:00.000000Z';
const TWO_BUDGETS = new ApiStatusError(
  500,
  'InternalError',
  'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
);

function podOf(name: string, more: Partial<Pod['spec']> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return { metadata: { name, namespace: 'web', uid: `uid-${name}`, ...metadata }, spec: { nodeName: 'a', ...more }, status: {} };
}

/** A release over several operations; what is let go is gone before the next one. */
class Story {
  readonly clock = new ManualClock();
  readonly harness = new FenceHarness(this.clock);
  readonly asked = new AskedPods();
  /** How often each pod was asked for. */
  readonly tries = new Map<string, number>();
  order: ReleaseOrder;
  late: Promise<unknown> = Promise.resolve();

  constructor(mode: 'auto' | 'delete-pods' | 'evict', pods: readonly Pod[], answer: (name: string) => Promise<void>, pace = {}) {
    const { cluster } = this.harness;
    cluster.node = nodeOf();
    cluster.lease = leaseOf(RENEWED);
    cluster.podReads = (name) => this.harness.pods.items.find(({ metadata }) => metadata.name === name);
    this.harness.pods.items = [...pods];
    const ask = async (name: string, beforeSend?: () => void): Promise<void> => {
      beforeSend?.();
      this.tries.set(name, (this.tries.get(name) ?? 0) + 1);
      await answer(name);
      this.harness.pods.items = this.harness.pods.items.filter(({ metadata }) => metadata.name !== name);
    };
    const { dependencies } = this.harness;
    dependencies.cluster.evict = (name, _namespace, options) => ask(name, options?.beforeSend);
    dependencies.cluster.remove = (_resource, name, options) => ask(name, options?.beforeSend).then(() => true);
    const status = provenStatus(planOf({ release: mode, ...pace }));
    const outlives = (call: Promise<unknown>): void => {
      this.late = call;
    };
    this.order = releaseOrder(status, { renewTime: RENEWED, asked: this.asked, outlives });
  }

  async operation(): Promise<ReleaseReport> {
    const going = release(this.harness.dependencies, this.order);
    void going.catch(() => undefined);
    for (let second = 0; second < 3; second += 1) {
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
      await this.clock.advance(1_000);
    }
    const report = await going;
    if (report.released !== undefined) this.order = { ...this.order, status: { ...this.order.status, released: report.released } };
    return report;
  }

  get left(): string[] {
    return this.harness.pods.items.map(({ metadata }) => metadata.name);
  }
}

const refusing = (name: string, error: Error) => (asked: string) => (asked === name ? Promise.reject(error) : Promise.resolve());
const many = (count: number): Pod[] => Array.from({ length: count }, (_pod, index) => podOf(`b-${index}`));

describe('a pod that the API server does not let go', () => {
  it.each([
    ['evict', 'two PodDisruptionBudgets, which is a 500 for ever', TWO_BUDGETS],
    ['evict', 'a webhook that forbids it', new ApiStatusError(403, 'Forbidden', 'admission webhook "x" denied the request: no')],
    ['delete-pods', 'a webhook that cannot be called', new ApiStatusError(500, 'InternalError', 'failed calling webhook "x"')],
    ['delete-pods', 'no answer in time', new TransportError('timeout', 'no answer in time')],
  ] as const)('by %s, for %s, keeps none of the others and is never reported as released', async (mode, _why, error) => {
    const story = new Story(mode, [podOf('a-0'), ...many(30)], refusing('a-0', error));
    const report = await story.operation();
    expect(story.left).toEqual(['a-0']);
    expect(report).toMatchObject({ result: 'succeeded', released: { by: mode, pods: 30, left: 1, kept: [{ pod: 'web/a-0' }], againInMs: 5_000 } });
    expect(report.released?.names).not.toContain('web/a-0');
    expect(report.message).toContain('1 kept, asked for again until release_timeout: web/a-0');
  });

  it('is told with whole milliseconds, as the NodeFence takes them', async () => {
    const story = new Story('evict', [podOf('a-0')], refusing('a-0', TWO_BUDGETS));
    await story.operation();
    await story.clock.advance(0.5);
    const report = await story.operation();
    expect(report.released?.againInMs, 'of the five seconds some are over').toBe(2_000);
  });

  it('is asked for again less and less often, and let go when it may', async () => {
    let isForbidden = true;
    const story = new Story('evict', [podOf('a-0')], () => (isForbidden ? Promise.reject(TWO_BUDGETS) : Promise.resolve()));
    const waits: (number | undefined)[] = [];
    for (let times = 0; times < 6; times += 1) {
      const report = await story.operation();
      waits.push(report.released?.againInMs);
      const before = story.tries.get('a-0');
      await story.operation();
      expect(story.tries.get('a-0'), 'before its time nothing is asked').toBe(before);
      await story.clock.advance(60_000);
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    isForbidden = false;
    expect(await story.operation()).toMatchObject({ released: { pods: 1, left: 0, kept: [], againInMs: 0 } });
  });

  it('does not take the place of others when one goes at a time', async () => {
    const first = podOf('a-0', { priority: 1_000 });
    const story = new Story('delete-pods', [first, ...many(3)], refusing('a-0', TWO_BUDGETS), { podsPerMinute: 6 });
    for (let times = 0; times < 4; times += 1) {
      await story.operation();
      await story.clock.advance(10_000);
    }
    expect(story.left).toEqual(['a-0']);
  });

  it('is asked for every five seconds while a PodDisruptionBudget keeps it, or when the budget says', async () => {
    const busy = (seconds: number): ApiStatusError => new ApiStatusError(429, 'TooManyRequests', 'the disruption budget db', seconds * 1_000);
    for (const [says, waitMs] of [
      [0, 5_000],
      [12, 12_000],
      [86_400, 30_000],
    ] as const) {
      const story = new Story('evict', [podOf('a-0')], refusing('a-0', busy(says)));
      for (let times = 0; times < 3; times += 1) {
        expect((await story.operation()).released?.againInMs).toBe(waitMs);
        await story.clock.advance(60_000);
      }
    }
  });

  it('does not keep the taint away: Kubernetes lets go what remains', async () => {
    const story = new Story('auto', [podOf('a-0')], refusing('a-0', TWO_BUDGETS), { podsPerMinute: 6 });
    const report = await story.operation();
    expect(JSON.stringify(story.harness.cluster.node?.spec.taints)).toContain('out-of-service');
    expect(report).toMatchObject({ result: 'succeeded', released: { by: 'out-of-service', pods: 1, kept: [{ pod: 'web/a-0' }] } });
  });
});

describe('a deletion that hangs', () => {
  function hanging(): { story: Story; answer: (error?: Error) => void } {
    let answer: (error?: Error) => void = () => undefined;
    const hangs = new Promise<void>((resolve, reject) => {
      answer = (error) => {
        if (error === undefined) resolve();
        else reject(error);
      };
    });
    const story = new Story('delete-pods', [podOf('a-0'), ...many(30)], (name) => (name === 'a-0' ? hangs : Promise.resolve()));
    return { story, answer };
  }

  it('is not waited for: the others go, and it is asked once for as long as it hangs', async () => {
    const { story, answer } = hanging();
    const report = await story.operation();
    expect(story.left).toEqual(['a-0']);
    expect(report).toMatchObject({ result: 'succeeded', released: { pods: 30, left: 1, kept: [{ pod: 'web/a-0', isUnsure: true }] } });
    for (let seconds = 0; seconds < 90; seconds += 5) {
      await story.clock.advance(5_000);
      await story.operation();
    }
    expect(story.tries.get('a-0')).toBe(1);
    expect(story.asked.isUnderWay, 'nothing is switched on meanwhile').toBe(true);
    answer(new ApiStatusError(500, 'InternalError', 'failed calling webhook "x": context deadline exceeded'));
    await story.late;
    expect(story.asked.isUnderWay).toBe(false);
    expect((await story.operation()).released?.kept).toEqual([{ pod: 'web/a-0', by: 'failed calling webhook "x": context deadline exceeded' }]);
  });

  it('that succeeds late is counted then', async () => {
    const { story, answer } = hanging();
    await story.operation();
    answer();
    await story.late;
    expect(await story.operation()).toMatchObject({ released: { pods: 31, left: 0, kept: [] } });
  });
});

describe('after our taint', () => {
  const owned = (kind: string): Partial<Pod['metadata']> => ({
    ownerReferences: [{ apiVersion: 'v1', kind, name: 'x', uid: 'x', controller: true }],
  });
  const tolerating = (seconds?: number): Partial<Pod['spec']> => ({
    tolerations: [{ operator: 'Exists', ...(seconds === undefined ? {} : { tolerationSeconds: seconds }) }],
  });
  const going = { deletionTimestamp: RENEWED, deletionGracePeriodSeconds: 30 };

  it('those that it concerns are deleted at once, each by its uid, and no other', async () => {
    const harness = new FenceHarness(new ManualClock());
    harness.cluster.node = nodeOf();
    harness.cluster.lease = leaseOf(RENEWED);
    harness.pods.items = [
      podOf('db-0', {}, owned('StatefulSet')),
      podOf('going', tolerating(300), going),
      podOf('for-now', tolerating(300)),
      podOf('for-ever', tolerating()),
      podOf('daemon', {}, owned('DaemonSet')),
      podOf('static', {}, owned('Node')),
    ];
    const story = new Story('auto', [], () => Promise.resolve());
    const report = await release(harness.dependencies, story.order);
    expect(report).toMatchObject({ result: 'succeeded', released: { by: 'out-of-service' } });
    expect(harness.cluster.writes.map(({ verb, name }) => `${verb} ${name}`)).toEqual(['patch a', 'remove db-0', 'remove going']);
    expect(harness.cluster.writes[1]?.body).toEqual({ namespace: 'web', uid: 'uid-db-0', gracePeriodSeconds: 0 });
  });

  it('none is deleted once the node shows life, and the release is void', async () => {
    const story = new Story('auto', many(45), () => Promise.resolve());
    let reads = 0;
    story.harness.cluster.beforeLease = () => {
      reads += 1;
      if (reads === 3) story.harness.cluster.lease = leaseOf('2026-01-01T00:00:09.000000Z');
    };
    expect(await story.operation()).toMatchObject({ result: 'voided', released: { by: 'out-of-service', pods: 45, left: 1 } });
    expect(story.left).toHaveLength(25);
  });

  it('none is deleted once a stop or a lost lease forbids it, and the next operation goes on where it ended', async () => {
    const story = new Story('auto', many(3), () => Promise.resolve());
    let asked = 0;
    const mayGoOn = (): void => {
      asked += 1;
      if (asked === 4) throw new AgentError('NotSent', { device: '', plug: '', asked: 'release', answered: 'a stop stands' });
    };
    const { order } = story;
    story.order = { ...order, mayGoOn };
    expect(await story.operation()).toMatchObject({ result: 'not-sent', released: { by: 'out-of-service', pods: 3, left: 1 } });
    expect(story.left).toHaveLength(1);
    expect(await story.operation()).toMatchObject({ result: 'succeeded', released: { by: 'out-of-service', pods: 3, left: 0 } });
    expect(story.left).toEqual([]);
  });

  it('one that is refused is told, and left to Kubernetes', async () => {
    const story = new Story('auto', [podOf('a-0'), podOf('b-0')], refusing('a-0', TWO_BUDGETS));
    expect(await story.operation()).toMatchObject({ result: 'succeeded', released: { pods: 2, kept: [{ pod: 'web/a-0' }] } });
    expect(story.left).toEqual(['a-0']);
  });
});

describe('a pod that is let go', () => {
  const gone = async (kind: Evidence['kind'], mode: 'delete-pods' | 'evict', spec: Partial<Pod['spec']> = {}): Promise<unknown> => {
    const harness = new FenceHarness(new ManualClock());
    harness.cluster.node = nodeOf();
    harness.cluster.lease = leaseOf(RENEWED);
    harness.pods.items = [podOf('db-0', spec)];
    const { order } = new Story(mode, [], () => Promise.resolve());
    await release(harness.dependencies, { ...order, proof: { ...order.proof, kind } });
    return harness.cluster.writes[0];
  };

  it.each(['delete-pods', 'evict'] as const)(
    'by force never waits for a webhook that hangs, with %s: late, it would be of a machine that runs again',
    async (mode) => {
      expect(JSON.stringify(await gone('power-off', mode))).not.toContain('mayBeLate');
      expect(await gone('power-off', mode)).toMatchObject({ body: { gracePeriodSeconds: 0 } });
    },
  );

  it.each(['delete-pods', 'evict'] as const)('gently waits for it, with %s: the kubelet ends the pod first', async (mode) => {
    expect(await gone('booted-anew', mode)).toMatchObject({ body: { uid: 'uid-db-0', mayBeLate: true } });
  });

  it('gently, without any grace of its own, is gone at once: it waits for nothing either', async () => {
    expect(JSON.stringify(await gone('booted-anew', 'evict', { terminationGracePeriodSeconds: 0 }))).not.toContain('mayBeLate');
  });

  it('that the server gave up is told with what may be the cause', async () => {
    const story = new Story('delete-pods', [podOf('a-0')], refusing('a-0', new ApiStatusError(504, 'Timeout', 'delete pods/a-0: HTTP 504')));
    const kept = [{ pod: 'web/a-0', by: expect.stringContaining('an admission webhook hangs') as string, isUnsure: true }];
    expect(await story.operation()).toMatchObject({ released: { left: 1, kept } });
  });
});

it.each([
  ['was kept by its budget in a release before', false, false],
  ['was asked for in a release before that nobody answered', true, true],
])('a release is void, and has begun only where something may have been let go: the pod %s', async (_what, isUnsure, hasBegun) => {
  const harness = new FenceHarness(new ManualClock());
  harness.cluster.lease = leaseOf(RENEWED);
  harness.pods.items = [podOf('web-0')];
  harness.cluster.node = nodeOf({ ready: 'True' });
  const order = releaseOrder(provenStatus(planOf({ release: 'evict' })), { renewTime: RENEWED });
  const asked = { namespace: 'web', name: 'web-0', uid: 'uid-web-0' };
  order.asked.asks(asked);
  order.asked.refused(asked, { by: 'its budget', isUnsure }, 0);
  const { result, released } = await release(harness.dependencies, order);
  expect([result, released !== undefined, harness.cluster.writes]).toEqual(['voided', hasBegun, []]);
});
