import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type OutgoingHttpHeaders, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type AgentOptions } from 'node:https';
import type { ServerConfig } from '../kubeconfig/server-config.ts';

/** Sockets kept for calls; watches have their own, one each. */
const CALL_SOCKETS_MAX = 32;
const PROBE_SOCKET_MS = 15_000;

export interface Wire {
  options: RequestOptions;
  headers: OutgoingHttpHeaders;
  send(options: RequestOptions): ClientRequest;
}

interface Agents {
  key: string;
  calls: HttpAgent;
  watches: HttpAgent;
}

/** Keeps sockets to one server and exchanges them when a certificate or an authority was exchanged. */
export class Connection {
  readonly #server: ServerConfig;
  readonly #userAgent: string;
  #agents: Agents | undefined;

  constructor(server: ServerConfig, userAgent: string) {
    this.#server = server;
    this.#userAgent = userAgent;
  }

  /** Where to send the next request, with today's credential. */
  async open(kind: 'call' | 'watch'): Promise<Wire> {
    const { url, credential, headers } = this.#server;
    const { token, certificatePem, keyPem } = await credential.current();
    const agents = await this.#current(certificatePem, keyPem);
    const options: RequestOptions = {
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      ...(url.port === '' ? {} : { port: url.port }),
      agent: kind === 'call' ? agents.calls : agents.watches,
    };
    const authorization = token === undefined || token === '' ? {} : { authorization: `Bearer ${token}` };
    return {
      options,
      headers: { 'user-agent': this.#userAgent, ...headers, ...authorization },
      send: url.protocol === 'https:' ? httpsRequest : httpRequest,
    };
  }

  close(): void {
    this.#agents?.calls.destroy();
    this.#agents?.watches.destroy();
    this.#agents = undefined;
  }

  async #current(certificatePem: string | undefined, keyPem: string | undefined): Promise<Agents> {
    const authorityPem = await this.#server.authority?.read();
    const key = JSON.stringify([authorityPem, certificatePem, keyPem]);
    if (this.#agents?.key !== key) {
      retire(this.#agents?.calls);
      this.#agents = { key, ...this.#create({ ca: authorityPem, cert: certificatePem, key: keyPem }) };
    }
    return this.#agents;
  }

  #create(pem: { ca: string | undefined; cert: string | undefined; key: string | undefined }): Pick<Agents, 'calls' | 'watches'> {
    const sockets = { keepAlive: true, keepAliveMsecs: PROBE_SOCKET_MS, noDelay: true };
    if (this.#server.url.protocol === 'http:') {
      return { calls: new HttpAgent({ ...sockets, maxSockets: CALL_SOCKETS_MAX }), watches: new HttpAgent({ ...sockets, maxFreeSockets: 0 }) };
    }
    const { isVerified, serverName } = this.#server;
    const tls: AgentOptions = {
      minVersion: 'TLSv1.2',
      rejectUnauthorized: isVerified,
      ...(serverName === undefined ? {} : { servername: serverName }),
      ...(pem.ca === undefined ? {} : { ca: pem.ca }),
      ...(pem.cert === undefined ? {} : { cert: pem.cert }),
      ...(pem.key === undefined ? {} : { key: pem.key }),
    };
    return {
      calls: new HttpsAgent({ ...sockets, ...tls, maxSockets: CALL_SOCKETS_MAX }),
      watches: new HttpsAgent({ ...sockets, ...tls, maxFreeSockets: 0 }),
    };
  }
}

/** Calls that are under way end in peace; their sockets are not kept. */
function retire(agent: HttpAgent | undefined): void {
  if (agent !== undefined) {
    agent.maxFreeSockets = 0;
    for (const socket of Object.values(agent.freeSockets).flat()) {
      socket?.destroy();
    }
  }
}
