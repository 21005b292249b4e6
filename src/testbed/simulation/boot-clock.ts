import type { Clock } from '../../ports/clock.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** The clocks of one boot of a machine, which count from its begin, as one of its processes sees them: timers come when machine and process both go on. */
export class BootClock implements Clock {
  readonly #machine: SimulatedProcess;
  readonly #process: SimulatedProcess;
  readonly #begins: { monotonicMs: number; bootMs: number };

  constructor(machine: SimulatedProcess, process: SimulatedProcess, begins: { monotonicMs: number; bootMs: number }) {
    this.#machine = machine;
    this.#process = process;
    this.#begins = begins;
  }

  monotonicMs(): number {
    return this.#machine.clock.monotonicMs() - this.#begins.monotonicMs;
  }

  bootMs(): number {
    return this.#machine.clock.bootMs() - this.#begins.bootMs;
  }

  wallMs(): number {
    return this.#machine.clock.wallMs();
  }

  after(delayMs: number, callback: () => void): () => void {
    const state = { isCancelled: false };
    const cancel = this.#machine.clock.after(delayMs, () => {
      this.#process.deliver(() => {
        if (!state.isCancelled) callback();
      });
    });
    return () => {
      state.isCancelled = true;
      cancel();
    };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        cancel();
        reject(signal?.reason instanceof Error ? signal.reason : new Error('given up'));
      };
      const cancel = this.after(delayMs, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      if (signal?.aborted === true) onAbort();
      else signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}
