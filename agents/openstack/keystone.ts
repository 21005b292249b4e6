import { createHash } from 'node:crypto';

import type { Call } from '../shared/call.ts';
import { hostFile } from '../shared/cloud/host-file.ts';
import { repeated, Throttled, waitOf } from '../shared/cloud/repeat.ts';
import type { Token } from '../shared/cloud/tokens.ts';
import type { Reach } from '../shared/cloud/instance-agent.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import type { Trust } from '../shared/web/trusted-socket.ts';
import { listAt, member, textAt, WebClient, WebFailure, type WebAnswer } from '../shared/web/web-client.ts';
import { credentialsOf, type Credentials } from './credentials.ts';
import type { OpenStackSettings } from './settings.ts';

const SOCKETS_MAX = 16;

/** A token, with what Keystone said beside it. */
export interface Session extends Token {
  /** The compute service, without a slash at the end. */
  compute: string;
  client: WebClient;
  roles: readonly string[];
  /** `environment`, for messages. */
  source: string;
  keystone: string;
  userId: string | undefined;
  applicationCredential: string | undefined;
  passwordExpiresAt: string | undefined;
}

/** Logs in by the first credentials that are found. */
export class Keystone {
  readonly #settings: OpenStackSettings;
  readonly #reach: Reach;
  /** By whom they trust: credentials from elsewhere may bring certificates with them. */
  readonly #clients = new Map<string, WebClient>();

  constructor(settings: OpenStackSettings, reach: Reach) {
    this.#settings = settings;
    this.#reach = reach;
  }

