import { detectMode } from '../../config/preservation-mode.ts';
import type { PreservationChoice, PreservationMode } from '../../config/preservation-mode.ts';
import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import type { Cluster, Lister, Resource } from '../../ports/cluster.ts';
import { MACHINE_DEPLOYMENTS, MACHINE_NODE_LABEL, MACHINE_SETS, MACHINES } from '../../ports/machines.ts';
import type { Machine, MachineDeployment, MachineSet } from '../../ports/machines.ts';
import type { ConfigMap, KubeObject, Node } from '../../ports/objects.ts';
import { CONFIG_MAPS, NODE_FENCES, NODES } from '../../ports/resources.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import type { Leader } from '../commands/leader.ts';
import { listed } from '../commands/listed-cluster.ts';
import { configuredPools, POOLS_CONFIG } from '../../manager/preservation/configured-pools.ts';
import { reachMachines } from './machine-flags.ts';
import type { MachineFlags, MachineReach } from './machine-flags.ts';
import { readManagerFacts } from '../../manager/preservation/manager-facts.ts';
import { describeMark } from './mark.ts';
import { pictureOf } from './picture.ts';
import type { PreservationInput, PreservationPicture } from './picture.ts';

/** Machines as a person may see them, and who owns preservation. */
export interface PreservationListers {
  mode: PreservationMode;
  machines: Lister<Machine>;
  machineSets: Lister<MachineSet>;
  machineDeployments: Lister<MachineDeployment>;
  pools: PreservationInput['pools'];
  /** What the caller may or can not read, in words. */
  notes: readonly string[];
}

/** Reads once what preservation rests on, beside Nodes and fences. `choice`: as the leader was started. */
export async function listMachines(
  access: Pick<ClusterAccess, 'cluster' | 'clock' | 'namespace'>,
  reach: MachineReach,
  choice: PreservationChoice,
  nodes: Iterable<Node>,
): Promise<PreservationListers> {
  const notes: string[] = [];
  const found = choice === 'off' ? undefined : await answered(readManagerFacts(reach, nodes, access.clock.wallMs()), reach, notes);
  const mode = found === undefined ? (choice === 'off' ? OFF : SILENT) : detectMode(choice, seen(found, choice));
  if (found?.isServed === true && !found.isReadable) notes.push('Machines');
  const all = <T extends KubeObject>(resource: Resource<T>): Promise<T[]> =>
    mode.readsMachines
      ? orNothing(reach.cluster.list(resource, reach.namespace === undefined ? {} : { namespace: reach.namespace }), resource.kind, notes)
      : Promise.resolve([]);
  const [machines, machineSets, machineDeployments, pools] = await Promise.all([
    all(MACHINES),
    all(MACHINE_SETS),
    all(MACHINE_DEPLOYMENTS),
    mode.mode === 'off' ? [] : orNothing(configOf(access), `ConfigMap ${POOLS_CONFIG}`, notes),
  ]);
  return {
    mode,
    machines: listed(machines),
    machineSets: listed(machineSets),
    machineDeployments: listed(machineDeployments),
    pools: configuredPools(listed(pools), access.namespace)().pools,
    notes,
  };
}

/** What the controller decides about preservation, over everything that it reads; undefined: it is off. */
export async function listPicture(
  access: ClusterAccess,
  flags: MachineFlags,
  { preservation }: Leader,
  nowMs: number,
): Promise<{ picture: PreservationPicture | undefined; marksOf: (node: string) => string[]; notes: readonly string[] }> {
  const reach = await reachMachines(flags, access);
  try {
    const [nodes, fences] = await Promise.all([access.cluster.list(NODES), access.cluster.list(NODE_FENCES)]);
    const { mode, pools, notes, ...there } = await listMachines(access, reach, preservation ?? 'auto', nodes);
    const machines = {
      machines: [...there.machines.all()],
      machineSets: there.machineSets.all(),
      machineDeployments: there.machineDeployments.all(),
    };
    const marksOf = marksIn(nodes, machines.machines);
    return { picture: pictureOf({ mode, pools, nodes, fences, ...machines, nowMs }), marksOf, notes };
  } finally {
    reach.close();
  }
}

/** What stands on a Node and on its Machine, by the name of the Node. */
export function marksIn(nodes: Iterable<Node>, machines: Iterable<Machine>): (node: string) => string[] {
  const marked = [
    ...[...nodes].map((object) => [object.metadata.name, describeMark('Node', object)] as const),
    ...[...machines].map((object) => [object.metadata.labels?.[MACHINE_NODE_LABEL], describeMark('Machine', object)] as const),
  ];
  return (node) => marked.flatMap(([name, mark]) => (name === node ? (mark ?? []) : []));
}

const OFF: PreservationMode = { mode: 'off', readsMachines: false, hasExpiryField: true, spelling: 'auto-preserve', reasons: ['--preservation off'] };
const SILENT: PreservationMode = { ...OFF, mode: 'observe', reasons: ['the cluster of the Machines gives no answer'] };

/** Who looks at Nodes and fences must see them though the cluster of the Machines is dead. */
async function answered<T>(reading: Promise<T>, { server }: MachineReach, notes: string[]): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    notes.push(`Machines, for ${server} gives no answer`);
    return undefined;
  }
}

/** What the controller may read and a person may not is no doubt of the controller's; and one look must do. */
function seen(found: Parameters<typeof detectMode>[1], choice: PreservationChoice): Parameters<typeof detectMode>[1] {
  const leases = found.leases.map((lease) => ({ ...lease, hasMoved: false }));
  return { ...found, leases, unseen: choice === 'own' && found.isReadable ? [] : found.unseen };
}

async function configOf({ cluster, namespace }: { cluster: Cluster; namespace: string }): Promise<ConfigMap[]> {
  const found = await cluster.get(CONFIG_MAPS, POOLS_CONFIG, namespace);
  return found === undefined ? [] : [found];
}

async function orNothing<T>(reading: Promise<T[]>, what: string, notes: string[]): Promise<T[]> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof ApiStatusError) || (error.status !== 403 && error.status !== 404)) throw error;
    if (error.status === 403) notes.push(what);
    return [];
  }
}
