import { AgentError, type AgentErrorKind, type Target } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';

/** What a call needs of its target; a keep-alive has no target of the core. */
export type CallTarget = Pick<Target, 'device' | 'plug' | 'signal' | 'deadlineMs'>;

/** One call on the agent: its deadline in real time, its abort signal, and the words for its errors. */
export class Call<T extends CallTarget = Target> {
  readonly target: T;
  readonly asked: string;
  readonly signal: AbortSignal;
  readonly #clock: Clock;
  readonly #endsAtMs: number;
  readonly #controller = new AbortController();
  readonly #undo: (() => void)[] = [];
  #ended: 'deadline' | 'aborted' | undefined;

  constructor(clock: Clock, target: T, asked: string) {
    this.target = target;
    this.asked = asked;
    this.#clock = clock;
    this.#endsAtMs = clock.monotonicMs() + target.deadlineMs;
    this.signal = this.#controller.signal;
    if (target.signal.aborted) this.#end('aborted');
    else this.#listen();
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

  /** Rejects when the call ends first; the promise itself goes on alone. */
  within<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(this.endedError());
      if (this.signal.aborted) onAbort();
      this.signal.addEventListener('abort', onAbort, { once: true });
      promise.then(resolve, reject).finally(() => this.signal.removeEventListener('abort', onAbort));
    });
  }

  /** Waits at most until the call ends; does not reject. */
  async pause(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(delayMs, finish);
      const signal = this.signal;
      function finish(): void {
        cancel();
        signal.removeEventListener('abort', finish);
        resolve();
      }
      signal.addEventListener('abort', finish, { once: true });
      if (signal.aborted) finish();
    });
  }

  /** Ends it as its own signal would. */
  giveUp(): void {
    if (this.#ended === undefined) this.#end('aborted');
  }

  /** Takes the timer and the listener off; must be called when the work is over. */
  release(): void {
    for (const step of this.#undo.splice(0)) step();
  }

  #listen(): void {
    const onAbort = (): void => this.#end('aborted');
    this.target.signal.addEventListener('abort', onAbort, { once: true });
    this.#undo.push(() => this.target.signal.removeEventListener('abort', onAbort));
    this.#undo.push(this.#clock.after(this.target.deadlineMs, () => this.#end('deadline')));
  }

  #end(why: 'deadline' | 'aborted'): void {
    this.release();
    this.#ended = why;
    this.#controller.abort(why);
  }
}
