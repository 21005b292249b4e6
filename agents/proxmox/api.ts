import type { Call, CallTarget } from '../shared/call.ts';
import { Call as PartOfCall } from '../shared/call.ts';
import type { Reach } from '../shared/cloud/instance-agent.ts';
import { repeated, Throttled, waitOf } from '../shared/cloud/repeat.ts';
import { TokenKeeper, type Token } from '../shared/cloud/tokens.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import type { Place } from '../shared/web/trusted-socket.ts';
import { member, textAt, WebClient, WebFailure, type WebAnswer } from '../shared/web/web-client.ts';
import { Logins, type Login } from './logins.ts';
import { apiUrl, placeText, type ProxmoxSettings } from './parameters.ts';

/** Reads of one poll go side by side. */
const SOCKETS_MAX = 16;
/** A ticket lives two hours (Proxmox VE API, "Ticket Cookie"); TokenKeeper renews it a minute before. */
const TICKET_MS = 110 * 60_000;
/** No host is given less of a call than this, however many there are. */
const PART_MIN_MS = 1_000;

/** The API answered, and not with what was asked for. */
export class PveRefusal extends Error {
  override readonly name = 'PveRefusal';
  readonly status: number;
  /** Names of the parameters that it does not take. */
  readonly parameters: readonly string[];

  constructor(status: number, words: string, parameters: readonly string[]) {
    super(words);
    this.status = status;
    this.parameters = parameters;
  }
}

/** What a request carries to show who asks. `text`: of the header; `csrf`: what a write needs besides. */
interface Pass extends Token {
  header: 'Authorization' | 'Cookie';
  csrf: string | undefined;
}

/** The API of one cluster, through any of its hosts. */
export class PveApi {
  readonly #reach: Reach;
  readonly #logins: Logins;
  readonly #tickets: TokenKeeper<Pass>;
  #client: WebClient | undefined;
  #login: Promise<Login> | undefined;
  /** What was found last. */
  #used: Login | undefined;
  /** The host that answered last. */
  #first = 0;

  constructor(settings: ProxmoxSettings, reach: Reach) {
    this.#reach = reach;
    this.#logins = new Logins(settings, reach.host);
    this.#tickets = new TokenKeeper(reach.clock);
  }

  /** Who we are, in words. */
  async user(call: Call): Promise<string> {
    const { auth } = this.#used ?? (await this.#known(call));
    return auth.kind === 'token' ? auth.id : auth.username;
  }

