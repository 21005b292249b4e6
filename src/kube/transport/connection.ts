import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type OutgoingHttpHeaders, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type AgentOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { ServerConfig } from '../kubeconfig/server-config.ts';
import { watchHandshake } from './gated-request.ts';
import { isOfTrust } from './transport-failure.ts';

/** Sockets kept for calls, by their lane; watches have their own, one each. */
const SOCKETS_MAX = { calls: 32, lease: 2, urgent: 4, slow: 64, patient: 32 } as const;
const LANES = ['calls', 'lease', 'urgent', 'slow', 'patient'] as const;
const PROBE_SOCKET_MS = 15_000;
/** A kept socket that nothing was asked on for so long is closed, by us: an API server closes its own after 90 s, and a write may meet that. */
const IDLE_MS = 60_000;
/** The smallest: a stream that is paused reads on until so much lies in it, and is woken up by each piece of that. While it flows nothing ever lies there. */
const WATCH_BUFFER_BYTES = 1;

export interface Wire {
  options: RequestOptions;
  headers: OutgoingHttpHeaders;
  send(options: RequestOptions): ClientRequest;
}

/** What is wrong, among all that is told of credentials. */
const UNUSABLE = 'credentials';

type Lane = (typeof LANES)[number];

/** What Node hands on to each socket as well. */
type SocketOptions = AgentOptions & { highWaterMark?: number };

type Agents = Readonly<Record<Lane | 'watches', HttpAgent>>;

/** PEM of an authority, of our certificate and of its key. */
interface Identity {
  ca: string | undefined;
  cert: string | undefined;
  key: string | undefined;
}

/** Keeps sockets to one server and exchanges them when a certificate or an authority was exchanged. */
export class Connection {
  readonly #server: ServerConfig;
  readonly #userAgent: string;
  readonly #idleMs: number;
  #agents: (Agents & { identity: Identity }) | undefined;
  /** The credentials of now cannot be used: those before them are. */
  #isFaulty = false;
  /** When an answer came last on a socket that is kept. */
  readonly #heardAtMs = new WeakMap<Socket, number>();

  constructor(server: ServerConfig, userAgent: string, idleMs = IDLE_MS) {
    this.#server = server;
    this.#userAgent = userAgent;
    this.#idleMs = idleMs;
  }

  /** Where to send the next request, with today's credential. */
  async open(kind: Lane | 'watches'): Promise<Wire> {
    const { url, credential, headers } = this.#server;
    const { token, certificatePem, keyPem } = await credential.current();
    const agents = await this.#current(certificatePem, keyPem);
    const options: RequestOptions = {
      hostname: hostOf(url),
      ...(url.port === '' ? {} : { port: url.port }),
      agent: agents[kind],
    };
    const authorization = token === undefined || token === '' ? {} : { authorization: `Bearer ${token}` };
    return {
      options,
      headers: { 'user-agent': this.#userAgent, ...headers, ...authorization },
      send: url.protocol === 'https:' ? httpsRequest : httpRequest,
    };
  }

  /** A request failed: whoever was not trusted may be by what stands in the files now. */
  failed(error: Error): void {
    if (isOfTrust(error)) this.#readAnew();
  }

  heard(socket: Socket, atMs: number): void {
    this.#heardAtMs.set(socket, atMs);
  }

  /**
   * A request found no answer on a kept socket: its server may be gone without a word, and those that lie idle and told nothing since may lead there too. Each
   * would cost a request of its own.
   */
  dropUnheard(sinceMs: number): void {
    for (const lane of LANES) {
      for (const socket of Object.values(this.#agents?.[lane].freeSockets ?? {}).flat()) {
        if (socket !== undefined && (this.#heardAtMs.get(socket) ?? Number.NEGATIVE_INFINITY) < sinceMs) socket.destroy();
      }
    }
  }

  close(): void {
    for (const kind of [...LANES, 'watches'] as const) {
      this.#agents?.[kind].destroy();
    }
    this.#agents = undefined;
  }

  async #current(certificatePem: string | undefined, keyPem: string | undefined): Promise<Agents> {
    const identity = { ca: await this.#server.authority?.read(), cert: certificatePem, key: keyPem };
    if (this.#agents !== undefined && isSame(this.#agents.identity, identity)) {
      if (this.#isFaulty) this.#tellOver();
      return this.#agents;
    }
    const made = this.#tryToCreate(identity);
    if (made instanceof Error) {
      // Between two writes of files one is new and the other old.
      this.#readAnew();
      if (this.#agents === undefined) throw made;
      this.#isFaulty = true;
      this.#server.warnings?.warn(UNUSABLE, 'credentials that were exchanged cannot be used: those before them are', made);
      return this.#agents;
    }
    for (const lane of LANES) {
      retire(this.#agents?.[lane]);
    }
    this.#agents = { identity, ...made };
    this.#tellOver();
    return this.#agents;
  }

  #tellOver(): void {
    this.#isFaulty = false;
    this.#server.warnings?.over(UNUSABLE);
  }

  #readAnew(): void {
    this.#server.authority?.expire();
    this.#server.credential.readAnew?.();
  }

  #tryToCreate(identity: Identity): Agents | Error {
    try {
      // What holds no certificate would be taken for an authority that has signed nothing.
      if (identity.ca !== undefined) new X509Certificate(identity.ca);
      return this.#create(identity);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return new Error(`${this.#server.source}: the authority or the client certificate cannot be used: ${why}`, { cause: error });
    }
  }

  #create({ ca, cert, key }: Identity): Agents {
    const { isVerified, serverName, url } = this.#server;
    const pem = { ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) };
    const tls: AgentOptions = {
      rejectUnauthorized: isVerified,
      // Given, or Node works it out for each request: a tenth of what one costs.
      servername: serverName ?? nameOf(url),
      // Parsed once: an agent would do so for each connection, and look each request's up by a name that holds all of the PEM.
      ...(url.protocol === 'http:' ? {} : { secureContext: createSecureContext({ minVersion: 'TLSv1.2', ...pem }) }),
    };
    const agent = (bound: SocketOptions): HttpAgent => {
      const sockets = { keepAlive: true, keepAliveMsecs: PROBE_SOCKET_MS, noDelay: true, ...bound };
      return url.protocol === 'http:' ? new HttpAgent(sockets) : new WatchedAgent({ ...sockets, ...tls });
    };
    const lane = (name: Lane): HttpAgent => agent({ maxSockets: SOCKETS_MAX[name], timeout: this.#idleMs });
    const lanes = { calls: lane('calls'), lease: lane('lease'), urgent: lane('urgent'), slow: lane('slow'), patient: lane('patient') };
    return { ...lanes, watches: agent({ maxFreeSockets: 0, highWaterMark: WATCH_BUFFER_BYTES }) };
  }
}

/** Without the brackets of an IPv6 address. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** RFC 6066, 3: no address is a name that a server is asked for. */
function nameOf(url: URL): string {
  const host = hostOf(url);
  return isIP(host) === 0 ? host : '';
}

function isSame(one: Identity, other: Identity): boolean {
  return one.ca === other.ca && one.cert === other.cert && one.key === other.key;
}

/** Notes of each socket when its handshake is over. */
class WatchedAgent extends HttpsAgent {
  /** Node's callback is for tunnels through a proxy only, and a kept socket would hold it for life: with it the first request, its body, its answer and what its caller held. */
  override createConnection(options: Parameters<HttpsAgent['createConnection']>[0]): Duplex | null | undefined {
    const socket = super.createConnection(options);
    watchHandshake(socket);
    return socket;
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
