import { describe, expect, it } from 'vitest';
import type { PodFacts, Treatment } from '../../../domain/release-plan.ts';
import { AgentError } from '../../../ports/agents.ts';
import { ApiStatusError, TransportError } from '../../../ports/api-transport.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import type { Pod } from '../../../ports/objects.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { AskedPods } from './asked-pods.ts';
import { factsOf } from './pod-facts.ts';
import { letGo } from './pods.ts';

const podOf = (name: string, metadata: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: { name, namespace: 'web', uid: `uid-${name}`, ...metadata },
  spec: { nodeName: 'a' },
});
const POD = podOf('a');
const failing = (status: number, retryAfterMs?: number): ApiStatusError => new ApiStatusError(status, 'No', `HTTP ${status}`, retryAfterMs);

interface Told {
  freed: number;
  gone: number;
  kept: unknown[];
  /** It may be asked for again now. */
  isDue: boolean;
  stop?: string;
}

/** One pod whose deletion or eviction fails so, of which the API server then has `standing`. */
async function told(treatment: Treatment, error: Error, standing: Pod | Error | undefined): Promise<Told> {
  const clock = new ManualClock();
  const asked = new AskedPods();
  const cluster = {
    remove: () => Promise.reject(error),
    evict: () => Promise.reject(error),
    list: () => (standing instanceof Error ? Promise.reject(standing) : Promise.resolve(standing === undefined ? [] : [standing])),
  } as unknown as Cluster;
  const course: { freed: PodFacts[]; gone: PodFacts[] } = { freed: [], gone: [] };
  const order = { asked, verify: () => Promise.resolve(), mayGoOn: () => undefined, outlives: () => undefined };
  const pod = factsOf(POD);
  const stop = await letGo({ cluster, clock }, order, [pod], treatment, course).then(
    () => ({}),
    (thrown: unknown) => ({ stop: String(thrown) }),
  );
  return { freed: course.freed.length, gone: course.gone.length, kept: asked.keptOf([pod]), isDue: asked.mayAsk(pod, clock.monotonicMs()), ...stop };
}

const FREED: Told = { freed: 1, gone: 0, kept: [], isDue: true };
const GONE: Told = { freed: 0, gone: 1, kept: [], isDue: true };
const kept = (by: string, isUnsure = false): Told => ({
  ...{ freed: 0, gone: 0, isDue: false },
  kept: [{ pod: 'web/a', by: expect.stringContaining(by) as string, ...(isUnsure ? { isUnsure } : {}) }],
});
const stopped = (by: string, isUnsure = false): Told => ({
  ...{ freed: 0, gone: 0, isDue: true, stop: expect.stringContaining(by) as string },
  kept: isUnsure ? kept(by, true).kept : [],
});
const going = (deletionGracePeriodSeconds: number): Pod => podOf('a', { deletionTimestamp: 'then', deletionGracePeriodSeconds });
const ANOTHER = podOf('a', { uid: 'uid-other' });

describe('a pod whose deletion or eviction fails', () => {
  it.each<[string, Treatment, Error, Pod | Error | undefined, Told]>([
    ['of an eviction of what is gone', 'evict', failing(404), POD, GONE],
    ['of a webhook that says no', 'force', failing(403), POD, kept('HTTP 403')],
    ['of a server that knows nobody', 'force', failing(401), POD, stopped('HTTP 401')],
    ['of a server without time', 'force', failing(429), POD, stopped('HTTP 429')],
    ['of a server without time', 'graceful', failing(429), POD, stopped('HTTP 429')],
    ['of a budget', 'evict', failing(429), POD, kept('HTTP 429')],
    ['of a budget', 'evict-force', failing(429), POD, kept('HTTP 429')],
    ['of a server that is not there', 'force', failing(503), POD, stopped('HTTP 503', true)],
    ['of a server that gave up', 'force', failing(504), POD, kept('HTTP 504', true)],
    ['of an error, and it stands', 'force', failing(500), POD, kept('HTTP 500')],
    ['of an error, and it stands no more', 'force', failing(500), undefined, FREED],
    ['of an error, and another stands', 'force', failing(500), ANOTHER, FREED],
    ['of an error, and it is deleted by force', 'force', failing(500), going(0), FREED],
    ['of an error, and it is deleted with a grace', 'force', failing(500), going(30), kept('HTTP 500')],
    ['of an error, and it is deleted with a grace', 'evict-force', failing(500), going(30), kept('HTTP 500')],
    ['of an error, and it is on its way', 'graceful', failing(500), going(30), FREED],
    ['of an error, and it is on its way', 'evict', failing(500), going(30), FREED],
    ['of an error, and nobody can say', 'force', failing(500), failing(500), kept('could not be read', true)],
    ['of a conflict, and it stands', 'force', failing(409), POD, kept('HTTP 409')],
    ['of a conflict with another of its name', 'force', failing(409), ANOTHER, GONE],
    ['of a conflict, and it stands no more', 'force', failing(409), undefined, GONE],
    ['of no answer in time', 'force', new TransportError('timeout', 'late'), POD, kept('late', true)],
    ['of a server that is away', 'force', new TransportError('unreachable', 'away'), POD, stopped('away', true)],
    ['of a process that ends', 'force', new TransportError('aborted', 'ends'), POD, stopped('ends', true)],
    ['of a stop', 'force', new AgentError('NotSent', { device: '', plug: '', asked: '', answered: 'a stop stands' }), POD, stopped('a stop stands')],
  ])('because %s (%s)', async (_why, treatment, error, standing, expected) => {
    expect(await told(treatment, error, standing)).toEqual(expected);
  });

  it('without a uid is known by its name', async () => {
    const { uid: _none, ...facts } = factsOf(POD);
    const asked = new AskedPods();
    const cluster = { remove: () => Promise.reject(failing(409)), list: () => Promise.resolve([ANOTHER]) } as unknown as Cluster;
    const course: { freed: PodFacts[]; gone: PodFacts[] } = { freed: [], gone: [] };
    const order = { asked, verify: () => Promise.resolve(), mayGoOn: () => undefined, outlives: () => undefined };
    await letGo({ cluster, clock: new ManualClock() }, order, [{ ...facts, uid: undefined }], 'force', course);
    expect([course.gone, asked.keptOf([{ ...facts, uid: undefined }])]).toEqual([[], [{ pod: 'web/a', by: 'HTTP 409' }]]);
  });
});

