import { AgentError, type AgentErrorKind, type Target } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';

/** What a call needs of its target; the keep-alive has no target of the core. */
export type CallTarget = Pick<Target, 'device' | 'plug' | 'signal' | 'deadlineMs'>;

/** One call on the agent: its deadline in real time, its abort signal, and the words for its errors. */
export class Call {
  readonly signal: AbortSignal;
  readonly #target: CallTarget;
  readonly #asked: string;
  readonly #controller = new AbortController();
  readonly #undo: (() => void)[] = [];
  #ended: 'deadline' | 'aborted' | undefined;

  constructor(clock: Clock, target: CallTarget, asked: string) {
    this.#target = target;
    this.#asked = asked;
    this.signal = this.#controller.signal;
    const onAbort = (): void => this.#end('aborted');
    if (target.signal.aborted) onAbort();
    else {
      target.signal.addEventListener('abort', onAbort, { once: true });
      this.#undo.push(() => target.signal.removeEventListener('abort', onAbort));
      this.#undo.push(clock.after(target.deadlineMs, () => this.#end('deadline')));
    }
  }

  error(kind: AgentErrorKind, answered: string): AgentError {
    const { device, plug } = this.#target;
    return new AgentError(kind, { device, plug, asked: this.#asked, answered });
  }

  /** The error of a call that is over while nothing that changes the device has left. */
  endedError(): AgentError {
    if (this.#ended === 'aborted') return this.error('NotSent', 'the call was given up');
    return this.error('Timeout', `no complete answer within ${this.#target.deadlineMs} ms`);
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

  /** Takes the timer and the listener off; must be called when the work is over. */
  release(): void {
    for (const step of this.#undo.splice(0)) step();
  }

  #end(why: 'deadline' | 'aborted'): void {
    this.release();
    this.#ended = why;
    this.#controller.abort(why);
  }
}
