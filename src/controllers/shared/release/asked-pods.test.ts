import { describe, expect, it } from 'vitest';
import type { PodFacts } from '../../../domain/release-plan.ts';
import { AskedPods } from './asked-pods.ts';

const pod = (name: string, uid: string | undefined = `uid-${name}`): PodFacts => ({ namespace: 'web', name, uid }) as PodFacts;
const [A, B] = [pod('a'), pod('b')];
const NO = { by: 'a webhook', isUnsure: false };

describe('a pod that was asked for', () => {
  it('is not forgotten while nobody has answered: it may be let go when nothing shows it any more', () => {
    const asked = new AskedPods();
    asked.asks(A);
    asked.keepOnly([B]);
    expect([asked.isUnderWay, asked.isAwaited(A), asked.mayAsk(A, 1e9)]).toEqual([true, true, false]);
    asked.isOver(A);
    expect([asked.isUnderWay, asked.wasAsked(A), asked.mayAsk(A, 0)]).toEqual([false, false, true]);
  });

  it('and refused is forgotten when it is gone, and no other', () => {
    const asked = new AskedPods();
    for (const each of [A, B]) asked.refused(each, NO, 0);
    asked.keepOnly([B]);
    expect([asked.wasAsked(A), asked.wasAsked(B)]).toEqual([false, true]);
  });

  it('is another when one of its name comes', () => {
    const asked = new AskedPods();
    asked.refused(A, NO, 0);
    expect(asked.mayAsk(pod('a', 'uid-of-another'), 0)).toBe(true);
  });

  it('is told as kept, with who keeps it, and that it may be let go where nobody answered', () => {
    const asked = new AskedPods();
    asked.asks(A);
    asked.refused(B, { ...NO, by: 'x'.repeat(500) }, 0);
    expect(asked.keptOf([A, B, pod('never')])).toEqual([
      { pod: 'web/a', by: 'the API server has not answered yet', isUnsure: true },
      { pod: 'web/b', by: `${'x'.repeat(255)}…` },
    ]);
  });
});

describe('a pod that was refused is asked for again', () => {
  it('after five seconds, twice as long each time, after a minute at the most, also where calls lie between', () => {
    const asked = new AskedPods();
    const waits = Array.from({ length: 6 }, () => {
      asked.asks(A);
      asked.refused(A, NO, 0);
      return asked.againInMs([A], 0);
    });
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    expect([asked.mayAsk(A, 59_999), asked.mayAsk(A, 60_000)]).toEqual([false, true]);
  });

  it('when the API server says, which is no refusal that counts', () => {
    const asked = new AskedPods();
    for (let time = 0; time < 3; time += 1) asked.refused(A, { ...NO, againInMs: 7_000 }, 0);
    expect(asked.againInMs([A], 0)).toBe(7_000);
    asked.refused(A, NO, 0);
    expect(asked.againInMs([A], 0)).toBe(5_000);
  });
});

describe('the next look at pods', () => {
  it('is for the first of them, in whole milliseconds, a minute away at the most', () => {
    const asked = new AskedPods();
    asked.refused(A, { ...NO, againInMs: 7_000 }, 0.5);
    asked.refused(B, { ...NO, againInMs: 90_000 }, 0);
    expect([asked.againInMs([A, B], 1), asked.againInMs([B], 0)]).toEqual([7_000, 60_000]);
    expect(asked.againInMs([A], 8_000), 'it is due').toBe(1);
  });

  it('is at once where one was never asked for, and in five seconds where none has answered', () => {
    const asked = new AskedPods();
    asked.asks(A);
    expect(asked.againInMs([A], 0)).toBe(5_000);
    expect(asked.againInMs([A, B], 0)).toBe(0);
  });
});
