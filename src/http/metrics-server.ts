import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/recorder.ts';
import type { BindAddress } from './bind-address.ts';
import type { KeyPair, ServedCertificate } from './served-certificate.ts';
import type { Access, TokenReviews } from './token-reviews.ts';

export interface MetricsServerOptions {
  address: BindAddress;
  scrape: () => Promise<{ contentType: string; body: string }>;
  certificate: Pick<ServedCertificate, 'current'>;
  reviews: Pick<TokenReviews, 'access'>;
  clock: Clock;
  logger: Logger;
}

/** Bounds on what a stranger may hold open. */
const LIMITS = { headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 5_000, maxHeaderSize: 24_576, connectionsCheckingInterval: 2_000 };
const HANDSHAKE_MS = 5_000;
const CONNECTIONS_MAX = 32;
/** Old suites are for devices, of which nobody finds new ones; whoever reads metrics has these. */
const CIPHERS = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20';
const LOOK_AGAIN_MS = 30_000;
const TEXT = 'text/plain; charset=utf-8';
const WORDS: Readonly<Record<Exclude<Access, 'granted'>, string>> = {
  401: 'a bearer token of this cluster is needed\n',
  403: 'this account may not get /metrics: bind the ClusterRole nodefence-metrics-reader to it\n',
  429: 'too many unknown tokens; try again in a second\n',
  503: 'the API server does not say whose token this is; try again later\n',
};

/** `/metrics` over TLS, for whoever the API server says may read it. Whatever goes wrong here is told and tried again: no fence depends on it. */
export class MetricsServer {
  readonly #options: MetricsServerOptions;
  #server: Server | undefined;
  #pair: KeyPair | undefined;
  /** What keeps it, as it was told last: once, and not each time that it looks. */
  #told = '';
  #isClosed = false;
  #cancel: () => void = () => undefined;

  constructor(options: MetricsServerOptions) {
    this.#options = options;
  }

  /** Resolves once it listens or could not; it goes on trying. */
  async start(): Promise<void> {
    await this.#renew();
    if (this.#isClosed) return;
    this.#cancel = this.#options.clock.after(LOOK_AGAIN_MS, () => void this.start());
  }

  /** Where it listens; undefined while it does not. */
  get port(): number | undefined {
    const bound = this.#server?.address();
    return typeof bound === 'object' ? bound?.port : undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
    this.#server?.close();
    this.#server?.closeAllConnections();
  }

  async #renew(): Promise<void> {
    const { certificate, clock, logger, address } = this.#options;
    try {
      const pair = await certificate.current(clock.wallMs());
      if (this.#isClosed) return;
      if (this.#server === undefined) {
        this.#server = await this.#listen(pair);
        logger.info('metrics are served', { address: `${address.host}:${String(this.port)}` });
      } else if (pair.cert !== this.#pair?.cert || pair.key !== this.#pair.key) {
        this.#server.setSecureContext(contextOf(pair));
        logger.info('metrics are served with another certificate', {});
      }
      this.#pair = pair;
      this.#told = '';
    } catch (error) {
      const words = this.#server === undefined ? 'metrics are not served' : 'metrics are served with the old certificate';
      const told = `${words}: ${String(error)}`;
      if (told !== this.#told) logger.error(words, { error, address: `${address.host}:${String(address.port)}` });
      this.#told = told;
    }
  }

  #listen(pair: KeyPair): Promise<Server> {
    const server = createServer({ ...LIMITS, ...contextOf(pair), handshakeTimeout: HANDSHAKE_MS }, (request, response) => {
      void this.#respond(request, response);
    });
    server.maxConnections = CONNECTIONS_MAX;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#options.address.port, this.#options.address.host, () => {
        server.off('error', reject).on('error', (error) => this.#options.logger.error('the metrics server failed', { error }));
        resolve(server);
      });
    });
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body, contentType } = await this.#answer(request).catch((error: unknown) => {
      this.#options.logger.error('the metrics could not be told', { error });
      return { status: 500, contentType: TEXT, body: 'internal error\n' };
    });
    const more = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', ...(status === 401 && { 'www-authenticate': 'Bearer' }) };
    response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body), ...more });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  /** Who asks comes first: a stranger learns not even which pages there are. */
  async #answer({ method, url = '', headers }: IncomingMessage): Promise<{ status: number; contentType: string; body: string }> {
    const access = await this.#options.reviews.access(headers.authorization);
    if (access !== 'granted') return { status: access, contentType: TEXT, body: WORDS[access] };
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, contentType: TEXT, body: 'only GET and HEAD\n' };
    if (url.split('?', 1)[0] !== '/metrics') return { status: 404, contentType: TEXT, body: 'not found: there is /metrics\n' };
    return { status: 200, ...(await this.#options.scrape()) };
  }
}

function contextOf({ cert, key }: KeyPair): { cert: string; key: string; minVersion: 'TLSv1.2'; ciphers: string } {
  return { cert, key, minVersion: 'TLSv1.2', ciphers: CIPHERS };
}
