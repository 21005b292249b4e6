import type { ManagerFacts } from '../../config/preservation-mode.ts';
import type { Need } from '../../controllers/self-check/rights.ts';
import { pathOf } from '../../kube/resource-path.ts';
import { statusError } from '../../kube/status.ts';
import { MACHINE_CRD, MANAGER_NAMES } from '../../manifests/preservation-access.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import { MACHINE_GROUP, MACHINE_VERSION, MACHINES } from '../../ports/machines.ts';
import type { KubeObject, Node } from '../../ports/objects.ts';
import { DEADLINE_MS, keepsField, servedBy, ForeignControllers } from '../detection/foreign-controllers.ts';
import { isOurs } from '../detection/is-ours.ts';

/** The cluster of the Machines, as far as it concerns us. */
export interface MachinePlace {
  transport: ApiTransport;
  /** Undefined: all namespaces. */
  namespace: string | undefined;
}

const FINALIZER = `${MACHINE_GROUP}/machine-controller-manager`;
/** MCM writes it on every Node that it manages. */
const MANAGED_NODE = 'node.machine.sapcloud.io/last-applied-anno-labels-taints';
const EXPIRY_PATH = ['status', 'currentStatus', 'preserveExpiryTime'];
/** All Machines of an MCM carry its finalizer, so a few are enough. */
const SAMPLE_SIZE = 20;

/** What is to be known before anybody decides who owns preservation. Rejects when the API server does not answer. */
export async function readManagerFacts(place: MachinePlace, nodes: Iterable<Node>, nowMs: number): Promise<ManagerFacts> {
  const managedNode = managedIn(nodes);
  const base = { nowMs, leases: [], deployments: [], machines: [], unseen: [], ...(managedNode !== undefined && { managedNode }) };
  const { transport, namespace } = place;
  const served = await servedBy(transport, MACHINE_GROUP, MACHINE_VERSION);
  if (served?.has(MACHINES.plural) !== true) return { ...base, isServed: false, isReadable: false };
  const foreign = new ForeignControllers(transport);
  const [definition, machines, leases, deployments] = await Promise.all([
    foreign.definition(MACHINE_CRD),
    foreign.allowed('list machines.machine.sapcloud.io', () => sampleOf(place), [machinesOf(place)]),
    foreign.leases(MANAGER_NAMES, namespace),
    foreign.deployments(MANAGER_NAMES, namespace),
  ]);
  const hasExpiryField = keepsField(definition, MACHINE_VERSION, EXPIRY_PATH);
  return {
    ...base,
    isServed: true,
    isReadable: machines !== undefined,
    ...(definition !== undefined && { definition: { isOurs: isOurs(definition), hasExpiryField } }),
    leases,
    deployments,
    machines: machines ?? [],
    unseen: foreign.unseen,
  };
}

function managedIn(nodes: Iterable<Node>): string | undefined {
  for (const { metadata } of nodes) if (metadata.annotations?.[MANAGED_NODE] !== undefined) return metadata.name;
  return undefined;
}

interface RawMachine extends KubeObject {
  status?: { lastOperation?: { lastUpdateTime?: string } };
}

function machinesOf({ namespace }: MachinePlace): Need {
  return { group: MACHINE_GROUP, resource: MACHINES.plural, verb: 'list', ...(namespace !== undefined && { namespace }) };
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

function timeOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
