import type { Cluster } from '../../ports/cluster.ts';
import type { OwnerReference } from '../../ports/objects.ts';
import { MACHINE_DEPLOYMENTS, MACHINE_GROUP, MACHINE_NODE_LABEL, MACHINE_SETS, MACHINE_VERSION, MACHINES } from '../../ports/machines.ts';
import { NAMESPACES } from '../cluster/kinds.ts';
import { DRIVER_FINALIZER } from './kinds.ts';

/** Where the drill's Machines stand. */
export const FLEET_NAMESPACE = 'shoot-drill';
export const POOL = 'workers';
const POOL_LABEL = 'worker.gardener.cloud/pool';
export const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** creationTimestamps are whole seconds: machines that must differ in age are made in different ones. */
const SECOND_MS = 1_100;

/** A node of the fleet and the zone that it stands in. */
export interface FleetNode {
  node: string;
  zone: string;
}

export function zoneName(index: number): string {
  return `zone-${String.fromCharCode('a'.charCodeAt(0) + index)}`;
}

export function machineName(node: string): string {
  return `machine-${node}`;
}

export function deploymentName(zone: string): string {
  return `${POOL}-${zone}`;
}

/** Labels that a Node of the fleet has from its first registration on. */
export function fleetLabels(zone: string): Record<string, string> {
  return { [POOL_LABEL]: POOL, [ZONE_LABEL]: zone };
}

type FleetApi = Pick<Cluster, 'create' | 'mergePatch'>;

/**
 * One pool as Gardener has it: a MachineDeployment with one MachineSet for each zone, and a Machine in Running for each node. In each zone the first node's
 * Machine is the oldest, and no two are of one second. `pause` resolves after so many milliseconds.
 */
export async function createFleet(cluster: FleetApi, nodes: readonly FleetNode[], pause: (delayMs: number) => Promise<void>): Promise<void> {
  await cluster.create(NAMESPACES, { metadata: { name: FLEET_NAMESPACE } });
  const zones = new Map<string, { node: string }[]>();
  for (const { node, zone } of nodes) zones.set(zone, [...(zones.get(zone) ?? []), { node }]);
  const sets = new Map<string, OwnerReference>();
  for (const [zone, members] of zones) sets.set(zone, await createZone(cluster, zone, members.length));
  const most = Math.max(...[...zones.values()].map((members) => members.length));
  for (let age = 0; age < most; age += 1) {
    if (age > 0) await pause(SECOND_MS);
    for (const [zone, members] of zones) {
      const owner = sets.get(zone);
      const member = members[age];
      if (owner !== undefined && member !== undefined) await createMachine(cluster, member.node, zone, owner);
    }
  }
}

async function createZone(cluster: FleetApi, zone: string, replicas: number): Promise<OwnerReference> {
  const labels = fleetLabels(zone);
  const namespace = FLEET_NAMESPACE;
  const name = deploymentName(zone);
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
  const deployment = await cluster.create(MACHINE_DEPLOYMENTS, { metadata: { name, namespace, labels }, spec: { replicas, strategy } });
  const ownerReferences = [ownerOf('MachineDeployment', name, deployment.metadata.uid)];
  const set = await cluster.create(MACHINE_SETS, { metadata: { name: `${name}-1`, namespace, labels, ownerReferences }, spec: { replicas } });
  return ownerOf('MachineSet', `${name}-1`, set.metadata.uid);
}

async function createMachine(cluster: FleetApi, node: string, zone: string, owner: OwnerReference): Promise<void> {
  const [namespace, name] = [FLEET_NAMESPACE, machineName(node)];
  const labels = { ...fleetLabels(zone), [MACHINE_NODE_LABEL]: node };
  const metadata = { name, namespace, labels, ownerReferences: [owner], finalizers: [DRIVER_FINALIZER] };
  const created = await cluster.create(MACHINES, { metadata, spec: { providerID: `drill:///${node}` } });
  const currentStatus = { phase: 'Running', ...lastUpdate(created.metadata.creationTimestamp) };
  await cluster.mergePatch(MACHINES, name, { status: { currentStatus } }, { namespace, subresource: 'status' });
}

function lastUpdate(time: string | undefined): { lastUpdateTime?: string } {
  return time === undefined ? {} : { lastUpdateTime: time };
}

function ownerOf(kind: string, name: string, uid = ''): OwnerReference {
  return { apiVersion: `${MACHINE_GROUP}/${MACHINE_VERSION}`, kind, name, uid, controller: true, blockOwnerDeletion: true };
}
