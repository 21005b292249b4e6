import { ApiClient } from '../../kube/client.ts';
import { statusError } from '../../kube/status.ts';
import { LABELS } from '../../manifests/access.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import type { Cluster, Resource } from '../../ports/cluster.ts';
import { CLUSTER_API_GROUP, CLUSTER_API_VERSIONS, OPENSHIFT_GROUP, OPENSHIFT_MACHINES } from '../../ports/cluster-api.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { LEASES } from '../../ports/resources.ts';
import { OTHER_DEPLOYMENTS, OTHER_LEASES } from '../../manifests/health-check-access.ts';
import { DEFINITIONS, deploymentFacts, DEPLOYMENTS, keeps, leaseFacts } from '../preservation/manager-facts.ts';
import type { FamilyFacts, ServedFamily } from './mode.ts';

const DEADLINE_MS = 10_000;
/** Where a Machine of each version has the conditions of the other. */
const OTHER_CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  v1beta2: ['status', 'deprecated', 'v1beta1', 'conditions'],
  v1beta1: ['status', 'v1beta2', 'conditions'],
};
const PART_OF = 'app.kubernetes.io/part-of';

/** Which versions of which group are asked for. */
const FAMILIES: readonly { group: string; versions: readonly string[] }[] = [
  { group: CLUSTER_API_GROUP, versions: CLUSTER_API_VERSIONS },
  { group: OPENSHIFT_GROUP, versions: [OPENSHIFT_MACHINES.version] },
];

/** What is to be known before anybody decides whose part health checks are, by group. Rejects when the API server does not answer. */
export async function readFamilies(transport: ApiTransport, nowMs: number): Promise<ReadonlyMap<string, FamilyFacts>> {
  const found = new Map<string, FamilyFacts>();
  for (const { group, versions } of FAMILIES) found.set(group, await readFamily(transport, group, versions, nowMs));
  return found;
}

async function readFamily(transport: ApiTransport, group: string, versions: readonly string[], nowMs: number): Promise<FamilyFacts> {
  const nothing: FamilyFacts = { nowMs, served: undefined, isOurs: false, leases: [], deployments: [], unseen: [] };
  const served = await servedOf(transport, group, versions);
  if (served === undefined) return nothing;
  const cluster = new ApiClient({ transport, deadlineMs: DEADLINE_MS });
  const unseen: string[] = [];
  const allowed = async <T>(right: string, reading: Promise<T>): Promise<T | undefined> => {
    try {
      return await reading;
    } catch (error) {
      if (!(error instanceof ApiStatusError) || error.status !== 403) throw error;
      unseen.push(`the right to ${right} is missing`);
      return undefined;
    }
  };
  const [checks, machines] = [`machinehealthchecks.${group}`, `machines.${group}`];
  const [definition, machine, leases, deployments] = await Promise.all([
    allowed(`get customresourcedefinitions ${checks}`, cluster.get(DEFINITIONS, checks)),
    allowed(`get customresourcedefinitions ${machines}`, cluster.get(DEFINITIONS, machines)),
    allowed('list leases', named(cluster, LEASES, OTHER_LEASES)),
    allowed('list deployments', named(cluster, DEPLOYMENTS, OTHER_DEPLOYMENTS)),
  ]);
  const path = OTHER_CONDITIONS[served.version];
  const schema = machine?.spec?.versions?.find(({ name }) => name === served.version)?.schema?.openAPIV3Schema;
  return {
    nowMs,
    served: { ...served, hasBothLists: path !== undefined && keeps(schema, path) },
    isOurs: definition?.metadata.labels?.[PART_OF] === LABELS[PART_OF],
    leases: (leases ?? []).map(leaseFacts),
    deployments: (deployments ?? []).map(deploymentFacts),
    unseen,
  };
}

/** By discovery, for which no right is needed: the first version that has both kinds. */
async function servedOf(transport: ApiTransport, group: string, versions: readonly string[]): Promise<ServedFamily | undefined> {
  const known = await discovered<{ versions?: readonly { version?: string }[] }>(transport, `/apis/${group}`);
  for (const version of versions) {
    if (known?.versions?.some((each) => each.version === version) !== true) continue;
    const document = await discovered<{ resources?: readonly { name?: string }[] }>(transport, `/apis/${group}/${version}`);
    const has = (plural: string): boolean => document?.resources?.some(({ name }) => name === plural) === true;
    if (has('machinehealthchecks') && has('machines')) return { group, version, hasClusters: has('clusters'), hasBothLists: false };
  }
  return undefined;
}

/** undefined: there is no such document. */
async function discovered<T>(transport: ApiTransport, path: string): Promise<T | undefined> {
  const response = await transport.request({ method: 'GET', path, deadlineMs: DEADLINE_MS });
  if (response.status === 404) return undefined;
  if (response.status !== 200) throw statusError(`look for ${path}`, response);
  return response.body as T;
}

/** What of this kind has one of these names, in whichever namespace. */
async function named<T extends KubeObject>(cluster: Cluster, resource: Resource<T>, names: readonly string[]): Promise<T[]> {
  return (await Promise.all(names.map((name) => cluster.list(resource, { fieldSelector: `metadata.name=${name}` })))).flat();
}
