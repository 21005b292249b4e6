import { TransportError } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';

/** The outcome of `work`, or a `TransportError` of kind `timeout` after `deadlineMs`; the work itself goes on and its outcome is dropped. */
export function within<T>(clock: Clock, deadlineMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(deadlineMs, () => {
      reject(new TransportError('timeout', `no answer within ${String(deadlineMs)} ms`));
    });
    work.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: unknown) => {
        cancel();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
