import {
  ApiStatusError,
  TransportError,
  type ApiRequest,
  type ApiResponse,
  type ApiTransport,
  type WatchEvent,
  type WatchRequest,
  type WatchSink,
} from '../../ports/api-transport.ts';

/** One watch that was opened, from the server's side. */
export class ScriptedWatch {
  readonly request: WatchRequest;
  readonly #sink: WatchSink;
  isEnded = false;

  constructor(request: WatchRequest, sink: WatchSink) {
    this.request = request;
    this.#sink = sink;
  }

  open(): this {
    this.#sink.onOpen();
    return this;
  }

  send(type: WatchEvent['type'], object: unknown): this {
    if (!this.isEnded) {
      this.#sink.onEvent({ type, object });
    }
    return this;
  }

  end(error?: TransportError | ApiStatusError): void {
    if (!this.isEnded) {
      this.isEnded = true;
      this.#sink.onEnd(error);
    }
  }
}

type Answer = Partial<ApiResponse> | Error;

/** An API server that says exactly what a test tells it to. */
export class ScriptedTransport implements ApiTransport {
  readonly requests: ApiRequest[] = [];
  readonly watches: ScriptedWatch[] = [];
  /** Serves watches that begin with what is there. */
  streamsLists = false;
  /** Answers each request; a test replaces it. */
  answer: (request: ApiRequest) => Answer | Promise<Answer> = () => ({ status: 200, body: listOf('1') });

  async request(request: ApiRequest): Promise<ApiResponse> {
    request.beforeSend?.();
    this.requests.push(request);
    const answer = await this.answer(request);
    if (answer instanceof Error) {
      throw answer;
    }
    return { status: 200, body: {}, headers: {}, ...answer };
  }

  watch(request: WatchRequest, sink: WatchSink): () => void {
    if (request.query['sendInitialEvents'] !== undefined && !this.streamsLists) {
      sink.onEnd(new ApiStatusError(422, 'Invalid', 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled'));
      return () => undefined;
    }
    const watch = new ScriptedWatch(request, sink);
    this.watches.push(watch);
    return () => {
      watch.end(new TransportError('aborted', 'closed by the client'));
    };
  }

  /** The watch opened last. */
  get lastWatch(): ScriptedWatch {
    const watch = this.watches.at(-1);
    if (watch === undefined) {
      throw new Error('no watch has been opened');
    }
    return watch;
  }
}

/** A list body. */
export function listOf(resourceVersion: string, items: readonly unknown[] = [], token = ''): unknown {
  return { kind: 'List', metadata: { resourceVersion, ...(token === '' ? {} : { continue: token }) }, items };
}

/** A `Status` body. */
export function statusOf(code: number, reason: string, message = reason, details: object = {}): unknown {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details };
}
