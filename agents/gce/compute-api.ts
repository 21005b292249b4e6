import type { Clock } from '../../src/ports/clock.ts';
import type { Call } from '../shared/call.ts';
import type { CloudTime } from '../shared/cloud/clock-skew.ts';
import { repeated } from '../shared/cloud/repeat.ts';
import type { WebAnswer, WebClient } from '../shared/web/web-client.ts';
import type { Credentials } from './credentials.ts';
import type { Place } from './place.ts';
import { refusalOf } from './refusal.ts';

export interface ComputeRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the version, with its query. */
  path: string;
  body?: string;
  /** HTTP 404 is an answer, and no refusal. */
  takesNotFound?: true;
  gate?: () => void;
}

/** What the API was asked over. */
export interface ComputeReach {
  /** With the version, without a slash at the end. */
  base: string;
  web: WebClient;
  credentials: Credentials;
  clock: Clock;
  time: CloudTime;
}

/** Requests of the Compute Engine API v1, with the account's token. */
export class ComputeApi {
  readonly #reach: ComputeReach;

  constructor(reach: ComputeReach) {
    this.#reach = reach;
  }

  /** Asks for what changes nothing, again where the cloud is too busy. */
  get(call: Call, path: string): Promise<WebAnswer> {
    return this.ask(call, { method: 'GET', path });
  }

  /** As `get`, also for a POST that changes nothing. */
  ask(call: Call, request: ComputeRequest): Promise<WebAnswer> {
    return repeated(call, async () => {
      const answer = await this.exchange(call, request);
      // Half an answer is none.
      if (answer.body === undefined) throw call.error('Unreachable', `HTTP ${answer.status}: what came is no JSON`);
      return answer;
    });
  }

  /** One answer to one request, HTTP 2xx. A token that is not taken any more was of no use to anybody: the request is sent anew with another one, once. */
  async exchange(call: Call, request: ComputeRequest): Promise<WebAnswer> {
    const { credentials, clock } = this.#reach;
    let token = await credentials.token(call);
    let answer = await this.#send(call, request, token.text);
    if (answer.status === 401) {
      credentials.drop(token);
      token = await credentials.token(call);
      answer = await this.#send(call, request, token.text);
    }
    if (answer.status === 404 && request.takesNotFound === true) return answer;
    const refusal = refusalOf(call, answer, clock, [token.text]);
    if (refusal !== undefined) throw refusal;
    return answer;
  }

  async #send(call: Call, { method, path, body, gate }: ComputeRequest, token: string): Promise<WebAnswer> {
    const { base, web, time } = this.#reach;
    const headers = {
      Authorization: `Bearer ${token}`,
      Accept: 'application/json',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    };
    const url = `${base}${path}`;
    const answer = await web.exchange(call, { method, url, headers, secrets: [token], gate, ...(body === undefined ? {} : { body }) });
    time.hear(answer);
    return answer;
  }
}

/** Below the version: `/projects/p/zones/z`. */
export function zonePath({ project, zone }: Pick<Place, 'project' | 'zone'>): string {
  return `/projects/${encodeURIComponent(project)}/zones/${encodeURIComponent(zone)}`;
}
