import type { Clock } from '../../src/ports/clock.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import type { Reach } from '../shared/cloud/instance-agent.ts';
import { KeptClient, KeptSession } from '../shared/cloud/kept-session.ts';
import { repeated, Throttled, waitOf } from '../shared/cloud/repeat.ts';
import { originOf } from '../shared/web/place.ts';
import { textAt, WebFailure, type WebAnswer } from '../shared/web/web-client.ts';
import { refusal, wordsOf, type Session } from './engine.ts';
import { Logins } from './logins.ts';
import type { OvirtSettings } from './parameters.ts';

/** So many requests at once to one engine. */
const SOCKETS_MAX = 4;
/** A login is heard out for so long after its call ended: a token that nobody knows of could not be ended. */
const LOGIN_GRACE_MS = 1_000;
const CLOSE_WAIT_MS = 2_000;
const SCOPE = 'ovirt-app-api';

/** One token of one account. When it ends is told by the engine, with 401. */
export function keptSession(settings: OvirtSettings, reach: Reach): KeptSession<Session> {
  const clients = new KeptClient(reach, SOCKETS_MAX);
  const logins = new Logging(settings, reach, clients);
  return new KeptSession(
    {
      device: 'ovirt',
      clients,
      loginGraceMs: LOGIN_GRACE_MS,
      closeWaitMs: CLOSE_WAIT_MS,
      open: (call) => logins.open(call),
      logOut: (call, session) => logins.logOut(call, session),
    },
    reach.clock,
  );
}

/** How a token is fetched and ended. */
class Logging {
  readonly #logins: Logins;
  readonly #clock: Clock;
  readonly #isFiltered: boolean;
  readonly #clients: KeptClient;

  constructor(settings: OvirtSettings, { clock, host }: Reach, clients: KeptClient) {
    this.#logins = new Logins(settings, host);
    this.#clock = clock;
    this.#isFiltered = settings.isFiltered;
    this.#clients = clients;
  }

  async open(call: Call<CallTarget>): Promise<Session> {
    const login = await this.#logins.find(call);
    const { username, password, place } = login;
    const basic = Buffer.from(`${username}:${password}`).toString('base64');
    const start: Session = {
      text: `Basic ${basic}`,
      expiresAtMs: Infinity,
      web: this.#clients.for(place, login.trust),
      origin: originOf(place),
      path: place.path,
      token: undefined,
      username,
      isFiltered: this.#isFiltered,
      secrets: [password, encodeURIComponent(password), basic],
    };
    const form = new URLSearchParams({ grant_type: 'password', scope: SCOPE, username, password });
    const answer = await repeated(call, () => this.#posted(call, start, '/sso/oauth/token', form, login.hint));
    // Engines before 4.0 have no tokens.
    if (answer.status === 404) return start;
    const token = textAt(answer.body, 'access_token');
    if (answer.status !== 200 || token === undefined || token === '') throw notLetIn(call, answer, start);
    return { ...start, token, text: `Bearer ${token}`, secrets: [...start.secrets, token] };
  }

  /** It shows first whether the engine is trusted. */
  async #posted(call: Call<CallTarget>, session: Session, service: string, form: URLSearchParams, hint: string): Promise<WebAnswer> {
    const { web, origin, path, secrets } = session;
    const base = path.endsWith('/ovirt-engine/api') ? path.slice(0, -'/api'.length) : '/ovirt-engine';
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json', 'Accept-Language': 'en-US' };
    try {
      const answer = await web.exchange(call, { method: 'POST', url: `${origin}${base}${service}`, body: form.toString(), headers, secrets });
      if (answer.status === 429 || answer.status === 503) throw new Throttled(`${wordsOf(answer, secrets)}: too busy`, waitOf(answer, this.#clock));
      return answer;
    } catch (error) {
      if (!(error instanceof WebFailure) || error.kind !== 'untrusted') throw error;
      throw call.error('Misconfigured', `not trusted: ${error.message}: give the right ca or ssl_fingerprint (${hint})`);
    }
  }

  /** As oVirt's SDKs do it. */
  async logOut(call: Call<CallTarget>, session: Session): Promise<void> {
    if (session.token === undefined) return;
    const form = new URLSearchParams({ scope: SCOPE, token: session.token });
    await repeated(call, () => this.#posted(call, session, '/services/sso-logout', form, ''));
  }
}

/** `{error_code, error}`: the engine answers a wrong password with 400, `access_denied`. */
function notLetIn(call: Call<CallTarget>, answer: WebAnswer, session: Session): Error {
  const { status, body } = answer;
  if (status === 200) return call.error('Unreachable', 'the login was answered without a token');
  if (textAt(body, 'error_code') === 'server_error') return call.error('Unreachable', wordsOf(answer, session.secrets));
  return refusal(call, answer, session);
}
