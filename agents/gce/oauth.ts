import type { Clock } from '../../src/ports/clock.ts';
import type { Call } from '../shared/call.ts';
import type { CloudTime } from '../shared/cloud/clock-skew.ts';
import { Throttled, waitOf } from '../shared/cloud/repeat.ts';
import type { Token } from '../shared/cloud/tokens.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { member, textAt, type WebAnswer, type WebClient } from '../shared/web/web-client.ts';

/** What the calls of this agent need: to read, to stop and to start instances. */
export const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/** What gives tokens is asked over this. */
export interface TokenReach {
  web: WebClient;
  clock: Clock;
  /** The cloud's time, which counts for signatures and for the ends of tokens. */
  time: CloudTime;
}

/** Fetches a new token. */
export type Grant = (call: Call) => Promise<Token>;

interface FormRequest {
  url: string;
  fields: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  secrets: readonly (string | undefined)[];
}

/** One POST of a form to a token endpoint. */
export async function postForm({ web }: TokenReach, call: Call, { url, fields, headers = {}, secrets }: FormRequest): Promise<WebAnswer> {
  const body = new URLSearchParams(fields).toString();
  return web.exchange(call, { method: 'POST', url, body, headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers }, secrets });
}

/** The token in an answer of OAuth 2.0; rejects in the endpoint's own words. `asked`: who was asked for it. */
export function tokenOf({ clock }: TokenReach, call: Call, answer: WebAnswer, asked: string, secrets: readonly (string | undefined)[]): Token {
  refuseUnless200(clock, call, answer, asked, secrets);
  const text = textAt(answer.body, 'access_token');
  const seconds = Number(member(answer.body, 'expires_in'));
  if (text === undefined || text === '' || !Number.isFinite(seconds)) throw call.error('Unreachable', `${asked}: no token in its answer`);
  return { text, expiresAtMs: clock.wallMs() + seconds * 1_000 };
}

/** Anything but HTTP 200, as the contract of agents names it. */
export function refuseUnless200(clock: Clock, call: Call, answer: WebAnswer, asked: string, secrets: readonly (string | undefined)[]): void {
  if (answer.status === 200) return;
  const words = `${asked}: ${saidOf(answer, secrets)}`;
  if (answer.status === 429 || answer.status >= 500) throw new Throttled(words, waitOf(answer, clock));
  throw call.error('Refused', words);
}

/** `HTTP 400: invalid_grant: Invalid JWT Signature.` */
function saidOf({ status, body, text }: WebAnswer, secrets: readonly (string | undefined)[]): string {
  const told = [textAt(body, 'error'), textAt(body, 'error_description'), textAt(body, 'error', 'message')].filter((one) => one !== undefined);
  return `HTTP ${status}: ${deviceMessage(told.length > 0 ? told.join(': ') : text, secrets)}`;
}
