import { ApiClient } from '../../kube/client.ts';
import type { OtherFacts } from '../../config/other-controller.ts';
import { OPERATOR_DEPLOYMENTS, OPERATOR_LEASES } from '../../manifests/machine-remediation-access.ts';
import { METAL3_REMEDIATION_DEFINITION, PROVIDER_DEPLOYMENTS, PROVIDER_LEASES } from '../../manifests/metal3-remediation-access.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import { BARE_METAL_HOSTS, INFRASTRUCTURE_GROUP, METAL3_REMEDIATION_VERSIONS, metal3Remediations } from '../../ports/metal3.ts';
import type { Metal3RemediationVersion } from '../../ports/metal3.ts';
import { DEADLINE_MS, isOurs, servedBy, Signs } from '../detection/signs.ts';
import type { Metal3Facts } from './mode.ts';

/** What is to be known before anybody decides whose part Metal3Remediations are. Rejects when the API server does not answer. */
export async function readMetal3(transport: ApiTransport, nowMs: number): Promise<Metal3Facts> {
  const served = await servedVersion(transport);
  const nothing: OtherFacts = { nowMs, leases: [], deployments: [], unseen: [] };
  if (served === undefined) return { ...nothing, served, isOurs: false, operator: nothing };
  const cluster = new ApiClient({ transport, deadlineMs: DEADLINE_MS });
  const signs = new Signs(cluster);
  const operators = new Signs(cluster);
  const [definition, leases, deployments, operatorLeases, operatorDeployments] = await Promise.all([
    signs.definition(METAL3_REMEDIATION_DEFINITION),
    signs.leases(PROVIDER_LEASES),
    signs.deployments(PROVIDER_DEPLOYMENTS),
    operators.leases(OPERATOR_LEASES),
    operators.deployments(OPERATOR_DEPLOYMENTS),
  ]);
  const operator = { nowMs, leases: operatorLeases, deployments: operatorDeployments, unseen: operators.unseen };
  return { nowMs, served, isOurs: isOurs(definition), leases, deployments, unseen: signs.unseen, operator };
}

/** By discovery: the first version of both kinds, where there are hosts too. */
async function servedVersion(transport: ApiTransport): Promise<Metal3RemediationVersion | undefined> {
  const hosts = await servedBy(transport, BARE_METAL_HOSTS.group, BARE_METAL_HOSTS.version);
  if (hosts?.has(BARE_METAL_HOSTS.plural) !== true) return undefined;
  for (const version of METAL3_REMEDIATION_VERSIONS) {
    const found = await servedBy(transport, INFRASTRUCTURE_GROUP, version);
    const { requests, templates } = metal3Remediations(version);
    if (found?.has(requests.plural) === true && found.has(templates.plural)) return version;
  }
  return undefined;
}
