import type { ManagerDeployment, ManagerFacts, ManagerLease } from '../../config/preservation-mode.ts';
import { ApiClient } from '../../kube/client.ts';
import { pathOf } from '../../kube/resource-path.ts';
import { statusError } from '../../kube/status.ts';
import { LABELS } from '../../manifests/access.ts';
import { MACHINE_CRD, MANAGER_NAMES } from '../../manifests/preservation-access.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import type { Cluster, Resource } from '../../ports/cluster.ts';
import { MACHINE_GROUP, MACHINE_VERSION, MACHINES } from '../../ports/machines.ts';
import type { KubeObject, Lease, Node } from '../../ports/objects.ts';
import { LEASES } from '../../ports/resources.ts';

/** The cluster of the Machines, as far as it concerns us. */
export interface MachinePlace {
  transport: ApiTransport;
  /** Undefined: all namespaces. */
  namespace: string | undefined;
}

interface Deployment extends KubeObject {
  spec?: { replicas?: number };
}

interface Schema {
  properties?: Readonly<Record<string, Schema>>;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
}

interface Definition extends KubeObject {
  spec?: { versions?: readonly { name?: string; schema?: { openAPIV3Schema?: Schema } }[] };
}

export const DEPLOYMENTS: Resource<Deployment> = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true };
export const DEFINITIONS: Resource<Definition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
const FINALIZER = `${MACHINE_GROUP}/machine-controller-manager`;
/** MCM writes it on every Node that it manages. */
const MANAGED_NODE = 'node.machine.sapcloud.io/last-applied-anno-labels-taints';
const EXPIRY_PATH = ['status', 'currentStatus', 'preserveExpiryTime'];
/** All Machines of an MCM carry its finalizer, so a few are enough. */
const SAMPLE_SIZE = 20;
const DEADLINE_MS = 10_000;

/** What is to be known before anybody decides whose part preservation is. Rejects when the API server does not answer. */
export async function readManagerFacts(place: MachinePlace, nodes: Iterable<Node>, nowMs: number): Promise<ManagerFacts> {
  const managedNode = managedIn(nodes);
  const base = { nowMs, leases: [], deployments: [], machines: [], unseen: [], ...(managedNode !== undefined && { managedNode }) };
  if (!(await isServed(place.transport))) return { ...base, isServed: false, isReadable: false };
  const cluster = new ApiClient({ transport: place.transport, deadlineMs: DEADLINE_MS });
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
  const [definition, machines, leases, deployments] = await Promise.all([
    allowed(`get customresourcedefinitions ${MACHINE_CRD}`, cluster.get(DEFINITIONS, MACHINE_CRD)),
    allowed('list machines.machine.sapcloud.io', sampleOf(place)),
    allowed('list leases', named(cluster, LEASES, place.namespace)),
    allowed('list deployments', named(cluster, DEPLOYMENTS, place.namespace)),
  ]);
  return {
    ...base,
    isServed: true,
    isReadable: machines !== undefined,
    ...(definition !== undefined && { definition: definitionFacts(definition) }),
    leases: (leases ?? []).map(leaseFacts),
    deployments: (deployments ?? []).map(deploymentFacts),
    machines: machines ?? [],
    unseen,
  };
}

function managedIn(nodes: Iterable<Node>): string | undefined {
  for (const { metadata } of nodes) if (metadata.annotations?.[MANAGED_NODE] !== undefined) return metadata.name;
  return undefined;
}

/** By discovery, for which no right is needed. */
async function isServed(transport: ApiTransport): Promise<boolean> {
  const response = await transport.request({ method: 'GET', path: `/apis/${MACHINE_GROUP}/${MACHINE_VERSION}`, deadlineMs: DEADLINE_MS });
  if (response.status === 404) return false;
  if (response.status !== 200) throw statusError(`look for ${MACHINE_GROUP}/${MACHINE_VERSION}`, response);
  const { resources = [] } = response.body as { resources?: readonly { name?: string }[] };
  return resources.some(({ name }) => name === MACHINES.plural);
}

interface RawMachine extends KubeObject {
  status?: { lastOperation?: { lastUpdateTime?: string } };
}

async function sampleOf({ transport, namespace }: MachinePlace): Promise<ManagerFacts['machines']> {
  const query = { limit: String(SAMPLE_SIZE) };
  const response = await transport.request({ method: 'GET', path: pathOf(MACHINES, { namespace }), query, deadlineMs: DEADLINE_MS });
  if (response.status !== 200) throw statusError('list machines', response);
  const { items = [] } = response.body as { items?: readonly RawMachine[] };
  return items.map(({ metadata, status }) => ({
    name: metadata.name,
    hasFinalizer: metadata.finalizers?.includes(FINALIZER) === true,
    operatedMs: timeOf(status?.lastOperation?.lastUpdateTime),
  }));
}

/** What of this kind is called as MCM's own. */
async function named<T extends KubeObject>(cluster: Cluster, resource: Resource<T>, namespace: string | undefined): Promise<T[]> {
  const found = MANAGER_NAMES.map((name) => {
    const fieldSelector = `metadata.name=${name}`;
    return cluster.list(resource, namespace === undefined ? { fieldSelector } : { fieldSelector, namespace });
  });
  return (await Promise.all(found)).flat();
}

export function leaseFacts({ metadata, spec }: Lease): ManagerLease {
  const { holderIdentity = '', renewTime, leaseDurationSeconds = 15 } = spec;
  const durationMs = leaseDurationSeconds * 1_000;
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    holder: holderIdentity,
    renewedMs: timeOf(renewTime),
    durationMs,
    hasMoved: false,
  };
}

export function deploymentFacts({ metadata, spec }: Deployment): ManagerDeployment {
  return { name: metadata.name, namespace: metadata.namespace ?? '', replicas: spec?.replicas ?? 1 };
}

function definitionFacts({ metadata, spec }: Definition): NonNullable<ManagerFacts['definition']> {
  const label = 'app.kubernetes.io/part-of';
  const version = spec?.versions?.find(({ name }) => name === MACHINE_VERSION);
  return { isOurs: metadata.labels?.[label] === LABELS[label], hasExpiryField: keeps(version?.schema?.openAPIV3Schema, EXPIRY_PATH) };
}

/** A field that the schema does not name is dropped by the API server, except where it keeps what is unknown. */
export function keeps(schema: Schema | undefined, path: readonly string[]): boolean {
  const [first, ...rest] = path;
  if (first === undefined) return schema !== undefined;
  if (schema === undefined) return false;
  const member = schema.properties?.[first];
  return member === undefined ? schema['x-kubernetes-preserve-unknown-fields'] === true : keeps(member, rest);
}

function timeOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
