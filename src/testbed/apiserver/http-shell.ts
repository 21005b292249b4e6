import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse as HttpResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAuthority, type CertificateAuthority } from '../certificates.ts';
import { ApiFailure, badRequest, statusObject } from './failure.ts';
import { EventBodies } from './event-bodies.ts';
import { isObject, shown, type Json } from './json.ts';
import { encodeObject } from './protobuf/encode.ts';
import { isInProtobuf, isWatchedInProtobuf, PROTOBUF, wantsProtobuf } from './protobuf/wanted.ts';
import { mediaType } from './resources.ts';
import type { ServerRequest } from './request.ts';
import { isWatch, type ApiServer } from './server.ts';
import type { ServerEvent } from './watches.ts';
import { readYaml } from './yaml-body.ts';

export interface HttpShellOptions {
  server: ApiServer;
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** Signs the certificate; default: an authority of its own. */
  authority?: CertificateAuthority;
}

/** A served API: HTTPS with bearer tokens. */
export interface HttpShell {
  /** `https://127.0.0.1:<port>`. */
  url: string;
  /** What clients must trust. */
  caPem: string;
  /** An outage: `silent` keeps connections and answers nothing until resumed; `refuse` closes them and the port. */
  pause(how: 'silent' | 'refuse'): Promise<void>;
  resume(): Promise<void>;
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 3 * 1024 * 1024;
/** A watcher that reads slower than this much behind is cut off, as a real server does. */
const UNREAD_BYTES_MAX = 32 * 1024 * 1024;
const TICK_MS = 1_000;

/** Serves the API over HTTPS until closed. */
export async function serveHttps(options: HttpShellOptions): Promise<HttpShell> {
  const host = options.host ?? '127.0.0.1';
  const authority = options.authority ?? createAuthority('nodefence drill API');
  const { certificatePem, keyPem } = authority.issue({
    commonName: 'kube-apiserver',
    hosts: ['localhost', '127.0.0.1', '::1', 'kubernetes.default.svc', host],
  });
  const front = new Front(options.server);
  const listener = createServer({ cert: certificatePem, key: keyPem, keepAliveTimeout: 120_000, requestTimeout: 60_000 }, front.onRequest);
  const sockets = new Set<Socket>();
  listener.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
  });
  await listen(listener, host, options.port ?? 0);
  const { port } = listener.address() as AddressInfo;
  const ticker = setInterval(() => {
    front.tick();
  }, TICK_MS);
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    if (listener.listening)
      await new Promise<void>((resolve) =>
        listener.close(() => {
          resolve();
        }),
      );
  };
  return {
    url: `https://${host.includes(':') ? `[${host}]` : host}:${String(port)}`,
    caPem: authority.certificatePem,
    async pause(how) {
      front.pause();
      if (how === 'refuse') await stop();
    },
    async resume() {
      if (!listener.listening) await listen(listener, host, port);
      front.resume();
    },
    async close() {
      clearInterval(ticker);
      await stop();
    },
  };
}

async function listen(listener: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(port, host, () => {
      listener.removeListener('error', reject);
      resolve();
    });
  });
}

interface Answer {
  status: number;
  body: Json;
  headers: Readonly<Record<string, string>>;
}

/** Turns HTTP into requests of the core and back. */
class Front {
  readonly #server: ApiServer;
  readonly #bodies = new EventBodies();
  #isPaused = false;
  #held: (() => void)[] = [];

  constructor(server: ApiServer) {
    this.#server = server;
  }

