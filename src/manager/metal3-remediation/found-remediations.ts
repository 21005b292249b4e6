import type { ForeignControllerFacts } from '../../config/foreign-controller.ts';
import { OPERATOR_DEPLOYMENTS, OPERATOR_LEASES } from '../../manifests/machine-remediation-access.ts';
import { METAL3_REMEDIATION_DEFINITION, PROVIDER_DEPLOYMENTS, PROVIDER_LEASES } from '../../manifests/metal3-remediation-access.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import { BARE_METAL_HOSTS, INFRASTRUCTURE_GROUP, METAL3_REMEDIATION_VERSIONS, metal3Remediations } from '../../ports/metal3.ts';
import type { Metal3RemediationVersion } from '../../ports/metal3.ts';
import type { FoundKinds } from '../detection/ownership.ts';
import { servedBy, ForeignControllers, foreignControllerFacts } from '../detection/foreign-controllers.ts';
import { isOurs } from '../detection/is-ours.ts';

/** Metal3Remediations in the version that is spoken, where there are hosts too. */
export interface FoundRemediations extends FoundKinds<Metal3RemediationVersion> {
  /** Of whoever serves BareMetalHosts, under one of the names that it is known by; undefined: nothing is served. */
  operator: ForeignControllerFacts | undefined;
}

/** What is to be known before anybody decides who owns Metal3Remediations. Rejects when the API server does not answer. */
export async function findRemediations(transport: ApiTransport, nowMs: number): Promise<FoundRemediations> {
  const served = await servedVersion(transport);
  const group = INFRASTRUCTURE_GROUP;
  if (served === undefined) return { nowMs, group, served, isOurs: false, leases: [], deployments: [], unseen: [], operator: undefined };
  const foreign = new ForeignControllers(transport);
  const [definition, leases, deployments, operator] = await Promise.all([
    foreign.definition(METAL3_REMEDIATION_DEFINITION),
    foreign.leases(PROVIDER_LEASES),
    foreign.deployments(PROVIDER_DEPLOYMENTS),
    foreignControllerFacts(transport, nowMs, { leases: OPERATOR_LEASES, deployments: OPERATOR_DEPLOYMENTS }),
  ]);
  return { nowMs, group, served, isOurs: isOurs(definition), leases, deployments, unseen: foreign.unseen, operator };
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
