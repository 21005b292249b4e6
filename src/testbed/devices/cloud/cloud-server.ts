import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { CloudFailure, CloudFaults } from './faults.ts';

export interface CloudRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface CloudAnswer {
  status: number;
  /** Behind the status, in its line. */
  reason?: string;
  headers?: Readonly<Record<string, string>>;
  body: string;
}

/** What one kind of cloud adds to the shared server. */
export interface CloudProtocol {
  /** What a request asks for: `StopInstances`, `GET instance`. Faults and counts go by it. */
  nameOf(request: CloudRequest): string;
  /** It changes an instance. */
  isSet(name: string): boolean;
  answer(request: CloudRequest, name: string): CloudAnswer | Promise<CloudAnswer>;
  /** How this cloud words a failure, and that it was asked too often. */
  failure(failure: Pick<CloudFailure, 'status' | 'code' | 'message'>): CloudAnswer;
  tooOften(): CloudAnswer;
}

export interface CloudServerOptions {
  host: string;
  /** Absent: plain HTTP. */
  certificate?: { certificatePem: string; keyPem: string };
  protocol: CloudProtocol;
}

/** An HTTP server with everything that may be wrong with one; what it says is the protocol's. */
export class CloudServer {
  faults: CloudFaults = {};
  /** Names of requests, oldest first. */
  readonly requests: string[] = [];
  readonly #options: CloudServerOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #failed = new Map<CloudFailure, number>();
  #second = { at: 0, requests: 0 };

  private constructor(options: CloudServerOptions) {
    this.#options = options;
    const listener = (request: IncomingMessage, response: ServerResponse): void => void this.#serve(request, response);
    const { certificate } = options;
    this.#server =
      certificate === undefined ? createPlain(listener) : createSecure({ cert: certificate.certificatePem, key: certificate.keyPem }, listener);
    this.#server.on(certificate === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(options: CloudServerOptions): Promise<CloudServer> {
    const server = new CloudServer(options);
    await new Promise<void>((resolve, reject) => server.#server.once('error', reject).listen(0, options.host, resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    const { host, certificate } = this.#options;
    return `${certificate === undefined ? 'http' : 'https'}://${host}:${this.port}`;
  }

  /** Connections that clients have open. */
  get connections(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const url = new URL(incoming.url ?? '/', 'http://cloud');
    const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
    const body = Buffer.concat(chunks).toString('utf8');
    const request: CloudRequest = { method: incoming.method ?? '', path: url.pathname, query: url.searchParams, headers, body };
    const { protocol } = this.#options;
    const name = protocol.nameOf(request);
    this.requests.push(name);
    const { faults } = this;
    if (faults.isMute === true) return;
    const waitMs = (protocol.isSet(name) ? faults.setAnswerMs : undefined) ?? faults.answerMs ?? 0;
    if (waitMs > 0) await sleep(waitMs);
    const answer = this.#isTooOften() ? protocol.tooOften() : (this.#failure(name) ?? (await protocol.answer(request, name)));
    this.#send(response, answer);
  }

  #isTooOften(): boolean {
    const { requestsPerSecond } = this.faults;
    if (requestsPerSecond === undefined) return false;
    const at = Math.floor(performance.now() / 1_000);
    this.#second = this.#second.at === at ? { at, requests: this.#second.requests + 1 } : { at, requests: 1 };
    return this.#second.requests > requestsPerSecond;
  }

  #failure(name: string): CloudAnswer | undefined {
    const failure = this.faults.failures?.find((one) => name.startsWith(one.request) && (this.#failed.get(one) ?? 0) < (one.times ?? Infinity));
    if (failure === undefined) return undefined;
    this.#failed.set(failure, (this.#failed.get(failure) ?? 0) + 1);
    return this.#options.protocol.failure(failure);
  }

  #send(response: ServerResponse, { status, reason, headers, body }: CloudAnswer): void {
    const { aheadMs = 0, noise, truncates, stalls } = this.faults;
    const text = Buffer.from(noise === true ? '%&\u0000<<{"' : body);
    if (reason !== undefined) response.statusMessage = reason;
    response.writeHead(status, { Date: new Date(Date.now() + aheadMs).toUTCString(), 'Content-Length': text.length, ...headers });
    if (truncates === true || stalls === true) {
      response.write(text.subarray(0, text.length >> 1), () => truncates === true && response.destroy());
      return;
    }
    response.end(text);
  }
}
