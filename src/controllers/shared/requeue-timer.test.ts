import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { isReconcileDue, RequeueTimer } from './requeue-timer.ts';
import type { NextRequeue } from './requeue-timer.ts';

const IDLE: NextRequeue = { dueMs: [], retryAtMs: undefined };

function timerOf(next: () => NextRequeue | 'unsynced', reconcile: () => void = () => undefined) {
  const clock = new ManualClock({ wallMs: 1_000_000 });
  const beganMs = clock.monotonicMs();
  const reconciliations: number[] = [];
  const failures: unknown[] = [];
  const timer = new RequeueTimer({
    clock,
    reconcile: () => {
      reconciliations.push(clock.monotonicMs() - beganMs);
      reconcile();
    },
    next,
    failed: (error) => void failures.push(error),
  });
  return { clock, reconciliations, failures, timer };
}

describe('A controller', () => {
  it('looks at once when it starts, and not before', async () => {
    const { clock, reconciliations, timer } = timerOf(() => IDLE);
    timer.enqueue();
    await clock.advance(1_000);
    expect(reconciliations).toEqual([]);
    timer.start();
    await clock.advance(0);
    expect(reconciliations).toEqual([1_000]);
  });

  it('looks every 5 s when nothing changes, and twice a second until all is there', async () => {
    let isSynced = false;
    const { clock, reconciliations, timer } = timerOf(() => (isSynced ? IDLE : 'unsynced'));
    timer.start();
    await clock.advance(1_000);
    isSynced = true;
    await clock.advance(10_500);
    expect(reconciliations).toEqual([0, 500, 1_000, 1_500, 6_500, 11_500]);
  });

  it('looks once for all that changes within a tenth of a second', async () => {
    const { clock, reconciliations, timer } = timerOf(() => IDLE);
    timer.start();
    await clock.advance(0);
    for (let number = 0; number < 10; number += 1) {
      await clock.advance(9);
      timer.enqueue();
    }
    await clock.advance(50);
    expect(reconciliations).toEqual([0, 100]);
  });

  it('looks when something comes due, and when something is to be tried again', async () => {
    const due: NextRequeue[] = [
      { dueMs: [undefined, 1_003_000], retryAtMs: undefined },
      { dueMs: [], retryAtMs: 4_000 },
    ];
    const { clock, reconciliations, timer } = timerOf(() => due.shift() ?? IDLE);
    const beganMs = clock.monotonicMs();
    due[1] = { dueMs: [], retryAtMs: beganMs + 4_000 };
    timer.start();
    await clock.advance(8_999);
    expect(reconciliations).toEqual([0, 3_000, 4_000]);
  });

  it('does not look over and over for what is overdue', async () => {
    const { clock, reconciliations, timer } = timerOf(() => ({ dueMs: [0], retryAtMs: undefined }));
    timer.start();
    await clock.advance(250);
    expect(reconciliations).toEqual([0, 100, 200]);
  });

  it('goes on looking after a look that threw', async () => {
    const { clock, reconciliations, failures, timer } = timerOf(
      () => IDLE,
      () => {
        throw new Error('a defect');
      },
    );
    timer.start();
    await clock.advance(5_000);
    expect(reconciliations).toEqual([0, 5_000]);
    expect(failures).toHaveLength(2);
  });

  it('looks no more once it is closed, whatever changes', async () => {
    const { clock, reconciliations, timer } = timerOf(() => IDLE);
    timer.start();
    await clock.advance(0);
    timer.close();
    timer.enqueue();
    await clock.advance(60_000);
    expect(reconciliations).toEqual([0]);
  });

  it.each([
    ['none yet', undefined, true],
    ['one of a minute ago', { atMs: 40_000, decision: {} }, true],
    ['one of a moment ago', { atMs: 99_000, decision: {} }, false],
    ['one that is due', { atMs: 99_000, decision: { nextDueMs: 5_000 } }, true],
    ['one that is due later', { atMs: 99_000, decision: { nextDueMs: 5_001 } }, false],
  ])('decides anew on: %s', (_what, last, isDue) => {
    expect(isReconcileDue(last, 100_000, 5_000)).toBe(isDue);
  });
});
