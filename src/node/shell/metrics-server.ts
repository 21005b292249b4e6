import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BindAddress } from '../../http/bind-address.ts';
import { metricsText } from './metrics-page.ts';
import type { ServedStatus } from './metrics-page.ts';

const CONNECTIONS_MAX = 8;
const WITHIN_MS = 5_000;

/** `/metrics` of one daemon, for whoever can reach the address. */
export class MetricsServer {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Rejects where it cannot listen there. `failed`: it could not accept somebody, such as for want of a file descriptor, and goes on. */
  static listen({ host, port }: BindAddress, status: () => ServedStatus, failed: (error: Error) => void): Promise<MetricsServer> {
    const server = createServer({ requestTimeout: WITHIN_MS, headersTimeout: WITHIN_MS, keepAliveTimeout: WITHIN_MS }, (request, response) => {
      const isAsked = request.url === '/metrics' && request.method === 'GET';
      response.writeHead(isAsked ? 200 : 404, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
      response.end(isAsked ? metricsText(status()) : 'GET /metrics\n');
    });
    server.maxConnections = CONNECTIONS_MAX;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, () => {
        // Without a listener an error would end the daemon.
        server.on('error', failed);
        resolve(new MetricsServer(server));
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
