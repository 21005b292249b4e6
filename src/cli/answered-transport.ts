import type { Check } from '../http/readiness.ts';
import type { ApiRequest, ApiResponse, ApiTransport, WatchRequest, WatchSink } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';

/** The leader's lease: who has not reached the server for so long can not lead, and the lease is asked for every two seconds. */
export const ANSWERED_WITHIN_MS = 15_000;

/** Remembers when the API server last answered: watches may be silent for a minute, so that they alone would show an outage too late. */
export class AnsweredTransport implements ApiTransport {
  readonly #inner: ApiTransport;
  readonly #clock: Clock;
  #answeredAtMs: number;
  #failure: string | undefined;

  constructor(inner: ApiTransport, clock: Clock) {
    this.#inner = inner;
    this.#clock = clock;
    this.#answeredAtMs = clock.monotonicMs();
  }

  async request(request: ApiRequest): Promise<ApiResponse> {
    try {
      const response = await this.#inner.request(request);
      this.#answeredAtMs = this.#clock.monotonicMs();
      return response;
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
      throw error;
    }
  }

  watch(request: WatchRequest, sink: WatchSink): () => void {
    return this.#inner.watch(request, sink);
  }

  /** For /readyz. */
  check(): Check {
    const ageMs = this.#clock.monotonicMs() - this.#answeredAtMs;
    const ok = ageMs <= ANSWERED_WITHIN_MS;
    const seconds = (ageMs / 1000).toFixed(1);
    const why = this.#failure === undefined ? '' : `: ${this.#failure}`;
    return { name: 'api-server', ok, detail: ok ? `answered ${seconds} s ago` : `has not answered for ${seconds} s${why}` };
  }
}