  /** The member `data` of an answer: asked of the next host where one does not answer. Rejects with `PveRefusal`. */
  async get(call: Call, path: string): Promise<unknown> {
    return repeated(call, async () => {
      const answer = await this.#anywhere(call, (part, place) => this.#authenticated(part, place, 'GET', path));
      if (answer.status === 429 || answer.status === 503) throw this.#throttled(answer);
      return dataOf(call, answer, this.#secrets);
    });
  }

  /** A write, at one host, once. Rejects with `PveRefusal`; where nothing tells whether it was begun its status is 500 or more, or with `WebFailure`. */
  async post(call: Call, path: string, form: Readonly<Record<string, string>>, gate: () => void): Promise<unknown> {
    const { places } = await this.#known(call);
    const place = places[this.#first] ?? places[0];
    if (place === undefined) throw call.error('Misconfigured', 'there is no host to ask');
    const answer = await this.#authenticated(call, place, 'POST', path, { form, gate });
    if (answer.status === 429) throw this.#throttled(answer);
    return dataOf(call, answer, this.#secrets);
  }

  close(): void {
    this.#client?.close();
  }

  /** Found once; what failed, or is not taken any more, is looked for again: a mounted Secret may hold another by now. */
  async #known(call: Call<CallTarget>): Promise<Login> {
    const found = this.#login ?? this.#logins.find(call);
    this.#login = found;
    try {
      this.#used = await found;
      return this.#used;
    } catch (error) {
      if (this.#login === found) this.#login = undefined;
      throw error;
    }
  }

  /** Of what was asked with last: not looked for anew, as a failure is about that. */
  get #secrets(): string[] {
    if (this.#used === undefined) return [];
    const { auth } = this.#used;
    return [auth.kind === 'token' ? auth.secret : auth.password];
  }

  /** One host after the other, each with its part of the call's time. */
  async #anywhere(call: Call, ask: (part: Call<CallTarget>, place: Place) => Promise<WebAnswer>): Promise<WebAnswer> {
    const { places } = await this.#known(call);
    const first = this.#first;
    let failure: unknown;
    for (let tried = 0; tried < places.length; tried += 1) {
      const index = (first + tried) % places.length;
      const place = places[index];
      if (place === undefined) continue;
      try {
        const answer = await this.#inPart(call, places.length - tried, (part) => ask(part, place));
        this.#first = index;
        return answer;
      } catch (error) {
        if (!(error instanceof WebFailure) || call.ended !== undefined) throw error;
        failure = error.kind === 'ended' ? new WebFailure('unreachable', `no answer of ${placeText(place)} in its part of the time`, true) : error;
      }
    }
    throw failure;
  }

  async #inPart<T>(call: Call, left: number, work: (part: Call<CallTarget>) => Promise<T>): Promise<T> {
    if (left <= 1) return work(call);
    const deadlineMs = Math.max(PART_MIN_MS, call.remainingMs / left);
    const { device, plug } = call.target;
    const part = new PartOfCall<CallTarget>(this.#reach.clock, { device, plug, signal: call.signal, deadlineMs }, call.asked);
    try {
      return await work(part);
    } finally {
      part.release();
    }
  }

  /** With a new ticket once, where the one in use is not taken any more. */
  async #authenticated(
    call: Call<CallTarget>,
    place: Place,
    method: 'GET' | 'POST',
    path: string,
    write?: { form: Readonly<Record<string, string>>; gate: () => void },
  ): Promise<WebAnswer> {
    const pass = await this.#pass(call, place);
    const send = async ({ header, text, csrf }: Pass): Promise<WebAnswer> =>
      this.#exchange(call, {
        method,
        url: `${apiUrl(place)}${path}`,
        headers: {
          Accept: 'application/json',
          [header]: text,
          ...(write === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }),
          ...(write === undefined || csrf === undefined ? {} : { CSRFPreventionToken: csrf }),
        },
        ...(write === undefined ? {} : { body: new URLSearchParams(write.form).toString(), gate: write.gate }),
        secrets: [text, csrf],
      });
    const answer = await send(pass);
    if (answer.status !== 401 || pass.header === 'Authorization') return answer;
    this.#tickets.drop(pass);
    return send(await this.#pass(call, place));
  }

  async #pass(call: Call<CallTarget>, place: Place): Promise<Pass> {
    const { auth } = await this.#known(call);
    if (auth.kind === 'token')
      return { header: 'Authorization', text: `PVEAPIToken=${auth.id}=${auth.secret}`, csrf: undefined, expiresAtMs: Infinity };
    const { username, password } = auth;
    return this.#tickets.get(async () => {
      const answer = await this.#exchange(call, {
        method: 'POST',
        url: `${apiUrl(place)}/access/ticket`,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
        body: new URLSearchParams({ username, password }).toString(),
        secrets: [password],
      });
      const data = dataOf(call, answer, [password]);
      const [ticket, csrf] = [textAt(data, 'ticket'), textAt(data, 'CSRFPreventionToken')];
      if (member(data, 'NeedTFA') !== undefined || ticket?.startsWith('PVE:!tfa!') === true)
        throw call.error('Misconfigured', `${username} has a second factor, which no program can give: use an API token`);
      if (ticket === undefined || csrf === undefined) throw call.error('Unreachable', 'a login was answered without a ticket');
      const expiresAtMs = this.#reach.clock.wallMs() + TICKET_MS;
      return { header: 'Cookie', text: `PVEAuthCookie=${ticket}`, csrf, expiresAtMs };
    });
  }

  async #exchange(call: Call<CallTarget>, request: Parameters<WebClient['exchange']>[1]): Promise<WebAnswer> {
    const { trust, hint } = await this.#known(call);
    this.#client ??= new WebClient(trust, this.#reach, SOCKETS_MAX);
    try {
      const answer = await this.#client.exchange(call, request);
      if (answer.status === 401) this.#login = undefined;
      return answer;
    } catch (error) {
      if (!(error instanceof WebFailure) || error.kind !== 'untrusted' || hint === '') throw error;
      throw new WebFailure('untrusted', `${error.message} (${hint})`, error.isSent);
    }
  }

  #throttled(answer: WebAnswer): Throttled {
    return new Throttled(`HTTP ${answer.status}: ${wordsIn(answer, [])}`, waitOf(answer, this.#reach.clock));
  }
}

/** `data` of an answer, which may be null. Rejects where it is another answer. */
function dataOf(call: Call<CallTarget>, answer: WebAnswer, secrets: readonly string[]): unknown {
  const { status, body } = answer;
  const words = wordsIn(answer, secrets);
  if (status !== 200) throw new PveRefusal(status, `HTTP ${status}: ${words}`, Object.keys(errorsIn(body)));
  const data = member(body, 'data');
  if (data === undefined) throw call.error('Unreachable', `an answer that is none of Proxmox VE: ${deviceMessage(answer.text, secrets)}`);
  return data;
}

/** Older versions word a failure in the status line only; `errors` names the parameters that are wrong. */
function wordsIn({ reason = '', body, text }: WebAnswer, secrets: readonly string[]): string {
  const message = textAt(body, 'message') ?? (reason === '' ? text : reason);
  const errors = Object.entries(errorsIn(body)).map(([name, words]) => `${name}: ${String(words)}`);
  return deviceMessage([message.trim(), ...errors].join('; '), secrets);
}

function errorsIn(body: unknown): Readonly<Record<string, unknown>> {
  const errors = member(body, 'errors');
  return typeof errors === 'object' && errors !== null && !Array.isArray(errors) ? { ...errors } : {};
}
