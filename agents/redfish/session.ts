import type { Call } from '../shared/call.ts';
import { ExchangeError, type Connection, type RedfishRequest, type RedfishResponse } from './connection.ts';
import { deviceWords, linkPath, objectAt, plain, textAt } from './words.ts';

/** The device does not offer sessions, or has none to spare (iDRAC8 answers 405, a full one 503 RAC0218). */
const NO_SESSIONS = new Set([404, 405, 500, 501, 503]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const REDIRECTS_MAX = 3;

type Login = { kind: 'token'; token: string; uri: string | undefined } | { kind: 'basic'; authorization: string };

/** Thrown out of a change when the session turned out to be over: nothing was done, log in and check everything anew. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost';
}

/** Who we are to the device: a Redfish session where it has them (always deleted again), else basic authentication. */
export class Session {
  readonly #connection: Connection;
  #login: Login | undefined;
  #root: RedfishResponse | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** What must never be written anywhere. */
  get secrets(): string[] {
    const { username, password } = this.#connection.settings;
    const token = this.#login?.kind === 'token' ? [this.#login.token] : [];
    return [password, encodeURIComponent(password), Buffer.from(`${username}:${password}`).toString('base64'), ...token];
  }

  /** The token of the session, by which two requests are known to reach the same device; undefined with basic authentication. */
  get token(): string | undefined {
    return this.#login?.kind === 'token' ? this.#login.token : undefined;
  }

  words(response: RedfishResponse): string {
    const said = deviceWords(response.body, this.secrets);
    return `HTTP ${response.status}${said === '' ? '' : `: ${said}`}`;
  }

  /** The service root, read once per session. */
  async root(call: Call): Promise<RedfishResponse> {
    if (this.#root !== undefined) return this.#root;
    const response = await this.#follow(call, { method: 'GET', path: this.#connection.settings.rootUri }, {});
    if (response.status === 200 && response.body !== undefined) this.#root = response;
    return response;
  }

  /** An authenticated GET. A session that is over is renewed once; a kept connection that went stale is opened anew once. */
  async get(call: Call, path: string): Promise<RedfishResponse> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#follow(call, { method: 'GET', path }, await this.#headers(call));
      if (response.status !== 401 || !this.drop() || attempt > 1) return this.#authorized(call, response);
    }
  }

  /** An authenticated change, sent once. Rejects with `SessionLost` when the session is over; `ExchangeError` otherwise. */
  async change(call: Call, request: RedfishRequest): Promise<RedfishResponse> {
    const headers = { ...(await this.#headers(call)), ...request.headers };
    const response = await this.#connection.exchange(call, { ...request, headers });
    if (response.status === 401 && this.drop()) throw new SessionLost();
    return this.#authorized(call, response);
  }

  /** Deletes the session at the device. A session whose address the device never told is kept for the next call, since it cannot be deleted. */
  async close(call: Call): Promise<void> {
    const login = this.#login;
    this.#root = undefined;
    if (login === undefined || (login.kind === 'token' && login.uri === undefined)) return;
    this.#login = undefined;
    if (login.kind !== 'token' || login.uri === undefined) return;
    await this.#connection.exchange(call, { method: 'DELETE', path: login.uri, headers: { 'X-Auth-Token': login.token } });
  }

  /** Forgets a session that the device ended; false when there was none. */
  drop(): boolean {
    const wasSession = this.#login?.kind === 'token';
    this.#login = undefined;
    this.#root = undefined;
    return wasSession;
  }

  #authorized(call: Call, response: RedfishResponse): RedfishResponse {
    if (response.status === 401) throw call.error('Refused', `${this.words(response)} (check username and password)`);
    return response;
  }

  async #headers(call: Call): Promise<Record<string, string>> {
    this.#login ??= await this.#logIn(call);
    return this.#login.kind === 'token' ? { 'X-Auth-Token': this.#login.token } : { Authorization: this.#login.authorization };
  }

  async #logIn(call: Call): Promise<Login> {
    const { auth, username, password } = this.#connection.settings;
    const basic: Login = { kind: 'basic', authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
    if (auth === 'basic') return basic;
    const root = await this.root(call);
    if (root.status >= 500) throw call.error('Unreachable', `the service root answers ${this.words(root)}`);
    const path = linkPath(objectAt(objectAt(root.body, 'Links'), 'Sessions'));
    if (path === undefined && root.status === 200 && auth === 'auto') return basic;
    const request: RedfishRequest = {
      method: 'POST',
      path: path ?? '/redfish/v1/SessionService/Sessions',
      body: { UserName: username, Password: password },
    };
    const response = await this.#connection.exchange(call, request);
    const token = response.headers['x-auth-token'];
    if (response.status < 300 && token !== undefined && token !== '') return { kind: 'token', token, uri: sessionUri(response, request.path) };
    const isWithout = NO_SESSIONS.has(response.status) || response.status < 300;
    if (auth === 'auto' && isWithout) return basic;
    if (response.status >= 500) throw call.error('Unreachable', `no session: ${this.words(response)}`);
    throw call.error('Refused', `login: ${this.words(response)} (check username and password)`);
  }

  /** A GET with redirects followed on the same device only. */
  async #follow(call: Call, request: RedfishRequest, headers: Readonly<Record<string, string>>): Promise<RedfishResponse> {
    let path = request.path;
    for (let hop = 0; ; hop += 1) {
      const response = await this.#fresh(call, { ...request, path, headers });
      const next = REDIRECTS.has(response.status) ? linkPath(response.headers['location']) : undefined;
      if (next === undefined || next === path || hop >= REDIRECTS_MAX) return response;
      path = next;
    }
  }

  async #fresh(call: Call, request: RedfishRequest): Promise<RedfishResponse> {
    try {
      return await this.#connection.exchange(call, request);
    } catch (error) {
      if (!(error instanceof ExchangeError) || !error.isStale) throw error;
      return this.#connection.exchange(call, request);
    }
  }
}

/** Where the session can be deleted: Location, else the body's own address, else its Id under the collection. */
function sessionUri(response: RedfishResponse, collection: string): string | undefined {
  const named = linkPath(response.headers['location']) ?? linkPath(response.body);
  if (named !== undefined) return named;
  const id = textAt(response.body, 'Id');
  return id === undefined || id === '' ? undefined : `${collection.replace(/\/$/, '')}/${encodeURIComponent(plain(id, []))}`;
}
