import { request as requestPlain, type ClientRequest, type IncomingHttpHeaders } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Socket } from 'node:net';

import type { Clock } from '../../src/ports/clock.ts';
import { AddressRefused } from '../shared/address/address-check.ts';
import type { Call } from '../shared/call.ts';
import { ExchangeError } from './exchange-error.ts';
import { KeptSocket, type Peer } from './kept-socket.ts';
import type { RedfishSettings } from './parameters.ts';
import type { Recollection } from './recollection.ts';
import { ConnectTimeout, TrustError, type Authorities } from './socket.ts';
import { Oversize, wholeAnswer } from './whole-answer.ts';
import { plain } from './words.ts';

export interface RedfishRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path with query on the configured device; never another host. */
  path: string;
  body?: object;
  headers?: Readonly<Record<string, string>>;
  /** Called with the peer in the turn in which the request is written; when it throws, nothing is sent and its error is the result. */
  gate?: (peer: Peer) => void;
}

export interface RedfishResponse {
  status: number;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  /** Parsed JSON; undefined when there is none or it is garbled. */
  body: unknown;
  isGarbled: boolean;
  /** The answer as it came, for pictures. */
  bytes: Uint8Array;
  peer: Peer;
}

/** Node recommends a flag of its own, which is none of ours. */
const NODES_ADVICE = /; if the root CA is installed locally, try running Node\.js with --use-system-ca\.?$/;
const TRUST_CODES =
  /^(CERT_|UNABLE_TO_(VERIFY|GET)|DEPTH_ZERO|SELF_SIGNED|ERR_TLS_CERT|ERR_SSL_.*CERT|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH|CRL_|ERROR_IN_CERT)/;

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Who follows what becomes of the connections of a device. */
export interface ConnectionWatch {
  /** Called with the call whenever the device has answered. */
  answered(call: Call, answer: { socket: Socket; status: number; headers: Readonly<Record<string, string>>; isLast: boolean }): void;
  failed(message: string): void;
  /** We have closed the connection ourselves. */
  closed(): void;
}

const UNWATCHED: ConnectionWatch = { answered: () => undefined, failed: () => undefined, closed: () => undefined };

/** HTTP over the kept connection to one device, one request at a time. */
export class Connection {
  readonly settings: RedfishSettings;
  readonly #watch: ConnectionWatch;
  readonly #kept: KeptSocket;
  /** Resolves when the connection is no longer used. */
  #use: Promise<undefined> | undefined;

  constructor(settings: RedfishSettings, clock: Clock, authorities: Authorities, recollection: Recollection, watch: ConnectionWatch = UNWATCHED) {
    this.settings = settings;
    this.#watch = watch;
    this.#kept = new KeptSocket({ settings, clock, authorities, recollection });
  }

  /** One request, one answer of any status. Rejects with `ExchangeError`, or with what the gate threw. */
  async exchange(call: Call, request: RedfishRequest): Promise<RedfishResponse> {
    const wire: Wire = { isSent: false, isReused: false, gateError: undefined };
    try {
      // Node would send it all the same.
      call.signal.throwIfAborted();
      return await this.#asked(call, request, wire);
    } catch (error) {
      if (wire.gateError !== undefined) throw wire.gateError;
      const failure = this.#failure(error, call, wire);
      if (call.ended === 'aborted') this.#watch.closed();
      else this.#watch.failed(failure.message);
      throw failure;
    }
  }

