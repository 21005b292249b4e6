import { Agent as PlainAgent, request as requestPlain, type ClientRequest, type ClientRequestArgs, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as requestSecure } from 'node:https';
import type { Duplex } from 'node:stream';

import axios from 'axios';

import { jsonIn } from '../../src/domain/json.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import type { WebSettings } from './parameters.ts';
import { openTrusted, Untrusted } from './trusted-socket.ts';

const BODY_BYTES_MAX = 1024 * 1024;

export interface WebRequest {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  body?: string;
  headers: Readonly<Record<string, string>>;
  /** Called in the turn in which the request is written; when it throws, nothing is sent and its error is the result. */
  gate?: () => void;
}

export interface WebAnswer {
  status: number;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  text: string;
  /** Parsed JSON; undefined when there is none. */
  body: unknown;
}

/** The requests of one call to one switch, over one connection that is closed at its end: their session slots are few. */
export class Web {
  readonly settings: WebSettings;
  readonly #call: Call<CallTarget>;
  readonly #agent: PlainAgent;
  readonly #opening = new Set<() => void>();

  constructor(settings: WebSettings, call: Call<CallTarget>, clock: Clock) {
    this.settings = settings;
    this.#call = call;
    const options = { keepAlive: true, maxSockets: 1, maxFreeSockets: 1 };
    this.#agent = settings.tls ? new SecureAgent(options) : new PlainAgent(options);
    this.#agent.createConnection = (_options: ClientRequestArgs, callback?: (error: Error | null, socket: Duplex) => void) => {
      const giveUp = openTrusted(settings, clock, (error, socket) => {
        this.#opening.delete(giveUp);
        callback?.(error ?? null, socket);
      });
      this.#opening.add(giveUp);
      return undefined;
    };
  }

  get secrets(): readonly string[] {
    const { username, password } = this.settings;
    return [password, Buffer.from(`${username}:${password}`).toString('base64')];
  }

  /** The value of a header for basic authentication. */
  get basic(): string {
    return `Basic ${Buffer.from(`${this.settings.username}:${this.settings.password}`).toString('base64')}`;
  }

  /** One request, one answer of any status; `call` when it is not the own one. Rejects with `AgentError`, or with what the gate threw. */
  async exchange(request: WebRequest, call: Call<CallTarget> = this.#call): Promise<WebAnswer> {
    const { host, port, tls } = this.settings;
    let gateError: Error | undefined;
    try {
      const response = await axios.request<string>({
        url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}${request.path}`,
        method: request.method,
        ...(request.body === undefined ? {} : { data: request.body }),
        headers: { 'User-Agent': 'nodefence', ...request.headers },
        signal: call.signal,
        transport: {
          request: (options: ClientRequestArgs, answer: (message: IncomingMessage) => void) => {
            const sent = tls ? requestSecure(options, answer) : requestPlain(options, answer);
            this.#guard(sent, request, (error) => (gateError = error));
            return sent;
          },
        },
        // Never through a proxy, never followed elsewhere: both would get the password.
        proxy: false,
        maxRedirects: 0,
        maxContentLength: BODY_BYTES_MAX,
        responseType: 'text',
        transformRequest: [(data: unknown) => data],
        transformResponse: [(text: string) => text],
        validateStatus: () => true,
        ...(tls ? { httpsAgent: this.#agent } : { httpAgent: this.#agent }),
      });
      const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
      return { status: response.status, headers, text: response.data, body: jsonIn(response.data) };
    } catch (error) {
      throw gateError ?? this.#failure(error, call);
    }
  }

  close(): void {
    for (const giveUp of [...this.#opening]) giveUp();
    this.#agent.destroy();
  }

  /** An answer in one line, without secrets. */
  describe(answer: WebAnswer, besides: readonly string[] = []): string {
    const said = deviceMessage(answer.text.replaceAll(/<[^>]*>/g, ' '), [...this.secrets, ...besides]);
    return `HTTP ${answer.status}${said === '' ? '' : `: ${said}`}`;
  }

  /** Node writes the request right after this event, in the same turn, because only ready sockets are handed over. */
  #guard(sent: ClientRequest, { gate }: WebRequest, onRefused: (error: Error) => void): void {
    sent.once('socket', () => {
      try {
        gate?.();
      } catch (error) {
        const refusal = error instanceof Error ? error : new Error(String(error));
        onRefused(refusal);
        sent.destroy(refusal);
      }
    });
  }

  #failure(error: unknown, call: Call<CallTarget>): Error {
    if (call.ended !== undefined) return call.endedError();
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const message = deviceMessage(cause instanceof Error ? cause.message : String(cause), this.secrets);
    if (cause instanceof Untrusted) return call.error('Misconfigured', `not trusted: ${message}: give the right ca or ssl_fingerprint`);
    const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? `${cause.code}: ` : '';
    return call.error('Unreachable', `${message.startsWith(code) ? '' : code}${message}`);
  }
}

/** A member of a JSON object; undefined where there is none. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>)[name] : undefined;
}
