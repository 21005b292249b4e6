import { AgentError, type PowerState } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Call } from '../shared/call.ts';
import type { RedfishResponse } from './connection.ts';
import { ExchangeError } from './exchange-error.ts';
import { retryAfterMs } from './retry-after.ts';
import type { Wish } from './resource-view.ts';
import type { Session } from './session.ts';
import { deviceMessage, linkPath, textAt } from './words.ts';

const FAILED = new Set(['Exception', 'Killed', 'Cancelled']);
/** A set waits no longer than this for a task to fail; what it comes to later is told by the reads. */
const WAIT_MAX_MS = 1_000;
/** Where the device does not say when to look again. */
const POLL_MS = 200;
const LOOKS_MAX = 100;

interface Followed {
  wish: Wish;
  monitor: string;
  nextAtMs: number;
  looks: number;
  /** Of a task that failed. */
  failure?: string;
}

/** Tasks of accepted resets, by plug. Looked at for their error alone: the state decides, and it is read elsewhere. */
export class Tasks {
  readonly #session: Session;
  readonly #clock: Clock;
  readonly #followed = new Map<string, Followed>();

  constructor(session: Session, clock: Clock) {
    this.#session = session;
    this.#clock = clock;
  }

  forget(plug: string): void {
    this.#followed.delete(plug);
  }

  /** Begins to follow the task of an answer with 202, and gives it a moment to fail: its words when it did. */
  async begin(call: Call, accepted: RedfishResponse, wish: Wish): Promise<string | undefined> {
    const monitor = linkPath(accepted.headers['location']) ?? linkPath(textAt(accepted.body, 'TaskMonitor')) ?? linkPath(accepted.body);
    if (monitor === undefined) return undefined;
    const waitMs = retryAfterMs(accepted.headers['retry-after'], this.#clock) ?? 0;
    this.#followed.set(call.target.plug, { wish, monitor, nextAtMs: this.#clock.monotonicMs() + waitMs, looks: 0 });
    if (waitMs > WAIT_MAX_MS || call.remainingMs < 2 * waitMs + 500) return undefined;
    await call.pause(waitMs);
    return this.look(call, 'unknown');
  }

  /** The words of the plug's failed task; looks anew when it is time to. One whose wish the state shows already has nothing to tell. */
  async look(call: Call, state: PowerState): Promise<string | undefined> {
    const followed = this.#followed.get(call.target.plug);
    if (followed === undefined || followed.wish === state) return undefined;
    if (followed.failure !== undefined || this.#clock.monotonicMs() < followed.nextAtMs) return followed.failure;
    followed.looks += 1;
    try {
      const response = await this.#session.get(call, followed.monitor);
      if (!this.#goesOn(followed, response) || followed.looks >= LOOKS_MAX) this.forget(call.target.plug);
      followed.nextAtMs = this.#clock.monotonicMs() + (retryAfterMs(response.headers['retry-after'], this.#clock) ?? POLL_MS);
    } catch (error) {
      // Nothing is lost with it: the reads decide.
      if (!(error instanceof ExchangeError) && !(error instanceof AgentError)) throw error;
    }
    return followed.failure;
  }

  /** False when a task has nothing more to tell: it ended well, or its monitor is gone. */
  #goesOn(followed: Followed, response: RedfishResponse): boolean {
    const state = textAt(response.body, 'TaskState');
    if (state !== undefined && FAILED.has(state)) followed.failure = `task ${state}: ${deviceMessage(response.body, this.#session.secrets)}`;
    else if (response.status >= 400 && response.status !== 404 && response.status !== 410)
      followed.failure = `task: ${this.#session.describe(response)}`;
    return followed.failure !== undefined || response.status === 202 || (state !== undefined && state !== 'Completed' && response.status < 400);
  }
}
