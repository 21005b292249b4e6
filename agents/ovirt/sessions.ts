import type { Clock } from '../../src/ports/clock.ts';
import { Call, type CallTarget } from '../shared/call.ts';
import type { Reach } from '../shared/cloud/instance-agent.ts';
import { repeated, Throttled, typed, waitOf } from '../shared/cloud/repeat.ts';
import { TokenKeeper } from '../shared/cloud/tokens.ts';
import { textAt, WebClient, WebFailure, type WebAnswer } from '../shared/web/web-client.ts';
import { refusal, wordsOf, type Session } from './engine.ts';
import { Logins, type Login } from './logins.ts';
import type { OvirtSettings } from './parameters.ts';
import { originOf } from './place.ts';

/** So many requests at once to one engine. */
const SOCKETS_MAX = 4;
/** A login is heard out for so long after its call ended: a token that nobody knows of could not be ended. */
const LOGIN_GRACE_MS = 1_000;
const CLOSE_WAIT_MS = 2_000;
const LOGOUT_MS = 3_000;
const SCOPE = 'ovirt-app-api';

/** One token of one account, fetched when it is needed, kept, and ended by `close`. When it ends is told by the engine, with 401. */
export class Sessions {
  readonly #logins: Logins;
  readonly #clock: Clock;
  readonly #isFiltered: boolean;
  readonly #keeper: TokenKeeper<Session>;
  /** Logins that are under way. */
  readonly #opening = new Map<Call<CallTarget>, Promise<Session>>();
  #kept: Session | undefined;
  #web: { key: string; client: WebClient } | undefined;

  constructor(settings: OvirtSettings, { clock, host }: Reach) {
    this.#logins = new Logins(settings, host);
    this.#clock = clock;
    this.#isFiltered = settings.isFiltered;
    this.#keeper = new TokenKeeper(clock);
  }

  /** The kept one, or a new one. */
  get(call: Call): Promise<Session> {
    return call.within(this.#keeper.get(() => this.#heardOut(call)));
  }

  /** The engine does not know it any more. */
  drop(session: Session): void {
    this.#keeper.drop(session);
    if (this.#kept === session) this.#kept = undefined;
  }

  /** Never rejects. */
  async close(): Promise<void> {
    const giveUp = (): void => {
      for (const call of this.#opening.keys()) call.giveUp();
    };
    const cancel = this.#clock.after(CLOSE_WAIT_MS, giveUp);
    await Promise.allSettled(this.#opening.values());
    cancel();
    const session = this.#kept;
    if (session !== undefined) {
      this.drop(session);
      await this.#logOut(session);
    }
    this.#web?.client.close();
    this.#web = undefined;
  }

  async #heardOut({ target, asked, remainingMs }: Call): Promise<Session> {
    const alone = {
      device: target.device,
      plug: target.plug,
      signal: new AbortController().signal,
      deadlineMs: Math.max(0, remainingMs) + LOGIN_GRACE_MS,
    };
    const call = new Call<CallTarget>(this.#clock, alone, asked);
    const opening = this.#open(call).finally(() => call.release());
    this.#opening.set(call, opening);
    try {
      this.#kept = await opening;
      return this.#kept;
    } catch (error) {
      throw typed(call, error);
    } finally {
      this.#opening.delete(call);
    }
  }

  async #open(call: Call<CallTarget>): Promise<Session> {
    const login = await this.#logins.find(call);
    const { username, password, place } = login;
    const basic = Buffer.from(`${username}:${password}`).toString('base64');
    const start: Session = {
      text: `Basic ${basic}`,
      expiresAtMs: Infinity,
      web: this.#clientFor(login),
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

  /** One for as long as place and trust stay the same. */
  #clientFor({ place, trust }: Login): WebClient {
    const key = JSON.stringify([place, trust]);
    if (this.#web?.key === key) return this.#web.client;
    this.#web?.client.close();
    const client = new WebClient(trust, this.#clock, SOCKETS_MAX);
    this.#web = { key, client };
    return client;
  }

  /** As oVirt's SDKs do it. */
  async #logOut(session: Session): Promise<void> {
    if (session.token === undefined) return;
    const target = { device: 'ovirt', plug: '', signal: new AbortController().signal, deadlineMs: LOGOUT_MS };
    const call = new Call<CallTarget>(this.#clock, target, 'log out');
    const form = new URLSearchParams({ scope: SCOPE, token: session.token });
    // The engine ends a token that nobody uses by itself: nothing more can be done about it here.
    await repeated(call, () => this.#posted(call, session, '/services/sso-logout', form, '')).catch(() => undefined);
    call.release();
  }
}

/** `{error_code, error}`: the engine answers a wrong password with 400, `access_denied`. */
function notLetIn(call: Call<CallTarget>, answer: WebAnswer, session: Session): Error {
  const { status, body } = answer;
  if (status === 200) return call.error('Unreachable', 'the login was answered without a token');
  if (textAt(body, 'error_code') === 'server_error') return call.error('Unreachable', wordsOf(answer, session.secrets));
  return refusal(call, answer, session);
}
