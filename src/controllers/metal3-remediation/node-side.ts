import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Metal3Remediation } from '../../ports/metal3.ts';
import type { Node } from '../../ports/objects.ts';
import { LEASES, NODE_LEASE_NAMESPACE, PODS, VOLUME_ATTACHMENTS } from '../../ports/resources.ts';
import { OWN_NODE_REASON } from '../shared/baremetal-host/own-node.ts';
import type { HoldFact, Marks } from '../shared/remediation/actions.ts';
import { controlPlaneHold } from '../shared/remediation/control-plane.ts';
import type { Owner } from '../shared/remediation/owner.ts';
import { CLUSTER_NAME, CONTROL_PLANE_LABEL, isClusterHere, MACHINE, nodeLeftBy, placeOf, secretOf } from '../shared/remediation/place.ts';
import { readNode } from '../shared/remediation/read-node.ts';
import { activeStop } from '../shared/stops.ts';
import type { Metal3RemediationDependencies, NodeCluster } from './dependencies.ts';
import type { Memory } from './memory.ts';
import { OUT_OF_SERVICE, RELEASE } from './names.ts';
import type { DrainFacts, Snapshot } from './snapshot.ts';
import { workloadOf } from './workload.ts';
import type { Workload } from './workload.ts';

/** One that denies for longer means it. */
const BEARABLE_MS = 30_000;

/** The Node of a remediation, its workload, and the cluster that both are in. */
export interface NodeSide extends Pick<Snapshot, 'node' | 'drain' | 'servesOutOfService'> {
  /** Absent: there is no Node that it could be about, or its cluster is gone. */
  place?: { cluster: Cluster; isOwn: boolean; nodeName: string };
  object?: Node;
  holds: readonly HoldFact[];
}

/** Our taint may stand on the Node. */
export function mayBeTainted(annotations: Marks = {}): boolean {
  const mark = annotations[RELEASE];
  return mark !== undefined && !mark.endsWith(':ended');
}

/** No Node that it could be about, or none that can be read: a stop of all holds it, and one of the node that its Machine names. */
export async function nobodySide({ own }: Pick<Metal3RemediationDependencies, 'own'>, nodeName?: string): Promise<NodeSide> {
  const message = await activeStop(own.cluster, nodeName);
  const holds = message === undefined ? [] : [{ reason: 'stop', message, isStop: true }];
  return { node: 'not-found', servesOutOfService: false, holds };
}

/**
 * Reads the Node, its Lease and its workload consistently, in whichever cluster they are. Rejects when they cannot be read: then nothing is known of
 * them. The Lease is read before anything is read of the host (see LifeReads).
 */
export async function nodeSide(
  dependencies: Metal3RemediationDependencies,
  remediation: Metal3Remediation,
  owner: Owner | 'none' | 'gone',
  memory: Memory,
): Promise<NodeSide> {
  const found = typeof owner === 'object' ? await placed(dependencies, remediation, owner, memory) : await left(dependencies, remediation);
  if (found === undefined) return nobodySide(dependencies);
  const { place, serves } = found;
  const { cluster, nodeName } = place;
  if (found.object === 'forbidden') return forbiddenSide(dependencies, place, owner);
  const lease = await cluster.get(LEASES, nodeName, NODE_LEASE_NAMESPACE);
  if (lease !== undefined) memory.life.seeLease(lease);
  const holds = await holdsOn(dependencies, place, found.object);
  const servesOutOfService = await serves();
  if (found.object === undefined) return { node: 'not-found', servesOutOfService, place, holds };
  const { object } = found;
  const lifeSeenMs = memory.life.lastLifeMs();
  const node = { ...readNode(object), ...(lifeSeenMs !== undefined && { lifeSeenMs }) };
  const drain = await drainOf(dependencies, place, object, memory);
  return { node, object, servesOutOfService, place, holds, ...(drain !== undefined && { drain }) };
}

/** P10: whether a majority of its control plane would stay can not be read there. */
async function forbiddenSide(
  dependencies: Metal3RemediationDependencies,
  place: NonNullable<NodeSide['place']>,
  owner: Owner | 'none' | 'gone',
): Promise<NodeSide> {
  const { nodeName } = place;
  const { holds, ...side } = await nobodySide(dependencies, nodeName);
  const isOfPlane = typeof owner === 'object' && owner.facts.labels[CONTROL_PLANE_LABEL] !== undefined;
  const message = `machine ${nodeName} is of a control plane, and the kubeconfig of its cluster does not allow to read whether a majority would stay`;
  const plane = isOfPlane ? [{ reason: 'control-plane-majority', message, isStop: false }] : [];
  return { ...side, node: 'forbidden', place, holds: [...holds, ...plane] };
}

interface Found {
  place: NonNullable<NodeSide['place']>;
  object: Node | undefined | 'forbidden';
  serves: NodeCluster['servesOutOfService'];
}

