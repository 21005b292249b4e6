import { ApiStatusError, TransportError, type ApiTransport, type WatchEvent, type WatchRequest } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { WatchEnd } from '../ports/metrics.ts';
import { errorOfEvent, needsRelist } from './status.ts';

export interface WatchSessionOptions {
  transport: ApiTransport;
  clock: Clock;
  request: WatchRequest;
  /** The server must accept the watch within this. */
  openDeadlineMs: number;
  /** Nothing heard for so long means that the connection is dead, whatever TCP says. */
  idleMs: () => number;
  signal: AbortSignal;
  /** Something was heard: the watch is live. */
  onLive: () => void;
  /** ADDED, MODIFIED, DELETED and BOOKMARK. May throw a `TransportError` for an event that makes no sense: the watch ends. */
  onEvent: (event: WatchEvent) => void;
}

/** What was heard is older than what was heard before: only a fresh list helps. */
export class WentBack extends Error {
  override readonly name = 'WentBack';
}

export interface WatchResult {
  end: WatchEnd;
  error: Error | undefined;
  /** How long the watch stood open; 0 when it never did. */
  openMs: number;
  /** It was accepted, and brought nothing. */
  isEmpty: boolean;
}

/** One watch from its opening to its end. Resolves exactly once, whatever the transport does; nothing is delivered after that. */
export function runWatch(options: WatchSessionOptions): Promise<WatchResult> {
  return new Promise((resolve) => {
    new WatchSession(options, resolve).open();
  });
}

class WatchSession {
  readonly #options: WatchSessionOptions;
  readonly #resolve: (result: WatchResult) => void;
  #close: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;
  #openedAtMs: number | undefined;
  #heardAtMs = 0;
  #hasBrought = false;
  /** How long silence may last by the timer that runs. */
  #idleMs: number | undefined;
  #isOver = false;

  constructor(options: WatchSessionOptions, resolve: (result: WatchResult) => void) {
    this.#options = options;
    this.#resolve = resolve;
  }

  open(): void {
    const { transport, request, signal, openDeadlineMs } = this.#options;
    if (signal.aborted) {
      this.#finish('closed', undefined);
      return;
    }
    signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#arm(openDeadlineMs, () => {
      this.#giveUp('dropped', `the server did not accept the watch within ${String(openDeadlineMs)} ms`);
    });
    this.#close = transport.watch(request, {
      onOpen: () => {
        if (!this.#isOver) {
          this.#openedAtMs = this.#options.clock.monotonicMs();
          this.#options.onLive();
          this.#waitOn();
        }
      },
      onEvent: (event) => {
        if (!this.#isOver) {
          this.#hasBrought = true;
          this.#options.onLive();
          this.#deliver(event);
          // How long silence lasts may have changed with it.
          if (!this.#isEnded()) this.#waitOn();
        }
      },
      onEnd: (error) => {
        this.#finish(endOf(error), error);
      },
    });
    if (this.#isOver) {
      this.#close();
    }
  }

  readonly #onAbort = (): void => {
    this.#finish('closed', undefined);
  };

  #isEnded(): boolean {
    return this.#isOver;
  }

  /** Silence is counted from now. The timer that runs looks at it when it is due: one for each event would cost as much as many an event. */
  #waitOn(): void {
    const idleMs = this.#options.idleMs();
    this.#heardAtMs = this.#options.clock.monotonicMs();
    if (idleMs !== this.#idleMs) this.#armIdle(idleMs, idleMs);
  }

  #armIdle(delayMs: number, idleMs: number): void {
    this.#idleMs = idleMs;
    this.#arm(delayMs, () => {
      const restMs = this.#heardAtMs + idleMs - this.#options.clock.monotonicMs();
      if (restMs > 0) this.#armIdle(restMs, idleMs);
      else this.#giveUp('idle', `nothing received for ${String(idleMs)} ms, not even a bookmark`);
    });
  }

  #arm(delayMs: number, onDue: () => void): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.clock.after(delayMs, onDue);
  }

  #giveUp(end: WatchEnd, message: string): void {
    this.#finish(end, new TransportError('timeout', `watch ${this.#options.request.path}: ${message}`));
  }

  #deliver(event: WatchEvent): void {
    if (event.type === 'ERROR') {
      const error = errorOfEvent(`watch ${this.#options.request.path}`, event.object);
      this.#finish(needsRelist(error) ? 'expired' : 'error-event', error);
      return;
    }
    try {
      this.#options.onEvent(event);
    } catch (error) {
      this.#finish(error instanceof WentBack ? 'went-back' : 'garbled', error instanceof Error ? error : new Error(String(error)));
    }
  }

  #finish(end: WatchEnd, error: Error | undefined): void {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    const { signal, clock } = this.#options;
    this.#cancelTimer?.();
    signal.removeEventListener('abort', this.#onAbort);
    const openMs = this.#openedAtMs === undefined ? 0 : clock.monotonicMs() - this.#openedAtMs;
    this.#close?.();
    this.#resolve({ end, error, openMs, isEmpty: this.#openedAtMs !== undefined && !this.#hasBrought });
  }
}

function endOf(error: TransportError | ApiStatusError | undefined): WatchEnd {
  if (error === undefined) {
    return 'closed';
  }
  if (error instanceof ApiStatusError) {
    return needsRelist(error) ? 'expired' : 'refused';
  }
  return error.kind === 'garbled' ? 'garbled' : 'dropped';
}
