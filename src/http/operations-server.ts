import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Logger } from '../ports/recorder.ts';
import type { BindAddress } from './bind-address.ts';
import { boundConnections } from './bounded-connections.ts';
import type { ProblemRow } from '../domain/remedy/problem-rows.ts';
import type { Clock } from '../ports/clock.ts';
import { timestamp } from '../ports/clock.ts';
import { isOnThisMachine, isOwnName } from './peer.ts';
import { PROBLEMS_POLICY, problemsHtml, problemsJson } from './problems-page.ts';
import type { Check } from './readiness.ts';

/** Bounds on what a stranger may hold open. */
const LIMITS = { headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 5_000, maxHeaderSize: 8_192, connectionsCheckingInterval: 2_000 };
const CONNECTIONS_MAX = 64;

export interface OperationsServerOptions {
  scrape: () => Promise<{ contentType: string; body: string }>;
  /** `/readyz`: every check must be ok. */
  readiness: () => readonly Check[];
  /** `/healthz`: empty while the process answers. A failed check asks for a restart. */
  health?: () => readonly Check[];
  /** `/problems`: what was counted of nodes and workloads. */
  problems: () => readonly ProblemRow[];
  /** By which this machine is asked for, beside `localhost` and addresses. */
  names?: readonly string[];
  clock: Clock;
  logger: Logger;
}

interface Answer {
  status: number;
  contentType: string;
  body: string;
}

const TEXT = 'text/plain; charset=utf-8';
const METRICS_ELSEWHERE = 'metrics are shown here to this machine, or this pod, alone; start the controller with --metrics-address for others\n';
const PROBLEMS_ELSEWHERE = 'problems are shown here to this machine, or this pod, alone: kubectl port-forward, or nodefence problems\n';
const OTHER_NAME =
  'metrics and problems are shown to whoever asks for localhost, an address or a name of this machine: start the controller with --http-names\n';

/**
 * `/metrics`, `/problems`, `/healthz` and `/readyz`, for reading only. A kubelet asks from elsewhere and with no credential, so whoever comes from elsewhere is
 * told whether this process is well, and no more: metrics, problems and reasons are for this machine, or this pod, alone. So is whoever asks by a name of others.
 */
export class OperationsServer {
  readonly #options: OperationsServerOptions;
  readonly #server: Server;

  constructor(options: OperationsServerOptions) {
    this.#options = options;
    this.#server = createServer(LIMITS, (request, response) => {
      void this.#respond(request, response);
    });
    boundConnections(this.#server, CONNECTIONS_MAX);
    this.#server.maxConnections = 2 * CONNECTIONS_MAX;
  }

  /** Resolves with the address that is really bound. Rejects with what to do when it is taken. */
  listen(address: BindAddress): Promise<BindAddress> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error) => {
        reject(
          new Error(`${address.host}:${String(address.port)}: ${error.message}; choose another bind address or end the process that holds it`, {
            cause: error,
          }),
        );
      });
      this.#server.listen(address.port, address.host, () => {
        this.#server.on('error', (error) => {
          this.#options.logger.error('the operations server failed', { error });
        });
        const bound = this.#server.address();
        resolve(typeof bound === 'object' && bound !== null ? { host: bound.address, port: bound.port } : address);
      });
    });
  }

  /** Stops listening and drops every connection. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => {
        resolve();
      });
      this.#server.closeAllConnections();
    });
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#answer(request).catch((error: unknown): Answer => {
      this.#options.logger.error('a page of the operations server failed', { error, url: request.url });
      return { status: 500, contentType: TEXT, body: 'internal error\n' };
    });
    response.writeHead(answer.status, {
      'content-type': answer.contentType,
      'content-length': Buffer.byteLength(answer.body),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...(answer.contentType.startsWith('text/html') ? { 'content-security-policy': PROBLEMS_POLICY } : {}),
      ...(answer.status === 405 ? { allow: 'GET, HEAD' } : {}),
    });
    response.end(request.method === 'HEAD' ? undefined : answer.body);
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return { status: 405, contentType: TEXT, body: 'only GET and HEAD\n' };
    }
    const isOwn = isOwnName(request.headers.host, this.#options.names ?? []);
    const isNear = isOnThisMachine(request.socket.remoteAddress) && isOwn;
    switch ((request.url ?? '').split('?', 1)[0]) {
      case '/metrics':
        return isNear ? { status: 200, ...(await this.#options.scrape()) } : refusal(isOwn ? METRICS_ELSEWHERE : OTHER_NAME);
      case '/problems':
        return isNear ? this.#problems(problemsHtml) : refusal(isOwn ? PROBLEMS_ELSEWHERE : OTHER_NAME);
      case '/problems.json':
        return isNear ? this.#problems(problemsJson) : refusal(isOwn ? PROBLEMS_ELSEWHERE : OTHER_NAME);
      case '/readyz':
        return verdict(this.#options.readiness(), isNear);
      case '/healthz':
        return verdict(this.#options.health?.() ?? [], isNear);
      default:
        return { status: 404, contentType: TEXT, body: 'not found: there are /metrics, /problems, /readyz and /healthz\n' };
    }
  }

  #problems(page: typeof problemsHtml): Answer {
    const { problems, clock } = this.#options;
    return { status: 200, ...page(problems(), timestamp(clock)) };
  }
}

function refusal(body: string): Answer {
  return { status: 403, contentType: TEXT, body };
}

function verdict(checks: readonly Check[], withReasons: boolean): Answer {
  const isGood = checks.every(({ ok }) => ok);
  if (!withReasons) return { status: isGood ? 200 : 503, contentType: TEXT, body: `${isGood ? 'ok' : 'not ok'}\n` };
  const lines = checks.map(({ name, ok, detail }) => `${ok ? 'ok' : 'FAILED'} ${name}: ${detail.replaceAll('\n', ' ')}\n`);
  return { status: isGood ? 200 : 503, contentType: TEXT, body: `${lines.join('')}${isGood ? 'ok' : 'not ok'}\n` };
}
