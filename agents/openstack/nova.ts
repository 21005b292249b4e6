import type { Clock } from '../../src/ports/clock.ts';
import type { Call } from '../shared/call.ts';
import { CloudTime } from '../shared/cloud/clock-skew.ts';
import { repeated, Throttled, waitOf } from '../shared/cloud/repeat.ts';
import { TokenKeeper } from '../shared/cloud/tokens.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { textAt, type WebAnswer } from '../shared/web/web-client.ts';
import type { Keystone, Session } from './keystone.ts';

/**
 * The newest microversion that anything here needs: 2.16 shows `host_status`, 2.51 events of actions to those who are no admins, 2.62 their `hostId`, 2.69
 * a server whose cell is down ("REST API Version History").
 */
const WANTED = 69;

export interface NovaRequest {
  method: 'GET' | 'POST' | 'PUT';
  /** Below the address of the compute service. */
  path: string;
  body?: string;
  gate?: () => void;
}

/** Nova's words for a failure. */
export interface Fault {
  name: string;
  message: string;
}

/** Requests of the compute API, with the token of the account. */
export class NovaApi {
  readonly time: CloudTime;
  readonly #keystone: Keystone;
  readonly #clock: Clock;
  readonly #tokens: TokenKeeper<Session>;
  #version = WANTED;

  constructor(keystone: Keystone, clock: Clock) {
    this.#keystone = keystone;
    this.#clock = clock;
    this.#tokens = new TokenKeeper(clock);
    this.time = new CloudTime(clock);
  }

  session(call: Call): Promise<Session> {
    return this.#tokens.get(() => this.#keystone.login(call));
  }

  /** The minor number of the microversion in use. */
  get version(): number {
    return this.#version;
  }

  /** Asks for what changes nothing, again where the cloud is too busy. HTTP 200, or an error. */
  async get(call: Call, path: string): Promise<WebAnswer> {
    const answer = await this.peek(call, path);
    if (answer.status !== 200) throw await this.refusal(call, answer);
    return answer;
  }

  /** As `get`, with any status. */
  peek(call: Call, path: string): Promise<WebAnswer> {
    return repeated(call, () => this.exchange(call, { method: 'GET', path }));
  }

  /**
   * One answer to one request. A token that is not taken any more, or a microversion that is not, was of no use to anybody: the request is sent anew, once.
   * Rejects `Throttled` where nothing was taken up.
   */
  async exchange(call: Call, request: NovaRequest): Promise<WebAnswer> {
    const session = await this.session(call);
    const version = this.#version;
    let answer = await this.#send(call, request, session, version);
    if (answer.status === 401) {
      this.#tokens.drop(session);
      answer = await this.#send(call, request, await this.session(call), version);
    }
    if (answer.status === 406 && (await this.#lowered(call)) !== version)
      answer = await this.#send(call, request, await this.session(call), this.#version);
    const isBusy = answer.status === 429 || answer.status === 413 || (answer.status === 503 && request.method === 'GET');
    if (isBusy) throw new Throttled(`HTTP ${answer.status}: ${wordsOf(answer)}`, waitOf(answer, this.#clock));
    return answer;
  }

  async refusal(call: Call, answer: WebAnswer): Promise<Error> {
    const { source } = await this.session(call);
    const words = `HTTP ${answer.status}: ${wordsOf(answer)}`;
    const { status } = answer;
    if (status === 404)
      return call.error(
        'Misconfigured',
        `${words}: look for the right project and region (credentials: ${source}); a server that is not found is not known to be off`,
      );
    if (status === 401) return call.error('Misconfigured', `${words} (credentials: ${source})`);
    return call.error(status >= 500 || status < 400 ? 'Unreachable' : 'Refused', `${words} (credentials: ${source})`);
  }

  async #send(call: Call, { method, path, body, gate }: NovaRequest, { text, compute, client }: Session, version: number): Promise<WebAnswer> {
    const headers = {
      'X-Auth-Token': text,
      Accept: 'application/json',
      'OpenStack-API-Version': `compute 2.${version}`,
      'X-OpenStack-Nova-API-Version': `2.${version}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    };
    const request = { method, url: `${compute}${path}`, headers, secrets: [text], gate, ...(body === undefined ? {} : { body }) };
    const answer = await client.exchange(call, request);
    this.time.hear(answer);
    return answer;
  }

  /** The newest microversion that this cloud has, no newer than what is wanted; used from now on. Source: "Microversions", version discovery. */
  async #lowered(call: Call): Promise<number> {
    const answer = await this.#send(call, { method: 'GET', path: '/' }, await this.session(call), 1);
    const newest = /^2\.(\d{1,4})$/.exec(textAt(answer.body, 'version', 'version') ?? '')?.[1];
    if (newest === undefined)
      throw call.error('Unreachable', `the compute service takes no microversion 2.${WANTED}, and does not say which it takes`);
    this.#version = Math.min(Number(newest), WANTED);
    return this.#version;
  }
}

/** `{itemNotFound: {code, message}}`: the name is the only key. */
export function faultIn(body: unknown): Fault | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  for (const [name, value] of Object.entries(body)) {
    const message = textAt(value, 'message');
    if (message !== undefined) return { name, message };
  }
  return undefined;
}

export function wordsOf({ body, text }: WebAnswer): string {
  const fault = faultIn(body);
  return deviceMessage(fault === undefined ? text : `${fault.name}: ${fault.message}`, []);
}
