import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../runtime/manual-clock.ts';
import type { Logger } from '../ports/recorder.ts';
import type { KubeObject } from '../ports/objects.ts';
import type { Reflector } from '../kube/reflector.ts';
import { GatedController } from './gated-controller.ts';

const SYNCED = new Set<string>();
const REST_MS = 60_000;

let clock: ManualClock;
let served: string[];
let done: string[];
let warned: string[];
let failing: Set<string>;
/** What is served is known by then. */
let finding: Promise<void>;
let gated: GatedController<string[], string>;

function reflectorOf(kind: string): Reflector<KubeObject> {
  const lister = {
    get synced() {
      return SYNCED.has(kind);
    },
  };
  const of = { name: kind, lister, start: () => void done.push(`watch ${kind}`), close: () => void done.push(`unwatch ${kind}`) };
  return of as unknown as Reflector<KubeObject>;
}

beforeEach(() => {
  clock = new ManualClock();
  served = [];
  done = [];
  warned = [];
  failing = new Set();
  finding = Promise.resolve();
  SYNCED.clear();
  const quiet = (): void => undefined;
  const logger: Logger = { debug: quiet, info: quiet, error: quiet, warn: (message) => void warned.push(message) };
  gated = new GatedController<string[], string>(
    { clock, logger },
    {},
    {
      question: 'what is served',
      find: async () => {
        await finding;
        return [...served];
      },
      gate: (found, run) => {
        run(found);
        return REST_MS;
      },
      build: (kind) => ({
        controller: {
          start: () => void done.push(`start ${kind}`),
          wake: () => void done.push(`wake ${kind}`),
          problems: () => [`problem of ${kind}`],
          close: () => {
            done.push(`close ${kind}`);
            return failing.has(kind) ? Promise.reject(new Error('no end')) : Promise.resolve();
          },
        },
        reflectors: [reflectorOf(kind)],
      }),
    },
  );
  return () => gated.close();
});

async function found(...kinds: string[]): Promise<string[]> {
  served = kinds;
  done.length = 0;
  await clock.advance(REST_MS);
  await new Promise(setImmediate);
  return [...done];
}

describe('a controller that runs while its kinds are ours', () => {
  it('listens before its watches begin, goes on while it is wanted, and writes no more before they end', async () => {
    gated.start();
    expect(await found('a')).toEqual(['start a', 'watch a']);
    expect(await found('a', 'b')).toEqual(['start b', 'watch b']);
    expect(await found('b')).toEqual(['close a', 'unwatch a']);
    expect(await found('b', 'a')).toEqual(['start a', 'watch a']);
  });

  it('wakes all that run, and says what is wrong with each', async () => {
    gated.start();
    await found('a', 'b');
    done.length = 0;
    gated.wake();
    expect([done, gated.problems()]).toEqual([
      ['wake a', 'wake b'],
      ['problem of a', 'problem of b'],
    ]);
  });

  it('is no reason to be unready while it is not synced, and is told of a restore all the same', async () => {
    gated.start();
    await found('a', 'b');
    SYNCED.add('b');
    expect(gated.reflectors.map(({ name }) => name)).toEqual(['b']);
    expect(gated.watches.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('ends with the program: nothing is found out or begun after that, and one that does not end in order keeps nobody', async () => {
    gated.start();
    await found('a', 'b');
    failing.add('a');
    done.length = 0;
    await gated.close();
    expect([done, warned]).toEqual([['close a', 'unwatch a', 'close b', 'unwatch b'], ['controller ended with an error']]);
    expect(await found('a')).toEqual([]);
  });

  it('ends at once, though it is just being found out what is served', async () => {
    gated.start();
    await found('a');
    let answer = (): void => undefined;
    finding = new Promise((resolve) => (answer = resolve));
    await found('a');
    const closing = gated.close();
    expect(done).toEqual(['close a', 'unwatch a']);
    answer();
    await closing;
    expect(done).toEqual(['close a', 'unwatch a']);
  });
});
