import type { IncomingMessage } from 'node:http';
import { Agent } from 'node:https';
import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import type { ApiRequest, ApiResponse, ApiTransport, WatchEvent, WatchRequest, WatchSink } from '../../ports/api-transport.ts';
import { linkedAbort } from '../../runtime/linked-abort.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { httpsCall, StaleConnection, textOf, wireFailure } from './https-call.ts';

/** An API server, and as whom one speaks to it. */
export interface WireEnd {
  server: string;
  caPem: string;
  token: string;
}

/** The test bed's own way to an API server: its kubelets and operators do not speak through the client that is tested. Lanes are one. */
export class HttpsWire implements ApiTransport {
  readonly #server: string;
  readonly #agent: Agent;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #clock = new SystemClock();

  constructor({ server, caPem, token }: WireEnd) {
    this.#server = server.replace(/\/$/, '');
    this.#agent = new Agent({ keepAlive: true, ca: caPem });
    this.#headers = { authorization: `Bearer ${token}`, 'user-agent': 'nodefence-testbed' };
  }

  async request(request: ApiRequest): Promise<ApiResponse> {
    const what = `${request.method} ${request.path}`;
    const reason = (): Error => new TransportError('timeout', `${what}: no answer within ${String(request.deadlineMs)} ms`);
    const linked = linkedAbort([request.signal], { clock: this.#clock, delayMs: request.deadlineMs, reason });
    const held: { by?: unknown } = {};
    const beforeSend = (): void => {
      try {
        request.beforeSend?.();
      } catch (error) {
        held.by = error;
        throw error;
      }
    };
    try {
      return await this.#exchange({ ...request, beforeSend }, linked.signal);
    } catch (error) {
      throw 'by' in held ? held.by : wireFailure(what, error, linked.signal);
    } finally {
      linked.release();
    }
  }

  watch(request: WatchRequest, sink: WatchSink): () => void {
    const controller = new AbortController();
    void this.#stream(request, sink, controller.signal);
    return () => controller.abort();
  }

  /** What only reads is asked once more where its connection had been closed in between. */
  async #exchange(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    const incoming = await this.#open(request, signal).catch((error: unknown) => {
      if (error instanceof StaleConnection && request.method === 'GET') return this.#open(request, signal);
      throw error;
    });
    const text = await textOf(incoming);
    const isJson = (incoming.headers['content-type'] ?? '').includes('json');
    const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]);
    return { status: incoming.statusCode ?? 0, body: isJson ? (JSON.parse(text) as unknown) : text, headers: Object.fromEntries(headers) };
  }

  #open(
    { method, path, query, body, contentType, accept, beforeSend }: Omit<ApiRequest, 'deadlineMs'>,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const url = new URL(`${this.#server}${path}`);
    url.search = new URLSearchParams(query).toString();
    const type = body === undefined ? {} : { 'content-type': contentType ?? 'application/json' };
    return httpsCall({
      url,
      agent: this.#agent,
      method,
      headers: { ...this.#headers, accept: accept ?? 'application/json', ...type },
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
      signal,
      beforeSend,
    });
  }

  async #stream({ path, query }: WatchRequest, sink: WatchSink, signal: AbortSignal): Promise<void> {
    let end: TransportError | ApiStatusError | undefined;
    try {
      const incoming = await this.#open({ method: 'GET', path, query: { ...query, watch: 'true' } }, signal);
      if (incoming.statusCode === 200) await deliver(incoming, sink, signal);
      else end = new ApiStatusError(incoming.statusCode ?? 0, 'Unknown', `watch ${path}: ${await textOf(incoming)}`);
      if (signal.aborted) end = new TransportError('aborted', `watch ${path}: closed`);
    } catch (error) {
      end = wireFailure(`watch ${path}`, error, signal);
    }
    sink.onEnd(end);
  }
}

/** One event a line, until the stream ends or nobody listens any more. */
async function deliver(incoming: IncomingMessage, sink: WatchSink, signal: AbortSignal): Promise<void> {
  sink.onOpen();
  incoming.setEncoding('utf8');
  let rest = '';
  for await (const chunk of incoming as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (signal.aborted) return;
      if (line !== '') sink.onEvent(JSON.parse(line) as WatchEvent);
    }
  }
}
