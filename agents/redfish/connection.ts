import { Agent as PlainAgent, request as requestPlain, type ClientRequest, type ClientRequestArgs, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as requestSecure } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import axios, { AxiosHeaders } from 'axios';

import type { Clock } from '../../src/ports/clock.ts';
import { AddressRefused } from '../shared/address/address-check.ts';
import type { Call } from '../shared/call.ts';
import { originOf } from '../shared/web/place.ts';
import { ExchangeError } from './exchange-error.ts';
import type { RedfishSettings } from './parameters.ts';
import type { Recollection, ShownCertificate } from './recollection.ts';
import { ConnectTimeout, openSocket, TrustError, type Authorities } from './socket.ts';
import { plain } from './words.ts';

const BODY_BYTES_MAX = 4 * 1024 * 1024;
/** As axios asks for with each request: another time would be exchanged twice for each, by four system calls. */
const KEEP_ALIVE_MS = 60_000;
/**
 * Axios' own client for Node, without what it does before and behind it: merging defaults, interceptors and transformations, of which we use none, cost as
 * much as the request itself.
 */
const axiosRequest = axios.getAdapter('http');

export interface RedfishRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path with query on the configured device; never another host. */
  path: string;
  body?: object;
  headers?: Readonly<Record<string, string>>;
  /** Called with the peer in the turn in which the request is written; when it throws, nothing is sent and its error is the result. */
  gate?: (peer: Peer) => void;
}

/** Who is at the other end of a request. */
export interface Peer {
  socket: Socket;
  /** SHA-256 of its certificate, taken when the connection was made; undefined without TLS. */
  fingerprint: string | undefined;
  /** When that certificate ends (RFC 3339); undefined without TLS. */
  certificateExpiresAt: string | undefined;
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

/** The kept connection to one device: one socket at a time, trusted before use. */
export class Connection {
  readonly settings: RedfishSettings;
  readonly #agent: PlainAgent;
  /** Scheme, host and port. */
  readonly #origin: string;
  readonly #watch: ConnectionWatch;
  readonly #opening = new Set<() => void>();
  /** A probe sees what became of the certificate; what comes after it resumes its TLS session. */
  #isProbe = false;
  /** A socket no longer tells its certificate once it is closed. */
  readonly #certificates = new WeakMap<Socket, ShownCertificate>();

  constructor(settings: RedfishSettings, clock: Clock, authorities: Authorities, recollection: Recollection, watch: ConnectionWatch = UNWATCHED) {
    this.settings = settings;
    this.#watch = watch;
    this.#origin = originOf(settings);
    const options = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, maxSockets: 1, maxFreeSockets: 1 };
    this.#agent = settings.tls ? new SecureAgent(options) : new PlainAgent(options);
    this.#agent.createConnection = (_options: ClientRequestArgs, callback?: (error: Error | null, socket: Duplex) => void) => {
      const giveUp = openSocket({ settings, clock, authorities, recollection, isWhole: this.#isProbe }, (error, socket, certificate) => {
        this.#opening.delete(giveUp);
        if (certificate !== undefined) this.#certificates.set(socket, certificate);
        callback?.(error ?? null, socket);
      });
      this.#opening.add(giveUp);
      return undefined;
    };
  }

  /** One request, one answer of any status. Rejects with `ExchangeError`, or with what the gate threw. */
  async exchange(call: Call, request: RedfishRequest): Promise<RedfishResponse> {
    const wire: Wire = { isSent: false, isReused: false, isLast: false, gateError: undefined, peer: undefined };
    const { body } = request;
    this.#isProbe = call.target.isProbe === true;
    try {
      // Axios' client would send it all the same, and tell nobody.
      call.signal.throwIfAborted();
      const response = await axiosRequest({
        url: this.#origin + request.path,
        method: request.method,
        ...(body === undefined ? {} : { data: JSON.stringify(body) }),
        headers: new AxiosHeaders({
          Accept: 'application/json',
          'OData-Version': '4.0',
          'User-Agent': 'nodefence',
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...request.headers,
        }),
        signal: call.signal,
        transport: {
          request: (options: ClientRequestArgs, answer: (message: IncomingMessage) => void) => {
            const sent = this.#open(options, answer, request, wire);
            // Node has read by then whether the device keeps the connection.
            sent.once('response', () => (wire.isLast = !sent.shouldKeepAlive));
            return sent;
          },
        },
        // A BMC is never asked through a proxy, and never followed elsewhere: both would get the password.
        proxy: false,
        maxRedirects: 0,
        maxContentLength: BODY_BYTES_MAX,
        responseType: 'arraybuffer',
        ...(this.settings.tls ? { httpsAgent: this.#agent } : { httpAgent: this.#agent }),
      });
      const bytes = response.data as Buffer;
      if (wire.peer === undefined) throw new Error('an answer without a connection');
      const headers = lowerCased(response.headers);
      this.#watch.answered(call, { socket: wire.peer.socket, status: response.status, headers, isLast: wire.isLast });
      return { status: response.status, headers, ...parse(bytes), bytes, peer: wire.peer };
    } catch (error) {
      if (wire.gateError !== undefined) throw wire.gateError;
      const failure = this.#failure(error, call, wire);
      if (call.ended === 'aborted') this.#watch.closed();
      else this.#watch.failed(failure.message);
      throw failure;
    } finally {
      if (call.ended !== undefined) this.abandon();
    }
  }

  /** Closes the sockets; a later exchange opens new ones. */
  close(): void {
    this.abandon();
    this.#agent.destroy();
  }

  #open(options: ClientRequestArgs, answer: (message: IncomingMessage) => void, request: RedfishRequest, wire: Wire): ClientRequest {
    const sent = this.settings.tls ? requestSecure(options, answer) : requestPlain(options, answer);
    // Node writes the buffered request right after this event, in the same synchronous turn, because openSocket hands over only ready sockets.
    sent.once('socket', (socket) => {
      wire.isReused = sent.reusedSocket;
      const certificate = this.#certificates.get(socket);
      wire.peer = { socket, fingerprint: certificate?.fingerprint, certificateExpiresAt: certificate?.expiresAt };
      try {
        request.gate?.(wire.peer);
        wire.isSent = true;
      } catch (error) {
        wire.gateError = error instanceof Error ? error : new Error(String(error));
        sent.destroy(wire.gateError);
      }
    });
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
    if (message.includes('maxContentLength'))
      return new ExchangeError('oversize', `an answer of more than ${BODY_BYTES_MAX} bytes`, wire.isSent, false);
    const isStale = wire.isReused && /^(ECONNRESET|EPIPE|ECONNABORTED)$/.test(code);
    return new ExchangeError('unreachable', cause instanceof ConnectTimeout || code === '' ? message : `${code}: ${message}`, wire.isSent, isStale);
  }

  /** Gives up connections that are being made. */
  abandon(): void {
    for (const giveUp of [...this.#opening]) giveUp();
  }
}

interface Wire {
  isSent: boolean;
  isReused: boolean;
  /** The device closes the connection behind its answer. */
  isLast: boolean;
  gateError: Error | undefined;
  peer: Peer | undefined;
}

function lowerCased(headers: object): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) result[name.toLowerCase()] = String(value);
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
