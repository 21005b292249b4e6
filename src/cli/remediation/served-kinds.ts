import { statusError } from '../../kube/status.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import { NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION } from '../../ports/remediation.ts';
import type { RemediationKind } from '../../ports/remediation.ts';

const DEADLINE_MS = 10_000;

/** The kinds of requests that are installed, with their templates; by discovery, for which no right is needed. Rejects when the API server does not answer. */
export async function servedKinds(transport: ApiTransport): Promise<RemediationKind[]> {
  const kinds = [NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION];
  const served = await Promise.all(kinds.map((kind) => isServed(transport, kind)));
  return kinds.filter((_kind, index) => served[index] === true);
}

async function isServed(transport: ApiTransport, { requests, templates }: RemediationKind): Promise<boolean> {
  const path = `/apis/${requests.group}/${requests.version}`;
  const response = await transport.request({ method: 'GET', path, deadlineMs: DEADLINE_MS });
  if (response.status === 404) return false;
  if (response.status !== 200) throw statusError(`look for ${requests.plural}.${requests.group}`, response);
  const { resources = [] } = response.body as { resources?: readonly { name?: string }[] };
  return [requests, templates].every(({ plural }) => resources.some(({ name }) => name === plural));
}
