import { OTHER_DEPLOYMENTS, OTHER_LEASES } from '../../manifests/health-check-access.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import { CLUSTER_API_GROUP, CLUSTER_API_VERSIONS, OPENSHIFT_GROUP, OPENSHIFT_MACHINES } from '../../ports/cluster-api.ts';
import type { FoundKinds } from '../detection/ownership.ts';
import { discovered, keepsField, servedBy, ForeignControllers } from '../detection/foreign-controllers.ts';
import { isOurs } from '../detection/is-ours.ts';
import type { ServedFamily } from './mode.ts';

export type FoundFamily = FoundKinds<ServedFamily>;

/** Where a Machine of each version has the conditions of the other. */
const OTHER_CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  v1beta2: ['status', 'deprecated', 'v1beta1', 'conditions'],
  v1beta1: ['status', 'v1beta2', 'conditions'],
};

/** Which versions of which group are asked for. */
const FAMILIES: readonly { group: string; versions: readonly string[] }[] = [
  { group: CLUSTER_API_GROUP, versions: CLUSTER_API_VERSIONS },
  { group: OPENSHIFT_GROUP, versions: [OPENSHIFT_MACHINES.version] },
];

/** What is to be known before anybody decides who owns health checks, group by group. Rejects when the API server does not answer. */
export async function findFamilies(transport: ApiTransport, nowMs: number): Promise<FoundFamily[]> {
  const found: FoundFamily[] = [];
  for (const { group, versions } of FAMILIES) found.push(await findFamily(transport, group, versions, nowMs));
  return found;
}

async function findFamily(transport: ApiTransport, group: string, versions: readonly string[], nowMs: number): Promise<FoundFamily> {
  const nothing: FoundFamily = { nowMs, group, served: undefined, isOurs: false, leases: [], deployments: [], unseen: [] };
  const kindsOf = await kindsByVersion(transport, group, versions);
  const served = servedOf(kindsOf, group);
  if (served === undefined) {
    const unpaired = unpairedOf(kindsOf, group);
    return { ...nothing, ...(unpaired !== undefined && { unpaired }) };
  }
  const foreign = new ForeignControllers(transport);
  const [definition, machine, leases, deployments] = await Promise.all([
    foreign.definition(`machinehealthchecks.${group}`),
    foreign.definition(`machines.${group}`),
    foreign.leases(OTHER_LEASES),
    foreign.deployments(OTHER_DEPLOYMENTS),
  ]);
  const path = OTHER_CONDITIONS[served.version];
  const hasBothLists = path !== undefined && keepsField(machine, served.version, path);
  return { nowMs, group, served: { ...served, hasBothLists }, isOurs: isOurs(definition), leases, deployments, unseen: foreign.unseen };
}

type KindsByVersion = ReadonlyMap<string, ReadonlySet<string>>;

/** By discovery, for which no right is needed: of the versions that are served, in the order in which they are preferred, up to the first that has both kinds. */
async function kindsByVersion(transport: ApiTransport, group: string, versions: readonly string[]): Promise<KindsByVersion> {
  const known = await discovered<{ versions?: readonly { version?: string }[] }>(transport, `/apis/${group}`);
  const kindsOf = new Map<string, ReadonlySet<string>>();
  for (const version of versions) {
    if (known?.versions?.some((each) => each.version === version) !== true) continue;
    const kinds = (await servedBy(transport, group, version)) ?? new Set();
    kindsOf.set(version, kinds);
    if (hasBoth(kinds)) break;
  }
  return kindsOf;
}

function hasBoth(kinds: ReadonlySet<string>): boolean {
  return kinds.has('machinehealthchecks') && kinds.has('machines');
}

function servedOf(kindsOf: KindsByVersion, group: string): ServedFamily | undefined {
  for (const [version, kinds] of kindsOf) {
    if (!hasBoth(kinds)) continue;
    return { group, version, hasClusters: kinds.has('clusters'), hasBothLists: false };
  }
  return undefined;
}

/** Checks that somebody can make, and that nobody can evaluate. */
function unpairedOf(kindsOf: KindsByVersion, group: string): string | undefined {
  const versionsWith = (kind: string): string[] => [...kindsOf].filter(([, kinds]) => kinds.has(kind)).map(([version]) => version);
  const [checks, machines] = [versionsWith('machinehealthchecks'), versionsWith('machines')];
  if (checks.length === 0) return undefined;
  const ofMachines = machines.length === 0 ? 'no Machines' : `Machines in ${machines.join(', ')}`;
  const remedy = 'install definitions of both in one version';
  return `${group} serves MachineHealthChecks in ${checks.join(', ')} and ${ofMachines}: ${remedy} (machine-health-check.md)`;
}
