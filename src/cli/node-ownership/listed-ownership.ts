import { MEDIK8S_LEASE_NAMESPACE } from '../../manifests/access.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import {
  CLUSTER_API_GROUP,
  CLUSTER_API_VERSIONS,
  clusterMachines,
  machineHealthChecks,
  OPENSHIFT_GROUP,
  OPENSHIFT_MACHINES,
} from '../../ports/cluster-api.ts';
import type { ClusterMachine } from '../../ports/cluster-api.ts';
import type { Resource } from '../../ports/cluster.ts';
import { METAL3_REMEDIATION_VERSIONS, metal3Remediations } from '../../ports/metal3.ts';
import type { KubeObject, Lease } from '../../ports/objects.ts';
import { NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION } from '../../ports/remediation.ts';
import { LEASES, NAMESPACES } from '../../ports/resources.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { unreadLeases } from '../commands/read-lease.ts';
import { servedBy } from '../../manager/detection/foreign-controllers.ts';
import { nodeOwnershipOf } from './node-ownership.ts';
import type { CheckObject, NodeOwnership, Found, RemediationObject } from './node-ownership.ts';

type Reach = Pick<ClusterAccess, 'cluster' | 'transport'>;

const REMEDIATIONS: readonly Resource<RemediationObject>[] = [
  NODE_FENCE_REMEDIATION.requests,
  PROPOSED_REMEDIATION.requests,
  ...METAL3_REMEDIATION_VERSIONS.map((version) => metal3Remediations(version).requests),
];
const MACHINES: readonly Resource<ClusterMachine>[] = [...CLUSTER_API_VERSIONS.map(clusterMachines), OPENSHIFT_MACHINES];
const CHECKS: readonly Resource<CheckObject>[] = [
  ...CLUSTER_API_VERSIONS.map((version) => machineHealthChecks(CLUSTER_API_GROUP, version)),
  machineHealthChecks(OPENSHIFT_GROUP, OPENSHIFT_MACHINES.version),
] as readonly Resource<CheckObject>[];

/** Reads once who has nodes and Machines: node leases, requests for remediation, annotated Machines, health checks; only of kinds that are served. */
export async function listNodeOwnership({ cluster, transport }: Reach): Promise<NodeOwnership> {
  const unreadable: string[] = [];
  const served = new Map<string, Promise<ReadonlySet<string> | undefined>>();
  const kindsOf = ({ group, version }: Resource): Promise<ReadonlySet<string> | undefined> => {
    const key = `${group}/${version}`;
    const asked = served.get(key) ?? servedBy(transport, group, version);
    served.set(key, asked);
    return asked;
  };
  const readable = async <T>(what: string, reading: () => Promise<T[]>): Promise<T[]> => {
    try {
      return await reading();
    } catch (error) {
      if (!(error instanceof ApiStatusError) || (error.status !== 403 && error.status !== 404)) throw error;
      if (error.status === 403) unreadable.push(what);
      return [];
    }
  };
  /** The first version of each kind that is served. */
  const all = async <T extends KubeObject>(resources: readonly Resource<T>[]): Promise<Found<T>[]> => {
    const found: Found<T>[] = [];
    const done = new Set<string>();
    for (const resource of resources) {
      const name = `${resource.plural}.${resource.group}`;
      if (done.has(name) || (await kindsOf(resource))?.has(resource.plural) !== true) continue;
      done.add(name);
      for (const object of await readable(name, () => cluster.list(resource))) found.push({ kind: resource.kind, object });
    }
    return found;
  };
  /** Where there is no such namespace nobody has a node by a Lease, and nobody has a right to read it. */
  const nodeLeases = async (): Promise<Lease[]> => {
    try {
      return await cluster.list(LEASES, { namespace: MEDIK8S_LEASE_NAMESPACE });
    } catch (error) {
      if (error instanceof ApiStatusError && error.status === 403 && (await cluster.get(NAMESPACES, MEDIK8S_LEASE_NAMESPACE)) === undefined)
        return [];
      throw error;
    }
  };
  const [leases, remediations, machines, checks] = await Promise.all([
    readable(unreadLeases(MEDIK8S_LEASE_NAMESPACE), nodeLeases),
    all(REMEDIATIONS),
    all(MACHINES),
    all(CHECKS),
  ]);
  return nodeOwnershipOf({ leases, remediations, machines: machines.map(({ object }) => object), checks, unreadable });
}