/** `undefined`: the Machine names no Node, or there is no way to its cluster and nothing is begun. */
async function placed(
  { own, nodes, workloads }: Metal3RemediationDependencies,
  { metadata }: Metal3Remediation,
  { object: machine, facts }: Owner,
  memory: Memory,
): Promise<Found | undefined> {
  const { nodeName } = facts;
  if (nodeName === undefined) return undefined;
  const { namespace } = facts;
  const name = metadata.labels?.[CLUSTER_NAME] ?? facts.labels[CLUSTER_NAME];
  const isHere = name === undefined || isClusterHere(nodes.all(), { namespace, name });
  const target = { node: nodeName, ...(!isHere && { ofCluster: { namespace, name } }) };
  let other: NodeCluster | undefined;
  const workloadClusters = async (secret: { namespace: string; name: string }): Promise<Cluster | undefined> => {
    other = await workloads(secret);
    return other?.cluster;
  };
  try {
    const place = await placeOf({ cluster: own.cluster, workloadClusters }, target, { uid: metadata.uid ?? '', machine });
    memory.deniedForMs(false);
    if (place !== undefined) {
      const { cluster, isOwn, node } = place;
      const told = node?.metadata.annotations?.[MACHINE];
      // P10. One that has just come back says nothing yet.
      if (told !== undefined && told !== facts.name) throw new Error(`node ${nodeName} is that of Machine ${told}`);
      return { place: { cluster, isOwn, nodeName }, object: node, serves: (other ?? own).servesOutOfService };
    }
  } catch (error) {
    const far: NodeCluster | undefined = other;
    if (far === undefined || !(error instanceof ApiStatusError) || error.status !== 403) throw error;
    // One that comes up denies everybody for a moment, and where our taint may stand the Node is not left alone for it.
    if (memory.deniedForMs(true) < BEARABLE_MS || mayBeTainted(metadata.annotations)) throw error;
    return { place: { cluster: far.cluster, isOwn: false, nodeName }, object: 'forbidden', serves: far.servesOutOfService };
  }
  if (metadata.deletionTimestamp !== undefined) return undefined;
  throw new Error(`there is no Secret ${namespace}/${secretOf(name ?? '')}, which leads to the cluster of node ${nodeName}`);
}

/** Of a Machine that is gone: its Node matters only as long as our taint may stand on it. */
async function left({ own, workloads }: Metal3RemediationDependencies, { metadata }: Metal3Remediation): Promise<Found | undefined> {
  const { annotations = {}, labels = {}, namespace = '', ownerReferences = [] } = metadata;
  const machine = ownerReferences.find(({ kind }) => kind === 'Machine');
  if (machine === undefined || !mayBeTainted(annotations)) return undefined;
  const name = labels[CLUSTER_NAME];
  const other = name === undefined ? undefined : await workloads({ namespace, name: secretOf(name) });
  for (const [{ cluster, servesOutOfService: serves }, isOwn] of [[own, true] as const, ...(other === undefined ? [] : [[other, false] as const])]) {
    const object = await nodeLeftBy(cluster, { namespace, name: machine.name });
    if (object !== undefined) return { place: { cluster, isOwn, nodeName: object.metadata.name }, object, serves };
  }
  return undefined;
}

/** A person's stop in either cluster; the node of the controller itself; what the storm policies say; the last majority of a control plane. */
async function holdsOn(
  { own, options, stormHolds }: Metal3RemediationDependencies,
  { cluster, isOwn, nodeName }: NonNullable<NodeSide['place']>,
  node: Node | undefined,
): Promise<HoldFact[]> {
  const holds: HoldFact[] = [];
  // What policies read of others is read meanwhile: until then they hold.
  if (isOwn) stormHolds(nodeName);
  for (const where of isOwn ? [cluster] : [own.cluster, cluster]) {
    const message = await activeStop(where, nodeName);
    if (message !== undefined) holds.push({ reason: 'stop', message, isStop: true });
  }
  if (isOwn && options.ownNode === nodeName) holds.push({ reason: OWN_NODE_REASON, message: 'this controller runs on it', isStop: false });
  if (isOwn) holds.push(...stormHolds(nodeName).map(({ reason, message }) => ({ reason, message, isStop: false })));
  const plane = node === undefined ? undefined : await controlPlaneHold(cluster, node);
  return plane === undefined ? holds : [...holds, plane];
}

async function drainOf(
  dependencies: Metal3RemediationDependencies,
  { cluster, isOwn }: NonNullable<NodeSide['place']>,
  { metadata, spec }: Node,
  memory: Memory,
): Promise<DrainFacts | undefined> {
  if (spec.taints?.some(({ key }) => key === OUT_OF_SERVICE.key) !== true) {
    memory.forgetTaint();
    return undefined;
  }
  const { name, uid = '' } = metadata;
  return { ...(isOwn ? dependencies.workloadOf(name) : await listedWorkload(cluster, name)), seenMs: memory.taintSeenMs(uid) };
}

/** Of a cluster that is not watched from here. */
async function listedWorkload(cluster: Cluster, node: string): Promise<Workload> {
  const [pods, attachments] = await Promise.all([cluster.list(PODS, { fieldSelector: `spec.nodeName=${node}` }), cluster.list(VOLUME_ATTACHMENTS)]);
  return workloadOf(pods, attachments.filter(({ spec }) => spec.nodeName === node).length);
}
