import { beforeEach, describe, expect, it } from 'vitest';
import { ApiStatusError } from '../ports/api-transport.ts';
import { NO_METRICS } from '../ports/metrics.ts';
import type { Logger } from '../ports/recorder.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { TokenBucket } from './token-bucket.ts';
import { Workqueue, type WorkqueueOptions, type WorkResult } from './workqueue.ts';

const SILENT: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

interface Job {
  key: string;
  atMs: number;
  signal: AbortSignal;
  resolve: (result?: WorkResult) => void;
  reject: (error: Error) => void;
}

describe('the workqueue', () => {
  let clock: ManualClock;
  let jobs: Job[];

  beforeEach(() => {
    clock = new ManualClock({ monotonicMs: 0 });
    jobs = [];
  });

  /** Work that lasts until the test ends it. */
  function build(options: Partial<WorkqueueOptions> = {}): Workqueue {
    return new Workqueue({
      name: 'test',
      clock,
      random: { next: () => 0, uuid: () => '' },
      logger: SILENT,
      metrics: NO_METRICS.workqueue,
      concurrency: 2,
      handler: (key, signal) =>
        new Promise((resolve, reject) => {
          jobs.push({ key, atMs: clock.monotonicMs(), signal, resolve: (result) => resolve(result), reject });
        }),
      ...options,
    });
  }

  const runs = (): string[] => jobs.map(({ key, atMs }) => `${key}@${String(atMs)}`);

  it('runs a key once for many wishes', async () => {
    const queue = build();
    queue.add('a');
    queue.add('a');
    queue.add('a', 10);
    await clock.advance(100);
    expect(runs()).toEqual(['a@0']);
  });

  it('says once that a key fails, however often it is tried again, and anew after it was done', async () => {
    const warned: unknown[] = [];
    let isRefused = true;
    const queue = build({
      logger: { ...SILENT, warn: (_message, fields) => void warned.push(fields?.['key']) },
      handler: () => (isRefused ? Promise.reject(new Error('nodes "a" is forbidden')) : Promise.resolve(undefined)),
    });
    queue.add('a');
    queue.add('b');
    await clock.advance(300_000);
    expect(warned).toEqual(['a', 'b']);
    isRefused = false;
    await clock.advance(60_000);
    isRefused = true;
    queue.add('a');
    await clock.advance(1_000);
    expect(warned).toEqual(['a', 'b', 'a']);
  });

  it('starts a due key without any time passing', async () => {
    build().add('a');
    await Promise.resolve();
    await Promise.resolve();
    expect(runs()).toEqual(['a@0']);
  });

  it('never runs one key twice at the same time, and once more for all wishes made meanwhile', async () => {
    const queue = build();
    queue.add('a');
    await clock.settle();
    queue.add('a');
    queue.add('a');
    await clock.advance(50);
    expect(runs()).toEqual(['a@0']);
    jobs[0]?.resolve();
    await clock.settle();
    expect(runs()).toEqual(['a@0', 'a@50']);
    jobs[1]?.resolve();
    await clock.settle();
    expect([jobs.length, queue.size]).toEqual([2, 0]);
  });

  it('lets the earliest of several wishes win, in whatever order they come', async () => {
    const queue = build();
    queue.add('a', 500);
    queue.add('a', 100);
    queue.add('a', 900);
    await clock.advance(1000);
    expect(runs()).toEqual(['a@100']);
    expect(clock.pending).toBe(0);
  });

  it('works on no more keys than allowed, first come first served', async () => {
    const queue = build();
    for (const key of ['a', 'b', 'c', 'd']) {
      queue.add(key);
    }
    await clock.settle();
    expect(runs()).toEqual(['a@0', 'b@0']);
    jobs[1]?.resolve();
    await clock.settle();
    expect(runs()).toEqual(['a@0', 'b@0', 'c@0']);
  });

  it('runs what is asked for first before what waits, the last of them first', async () => {
    const queue = build({ concurrency: 1 });
    for (const key of ['a', 'b', 'c', 'd', 'e']) queue.add(key);
    queue.addFirst('d');
    queue.add('late', 50);
    queue.addFirst('late');
    queue.addFirst('e');
    queue.addFirst('d');
    await clock.advance(0);
    for (let end = 0; end < 6; end += 1) {
      jobs[end]?.resolve();
      await clock.advance(10);
    }
    expect(runs()).toEqual(['e@0', 'late@0', 'd@10', 'a@20', 'b@30', 'c@40']);
    expect(queue.size).toBe(0);
  });

  it('runs a key that is asked for first while it is in flight once more, before what waits', async () => {
    const queue = build({ concurrency: 1 });
    for (const key of ['a', 'b']) queue.add(key);
    await clock.advance(0);
    queue.addFirst('a');
    jobs[0]?.resolve();
    await clock.advance(10);
    jobs[1]?.resolve();
    await clock.advance(10);
    expect(runs()).toEqual(['a@0', 'a@0', 'b@10']);
  });

  it('brings work to its end whose results grow old, where more of it waits than can be done', async () => {
    const [nodes, costMs, readsMs, freshMs] = [1_000, 10, 3_000, 2_000];
    const readAtMs = new Map<string, number>();
    const over = new Set<string>();
    // A device is read for 3 s; a pass that comes within 2 s of it is through, any other one has it read again.
    const queue: Workqueue = build({
      concurrency: 1,
      handler: async (node) => {
        await clock.sleep(costMs);
        const isFresh = clock.monotonicMs() - (readAtMs.get(node) ?? -Infinity) <= freshMs;
        if (isFresh) over.add(node);
        else
          clock.after(readsMs, () => {
            readAtMs.set(node, clock.monotonicMs());
            queue.addFirst(node);
          });
        return undefined;
      },
    });
    for (let node = 0; node < nodes; node += 1) {
      readAtMs.set(String(node), clock.monotonicMs());
      queue.addFirst(String(node));
    }
    await clock.advance(60_000);
    expect(over.size).toBe(nodes);
  });

  describe('while it is paced by how busy the process is', () => {
    let share: number;
    const paced = (concurrency: number, least: number): Workqueue => {
      const queue = build({ concurrency, pacing: { least, load: { busyShare: () => share } } });
      for (let key = 0; key < 40; key += 1) queue.add(String(key));
      return queue;
    };

    it('works on few keys at once where it is, and on all that it may where something else keeps them waiting', async () => {
      share = 0.95;
      const queue = paced(20, 3);
      await clock.advance(1_000);
      expect(queue.inFlight).toBe(3);
      share = 0.3;
      await clock.advance(60);
      expect(queue.inFlight).toBeGreaterThan(3);
      expect(queue.inFlight).toBeLessThan(20);
      await clock.advance(1_000);
      expect(queue.inFlight).toBe(20);
    });

    it('begins fewer again once it is busy, and never fewer than that', async () => {
      share = 0.3;
      const queue = paced(20, 3);
      await clock.advance(1_000);
      share = 0.95;
      await clock.advance(1_000);
      const began = jobs.length;
      for (const job of jobs.slice(0, 17)) job.resolve();
      await clock.advance(100);
      expect([queue.inFlight, jobs.length]).toEqual([3, began]);
      jobs[17]?.resolve();
      await clock.advance(100);
      expect([queue.inFlight, jobs.length]).toEqual([3, began + 1]);
    });

    it('looks at nothing while nothing waits, and ends that when it is closed', async () => {
      share = 0.3;
      const queue = build({ concurrency: 2, pacing: { least: 1, load: { busyShare: () => share } } });
      queue.add('a');
      await clock.advance(0);
      expect(clock.pending).toBe(0);
      queue.add('b');
      await clock.advance(0);
      expect(clock.pending).toBe(1);
      await queue.close(0);
      expect(clock.pending).toBe(0);
    });

    it('never works on more than it may, however few that are', async () => {
      share = 0.95;
      const queue = paced(2, 12);
      await clock.advance(1_000);
      expect(queue.inFlight).toBe(2);
    });
  });

  it('runs again after the time that the handler asks for', async () => {
    build().add('a');
    await clock.settle();
    jobs[0]?.resolve({ afterMs: 250 });
    await clock.advance(1000);
    expect(runs()).toEqual(['a@0', 'a@250']);
  });

  it('comes back later after each failure and forgets them on success', async () => {
    const queue = build({ backoff: { baseMs: 100, maxMs: 300 } });
    queue.add('a');
    await clock.settle();
    for (let failure = 0; failure < 4; failure++) {
      jobs.at(-1)?.reject(new Error('no'));
      await clock.advance(1000);
    }
    expect(jobs.map(({ atMs }, index) => atMs - (index === 0 ? 0 : (index - 1) * 1000))).toEqual([0, 50, 100, 150, 150]);
    jobs.at(-1)?.resolve();
    await clock.settle();
    queue.add('a');
    await clock.settle();
    jobs.at(-1)?.reject(new Error('no'));
    await clock.advance(50);
    expect(jobs).toHaveLength(7);
  });

  it('runs at once when something new is known of a key that waits for its retry', async () => {
    const queue = build({ backoff: { baseMs: 60_000, maxMs: 60_000 } });
    queue.add('a');
    await clock.settle();
    jobs[0]?.reject(new Error('no'));
    await clock.advance(10);
    queue.add('a');
    await clock.settle();
    expect(runs()).toEqual(['a@0', 'a@10']);
  });

  it('does not come back before the API server wants to be asked again', async () => {
    build().add('a');
    await clock.settle();
    jobs[0]?.reject(new ApiStatusError(429, 'TooManyRequests', 'slow', 5000));
    await clock.advance(4999);
    expect(jobs).toHaveLength(1);
    await clock.advance(1);
    expect(jobs).toHaveLength(2);
  });

  it('spreads the retries of many keys, but never their first runs', async () => {
    const starts: number[] = [];
    const failed = new Set<string>();
    const queue = build({
      concurrency: 1000,
      backoff: { baseMs: 1, maxMs: 1 },
      retryBucket: { ratePerSecond: 10, burst: 5 },
      handler: (key) => {
        starts.push(clock.monotonicMs());
        return failed.has(key) ? Promise.resolve(undefined) : (failed.add(key), Promise.reject(new Error('no')));
      },
    });
    for (let key = 0; key < 30; key++) {
      queue.add(`node-${String(key)}`);
    }
    await clock.advance(0);
    expect(starts).toHaveLength(30);
    await clock.advance(1);
    expect(starts).toHaveLength(35);
    await clock.advance(2500);
    expect(starts).toHaveLength(60);
  });

  it('lends to as many as wait: what failed again and again because something new was known of it holds nobody up afterwards', async () => {
    const handler = (key: string): Promise<undefined> => {
      jobs.push({ key, atMs: clock.monotonicMs() } as Job);
      return Promise.reject(new Error('no'));
    };
    const queue = build({ handler, retryBucket: { ratePerSecond: 10, burst: 5 }, backoff: { baseMs: 100, maxMs: 1_000 } });
    for (let news = 0; news < 3_000; news++) {
      queue.add('busy');
      await clock.advance(1);
    }
    const before = jobs.length;
    queue.add('calm');
    await clock.advance(2_000);
    const since = jobs.slice(before).map(({ key }) => key);
    expect([since.filter((key) => key === 'busy').length, since.filter((key) => key === 'calm').length].every((count) => count >= 2)).toBe(true);
  });

  it('waits for work in flight when it is closed, and starts nothing more', async () => {
    const queue = build({ concurrency: 1 });
    queue.add('a');
    queue.add('b');
    queue.add('c', 100);
    await clock.settle();
    const closing = queue.close(1000);
    queue.add('d');
    await clock.advance(500);
    expect(jobs[0]?.signal.aborted).toBe(false);
    jobs[0]?.resolve({ afterMs: 1 });
    expect(await closing).toEqual([]);
    await clock.advance(1000);
    expect([runs(), queue.size, clock.pending]).toEqual([['a@0'], 0, 0]);
  });

  it('aborts work that outlasts the grace, names it, and does not retry it', async () => {
    const queue = build();
    queue.add('a');
    await clock.settle();
    const closing = queue.close(1000);
    await clock.advance(1000);
    expect(await closing).toEqual(['a']);
    expect(jobs[0]?.signal.aborted).toBe(true);
    jobs[0]?.reject(new Error('aborted'));
    await clock.advance(100_000);
    expect(jobs).toHaveLength(1);
  });

  it('aborts at once without grace', async () => {
    const queue = build();
    queue.add('a');
    await clock.settle();
    void queue.close(0);
    expect(jobs[0]?.signal.aborted).toBe(true);
  });

  it('survives a handler that throws before it returns a promise', async () => {
    let calls = 0;
    const queue = build({
      handler: () => {
        calls += 1;
        throw new Error('early');
      },
    });
    queue.add('a');
    await clock.advance(60);
    expect(calls).toBe(2);
    await queue.close(0);
  });

  it('says what is wrong with its concurrency', () => {
    expect(() => build({ concurrency: 0 })).toThrow('concurrency must be a whole number from 1, not 0');
  });
});

describe('a token bucket', () => {
  it('gives its burst at once, then lends at its rate, and never saves more than the burst', async () => {
    const clock = new ManualClock();
    const bucket = new TokenBucket(clock, { ratePerSecond: 2, burst: 2 });
    expect([bucket.take(), bucket.take(), bucket.take(), bucket.take()]).toEqual([0, 0, 500, 1000]);
    await clock.advance(60_000);
    expect([bucket.tryTake(), bucket.tryTake(), bucket.tryTake()]).toEqual([true, true, false]);
  });
});
