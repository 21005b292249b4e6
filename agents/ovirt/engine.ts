import type { AgentError, AgentErrorKind } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import { Throttled, waitOf } from '../shared/cloud/repeat.ts';
import type { Token } from '../shared/cloud/tokens.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { member, textAt, type WebAnswer, type WebClient } from '../shared/web/web-client.ts';

/** We are known to an engine; `text` is the header by which. */
export interface Session extends Token {
  web: WebClient;
  /** `https://engine:443`. */
  origin: string;
  /** Of the API: `/ovirt-engine/api`. */
  path: string;
  /** Absent where the engine knows no tokens, and gets the password with each request. */
  token: string | undefined;
  username: string;
  isFiltered: boolean;
  /** Struck out of every message. */
  secrets: readonly string[];
}

export interface EngineRequest {
  method: 'GET' | 'POST';
  /** Below that of the API: `/vms/<id>`. */
  path: string;
  body?: object;
  /** Show what permissions of the user itself allow; absent: as the session has it. */
  isFiltered?: boolean;
  /** The lease check, of a request that changes a machine. */
  gate?: () => void;
}

/** The engine does not know us any more, or does not know the password. */
export class NotKnown extends Error {
  override readonly name = 'NotKnown';
}

/** One request of the API of oVirt's engine ("REST API Guide", version 4, in JSON). Rejects `Throttled` where nothing was taken up. */
export async function exchanged(call: Call<CallTarget>, clock: Clock, session: Session, request: EngineRequest): Promise<WebAnswer> {
  const { web, origin, path, text, secrets } = session;
  const { method, body, gate, isFiltered = session.isFiltered } = request;
  const answer = await web.exchange(call, {
    method,
    url: `${origin}${path}${request.path}`,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: {
      Authorization: text,
      Accept: 'application/json',
      // Faults are worded in the language of whoever asks.
      'Accept-Language': 'en-US',
      Version: '4',
      Filter: String(isFiltered),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    gate,
    secrets,
  });
  if (answer.status === 401) throw new NotKnown(wordsOf(answer, secrets));
  // What a proxy in front of the engine answers to a set may have reached it all the same.
  if (answer.status === 429 || (answer.status === 503 && gate === undefined))
    throw new Throttled(`${wordsOf(answer, secrets)}: too busy`, waitOf(answer, clock));
  return answer;
}

/** `HTTP 409: Operation Failed: [Cannot stop VM. VM is not running.]`: a fault in the engine's words. */
export function wordsOf({ status, body }: WebAnswer, secrets: readonly string[]): string {
  const said = [body, member(body, 'fault')]
    .map((fault) => [textAt(fault, 'reason') ?? textAt(fault, 'error_code'), textAt(fault, 'detail') ?? textAt(fault, 'error')])
    .map((parts) => parts.filter((part) => part !== undefined && part !== '').join(': '))
    .find((words) => words !== '');
  return deviceMessage(said === undefined ? `HTTP ${status}` : `HTTP ${status}: ${said}`, secrets);
}

/** What an answer that shows nothing comes to. */
export function refusal(call: Call<CallTarget>, answer: WebAnswer, { secrets, username }: Pick<Session, 'secrets' | 'username'>): AgentError {
  const words = wordsOf(answer, secrets);
  const [kind, advice] = refusedAs(answer, username);
  return call.error(kind, `${words}${advice}`);
}

function refusedAs({ status, headers }: WebAnswer, username: string): [AgentErrorKind, string] {
  if (status >= 300 && status < 400)
    return ['Misconfigured', `: it sends us elsewhere (${deviceMessage(headers['location'] ?? '', [])}), where no password goes`];
  if (status === 404)
    return ['Misconfigured', `: there is no such machine, or ${username} may not see it, or the API is elsewhere: what is not found is not off`];
  if (status === 403) return ['Refused', ` (${username} lacks a permission)`];
  if (status >= 400 && status < 500) return ['Refused', ''];
  return ['Unreachable', status >= 500 ? '' : ': no answer of the oVirt API'];
}
