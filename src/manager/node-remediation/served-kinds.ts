import type { ApiTransport } from '../../ports/api-transport.ts';
import { NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION } from '../../ports/remediation.ts';
import type { RemediationKind } from '../../ports/remediation.ts';
import { servedBy } from '../detection/foreign-controllers.ts';

/** The kinds of requests that are installed, with their templates; by discovery, for which no right is needed. Rejects when the API server does not answer. */
export async function servedKinds(transport: ApiTransport): Promise<RemediationKind[]> {
  const kinds = [NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION];
  const served = await Promise.all(kinds.map(({ requests }) => servedBy(transport, requests.group, requests.version)));
  return kinds.filter(({ requests, templates }, index) => [requests, templates].every(({ plural }) => served[index]?.has(plural) === true));
}
