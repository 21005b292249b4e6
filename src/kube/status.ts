import { ApiStatusError, TransportError, type ApiResponse } from '../ports/api-transport.ts';
import type { Resource } from '../ports/cluster.ts';
import type { KubeObject } from '../ports/objects.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The value as a JSON object; `undefined` for everything else. */
export function asFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A server, or what stands before it, that asks for more is asked again all the same: one 86400 blinded a watch for a day. */
const RETRY_AFTER_MAX_MS = 30_000;

/** `Retry-After` in seconds, or as a date by the `Date` of the same answer: whose clock is right does not matter then. Garbage is no wish. */
function retryAfterOf({ headers }: ApiResponse, details: unknown): number | undefined {
  const header = headers['retry-after']?.trim() ?? '';
  const fromBody = asFields(details)?.['retryAfterSeconds'];
  const ms = /^\d+$/.test(header)
    ? Number(header) * 1000
    : (untilDate(header, headers['date']) ?? (typeof fromBody === 'number' ? fromBody * 1000 : NaN));
  return ms >= 0 ? Math.min(ms, RETRY_AFTER_MAX_MS) : undefined;
}

/** Undefined: that is no HTTP date, or there is none to count from. */
function untilDate(header: string, sentAt: string | undefined): number | undefined {
  if (!/^[A-Z][a-z]{2,8}, .* GMT$/.test(header)) return undefined;
  const ms = Date.parse(header) - Date.parse(sentAt ?? '');
  return Number.isNaN(ms) ? RETRY_AFTER_MAX_MS : Math.max(0, ms);
}

/** A `Status` in which the API server says of an object by its name that it is not there; of this one, where one is given. */
export function isNotFoundOf(body: unknown, resource?: Pick<Resource, 'group' | 'plural' | 'kind'>, name?: string): boolean {
  const status = asFields(body);
  const details = asFields(status?.['details']);
  const named = text(details?.['name']);
  if (status?.['kind'] !== 'Status' || status['apiVersion'] !== 'v1' || status['reason'] !== 'NotFound' || named === '') {
    return false;
  }
  if (resource === undefined) {
    return true;
  }
  const kind = text(details?.['kind']);
  return named === name && (kind === resource.plural || kind === resource.kind) && text(details?.['group']) === resource.group;
}

const CAUSES_MAX = 3;
const CAUSE_LENGTH_MAX = 256;

/** An HTTP failure as a typed error. `what` says which call it was. */
export function statusError(what: string, response: ApiResponse): ApiStatusError {
  const body = asFields(response.body);
  const reason = text(body?.['reason']) || reasonOfStatus(response.status);
  const message = text(body?.['message']) || `HTTP ${String(response.status)}`;
  const retryAfterMs = retryAfterOf(response, body?.['details']);
  return new ApiStatusError(response.status, reason, `${what}: ${[message, ...budgetsIn(body?.['details'])].join(' ')}`, retryAfterMs);
}

/** Which PodDisruptionBudget it is stands in the causes alone; what other causes say the message says too. */
function budgetsIn(details: unknown): string[] {
  const causes = asFields(details)?.['causes'];
  if (!Array.isArray(causes)) return [];
  const budgets = causes.map(asFields).filter((cause) => cause?.['reason'] === 'DisruptionBudget');
  return budgets.slice(0, CAUSES_MAX).map((cause) => `${text(cause?.['message']).slice(0, CAUSE_LENGTH_MAX)}.`);
}

/** The `Status` object that an ERROR event of a watch carries. */
export function errorOfEvent(what: string, object: unknown): ApiStatusError {
  const code = asFields(object)?.['code'];
  return statusError(what, { status: typeof code === 'number' ? code : 500, body: object, headers: {} });
}

function reasonOfStatus(status: number): string {
  const reasons: Readonly<Record<number, string>> = {
    400: 'BadRequest',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'NotFound',
    405: 'MethodNotAllowed',
    409: 'Conflict',
    410: 'Expired',
    422: 'Invalid',
    429: 'TooManyRequests',
    503: 'ServiceUnavailable',
    504: 'Timeout',
  };
  return reasons[status] ?? (status >= 500 ? 'InternalError' : 'Unknown');
}

/** The resource version that was asked for is gone, or lies ahead of this server: only a fresh list helps. */
export function needsRelist(error: unknown): boolean {
  if (!(error instanceof ApiStatusError)) {
    return false;
  }
  return error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone' || error.message.includes('Too large resource version');
}

/** A server without watches that begin with what is there, or with that feature off, calls the question invalid. */
export function refusesInitialEvents(error: unknown): boolean {
  return error instanceof ApiStatusError && (error.status === 422 || error.status === 400);
}

/** A body that must be a Kubernetes object. */
export function asObject(what: string, body: unknown): KubeObject {
  const metadata = asFields(asFields(body)?.['metadata']);
  if (typeof metadata?.['name'] !== 'string' || metadata['name'] === '') {
    throw new TransportError('garbled', `${what}: the answer is not a Kubernetes object with metadata.name`);
  }
  return body as KubeObject;
}
