import type { Clock } from '../../src/ports/clock.ts';
import { Call } from '../shared/call.ts';
import type { Connection, RedfishRequest, RedfishResponse } from './connection.ts';
import { ExchangeError } from './exchange-error.ts';
import type { Recollection } from './recollection.ts';
import { retryAfterMs } from './retry-after.ts';
import { deviceMessage, linkPath, objectAt, plain, textAt } from './words.ts';

/** The device does not offer sessions, or has none to spare (iDRAC8 answers 405, a full one 503 RAC0218). */
const NO_SESSIONS = new Set([404, 405, 500, 501, 503]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Where sessions were opened once there is nothing any more: firmware is updated. No password was looked at. */
const MOVED = new Set([...REDIRECTS, 404, 405, 410]);
const REDIRECTS_MAX = 3;
const USUAL_ROOT = '/redfish/v1';
/** Where DSP0266 puts it since 1.6. */
const USUAL_SESSIONS = `${USUAL_ROOT}/SessionService/Sessions`;
/** A login is heard out for so long after its call ended: a session that the device opened and nobody knows of could not be ended. */
const LOGIN_GRACE_MS = 5_000;
/** A device that is asked too much says when to come back; a GET does, so often and after so long at most. */
const BUSY_RETRIES_MAX = 2;
const BUSY_WAIT_MAX_MS = 5_000;

type Login = { kind: 'token'; token: string; uri: string | undefined } | { kind: 'basic'; authorization: string };

type SessionsMemory = Pick<Recollection, 'sessionsPath' | 'isSessionsPathUsual'>;

/** Thrown out of a change when the session turned out to be over: nothing was done, log in and check everything anew. The message is the device's. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost';
}

/** Who we are to the device: a Redfish session where it has them (always deleted again), else basic authentication. */
export class Session {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #recollection: SessionsMemory;
  readonly #onLost: () => void;
  #login: Login | undefined;
  /** A login that its call did not wait for to the end. */
  #opening: Promise<void> | undefined;
  #root: RedfishResponse | undefined;

  /** `onLost` is called when the device has ended the session. */
  constructor(connection: Connection, clock: Clock, recollection: SessionsMemory, onLost: () => void = () => undefined) {
    this.#connection = connection;
    this.#clock = clock;
    this.#recollection = recollection;
    this.#onLost = onLost;
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

  /**
   * Connects, and logs in where it is known how: what a later call needs, and what it finds begun where this one is given up. Any other request that is
   * given up takes the connection with it.
   */
  async begin(call: Call): Promise<void> {
    await this.#connection.make(call);
    if (this.#connection.settings.auth !== 'basic' && this.#recollection.sessionsPath !== undefined) await this.#headers(call);
  }

  describe(response: RedfishResponse): string {
    const said = deviceMessage(response.body, this.secrets);
    return `HTTP ${response.status}${said === '' ? '' : `: ${said}`}`;
  }

  /** The service root, read once per session. */
  async root(call: Call): Promise<RedfishResponse> {
    if (this.#root !== undefined) return this.#root;
    const response = await this.#follow(call, { method: 'GET', path: this.#connection.settings.rootUri }, {});
    if (response.status === 200 && response.body !== undefined) this.#root = response;
    return response;
  }

  /**
   * An authenticated GET. A session that is over is renewed once; a kept connection that went stale is opened anew once; a device that
   * is busy is asked again when it says so.
   */
  async get(call: Call, path: string): Promise<RedfishResponse> {
    let logins = 0;
    for (let busy = 0; ;) {
      const response = await this.#follow(call, { method: 'GET', path }, await this.#headers(call));
      if (busy < BUSY_RETRIES_MAX && (await this.waitedForBusy(call, response))) {
        busy += 1;
        continue;
      }
      if (response.status !== 401 || logins > 0 || !this.drop()) return this.#authorized(call, response);
      logins += 1;
    }
  }

  /** Has waited as long as a busy device wants to be left alone; false, at once, when it is not busy or the call has no time for that. */
  async waitedForBusy(call: Call, response: RedfishResponse): Promise<boolean> {
    const waitMs = busyForMs(response, this.#clock);
    if (waitMs === undefined || waitMs > BUSY_WAIT_MAX_MS || call.remainingMs <= 2 * waitMs) return false;
    await call.pause(waitMs);
    return true;
  }

  /** A file of the device's own web server, which knows a session by its cookie; undefined without a session. */
  async file(call: Call, path: string, cookie: string): Promise<RedfishResponse | undefined> {
    const headers = await this.#headers(call);
    if (this.token === undefined) return undefined;
    return this.#fresh(call, { method: 'GET', path, headers: { ...headers, Accept: 'image/*', Cookie: `${cookie}=${this.token}` } });
  }

  /** An authenticated change, sent once. Rejects with `SessionLost` when the session is over; `ExchangeError` otherwise. */
  async change(call: Call, request: RedfishRequest): Promise<RedfishResponse> {
    const headers = { ...(await this.#headers(call)), ...request.headers };
    const response = await this.#connection.exchange(call, { ...request, headers });
    if (response.status === 401 && this.drop()) throw new SessionLost(this.describe(response));
    return this.#authorized(call, response);
  }

  /** Deletes the session at the device. A session whose address the device never told is kept for the next call, since it cannot be deleted. */
  async close(call: Call): Promise<void> {
    await this.#heardOut(call);
    const login = this.#login;
    this.#root = undefined;
    if (login === undefined || (login.kind === 'token' && login.uri === undefined)) return;
    this.#login = undefined;
    if (login.kind !== 'token' || login.uri === undefined) return;
    const request: RedfishRequest = { method: 'DELETE', path: login.uri, headers: { 'X-Auth-Token': login.token } };
    while (await this.waitedForBusy(call, await this.#fresh(call, request)));
  }

  /** Forgets a session that the device ended; false when there was none. */
  drop(): boolean {
    const wasSession = this.#login?.kind === 'token';
    if (wasSession) this.#onLost();
    this.#login = undefined;
    this.#root = undefined;
    return wasSession;
  }

  #authorized(call: Call, response: RedfishResponse): RedfishResponse {
    if (response.status === 401) throw call.error('Refused', `${this.describe(response)} (check username and password)`);
    return response;
  }

  async #headers(call: Call): Promise<Record<string, string>> {
    await this.#heardOut(call);
    this.#login ??= await this.#logIn(call);
    return this.#login.kind === 'token' ? { 'X-Auth-Token': this.#login.token } : { Authorization: this.#login.authorization };
  }

  async #logIn(call: Call): Promise<Login> {
    const { auth, username, password } = this.#connection.settings;
    const basic: Login = { kind: 'basic', authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
    if (auth === 'basic') return basic;
    const known = this.#recollection.sessionsPath;
    const tried = known ?? this.#usualPath();
    if (tried !== undefined) {
      const { response, opened } = await this.#openedAt(call, tried);
      if (opened !== undefined) return opened;
      const isMoved = MOVED.has(response.status);
      if (known !== undefined && !isMoved) return this.#unopened(call, basic, response);
      const named = await this.#sessionsPath(call);
      const isSame = named === tried || (!isMoved && named === `${tried}/`);
      // A wrong password is sent once: a few of them lock an account.
      if (isSame && known === undefined) return this.#unopened(call, basic, response);
      if (!isSame) this.#recollection.isSessionsPathUsual = false;
    }
    const path = await this.#sessionsPath(call);
    if (path === undefined) return basic;
    const { response, opened } = await this.#openedAt(call, path);
    return opened ?? this.#unopened(call, basic, response);
  }

  /** One request less where nothing is known of the device. Undefined where its root has been read, stands elsewhere, or named another path before. */
  #usualPath(): string | undefined {
    const isRootUsual = this.#connection.settings.rootUri.replace(/\/$/, '') === USUAL_ROOT;
    return isRootUsual && this.#root === undefined && this.#recollection.isSessionsPathUsual ? USUAL_SESSIONS : undefined;
  }

  async #openedAt(call: Call, path: string): Promise<{ response: RedfishResponse; opened: Login | undefined }> {
    const { username, password } = this.#connection.settings;
    const response = await this.#openSession(call, { method: 'POST', path, body: { UserName: username, Password: password } });
    const opened = tokenOf(response, path);
    this.#recollection.sessionsPath = opened === undefined ? undefined : path;
    return { response, opened };
  }

  /** Basic authentication where it may do in place of the session that the device did not open. */
  async #unopened(call: Call, basic: Login, response: RedfishResponse): Promise<Login> {
    const { auth } = this.#connection.settings;
    const isWithout = NO_SESSIONS.has(response.status) || response.status < 300;
    if (auth === 'auto' && isWithout) return basic;
    if (response.status >= 500) throw call.error('Unreachable', `no session: ${this.describe(response)}`);
    throw call.error('Refused', `login: ${this.describe(response)} (check username and password${basicHint(auth, await this.root(call), response)})`);
  }

  /** Where the device opens sessions; undefined where it has none, and basic authentication may do. */
  async #sessionsPath(call: Call): Promise<string | undefined> {
    const root = await this.root(call);
    if (root.status >= 500) throw call.error('Unreachable', `the service root answers ${this.describe(root)}`);
    const path = linkPath(objectAt(objectAt(root.body, 'Links'), 'Sessions'));
    if (path === undefined && root.status === 200 && this.#connection.settings.auth === 'auto') return undefined;
    return path ?? USUAL_SESSIONS;
  }

  /** Asks for a session. Its answer is kept even when the call is over first, so that the session can be used, or ended. */
  async #openSession(call: Call, request: RedfishRequest): Promise<RedfishResponse> {
    const { signal } = new AbortController();
    const own = new Call(this.#clock, { ...call.target, signal, deadlineMs: Math.max(0, call.remainingMs) + LOGIN_GRACE_MS }, call.asked);
    const answer = this.#fresh(own, request).finally(() => own.release());
    const opening = answer.then((response) => {
      this.#login = tokenOf(response, request.path);
    });
    const settled = opening.then(
      () => undefined,
      () => undefined,
    );
    this.#opening = settled;
    void settled.then(() => {
      if (this.#opening === settled) this.#opening = undefined;
    });
    return call.within(answer);
  }

  /** Waits for the login of an earlier call, if one is still under way. */
  async #heardOut(call: Call): Promise<void> {
    if (this.#opening !== undefined) await call.within(this.#opening);
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

/** Where the device has no sessions, or wants a login before it opens one, another way to log in may be all that is missing. */
function basicHint(auth: string, root: RedfishResponse, response: RedfishResponse): string {
  if (NO_SESSIONS.has(response.status) && auth === 'session') return '; the device offers no session: set auth=basic';
  const asksBasic = /\bbasic\b/i.test(response.headers['www-authenticate'] ?? '');
  const isAsked = response.status === 401 && (root.status === 401 || asksBasic);
  return isAsked ? '; it wants a login before it opens a session: where both are right, set auth=basic' : '';
}

/** How long a busy device wants to be left alone; undefined when it is not busy, or broken for other reasons. */
function busyForMs(response: RedfishResponse, clock: Clock): number | undefined {
  const waitMs = retryAfterMs(response.headers['retry-after'], clock);
  if (response.status === 429) return waitMs ?? 1_000;
  return response.status === 503 ? waitMs : undefined;
}

function tokenOf(response: RedfishResponse, collection: string): (Login & { kind: 'token' }) | undefined {
  const token = response.headers['x-auth-token'];
  if (response.status >= 300 || token === undefined || token === '') return undefined;
  return { kind: 'token', token, uri: sessionUri(response, collection) };
}

/** Where the session can be deleted: Location, else the body's own address, else its Id under the collection. */
function sessionUri(response: RedfishResponse, collection: string): string | undefined {
  const named = linkPath(response.headers['location']) ?? linkPath(response.body);
  if (named !== undefined) return named;
  const id = textAt(response.body, 'Id');
  return id === undefined || id === '' ? undefined : `${collection.replace(/\/$/, '')}/${encodeURIComponent(plain(id, []))}`;
}