describe('a pod that is let go', () => {
  it.each<[Treatment, object, string, object]>([
    ['force', {}, 'remove', { namespace: 'web', uid: 'uid-a', gracePeriodSeconds: 0 }],
    ['graceful', {}, 'remove', { namespace: 'web', uid: 'uid-a', mayBeLate: true }],
    ['graceful', { endsAtOnce: true }, 'remove', { namespace: 'web', uid: 'uid-a' }],
    ['evict', {}, 'evict', { uid: 'uid-a', mayBeLate: true }],
    ['evict-force', {}, 'evict', { uid: 'uid-a', gracePeriodSeconds: 0 }],
  ])('by %s, as %j, is asked for in no other way', async (treatment, more, verb, how) => {
    const calls: unknown[] = [];
    const call =
      (name: string) =>
      (...given: readonly unknown[]): Promise<boolean> => {
        const { beforeSend: _asks, ...options } = given[2] as Record<string, unknown>;
        calls.push([name, options]);
        return Promise.resolve(true);
      };
    const cluster = { remove: call('remove'), evict: call('evict') } as unknown as Cluster;
    const order = { asked: new AskedPods(), verify: () => Promise.resolve(), mayGoOn: () => undefined, outlives: () => undefined };
    const pod = { ...factsOf(POD), ...more };
    await letGo({ cluster, clock: new ManualClock() }, order, [pod], treatment, { freed: [], gone: [] });
    expect(calls).toEqual([[verb, how]]);
  });
});

describe('a call that is not answered in time', () => {
  it('outlives its operation, and one that had not left by then never does', async () => {
    const clock = new ManualClock();
    const pods = ['hangs', 'waits'].map((name) => factsOf(podOf(name)));
    const sent: string[] = [];
    let free: () => void = () => undefined;
    const socket = new Promise<void>((resolve) => {
      free = resolve;
    });
    const remove = async (_resource: unknown, name: string, { beforeSend }: { beforeSend?: () => void } = {}): Promise<boolean> => {
      if (name === 'waits') await socket;
      beforeSend?.();
      sent.push(name);
      await socket;
      return true;
    };
    const asked = new AskedPods();
    const late: Promise<unknown>[] = [];
    const order = { asked, verify: () => Promise.resolve(), mayGoOn: () => undefined, outlives: (call: Promise<unknown>) => late.push(call) };
    const course: { freed: PodFacts[]; gone: PodFacts[] } = { freed: [], gone: [] };
    const going = letGo({ cluster: { remove } as unknown as Cluster, clock }, order, pods, 'force', course);
    await clock.settle();
    await clock.advance(1_000);
    await going;
    expect([late.length, course.freed, asked.isUnderWay]).toEqual([1, [], true]);
    free();
    await Promise.all(late);
    expect(sent, 'its intent stood for the operation alone').toEqual(['hangs']);
    expect([course.freed, asked.isUnderWay], 'what comes late belongs to no operation').toEqual([[], false]);
  });

  it('is nobody’s matter where all have answered', async () => {
    const late: unknown[] = [];
    const asked = new AskedPods();
    const order = { asked, verify: () => Promise.resolve(), mayGoOn: () => undefined, outlives: (call: unknown) => late.push(call) };
    const course: { freed: PodFacts[]; gone: PodFacts[] } = { freed: [], gone: [] };
    const cluster = { remove: (_resource: unknown, name: string) => Promise.resolve(name === 'a') } as unknown as Cluster;
    const pods = [factsOf(POD), factsOf(podOf('b'))];
    await letGo({ cluster, clock: new ManualClock() }, order, pods, 'force', course);
    expect([course.freed, course.gone, late]).toEqual([[pods[0]], [pods[1]], []]);
  });
});
