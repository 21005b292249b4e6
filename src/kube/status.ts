import { ApiStatusError, TransportError, type ApiResponse } from '../ports/api-transport.ts';
import type { KubeObject } from '../ports/objects.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The value as a JSON object; `undefined` for everything else. */
export function asFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** `Retry-After` in its form of whole seconds; the form of a date would need the server's clock. */
function retryAfterOf(header: string | undefined, details: unknown): number | undefined {
  const fromBody = asFields(details)?.['retryAfterSeconds'];
  const seconds = header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : fromBody;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

/** An HTTP failure as a typed error. `what` says which call it was. */
export function statusError(what: string, response: ApiResponse): ApiStatusError {
  const body = asFields(response.body);
  const reason = text(body?.['reason']) || reasonOfStatus(response.status);
  const message = text(body?.['message']) || `HTTP ${String(response.status)}`;
  const retryAfterMs = retryAfterOf(response.headers['retry-after'], body?.['details']);
  return new ApiStatusError(response.status, reason, `${what}: ${message}`, retryAfterMs);
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

/** A body that must be a Kubernetes object. */
export function asObject(what: string, body: unknown): KubeObject {
  const metadata = asFields(asFields(body)?.['metadata']);
  if (typeof metadata?.['name'] !== 'string' || metadata['name'] === '') {
    throw new TransportError('garbled', `${what}: the answer is not a Kubernetes object with metadata.name`);
  }
  return body as KubeObject;
}
