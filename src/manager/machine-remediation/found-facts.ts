import { ApiClient } from '../../kube/client.ts';
import { OPERATOR_DEPLOYMENTS, OPERATOR_LEASES, OTHER_DEPLOYMENTS, OTHER_LEASES } from '../../manifests/machine-remediation-access.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import { CLUSTER_API_GROUP, CLUSTER_API_VERSIONS, OPENSHIFT_GROUP, OPENSHIFT_MACHINES } from '../../ports/cluster-api.ts';
import { BARE_METAL_HOSTS } from '../../ports/metal3.ts';
import type { OtherFacts } from '../../config/other-controller.ts';
import { DEADLINE_MS, servedBy, Signs } from '../detection/signs.ts';
import type { FoundFacts } from './mode.ts';

/** Which versions of which group are asked for; the first that is served is spoken. */
const GROUPS: readonly { group: string; versions: readonly string[] }[] = [
  { group: CLUSTER_API_GROUP, versions: CLUSTER_API_VERSIONS },
  { group: OPENSHIFT_GROUP, versions: [OPENSHIFT_MACHINES.version] },
];

/** What is to be known before anybody decides whose part machine remediation is. Rejects when the API server does not answer. */
export async function readFacts(transport: ApiTransport, nowMs: number): Promise<FoundFacts> {
  const versions = await Promise.all(GROUPS.map(({ group, versions: wanted }) => versionOf(transport, group, wanted)));
  const hosts = await servedBy(transport, BARE_METAL_HOSTS.group, BARE_METAL_HOSTS.version);
  const nothing: OtherFacts = { nowMs, leases: [], deployments: [], unseen: [] };
  const isAny = versions.some((version) => version !== undefined);
  const other = isAny ? await signsOf(transport, nowMs, OTHER_LEASES, OTHER_DEPLOYMENTS) : nothing;
  const hasHosts = hosts?.has(BARE_METAL_HOSTS.plural) === true;
  const operator = isAny && hasHosts ? await signsOf(transport, nowMs, OPERATOR_LEASES, OPERATOR_DEPLOYMENTS) : nothing;
  return { groups: GROUPS.map(({ group }, index) => ({ ...other, group, version: versions[index] })), hasHosts, operator };
}

async function versionOf(transport: ApiTransport, group: string, versions: readonly string[]): Promise<string | undefined> {
  for (const version of versions) if ((await servedBy(transport, group, version))?.has('machines') === true) return version;
  return undefined;
}

async function signsOf(
  transport: ApiTransport,
  nowMs: number,
  leaseNames: readonly string[],
  deploymentNames: readonly string[],
): Promise<OtherFacts> {
  const signs = new Signs(new ApiClient({ transport, deadlineMs: DEADLINE_MS }));
  const [leases, deployments] = await Promise.all([signs.leases(leaseNames), signs.deployments(deploymentNames)]);
  return { nowMs, leases, deployments, unseen: signs.unseen };
}
