import type { Clock } from '../ports/clock.ts';

/** `Clock.sleep` in terms of `after`: resolves after `delayMs`, rejects with `signal.reason` when aborted first, leaves no listener behind. */
export function sleepOn(clock: Pick<Clock, 'after'>, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(reasonOf(signal));
      return;
    }
    const onAbort = (): void => {
      cancel();
      reject(signal === undefined ? new Error('aborted') : reasonOf(signal));
    };
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The reason of an aborted signal as an Error; the very object when it is one. */
export function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error(`aborted: ${String(reason)}`);
}
