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

/** Of a token that is not known the audit does not tell whose it was: each counts. */
export function refusalsIn(trace: readonly TraceEvent[]): Refusals {
  const ours = trace.filter((event): event is ApiEvent => event.kind === 'api' && (event.user.startsWith(OURS) || event.status === UNKNOWN));
  const refused = ours.filter(({ status }) => status === UNKNOWN || status === FORBIDDEN).map(told);
  return { requests: ours.length, refused: [...new Set(refused)] };
}

function told({ user, verb, resource, subresource, namespace = 'cluster', status }: ApiEvent): string {
  const who = user === '' ? 'nobody who is known' : user.replace(OURS, '');
  return `${who} was refused: ${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`} (${namespace}): ${status}`;
}
