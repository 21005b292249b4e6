import type { AgentError } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Call } from '../shared/call.ts';
import { Throttled, waitOf } from '../shared/cloud/repeat.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { listAt, textAt, type WebAnswer } from '../shared/web/web-client.ts';

/** Asked too often: the cloud says so with HTTP 403 as well ("Compute Engine rate quotas"). */
const RATE =
  /^(?:rateLimitExceeded|userRateLimitExceeded|quotaExceeded|concurrentLimitExceeded|RATE_LIMIT_EXCEEDED|RESOURCE_OPERATION_RATE_EXCEEDED)$/;
/** Another operation has the instance just now. */
const BUSY = /^(?:resourceNotReady|RESOURCE_NOT_READY|resourceInUseByAnotherOperation)$/;

/** `HTTP 403 forbidden: Required 'compute.instances.get' permission for ...` */
export function saidOf({ status, body, text }: WebAnswer, secrets: readonly string[] = []): string {
  const reason = reasonsOf(body)[0];
  const message = textAt(body, 'error', 'message') ?? (text === '' ? '(nothing)' : text);
  return `HTTP ${status}${reason === undefined ? '' : ` ${deviceMessage(reason, secrets)}`}: ${deviceMessage(message, secrets)}`;
}

/** Why this is no answer to what was asked; undefined: it is one. */
export function refusalOf(call: Call, answer: WebAnswer, clock: Clock, secrets: readonly string[]): Throttled | AgentError | undefined {
  const { status, body } = answer;
  if (status >= 200 && status < 300) return undefined;
  const words = saidOf(answer, secrets);
  const reasons = reasonsOf(body);
  const isRate = status === 429 || (status === 403 && reasons.some((reason) => RATE.test(reason)));
  if (isRate || status >= 500 || reasons.some((reason) => BUSY.test(reason))) return new Throttled(words, waitOf(answer, clock));
  if (status === 404) return call.error('Misconfigured', `${words}: what is not found is not known to be off; mend project, zone or plug`);
  if (status >= 400) return call.error('Refused', words);
  return call.error('Unreachable', words);
}

/** The cloud's own words for what went wrong, of both forms of its errors. */
function reasonsOf(body: unknown): readonly string[] {
  const listed = [...listAt(body, 'error', 'errors'), ...listAt(body, 'error', 'details')];
  return listed.map((one) => textAt(one, 'reason')).filter((reason) => reason !== undefined);
}