  readonly onRequest = (message: IncomingMessage, response: HttpResponse): void => {
    readBody(message).then(
      (text) => {
        this.#whenRunning(response, () => {
          this.#serve(message, response, text);
        });
      },
      (error: unknown) => {
        this.#whenRunning(response, () => {
          send(response, failureOf(error));
        });
      },
    );
  };

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    const held = this.#held;
    this.#held = [];
    for (const work of held) work();
  }

  tick(): void {
    if (!this.#isPaused) this.#server.tick();
  }

  /** During an outage work waits; what its client has given up meanwhile is dropped. */
  #whenRunning(response: HttpResponse, work: () => void): void {
    if (response.destroyed) return;
    if (!this.#isPaused) work();
    else {
      this.#held.push(() => {
        this.#whenRunning(response, work);
      });
    }
  }

  #serve(message: IncomingMessage, response: HttpResponse, text: string): void {
    try {
      const request = this.#requestOf(message, text);
      if (request.method === 'GET' && isWatch(request)) this.#stream(request, response);
      else send(response, this.#server.handle(request), wantsProtobuf(request));
    } catch (error) {
      send(response, failureOf(error));
    }
  }

  #requestOf(message: IncomingMessage, text: string): ServerRequest {
    const url = new URL(message.url ?? '/', 'https://server');
    const contentType = message.headers['content-type'];
    const token = /^Bearer (.+)$/.exec(message.headers.authorization ?? '')?.[1];
    const query = Object.fromEntries(url.searchParams);
    const method = message.method ?? 'GET';
    if (method !== 'GET') query['fieldValidation'] ??= 'Warn';
    return {
      method,
      path: url.pathname,
      query,
      user: token === undefined ? undefined : this.#server.userByToken(token),
      body: parseBody(text, contentType),
      contentType,
      accept: message.headers.accept,
      userAgent: message.headers['user-agent'],
    };
  }

  #stream(request: ServerRequest, response: HttpResponse): void {
    const early: ServerEvent[] = [];
    const isBinary = wantsProtobuf(request) && isWatchedInProtobuf(request.path);
    let isOpen = false;
    const state = { isEnded: false };
    const opened = this.#server.watch(request, {
      onEvent: (event) => {
        if (isOpen) this.#write(response, event, isBinary);
        else early.push(event);
      },
      onEnd: () => {
        state.isEnded = true;
        if (isOpen) this.#whenRunning(response, () => response.end());
      },
    });
    if ('refusal' in opened) {
      send(response, opened.refusal, isBinary);
      return;
    }
    response.on('close', opened.close);
    response.writeHead(200, { 'content-type': isBinary ? `${PROTOBUF};stream=watch` : 'application/json', 'cache-control': 'no-cache, private' });
    response.flushHeaders();
    isOpen = true;
    for (const event of early) this.#write(response, event, isBinary);
    if (state.isEnded) response.end();
  }

  #write(response: HttpResponse, event: ServerEvent, isBinary: boolean): void {
    this.#whenRunning(response, () => {
      response.write(isBinary ? this.#bodies.frame(event) : this.#bodies.line(event));
      if (response.writableLength > UNREAD_BYTES_MAX) response.destroy();
    });
  }
}

/** The whole body as text. One that is too large is refused at once and its rest thrown away, so that the client can read the answer. */
async function readBody(message: IncomingMessage): Promise<string> {
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_BYTES_MAX) chunks.push(chunk);
      else reject(new ApiFailure(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${String(BODY_BYTES_MAX)}`));
    });
    message.on('end', () => {
      resolve(Buffer.concat(chunks).toString('utf8'));
    });
    message.on('error', reject);
  });
}

function parseBody(text: string, contentType: string | undefined): Json | undefined {
  if (text === '') return undefined;
  const type = mediaType(contentType);
  if (type !== '' && !type.includes('json') && !type.includes('yaml')) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (!type.includes('yaml'))
      throw badRequest(`the object provided is unrecognized (must be of type JSON): ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    return readYaml(text);
  } catch (error) {
    throw badRequest(`error decoding YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function failureOf(error: unknown): Answer {
  const failure =
    error instanceof ApiFailure
      ? error
      : new ApiFailure(500, 'InternalError', `Internal error occurred: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return { status: failure.status, body: statusObject(failure), headers: { 'content-type': 'application/json' } };
}

function send(response: HttpResponse, { status, body, headers }: Answer, isBinary = false): void {
  if (response.destroyed) return;
  const isText = (headers['content-type'] ?? '').startsWith('text/');
  const binary = isBinary && !isText && isObject(body) && isInProtobuf(body);
  const bytes = binary ? encodeObject(body) : Buffer.from(isText ? shown(body) : JSON.stringify(body));
  response.writeHead(status, { ...headers, ...(binary ? { 'content-type': PROTOBUF } : {}), 'content-length': bytes.length });
  response.end(bytes);
}
