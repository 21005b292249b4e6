import type { ClientRequest, IncomingMessage } from 'node:http';
import { TransportError, type ApiStatusError, type WatchEvent, type WatchRequest, type WatchSink } from '../../ports/api-transport.ts';
import type { ServerConfig } from '../kubeconfig/server-config.ts';
import { asFields, statusError } from '../status.ts';
import type { Beat } from './beat.ts';
import type { Connection } from './connection.ts';
import { LineFramer } from './line-framer.ts';
import { readBody } from './response-body.ts';
import { RestingStream } from './resting-stream.ts';
import { transportFailure } from './transport-failure.ts';

/** etcd takes objects of 1.5 MB; managedFields and escapes may make the line some times longer. */
const LINE_MAX_CHARACTERS = 16_777_216;
const REFUSAL_MAX_BYTES = 65_536;
const TYPES: readonly string[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'];

export interface HttpsWatchOptions {
  request: WatchRequest;
  sink: WatchSink;
  server: ServerConfig;
  connection: Connection;
  beat: Beat;
  /** With query. */
  path: string;
}

/** One watch over HTTP: JSON objects, one a line, as long as the server likes. */
export class HttpsWatch {
  readonly #options: HttpsWatchOptions;
  readonly #framer = new LineFramer(LINE_MAX_CHARACTERS);
  #outgoing: ClientRequest | undefined;
  #resting: RestingStream | undefined;
  #isEnded = false;

  constructor(options: HttpsWatchOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    const { connection, path } = this.#options;
    try {
      const wire = await connection.open('watches');
      if (this.#isEnded) {
        return;
      }
      const outgoing = wire.send({ ...wire.options, method: 'GET', path, headers: { ...wire.headers, accept: 'application/json' } });
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
    const { request, beat } = this.#options;
    if (request.restMs !== undefined) this.#resting = new RestingStream(response.socket, beat, request.restMs);
    response.on('data', (chunk: Buffer) => {
      this.#read(chunk);
    });
    response.on('error', (error) => {
      this.#end(this.#failure(error));
    });
    response.on('end', () => {
      this.#end(this.#framer.isInsideLine ? new TransportError('garbled', `${this.#what}: the stream ended in the middle of an event`) : undefined);
    });
    response.on('close', () => {
      this.#end(new TransportError('unreachable', `${this.#what}: the connection broke`));
    });
    this.#options.sink.onOpen();
  }

  async #refused(response: IncomingMessage): Promise<void> {
    const { server } = this.#options;
    if (response.statusCode === 401) {
      server.credential.rejected();
    }
    try {
      const text = await readBody(response, REFUSAL_MAX_BYTES);
      const { 'retry-after': retryAfter, date } = response.headers;
      const headers = { ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }), ...(date === undefined ? {} : { date }) };
      this.#end(statusError(this.#what, { status: response.statusCode ?? 0, body: tolerantJson(text), headers }));
    } catch (error) {
      this.#end(this.#failure(error instanceof Error ? error : new Error(String(error))));
    }
  }

  #read(chunk: Buffer): void {
    if (this.#isEnded) {
      return;
    }
    try {
      for (const line of this.#framer.push(chunk)) {
        const event = eventOf(line);
        // The sink may have closed the watch on the event before.
        if (!this.#isOver()) {
          this.#options.sink.onEvent(event);
        }
      }
      if (!this.#isOver()) this.#resting?.read(chunk.length);
    } catch (error) {
      this.#end(new TransportError('garbled', `${this.#what}: ${error instanceof Error ? error.message : String(error)}`));
    }
  }

  #isOver(): boolean {
    return this.#isEnded;
  }

  #failure(error: Error): TransportError {
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

function eventOf(line: string): WatchEvent {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // The parser's message quotes the line, which may be a Secret.
    throw new SyntaxError('a line of the stream is not JSON');
  }
  const fields = asFields(value);
  const type = fields?.['type'];
  if (typeof type !== 'string' || !TYPES.includes(type)) {
    throw new SyntaxError('a line of the stream is not a watch event');
  }
  return { type: type as WatchEvent['type'], object: fields?.['object'] };
}

function tolerantJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
