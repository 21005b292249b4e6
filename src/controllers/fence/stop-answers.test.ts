import { beforeEach, describe, expect, it } from 'vitest';
import type { NodeFenceStop } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { StopAnswers } from './stop-answers.ts';
import { FenceHarness } from './testing/harness.ts';

const STOP: NodeFenceStop = { metadata: { name: 'halt' }, spec: { node: 'c', reason: 'wait' } };

let clock: ManualClock;
let answers: StopAnswers;
/** Questions that the API server has and has not answered yet. */
let open: { answer: (stops: readonly NodeFenceStop[]) => void; fail: (error: Error) => void }[];
let sent: number;

beforeEach(() => {
  clock = new ManualClock();
  open = [];
  sent = 0;
  const { dependencies } = new FenceHarness(clock);
  const list = (): Promise<never> =>
    new Promise((resolve, reject) => {
      sent += 1;
      open.push({ answer: (stops) => resolve([...stops] as never), fail: reject });
    });
  answers = new StopAnswers({ ...dependencies, cluster: { ...dependencies.cluster, list } });
});

/** What was asked in this turn is on its way, and what was answered has arrived. */
async function turn(): Promise<void> {
  for (let count = 0; count < 8; count += 1) await Promise.resolve();
}

async function answer(stops: readonly NodeFenceStop[] = []): Promise<void> {
  open.shift()?.answer(stops);
  await turn();
}

describe('questions for stops', () => {
  it('of a thousand runs at once are three', async () => {
    const all = Promise.all(Array.from({ length: 1_000 }, (_unused, index) => answers.ask(`node-${index}`)));
    expect(sent).toBe(2);
    await answer();
    await answer();
    await answer();
    expect(await all).toHaveLength(1_000);
    expect(sent).toBe(3);
  });

  it('that were sent before answer nobody who asks later: a stop that came between is seen', async () => {
    const before = [answers.ask('a'), answers.ask('b')];
    const after = answers.ask('c');
    await answer();
    await answer([STOP]);
    expect(await Promise.all(before)).toEqual([undefined, undefined]);
    expect(sent).toBe(3);
    const again = [answers.ask('c'), answers.ask('c')];
    await answer([STOP]);
    expect(await after).toEqual(STOP);
    await answer([STOP]);
    await answer([STOP]);
    expect(await Promise.all(again)).toEqual([STOP, STOP]);
    expect(sent).toBeGreaterThan(3);
  });

  it('go on beside one that hangs, and after one that failed', async () => {
    const hangs = answers.ask('a');
    const first = answers.ask('b');
    const second = answers.ask('c');
    const [, failing] = open.splice(0, 2);
    failing?.fail(new Error('no answer'));
    await expect(first).rejects.toThrow('no answer');
    await turn();
    await answer([STOP]);
    expect(await second).toEqual(STOP);
    expect(await Promise.race([hangs, Promise.resolve('hangs')])).toBe('hangs');
  });

  it('are as old as the sending of the last one that was answered', async () => {
    const first = answers.ask('a');
    clock.freeze(1_501);
    await answer();
    await first;
    expect(answers.refusalFor('a')).toContain('1501 ms ago');
    const second = answers.ask('a');
    await answer();
    await second;
    expect(answers.refusalFor('a')).toBeUndefined();
  });

  it('are asked by one timer, also where runs end and begin while one is on its way', async () => {
    for (let run = 0; run < 5; run += 1) {
      answers.keepFreshFor(`run-${run}`);
      await clock.advance(500);
      answers.over(`run-${run}`);
      answers.keepFreshFor(`run-${run}-again`);
      await answer();
      answers.over(`run-${run}-again`);
    }
    answers.keepFreshFor('last');
    const before = sent;
    for (let look = 0; look < 4; look += 1) {
      await clock.advance(500);
      while (open.length > 0) await answer();
    }
    expect(sent - before).toBe(4);
    answers.over('last');
    expect(clock.pending).toBe(0);
  });
});
