import type { IncomingMessage } from 'node:http';
import { TransportError, type ApiRequest, type ApiResponse, type ApiTransport, type WatchRequest, type WatchSink } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import { linkedAbort } from '../runtime/linked-abort.ts';
import type { ServerConfig } from './kubeconfig/server-config.ts';
import { Texts } from './protobuf/texts.ts';
import { Beat } from './transport/beat.ts';
import { Connection } from './transport/connection.ts';
import { HttpsWatch } from './transport/https-watch.ts';
import { HeldBack, sendWhenReady } from './transport/gated-request.ts';
import { bodyOf, readBody } from './transport/response-body.ts';
import { transportFailure } from './transport/transport-failure.ts';

/** A page of 500 of the largest objects that etcd takes would be more; such a page fails and says so. */
const BODY_MAX_BYTES = 268_435_456;

export interface HttpsTransportOptions {
  server: ServerConfig;
  clock: Clock;
  /** `nodefence/VERSION`. */
  userAgent: string;
  /** How long a connection that nothing is asked on is kept; a minute if absent. */
  idleMs?: number;
}

/** Kubernetes over node:https with kept connections. */
export class HttpsTransport implements ApiTransport {
  readonly #server: ServerConfig;
  /** Path of the server's own address, before that of each request. */
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #connection: Connection;
  readonly #beat: Beat;
  readonly #texts = new Texts();

  constructor(options: HttpsTransportOptions) {
    this.#server = options.server;
    this.#prefix = options.server.url.pathname.replace(/\/$/, '');
    this.#clock = options.clock;
    this.#connection = new Connection(options.server, options.userAgent, options.idleMs);
    this.#beat = new Beat(options.clock);
  }

  /** A 401 is asked once more with a fresh credential; a GET on a kept connection that the server had closed, on a new one. */
  async request(request: ApiRequest): Promise<ApiResponse> {
    const what = `${request.method} ${request.path}`;
    const deadline = {
      clock: this.#clock,
      delayMs: request.deadlineMs,
      reason: () => new TransportError('timeout', `${what}: ${this.#server.url.host}: no answer within ${String(request.deadlineMs)} ms`),
    };
    const linked = linkedAbort([request.signal], deadline);
    try {
      const response = await this.#exchange(what, request, linked.signal);
      const isWorthAnother = response.status === 401 && this.#server.credential.rejected();
      return isWorthAnother ? await this.#exchange(what, request, linked.signal) : response;
    } finally {
      linked.release();
    }
  }

  watch(request: WatchRequest, sink: WatchSink): () => void {
    const watch = new HttpsWatch({
      request,
      sink,
      server: this.#server,
      connection: this.#connection,
      beat: this.#beat,
      texts: this.#texts,
      path: this.#pathOf(request.path, { ...request.query, watch: 'true' }),
    });
    void watch.open();
    return () => {
      watch.close();
    };
  }

  /** Drops all connections. */
  close(): void {
    this.#connection.close();
  }

  async #exchange(what: string, request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    const sinceMs = this.#clock.monotonicMs();
    try {
      return await this.#once(what, request, signal);
    } catch (error) {
      if (error instanceof StaleSocketError && !isGivenUp(signal)) this.#connection.dropUnheard(sinceMs);
      if (error instanceof StaleSocketError && request.method === 'GET' && !signal.aborted) {
        return await this.#once(what, request, signal).catch((second: unknown) => {
          throw this.#failure(what, second, signal);
        });
      }
      throw this.#failure(what, error, signal);
    }
  }

  #failure(what: string, error: unknown, signal: AbortSignal): Error {
    if (error instanceof HeldBack) {
      return error.cause instanceof Error ? error.cause : new Error(String(error.cause));
    }
    if (signal.aborted) {
      return signal.reason instanceof TransportError ? signal.reason : new TransportError('aborted', `${what}: given up by its caller`);
    }
    const said = error instanceof StaleSocketError ? error.cause : error;
    const cause = said instanceof Error ? said : new Error(String(said));
    this.#connection.failed(cause);
    return transportFailure(what, this.#server.url.host, cause);
  }

  async #once(what: string, request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    const wire = await untilAborted(this.#connection.open(request.lane ?? 'calls'), signal);
    const body = request.body === undefined ? undefined : Buffer.from(typeof request.body === 'string' ? request.body : JSON.stringify(request.body));
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = wire.send({
        ...wire.options,
        method: request.method,
        path: this.#pathOf(request.path, request.query),
        headers: {
          ...wire.headers,
          accept: request.accept ?? 'application/json',
          ...(body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json', 'content-length': String(body.length) }),
        },
      });
      // Node's own way to follow a signal costs a sixth of a request.
      const onAbort = (): void => void outgoing.destroy(new Error('aborted'));
      signal.addEventListener('abort', onAbort, { once: true });
      outgoing.once('close', () => signal.removeEventListener('abort', onAbort));
      if (signal.aborted) onAbort();
      outgoing.on('response', (response) => {
        this.#connection.heard(response.socket, this.#clock.monotonicMs());
        resolve(response);
      });
      outgoing.on('error', (error) => {
        reject(outgoing.reusedSocket ? new StaleSocketError(error) : error);
      });
      sendWhenReady(outgoing, body, request.beforeSend, reject);
    });
    return {
      status: response.statusCode ?? 0,
      body: bodyOf(what, response, await readBody(response, BODY_MAX_BYTES), this.#texts),
      headers: flat(response),
    };
  }

  #pathOf(path: string, query?: Readonly<Record<string, string>>): string {
    const search = query === undefined ? '' : new URLSearchParams(query).toString();
    return `${this.#prefix}${path}${search === '' ? '' : `?${search}`}`;
  }
}

/** A kept connection brought no answer: the server had closed it while our request was on its way, which was not acted upon, most likely, or the caller gave up. */
class StaleSocketError extends Error {
  override readonly name = 'StaleSocketError';
  constructor(cause: Error) {
    super('a kept connection was closed by the server', { cause });
  }
}

/** By its caller, not by its deadline. */
function isGivenUp({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof TransportError && reason.kind === 'timeout');
}

function flat(response: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) {
      headers[name] = Array.isArray(value) ? value.join(', ') : value;
    }
  }
  return headers;
}

/** A credential plugin may take long; the caller's deadline counts for it too. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(new Error('aborted'));
    };
    if (signal.aborted) {
      onAbort();
    }
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}
