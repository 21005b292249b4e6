import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../ports/api-transport.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { Executor } from './executor.ts';
import type { ActionChain, ExecutorParts } from './executor.ts';
import { Conflict } from './conflict.ts';
import { WriteRateLimiter } from './write-rate-limiter.ts';

const quiet = (): void => undefined;

/** Actions wait until they are let go, one after another. */
class Gate {
  readonly begun: string[] = [];
  readonly #open: (() => void)[] = [];

  pass(what: string): Promise<void> {
    this.begun.push(what);
    return new Promise((resolve) => void this.#open.push(resolve));
  }

  async letGo(): Promise<void> {
    this.#open.shift()?.();
    await settled();
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function scene(parts: Partial<ExecutorParts<ActionChain>> = {}) {
  const clock = new ManualClock();
  const done: string[] = [];
  const ended: string[] = [];
  const results: string[] = [];
  const warnings: string[] = [];
  const executor = new Executor<ActionChain>({
    clock,
    log: { debug: quiet, info: quiet, warn: (message) => void warnings.push(message), error: quiet },
    controller: 'test',
    mayWrite: () => true,
    perform: ({ kind }, { key }) => {
      done.push(`${key} ${kind}`);
      return Promise.resolve();
    },
    acted: (kind, result) => void results.push(`${kind} ${result}`),
    ended: (key) => void ended.push(key),
    ...parts,
  });
  return { clock, done, ended, results, warnings, executor };
}

function chain(key: string, ...kinds: string[]): ActionChain {
  return { key, actions: kinds.map((kind) => ({ kind })) };
}

describe('What was decided', () => {
  it('is done in its order about one object, side by side about several, and once for as long as it is submitted', async () => {
    const { executor, done, ended } = scene();
    const chains = [chain('a', 'first', 'second'), chain('b', 'first')];
    executor.submit(chains);
    await settled();
    executor.submit(chains);
    await settled();
    expect(done).toEqual(['a first', 'b first', 'a second']);
    expect(ended).toEqual(['b', 'a']);
  });

  it('is done 16 objects at a time, and what has not begun is forgotten when something else was decided', async () => {
    const gate = new Gate();
    const { executor } = scene({ perform: (_action, { key }) => gate.pass(key) });
    executor.submit(Array.from({ length: 20 }, (_, number) => chain(`object-${number}`, 'write')));
    await settled();
    expect(gate.begun).toHaveLength(16);
    await gate.letGo();
    expect(gate.begun).toHaveLength(17);
    executor.submit([]);
    await gate.letGo();
    expect(gate.begun).toHaveLength(17);
  });

  it('stops where one action fails, is told once, and is tried again later and later until it succeeds', async () => {
    let isBroken = true;
    const tries: string[] = [];
    const { executor, clock, warnings, results } = scene({
      perform: ({ kind }) => {
        tries.push(kind);
        return isBroken ? Promise.reject(new Error('no way there')) : Promise.resolve();
      },
    });
    const chains = [chain('a', 'first', 'second')];
    executor.submit(chains);
    await settled();
    expect(executor.problems()).toEqual(['a: first failed: no way there']);
    expect(executor.nextDueMs()).toBe(clock.monotonicMs() + 1_000);
    executor.submit(chains);
    await settled();
    expect(tries).toEqual(['first']);
    await clock.advance(1_000);
    executor.submit(chains);
    await settled();
    expect(executor.nextDueMs()).toBe(clock.monotonicMs() + 2_000);
    isBroken = false;
    await clock.advance(2_000);
    executor.submit(chains);
    await settled();
    expect(tries).toEqual(['first', 'first', 'first', 'second']);
    expect(executor.problems()).toEqual([]);
    expect(warnings).toEqual(['actions failed and will be retried']);
    expect(results).toEqual(['first failed', 'first failed', 'first done', 'second done']);
  });

  it('waits as long as the API server says', async () => {
    const busy = new ApiStatusError(429, 'TooManyRequests', 'too many requests', 30_000);
    const { executor, clock } = scene({ perform: () => Promise.reject(busy) });
    executor.submit([chain('a', 'write')]);
    await settled();
    expect(executor.nextDueMs()).toBe(clock.monotonicMs() + 30_000);
  });

  it.each([
    ['stands otherwise', new Conflict('another')],
    ['was written by somebody else', new ApiStatusError(409, 'Conflict', 'another version')],
    ['is gone', new ApiStatusError(404, 'NotFound', 'not found')],
  ])('is nobody’s fault where the object %s: it is decided anew soon, and not told', async (_what, error) => {
    const { executor, clock, warnings, results } = scene({ perform: () => Promise.reject(error) });
    executor.submit([chain('a', 'write')]);
    await settled();
    expect(executor.problems()).toEqual([]);
    expect(warnings).toEqual([]);
    expect(results).toEqual(['write conflict']);
    expect(executor.nextDueMs()).toBe(clock.monotonicMs() + 100);
  });

  it('begins with a look at what may forbid all of it, and then does nothing of it', async () => {
    const { executor, done, results } = scene({ prepare: () => Promise.reject(new Error('the stop all is active: look first')) });
    executor.submit([chain('a', 'write')]);
    await settled();
    expect(done).toEqual([]);
    expect(results).toEqual([]);
    expect(executor.problems()).toEqual(['a: the stop all is active: look first']);
  });

  it('goes no further than the write that it is at when nothing may be written any more', async () => {
    let mayWrite = true;
    const gate = new Gate();
    const { executor } = scene({ mayWrite: () => mayWrite, perform: ({ kind }) => gate.pass(kind) });
    const chains = [chain('a', 'first', 'second')];
    executor.submit(chains);
    await settled();
    mayWrite = false;
    await gate.letGo();
    expect(gate.begun).toEqual(['first']);
    mayWrite = true;
    executor.submit(chains);
    await settled();
    expect(gate.begun).toEqual(['first', 'first']);
  });

  it('goes no further than the write that it is at when the rules are others', async () => {
    const gate = new Gate();
    const { executor } = scene({ perform: ({ kind }) => gate.pass(kind) });
    executor.submit([chain('a', 'first', 'second')]);
    await settled();
    executor.abandon();
    await gate.letGo();
    expect(gate.begun).toEqual(['first']);
  });

  it('is closed only when the write under way has ended, and begins nothing after', async () => {
    const gate = new Gate();
    const { executor } = scene({ perform: ({ kind }) => gate.pass(kind) });
    executor.submit([chain('a', 'first', 'second')]);
    await settled();
    let isClosed = false;
    const closing = executor.close().then(() => (isClosed = true));
    await settled();
    expect(isClosed).toBe(false);
    await gate.letGo();
    await closing;
    expect(gate.begun).toEqual(['first']);
  });

  it('is done three times at once about one object, and then once every 15 s, where there is a pace', async () => {
    const clock = new ManualClock();
    const { executor, done } = scene({ clock, rateLimiter: new WriteRateLimiter(clock) });
    for (let number = 0; number < 5; number += 1) {
      executor.submit([chain('a', 'write')]);
      await settled();
    }
    expect(done).toHaveLength(3);
    expect(executor.nextDueMs()).toBe(clock.monotonicMs() + 15_000);
    await clock.advance(15_000);
    executor.submit([chain('a', 'write')]);
    await settled();
    expect(done).toHaveLength(4);
  });

  it('is told once where the API server refuses it, with what gives the right; what else fails is not', async () => {
    const told: string[] = [];
    const refused = ({ kind }: { kind: string }, message: string): void => void told.push(`${kind}: ${message}`);
    let failure: Error = new ApiStatusError(403, 'Forbidden', 'it is forbidden');
    const { executor, clock, warnings } = scene({ mend: 'kubectl apply', refused, perform: () => Promise.reject(failure) });
    const again = async (): Promise<void> => {
      executor.submit([chain('a', 'write')]);
      await settled();
      await clock.advance(120_000);
    };
    await again();
    await again();
    expect([told, executor.problems(), warnings.length]).toEqual([
      ['write: write failed: it is forbidden (mend it: kubectl apply)'],
      ['a: write failed: it is forbidden (mend it: kubectl apply)'],
      1,
    ]);
    failure = new ApiStatusError(503, 'ServiceUnavailable', 'not now');
    await again();
    expect([told.length, warnings.length]).toEqual([1, 2]);
  });
});