  /** Makes the connection where there is none; asks nothing. Rejects as `exchange` does. */
  async make(call: Call): Promise<void> {
    const endUse = await this.#inUse(call);
    try {
      if (!this.#kept.isKept) this.#kept.giveBack(await this.#open(call), undefined);
    } catch (error) {
      throw this.#failure(error, call, { isSent: false, isReused: false, gateError: undefined });
    } finally {
      endUse();
    }
  }

  /** Closes the connection, and gives up one that is being made; a later exchange opens a new one. */
  close(): void {
    this.#kept.close();
  }

  async #asked(call: Call, request: RedfishRequest, wire: Wire): Promise<RedfishResponse> {
    const endUse = await this.#inUse(call);
    let sent: ClientRequest;
    let peer: Peer | undefined;
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    try {
      const kept = this.#kept.take();
      wire.isReused = kept !== undefined;
      peer = kept ?? (await this.#open(call));
      sent = this.#send(request, body, peer, wire);
    } catch (error) {
      // Nothing was written: Node takes no request with such a path.
      if (peer !== undefined) this.#kept.giveBack(peer, undefined);
      endUse();
      throw error;
    }
    sent.once('close', endUse);
    const [message, bytes] = await wholeAnswer(sent, body, call.signal);
    const [status, headers] = [message.statusCode ?? 0, joined(message.headers)];
    this.#watch.answered(call, { socket: peer.socket, status, headers, isLast: !sent.shouldKeepAlive });
    return { status, headers, ...parse(bytes), bytes, peer };
  }

  /** Waits until nobody uses it; what comes back ends the use that begins. */
  async #inUse(call: Call): Promise<() => void> {
    while (this.#use !== undefined) await call.within(this.#use);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#use = promise;
    return () => {
      this.#use = undefined;
      resolve(undefined);
    };
  }

  /** A probe sees what became of the certificate; what comes after it resumes its TLS session. */
  async #open(call: Call): Promise<Peer> {
    try {
      return await call.within(this.#kept.open(call.target.isProbe === true));
    } catch (error) {
      // Who gives way to a fence has begun a handshake that the fence would have to begin anew.
      if (call.ended === 'aborted') this.#kept.leave();
      else this.#kept.abandon();
      this.#kept.giveBackMade();
      throw error;
    }
  }

  /** Nothing is asked through a proxy, and no redirect followed: both would get the password. */
  #send({ method, path, headers, gate }: RedfishRequest, body: string | undefined, peer: Peer, wire: Wire): ClientRequest {
    const { host, port, tls } = this.settings;
    const sent = (tls ? requestSecure : requestPlain)({
      host,
      port,
      method,
      path: path.split('#', 1)[0],
      createConnection: () => peer.socket,
      headers: {
        Accept: 'application/json',
        'OData-Version': '4.0',
        'User-Agent': 'nodefence',
        Connection: 'keep-alive',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
        ...headers,
      },
    });
    // Node writes the request right after this event, in the same synchronous turn, because the socket is ready.
    sent.once('socket', () => {
      try {
        gate?.(peer);
        wire.isSent = true;
      } catch (error) {
        wire.gateError = error instanceof Error ? error : new Error(String(error));
        sent.destroy(wire.gateError);
      }
    });
    let keepAlive: string | undefined;
    sent.once('response', (message) => (keepAlive = message.headers['keep-alive']?.toString()));
    // Node says so once the answer was read to its end, where the device keeps the connection.
    peer.socket.once('free', () => this.#kept.giveBack(peer, keepAlive));
    return sent;
  }

  #failure(error: unknown, call: Call, wire: Wire): ExchangeError {
    if (call.ended !== undefined) return new ExchangeError('ended', 'the call is over', wire.isSent, false);
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const message = plain(cause instanceof Error ? cause.message : String(cause), [this.settings.password]);
    const code = codeOf(cause) === '' ? codeOf(error) : codeOf(cause);
    if (cause instanceof AddressRefused) return new ExchangeError('forbidden', message, wire.isSent, false);
    if (cause instanceof TrustError || TRUST_CODES.test(code))
      return new ExchangeError('untrusted', `not trusted: ${message.replace(NODES_ADVICE, '')}`, wire.isSent, false);
    if (error instanceof Oversize) return new ExchangeError('oversize', message, wire.isSent, false);
    const isStale = wire.isReused && /^(ECONNRESET|EPIPE|ECONNABORTED)$/.test(code);
    return new ExchangeError('unreachable', cause instanceof ConnectTimeout || code === '' ? message : `${code}: ${message}`, wire.isSent, isStale);
  }
}

interface Wire {
  isSent: boolean;
  isReused: boolean;
  gateError: Error | undefined;
}

function joined(headers: IncomingHttpHeaders): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) result[name] = String(value);
  return result;
}

function parse(bytes: Buffer): { body: unknown; isGarbled: boolean } {
  const text = withoutMark(bytes.toString('utf8'));
  if (text.trim() === '') return { body: undefined, isGarbled: false };
  try {
    return { body: JSON.parse(text) as unknown, isGarbled: false };
  } catch (error) {
    if (error instanceof SyntaxError) return { body: undefined, isGarbled: true };
    throw error;
  }
}

/** Some devices put a byte order mark before their JSON. */
function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
