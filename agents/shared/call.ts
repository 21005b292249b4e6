import { AgentError, type AgentErrorKind, type Target } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';

/** What a call needs of its target; a keep-alive has no target of the core. */
export type CallTarget = Pick<Target, 'device' | 'plug' | 'signal' | 'deadlineMs'>;

/** One call on the agent: its deadline in real time, its abort signal, and the words for its errors. */
export class Call<T extends CallTarget = Target> {
  readonly target: T;
  readonly asked: string;
  readonly #clock: Clock;
  readonly #endsAtMs: number;
  readonly #waiting = new Set<() => void>();
  readonly #onAbort = (): void => this.#end('aborted');
  #controller: AbortController | undefined;
  #cancelTimer = (): void => undefined;
  #ended: 'deadline' | 'aborted' | undefined;

  constructor(clock: Clock, target: T, asked: string) {
    this.target = target;
    this.asked = asked;
    this.#clock = clock;
    this.#endsAtMs = clock.monotonicMs() + target.deadlineMs;
    if (target.signal.aborted) {
      this.#ended = 'aborted';
      return;
    }
    target.signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#cancelTimer = clock.after(target.deadlineMs, () => this.#end('deadline'));
  }

  /** For what takes a signal; most calls need none, and one costs more than all else here. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#ended !== undefined) this.#controller.abort(this.#ended);
    return this.#controller.signal;
  }

  get remainingMs(): number {
    return this.#endsAtMs - this.#clock.monotonicMs();
  }

  /** Why the call is over, or undefined while it may go on. */
  get ended(): 'deadline' | 'aborted' | undefined {
    return this.#ended;
  }

  error(kind: AgentErrorKind, answered: string): AgentError {
    const { device, plug } = this.target;
    return new AgentError(kind, { device, plug, asked: this.asked, answered });
  }

  /** The error of a call that is over; `isSent`: the request that changes the device may have left. */
  endedError(): AgentError {
    if (this.#ended === 'aborted') return this.error('NotSent', 'the call was given up');
    return this.error('Timeout', `no complete answer within ${this.target.deadlineMs} ms`);
  }

  /** Calls `listener` when the call ends, at once where it has; the returned function takes it off. */
  whenEnded(listener: () => void): () => void {
    if (this.#ended === undefined) this.#waiting.add(listener);
    else listener();
    return () => this.#waiting.delete(listener);
  }

  /** Rejects when the call ends first; the promise itself goes on alone. */
  within<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = this.whenEnded(() => reject(this.endedError()));
      promise.then(resolve, reject).finally(leave);
    });
  }

  /** Waits at most until the call ends; does not reject. */
  async pause(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(delayMs, () => {
        leave();
        resolve();
      });
      const leave = this.whenEnded(() => {
        cancel();
        resolve();
      });
    });
  }

  /** Ends it as its own signal would. */
  giveUp(): void {
    if (this.#ended === undefined) this.#end('aborted');
  }

  /** Takes the timer and the listener off; must be called when the work is over. */
  release(): void {
    this.#cancelTimer();
    this.target.signal.removeEventListener('abort', this.#onAbort);
  }

  #end(why: 'deadline' | 'aborted'): void {
    this.release();
    this.#ended = why;
    this.#controller?.abort(why);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const listener of waiting) listener();
  }
}