  async login(call: Call): Promise<Session> {
    const credentials = await credentialsOf(this.#reach.host, call, this.#settings);
    const client = await this.#client(call, credentials);
    const { login, source } = credentials;
    const answer = await repeated(call, () => this.#post(call, client, credentials));
    const text = answer.headers['x-subject-token'] ?? '';
    if (answer.status !== 201) throw refusal(call, answer, credentials);
    const token = member(answer.body, 'token');
    const expiresAtMs = this.#endOf(answer, token);
    if (text === '' || expiresAtMs === undefined)
      throw call.error('Unreachable', `an answer that is no token of Keystone, for the credentials of ${source}`);
    return {
      text,
      expiresAtMs,
      compute: this.#computeIn(call, token, credentials),
      client,
      roles: listAt(token, 'roles').flatMap((role) => textAt(role, 'name') ?? []),
      source,
      keystone: login.url,
      userId: textAt(token, 'user', 'id'),
      applicationCredential: textAt(token, 'application_credential', 'id'),
      passwordExpiresAt: utc(textAt(token, 'user', 'password_expires_at')),
    };
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }

  /** It shows first whether the cloud is trusted. An `insecure` of other places is never followed: a stranger could say then that a server is off. */
  async #post(call: Call, client: WebClient, credentials: Credentials): Promise<WebAnswer> {
    try {
      return await this.#posted(call, client, credentials);
    } catch (error) {
      if (credentials.fields.isInsecure !== true || !(error instanceof WebFailure) || error.kind !== 'untrusted') throw error;
      const why = `the insecure flag of ${credentials.source} is not followed: give ca or ssl_fingerprint; only ssl_insecure=yes trusts anybody`;
      throw call.error('Misconfigured', `not trusted: ${error.message}: ${why}`);
    }
  }

  async #posted(call: Call, client: WebClient, { login }: Credentials): Promise<WebAnswer> {
    const { url, body, secrets } = login;
    const answer = await client.exchange(call, {
      method: 'POST',
      url: `${url}/auth/tokens`,
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(body),
      secrets,
    });
    if (answer.status === 429 || answer.status === 413 || answer.status >= 500)
      throw new Throttled(`Keystone: HTTP ${answer.status}: ${wordsOf(answer, secrets)}`, waitOf(answer, this.#reach.clock));
    return answer;
  }

  /** On our clock: how long the token lives by the cloud's own, from now on. */
  #endOf({ headers }: WebAnswer, token: unknown): number | undefined {
    const endMs = Date.parse(utc(textAt(token, 'expires_at')) ?? '');
    if (Number.isNaN(endMs)) return undefined;
    const [date, issued] = [Date.parse(headers['date'] ?? ''), Date.parse(utc(textAt(token, 'issued_at')) ?? '')];
    const nowMs = this.#reach.clock.wallMs();
    const theirsMs = Number.isNaN(date) ? issued : date;
    return Number.isNaN(theirsMs) ? endMs : nowMs + endMs - theirsMs;
  }

  async #client(call: Call, { fields }: Credentials): Promise<WebClient> {
    const { trust } = this.#settings;
    const ca = trust.ca ?? fields.ca;
    const pem = ca?.startsWith('/') === true ? await hostFile(this.#reach.host, call, ca) : ca;
    if (ca !== undefined && pem === undefined) throw call.error('Misconfigured', `there is no file ${ca} with the certificates of the cloud`);
    const whole: Trust = { ...trust, ca: pem };
    const key = createHash('sha256').update(JSON.stringify(whole)).digest('hex');
    const client = this.#clients.get(key) ?? new WebClient(whole, this.#reach, SOCKETS_MAX);
    this.#clients.set(key, client);
    return client;
  }

  /** The address of the compute service in the catalog of the token. */
  #computeIn(call: Call, token: unknown, { fields, source }: Credentials): string {
    const kind = this.#settings.interface ?? fields.interface ?? 'public';
    const region = this.#settings.region ?? fields.region;
    const entries = listAt(token, 'catalog').filter((entry) => textAt(entry, 'type') === 'compute');
    const endpoints = entries.flatMap((entry) => listAt(entry, 'endpoints')).filter((endpoint) => textAt(endpoint, 'interface') === kind);
    const regions = [...new Set(endpoints.map(regionOf))];
    const found = endpoints.filter((endpoint) => region === undefined || regionOf(endpoint) === region);
    const url = textAt(found[0], 'url')?.replace(/\/+$/, '');
    const about = `the catalog for the credentials of ${source}`;
    if (entries.length === 0) throw call.error('Misconfigured', `${about} has no compute service: they need a project in which servers may stand`);
    if (endpoints.length === 0) throw call.error('Misconfigured', `${about} has no ${kind} address of the compute service: write interface=`);
    if (region === undefined && regions.length > 1) throw call.error('Misconfigured', `${about} has the regions ${listed(regions)}: write region=`);
    if (found.length === 0) throw call.error('Misconfigured', `${about} has no region ${region ?? ''}, only ${listed(regions)}`);
    if (url === undefined || !/^https?:\/\/[^\s/@]+/.test(url))
      throw call.error('Unreachable', `${about} has an address of the compute service that is no URL`);
    return url;
  }
}

function regionOf(endpoint: unknown): string {
  return textAt(endpoint, 'region_id') ?? textAt(endpoint, 'region') ?? '';
}

function listed(names: readonly string[]): string {
  return deviceMessage(names.join(', '), []);
}

/** OpenStack leaves the zone away, and means UTC. */
export function utc(time: string | undefined): string | undefined {
  if (time === undefined || Number.isNaN(Date.parse(time))) return undefined;
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`;
  return new Date(zoned).toISOString();
}

function wordsOf({ body, text }: WebAnswer, secrets: readonly string[]): string {
  const title = textAt(body, 'error', 'title');
  return deviceMessage(title === undefined ? text : `${title}: ${textAt(body, 'error', 'message') ?? ''}`, secrets);
}

function refusal(call: Call, answer: WebAnswer, { login, source }: Credentials): Error {
  const words = `HTTP ${answer.status}: ${wordsOf(answer, login.secrets)}`;
  if (answer.status === 404) return call.error('Misconfigured', `no Keystone at ${login.url} (credentials: ${source}): ${words}`);
  if (answer.status >= 400) return call.error('Misconfigured', `Keystone refuses the credentials of ${source}: ${words}`);
  return call.error('Unreachable', `an answer that is no token of Keystone, for the credentials of ${source}: HTTP ${answer.status}`);
}
