import { NAMESPACE } from '../../manifests/access.ts';
import type { ApiEvent, TraceEvent } from '../../laws/trace.ts';

/** ServiceAccounts of the shipped manifests: whoever speaks as one of them is a process of ours, under exactly their rights. */
const OURS = `system:serviceaccount:${NAMESPACE}:`;
const UNKNOWN = 401;
const FORBIDDEN = 403;

/** What the API server answered to processes of ours, by its audit. */
export interface Refusals {
  requests: number;
  /** Those that were refused for want of a right or of a valid token, each once. */
  refused: readonly string[];
}

/**
 * Of a token that is not known the audit does not tell whose it was: each counts. `startedAnewAt`: when the API server was, milliseconds since 1970. Until it
 * has read its roles it denies everything: what was granted before that, and is granted again afterwards, was denied for want of no right.
 */
export function refusalsIn(trace: readonly TraceEvent[], startedAnewAt = Number.POSITIVE_INFINITY): Refusals {
  const ours = trace.filter((event): event is ApiEvent => event.kind === 'api' && (event.user.startsWith(OURS) || event.status === UNKNOWN));
  const granted = ours.filter(({ status }) => status !== UNKNOWN && status !== FORBIDDEN);
  const isEarly = (event: ApiEvent): boolean => {
    const same = granted.filter((other) => other.user === event.user && what(other) === what(event)).map(({ at }) => at);
    return event.at >= startedAnewAt && same.some((at) => at < startedAnewAt) && same.some((at) => at > event.at);
  };
  const refused = ours.filter((event) => event.status === UNKNOWN || (event.status === FORBIDDEN && !isEarly(event))).map(told);
  return { requests: ours.length, refused: [...new Set(refused)] };
}

function what({ verb, resource, subresource, namespace = 'cluster' }: ApiEvent): string {
  return `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`} (${namespace})`;
}

function told(event: ApiEvent): string {
  const who = event.user === '' ? 'nobody who is known' : event.user.replace(OURS, '');
  return `${who} was refused: ${what(event)}: ${event.status}`;
}
