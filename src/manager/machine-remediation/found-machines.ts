import type { ForeignControllerFacts } from '../../config/foreign-controller.ts';
import { OPERATOR_DEPLOYMENTS, OPERATOR_LEASES, OTHER_DEPLOYMENTS, OTHER_LEASES } from '../../manifests/machine-remediation-access.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import { CLUSTER_API_GROUP, CLUSTER_API_VERSIONS, OPENSHIFT_GROUP, OPENSHIFT_MACHINES } from '../../ports/cluster-api.ts';
import { BARE_METAL_HOSTS } from '../../ports/metal3.ts';
import type { FoundKinds } from '../detection/ownership.ts';
import { servedBy, foreignControllerFacts } from '../detection/foreign-controllers.ts';

/** Machines of one group, in the version that is spoken. */
export interface ServedMachines {
  group: string;
  version: string;
}

export interface FoundMachines {
  groups: readonly FoundKinds<ServedMachines>[];
  /** Of whoever serves BareMetalHosts, under one of the names that it is known by; undefined: they are not served. */
  operator: ForeignControllerFacts | undefined;
}

/** Which versions of which group are asked for; the first that is served is spoken. */
const GROUPS: readonly { group: string; versions: readonly string[] }[] = [
  { group: CLUSTER_API_GROUP, versions: CLUSTER_API_VERSIONS },
  { group: OPENSHIFT_GROUP, versions: [OPENSHIFT_MACHINES.version] },
];

const OTHER = { leases: OTHER_LEASES, deployments: OTHER_DEPLOYMENTS };
const OPERATOR = { leases: OPERATOR_LEASES, deployments: OPERATOR_DEPLOYMENTS };

/** What is to be known before anybody decides who owns machine remediation. Rejects when the API server does not answer. */
export async function findMachines(transport: ApiTransport, nowMs: number): Promise<FoundMachines> {
  const served = await Promise.all(GROUPS.map(({ group, versions }) => servedOf(transport, group, versions)));
  const hosts = await servedBy(transport, BARE_METAL_HOSTS.group, BARE_METAL_HOSTS.version);
  const isAny = served.some((each) => each !== undefined);
  const factsOf = (names: typeof OTHER): Promise<ForeignControllerFacts> | ForeignControllerFacts =>
    isAny ? foreignControllerFacts(transport, nowMs, names) : { nowMs, leases: [], deployments: [], unseen: [] };
  const other = await factsOf(OTHER);
  const operator = hosts?.has(BARE_METAL_HOSTS.plural) === true ? await factsOf(OPERATOR) : undefined;
  return { groups: GROUPS.map(({ group }, index) => ({ ...other, group, served: served[index], isOurs: false })), operator };
}

async function servedOf(transport: ApiTransport, group: string, versions: readonly string[]): Promise<ServedMachines | undefined> {
  for (const version of versions) if ((await servedBy(transport, group, version))?.has('machines') === true) return { group, version };
  return undefined;
}
