import type { ClientRequest, IncomingMessage } from 'node:http';
import { TransportError, type ApiStatusError, type WatchRequest, type WatchSink } from '../../ports/api-transport.ts';
import type { ServerConfig } from '../kubeconfig/server-config.ts';
import type { Texts } from '../protobuf/texts.ts';
import { statusError } from '../status.ts';
import type { Beat } from './beat.ts';
import type { Connection } from './connection.ts';
import { bodyOf, readBody } from './response-body.ts';
import { RestingStream } from './resting-stream.ts';
import { transportFailure } from './transport-failure.ts';
import { watchDecoder } from './watch-decoder.ts';
import type { WatchDecoder } from './watch-events.ts';

const REFUSAL_MAX_BYTES = 65_536;

export interface HttpsWatchOptions {
  request: WatchRequest;
  sink: WatchSink;
  server: ServerConfig;
  connection: Connection;
  beat: Beat;
  texts: Texts;
  /** With query. */
  path: string;
}

/** One watch over HTTP: events, one after the other, as long as the server likes. */
export class HttpsWatch {
  readonly #options: HttpsWatchOptions;
  #outgoing: ClientRequest | undefined;
  #resting: RestingStream | undefined;
  #isEnded = false;

  constructor(options: HttpsWatchOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    const { connection, path, request } = this.#options;
    try {
      const wire = await connection.open('watches');
      if (this.#isEnded) {
        return;
      }
      const headers = { ...wire.headers, accept: request.accept ?? 'application/json' };
      const outgoing = wire.send({ ...wire.options, method: 'GET', path, headers });
      this.#outgoing = outgoing;
      outgoing.on('error', (error) => {
        this.#end(this.#failure(error));
      });
      outgoing.on('response', (response) => {
        this.#receive(response);
      });
      outgoing.end();
    } catch (error) {
      this.#end(this.#failure(error instanceof Error ? error : new Error(String(error))));
    }
  }

  close(): void {
    this.#end(new TransportError('aborted', `${this.#what}: closed by the client`));
  }

  get #what(): string {
    return `watch ${this.#options.request.path}`;
  }

  #receive(response: IncomingMessage): void {
    if (this.#isEnded) {
      response.destroy();
      return;
    }
    if (response.statusCode !== 200) {
      void this.#refused(response);
      return;
    }
    const { request, beat, texts } = this.#options;
    const decoder = watchDecoder(response.headers['content-type'], texts);
    if (request.restMs !== undefined) this.#resting = new RestingStream(response.socket, beat, request.restMs);
    response.on('data', (chunk: Buffer) => {
      this.#read(decoder, chunk);
    });
    response.on('error', (error) => {
      this.#end(this.#failure(error));
    });
    response.on('end', () => {
      this.#end(decoder.isInsideEvent ? new TransportError('garbled', `${this.#what}: the stream ended in the middle of an event`) : undefined);
    });
    response.on('close', () => {
      this.#end(new TransportError('unreachable', `${this.#what}: the connection broke`));
    });
    this.#options.sink.onOpen();
  }

  async #refused(response: IncomingMessage): Promise<void> {
    const { server, texts } = this.#options;
    if (response.statusCode === 401) {
      server.credential.rejected();
    }
    try {
      const body = bodyOf(this.#what, response, await readBody(response, REFUSAL_MAX_BYTES), texts);
      const { 'retry-after': retryAfter, date } = response.headers;
      const headers = { ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }), ...(date === undefined ? {} : { date }) };
      this.#end(statusError(this.#what, { status: response.statusCode ?? 0, body: typeof body === 'string' ? tolerantJson(body) : body, headers }));
    } catch (error) {
      this.#end(this.#failure(error instanceof Error ? error : new Error(String(error))));
    }
  }

  #read(decoder: WatchDecoder, chunk: Buffer): void {
    if (this.#isEnded) {
      return;
    }
    try {
      for (const event of decoder.push(chunk)) {
        this.#options.sink.onEvent(event);
        // The sink may have closed the watch on it.
        if (this.#isOver()) return;
      }
      this.#resting?.read(chunk.length);
    } catch (error) {
      this.#end(new TransportError('garbled', `${this.#what}: ${error instanceof Error ? error.message : String(error)}`));
    }
  }

  #isOver(): boolean {
    return this.#isEnded;
  }

  #failure(error: Error): TransportError {
    this.#options.connection.failed(error);
    return transportFailure(this.#what, this.#options.server.url.host, error);
  }

  #end(error: TransportError | ApiStatusError | undefined): void {
    if (this.#isEnded) {
      return;
    }
    this.#isEnded = true;
    this.#resting?.close();
    this.#outgoing?.destroy();
    this.#options.sink.onEnd(error);
  }
}

function tolerantJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
