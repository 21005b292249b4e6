import type { Clock } from '../../ports/clock.ts';

/** Resolves when the work is over, or when the time is; the work itself goes on. */
export function isOverWithin(clock: Clock, waitMs: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(waitMs, resolve);
    work.then(
      () => {
        cancel();
        resolve();
      },
      (error: unknown) => {
        cancel();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
