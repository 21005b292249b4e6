import type { Clock } from '../../../ports/clock.ts';

/** `sent`: it may still be on its way. `answered`: it is not. Absent: nothing was sent. */
export type WriteState = 'sent' | 'answered' | undefined;

/** Writes of runs to devices and the API server that may still take effect, and the wait for them at a graceful stop. */
export class WritesUnderWay {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #runs = new Map<string, 'sent' | 'answered'>();
  /** Calls of releases that nobody waits for any longer, and that may still take effect. At most one a pod of a node that is released. */
  readonly #late = new Set<Promise<unknown>>();
  #isDraining = false;
  #onChange: () => void = () => undefined;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** A graceful stop is under way: nothing new may be written. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  stateOf(run: string): WriteState {
    return this.#runs.get(run);
  }

  sent(run: string): void {
    this.#runs.set(run, 'sent');
  }

  answered(run: string): void {
    this.#runs.set(run, 'answered');
    this.#onChange();
  }

  /** The run has ended, or it is certain that it sent nothing. */
  over(run: string): void {
    this.#runs.delete(run);
    this.#onChange();
  }

  /** The run ends, and this call of it goes on. */
  outlives(call: Promise<unknown>): void {
    this.#late.add(call);
    void call.finally(() => {
      this.#late.delete(call);
      this.#onChange();
    });
  }

  /** No run writes anything new, and writes on their way are waited for, at most so long. `false`: one may still arrive. */
  async drain(deadlineMs: number): Promise<boolean> {
    this.#isDraining = true;
    if (!this.#isQuiet()) {
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.after(deadlineMs, resolve);
        this.#onChange = () => {
          if (!this.#isQuiet()) return;
          cancel();
          resolve();
        };
      });
    }
    return this.#isQuiet();
  }

  #isQuiet(): boolean {
    return this.#late.size === 0 && ![...this.#runs.values()].includes('sent');
  }
}
