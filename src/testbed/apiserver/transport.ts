import {
  ApiStatusError,
  TransportError,
  type ApiRequest,
  type ApiResponse,
  type ApiTransport,
  type WatchRequest,
  type WatchSink,
} from '../../ports/api-transport.ts';
import { copy, freeze, textAt, type Json } from './json.ts';
import type { ServerRequest } from './request.ts';
import type { ApiServer } from './server.ts';
import type { ServerEvent } from './watches.ts';
import { readYaml } from './yaml-body.ts';

/**
 * The server reached within one process: what goes in is copied, what comes out is copied or frozen, so that nobody can change another's objects. Answers and events arrive in a later
 * microtask, in order. Deadlines are not measured here, since the server answers at once: a wrapper that delays must end calls itself.
 */
export function inProcessTransport(server: ApiServer, userName: string, userAgent = 'in-process'): ApiTransport {
  const user = server.userByName(userName);
  return {
    async request(request: ApiRequest): Promise<ApiResponse> {
      if (request.signal?.aborted === true) throw new TransportError('aborted', `${request.method} ${request.path}: aborted before it was sent`);
      request.beforeSend?.();
      const asked: ServerRequest = {
        method: request.method,
        path: request.path,
        query: request.query ?? {},
        user,
        body: bodyOf(request),
        contentType: request.contentType ?? 'application/json',
        accept: request.accept ?? 'application/json',
        userAgent,
      };
      const response = server.handle(asked);
      return Promise.resolve({ status: response.status, body: copy(response.body), headers: response.headers });
    },
    watch(request: WatchRequest, sink: WatchSink): () => void {
      return new InProcessWatch(
        server,
        { method: 'GET', path: request.path, query: { ...request.query, watch: 'true' }, user, accept: 'application/json', userAgent },
        sink,
      ).close;
    },
  };
}

/** Texts of YAML that came before: every world of a process is installed from the same files. */
const read = new Map<string, Json>();
const READ_MAX = 200;

/** JSON is copied; a text is YAML, as over HTTP. */
function bodyOf({ body }: ApiRequest): Json | undefined {
  if (typeof body !== 'string') return body === undefined ? undefined : copy(body as Json);
  const value = read.get(body) ?? freeze(readYaml(body));
  if (read.size < READ_MAX) read.set(body, value);
  return value;
}

/** One watch: a queue that is emptied in a microtask, so that no sink runs inside another request's write. */
class InProcessWatch {
  readonly #sink: WatchSink;
  readonly #queue: (() => void)[] = [];
  #isOver = false;
  #isDraining = false;
  readonly #stop: () => void;

  constructor(server: ApiServer, request: ServerRequest, sink: WatchSink) {
    this.#sink = sink;
    const early: (() => void)[] = [];
    let isOpen = false;
    const inOrder = (work: () => void): void => {
      if (isOpen) this.#later(work);
      else early.push(work);
    };
    const opened = server.watch(request, {
      onEvent: (event) => {
        inOrder(() => {
          this.#deliver(event);
        });
      },
      onEnd: () => {
        inOrder(() => {
          this.#end(undefined);
        });
      },
    });
    isOpen = true;
    if ('refusal' in opened) {
      const { status, body } = opened.refusal;
      this.#stop = () => undefined;
      this.#later(() => {
        this.#end(new ApiStatusError(status, textAt(body, 'reason'), textAt(body, 'message')));
      });
      return;
    }
    this.#stop = opened.close;
    this.#later(() => {
      sink.onOpen();
    });
    for (const work of early) this.#later(work);
  }

  readonly close = (): void => {
    if (this.#isOver) return;
    this.#stop();
    this.#queue.length = 0;
    this.#later(() => {
      this.#end(new TransportError('aborted', 'the watch was closed'));
    });
  };

  #deliver(event: ServerEvent): void {
    this.#sink.onEvent({ type: event.type, object: copy(event.object) });
  }

  #end(error: TransportError | ApiStatusError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink.onEnd(error);
  }

  #later(work: () => void): void {
    this.#queue.push(work);
    if (this.#isDraining) return;
    this.#isDraining = true;
    queueMicrotask(() => {
      this.#drain();
    });
  }

  #drain(): void {
    for (let work = this.#queue.shift(); work !== undefined; work = this.#queue.shift()) if (!this.#isOver) work();
    this.#isDraining = false;
  }
}
