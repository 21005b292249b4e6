import { TransportError } from '../../ports/api-transport.ts';
import type { ApiRequest, ApiResponse, ApiTransport, WatchRequest, WatchSink } from '../../ports/api-transport.ts';
import type { Clock } from '../../ports/clock.ts';

/** How long a dead network lets a watch hang before it is given up. */
const CONNECT_MS = 10_000;

/**
 * A network cable that can be pulled: while cut, nothing new is sent, calls hang until their deadline, answers that are under way are lost,
 * and watches end. Healing ends what hangs, so that it is tried again soon.
 */
export class SwitchedTransport implements ApiTransport {
  readonly #inner: ApiTransport;
  readonly #clock: Clock;
  readonly #losers = new Set<() => void>();
  #isCut = false;

  constructor(inner: ApiTransport, clock: Clock) {
    this.#inner = inner;
    this.#clock = clock;
  }

  cut(): void {
    this.#isCut = true;
    this.#loseAll();
  }

  heal(): void {
    if (!this.#isCut) return;
    this.#isCut = false;
    this.#loseAll();
  }

  request(request: ApiRequest): Promise<ApiResponse> {
    if (this.#isCut) {
      return new Promise((_resolve, reject) => {
        this.#hang(request.deadlineMs, () => {
          reject(new TransportError('unreachable', `${request.method} ${request.path}: the network is cut`));
        });
      });
    }
    return new Promise((resolve, reject) => {
      const lose = (): void => {
        reject(new TransportError('unreachable', `${request.method} ${request.path}: the network was cut before the answer`));
      };
      this.#losers.add(lose);
      this.#inner.request(request).then(
        (response) => {
          if (this.#losers.delete(lose)) resolve(response);
        },
        (error: unknown) => {
          this.#losers.delete(lose);
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
  }

  watch(request: WatchRequest, sink: WatchSink): () => void {
    if (this.#isCut) {
      return this.#hang(CONNECT_MS, () => {
        sink.onEnd(new TransportError('unreachable', `watch ${request.path}: the network is cut`));
      });
    }
    const state = { isEnded: false };
    const end = (error: Parameters<WatchSink['onEnd']>[0]): void => {
      if (state.isEnded) return;
      state.isEnded = true;
      this.#losers.delete(lose);
      sink.onEnd(error);
    };
    const lose = (): void => {
      end(new TransportError('unreachable', `watch ${request.path}: the network was cut`));
      close();
    };
    const close = this.#inner.watch(request, {
      onOpen: () => {
        if (!state.isEnded) sink.onOpen();
      },
      onEvent: (event) => {
        if (!state.isEnded) sink.onEvent(event);
      },
      onEnd: end,
    });
    if (!state.isEnded) this.#losers.add(lose);
    return close;
  }

  /** Calls `fail` after `delayMs`, or as soon as the cable is touched; the returned function brings that forward to now. */
  #hang(delayMs: number, fail: () => void): () => void {
    const end = (): void => {
      if (!this.#losers.delete(end)) return;
      cancel();
      fail();
    };
    this.#losers.add(end);
    const cancel = this.#clock.after(delayMs, end);
    return end;
  }

  #loseAll(): void {
    for (const lose of [...this.#losers]) lose();
    this.#losers.clear();
  }
}
