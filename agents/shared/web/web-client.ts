import { Agent as PlainAgent, request as requestPlain, type ClientRequest, type ClientRequestArgs, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as requestSecure } from 'node:https';
import type { Duplex } from 'node:stream';

import axios from 'axios';

import { jsonIn } from '../../../src/domain/json.ts';
import type { AgentError } from '../../../src/ports/agents.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { AddressRefused, type AddressCheck } from '../address/address-check.ts';
import type { Call, CallTarget } from '../call.ts';
import { deviceMessage, struckOut } from '../ssh/words.ts';
import { openTrusted, Untrusted, type Trust } from './trusted-socket.ts';

const BODY_BYTES_MAX = 4 * 1024 * 1024;

export interface WebRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute, `http:` or `https:`. */
  url: string;
  body?: string;
  headers?: Readonly<Record<string, string>>;
  /** Called in the turn in which the request is written; when it throws, nothing is sent and its error is the result. */
  gate?: (() => void) | undefined;
  /** Struck out of every message, and of an answer that refuses. */
  secrets?: readonly (string | undefined)[];
}

export interface WebAnswer {
  status: number;
  /** What stands behind the status in its line: some services word a failure nowhere else. */
  reason?: string;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  text: string;
  /** Parsed JSON; undefined when there is none. */
  body: unknown;
}

/** No usable answer. */
export class WebFailure extends Error {
  override readonly name = 'WebFailure';
  readonly kind: 'unreachable' | 'untrusted' | 'forbidden' | 'ended' | 'oversize';
  /** The request left: whether anything was done about it is not known. */
  readonly isSent: boolean;
  /** A kept connection that the other end had closed meanwhile: what changes nothing may be asked again. */
  readonly isStale: boolean;

  constructor(kind: WebFailure['kind'], message: string, isSent: boolean, isStale = false) {
    super(message);
    this.kind = kind;
    this.isSent = isSent;
    this.isStale = isStale;
  }

  /** As the contract of agents names it. */
  typed(call: Call<CallTarget>): AgentError {
    if (this.kind === 'ended') return call.endedError();
    if (this.kind === 'forbidden') return call.error('Misconfigured', this.message);
    if (this.kind === 'untrusted') return call.error('Misconfigured', `not trusted: ${this.message}: give the right ca or ssl_fingerprint`);
    return call.error('Unreachable', this.message);
  }
}

interface Wire {
  isSent: boolean;
  isReused: boolean;
  gateError: Error | undefined;
}

/** HTTP over kept connections, trusted before use. Never through a proxy, never followed elsewhere: both would get the password. */
export class WebClient {
  readonly #plain: PlainAgent;
  readonly #secure: SecureAgent;
  readonly #opening = new Set<() => void>();

  /** `socketsMax`: connections to one host and port. `check`: of each address that is called; absent: any may be. */
  constructor(trust: Trust, reach: { clock: Clock; check?: AddressCheck }, socketsMax = 1) {
    const options = { keepAlive: true, maxSockets: socketsMax, maxFreeSockets: socketsMax };
    this.#plain = new PlainAgent(options);
    this.#secure = new SecureAgent(options);
    for (const agent of [this.#plain, this.#secure]) {
      const tls = agent === this.#secure;
      agent.createConnection = (options: ClientRequestArgs, callback?: (error: Error | null, socket: Duplex) => void) => {
        const place = { host: bare(options.host ?? ''), port: Number(options.port), tls };
        const giveUp = openTrusted(place, trust, reach, (error, socket) => {
          this.#opening.delete(giveUp);
          callback?.(error ?? null, socket);
        });
        this.#opening.add(giveUp);
        return undefined;
      };
    }
  }

  /** One request, one answer of any status. Rejects with `WebFailure`, or with what the gate threw. */
  async exchange(call: Call<CallTarget>, request: WebRequest): Promise<WebAnswer> {
    const wire: Wire = { isSent: false, isReused: false, gateError: undefined };
    try {
      // Axios would send it all the same, and tell nobody.
      call.signal.throwIfAborted();
      const response = await axios.request<string>({
        url: request.url,
        method: request.method,
        ...(request.body === undefined ? {} : { data: request.body }),
        headers: { 'User-Agent': 'nodefence', ...request.headers },
        signal: call.signal,
        transport: { request: (options: ClientRequestArgs, answer: (message: IncomingMessage) => void) => send(options, answer, request, wire) },
        proxy: false,
        maxRedirects: 0,
        maxContentLength: BODY_BYTES_MAX,
        responseType: 'text',
        transformRequest: [(data: unknown) => data],
        transformResponse: [(text: string) => text],
        validateStatus: () => true,
        httpAgent: this.#plain,
        httpsAgent: this.#secure,
      });
      const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
      // What refuses may show what it was asked with: a proxy its header, AWS the text that was to be signed.
      const secrets = response.status >= 400 ? (request.secrets ?? []) : [];
      const text = struckOut(response.data, secrets, STRUCK_MIN);
      return { status: response.status, reason: struckOut(response.statusText, secrets, STRUCK_MIN), headers, text, body: jsonIn(text) };
    } catch (error) {
      throw wire.gateError ?? failureOf(error, call, request, wire);
    }
  }

  /** Gives up connections that are being made, and closes the others; a later exchange opens new ones. */
  close(): void {
    for (const giveUp of [...this.#opening]) giveUp();
    this.#plain.destroy();
    this.#secure.destroy();
  }
}

function send(options: ClientRequestArgs, answer: (message: IncomingMessage) => void, { gate }: WebRequest, wire: Wire): ClientRequest {
  const sent = options.protocol === 'https:' ? requestSecure(options, answer) : requestPlain(options, answer);
  // Node writes the request right after this event, in the same turn, because only ready sockets are handed over.
  sent.once('socket', () => {
    wire.isReused = sent.reusedSocket;
    try {
      gate?.();
      wire.isSent = true;
    } catch (error) {
      wire.gateError = error instanceof Error ? error : new Error(String(error));
      sent.destroy(wire.gateError);
    }
  });
  return sent;
}

/** Shorter ones may be part of any word, by which a refusal is known. */
const STRUCK_MIN = 8;

function failureOf(error: unknown, call: Call<CallTarget>, { secrets = [] }: WebRequest, { isSent, isReused }: Wire): WebFailure {
  if (call.ended !== undefined) return new WebFailure('ended', 'the call is over', isSent);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const message = deviceMessage(cause instanceof Error ? cause.message : String(cause), secrets);
  if (cause instanceof AddressRefused) return new WebFailure('forbidden', message, isSent);
  if (cause instanceof Untrusted) return new WebFailure('untrusted', message, isSent);
  if (message.includes('maxContentLength')) return new WebFailure('oversize', `an answer of more than ${BODY_BYTES_MAX} bytes`, isSent);
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  const isStale = isReused && /^(ECONNRESET|EPIPE|ECONNABORTED)$/.test(code);
  return new WebFailure('unreachable', code === '' || message.startsWith(`${code}: `) ? message : `${code}: ${message}`, isSent, isStale);
}

/** The address in brackets, without them. */
function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

/** A member of a JSON object; undefined where there is none. */
export function member(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || Array.isArray(found) || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

/** A text in a JSON object; undefined where there is none, or something else stands there. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = member(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** The members of a list in a JSON object; none where there is no list. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = member(value, ...path);
  return Array.isArray(found) ? found : [];
}
