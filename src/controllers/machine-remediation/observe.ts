import { fenceName } from '../../domain/node-fence.ts';
import { apiClusters, CLUSTER_API_GROUP, CLUSTER_API_VERSIONS, machineHealthChecks } from '../../ports/cluster-api.ts';
import type { ClusterMachine } from '../../ports/cluster-api.ts';
import type { Lister, Resource } from '../../ports/cluster.ts';
import { BARE_METAL_HOSTS } from '../../ports/metal3.ts';
import type { BareMetalHost } from '../../ports/metal3.ts';
import type { KubeObject, Node } from '../../ports/objects.ts';
import { NODE_FENCES, NODES } from '../../ports/resources.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { metal3MachineOf } from '../shared/baremetal-host/host-of.ts';
import type { HostObservations } from '../shared/baremetal-host/host-observations.ts';
import type { LifeObservations } from '../shared/baremetal-host/life-observations.ts';
import { OWN_NODE_REASON } from '../shared/baremetal-host/own-node.ts';
import { ReadObjects } from '../shared/baremetal-host/write.ts';
import { ownerOf } from '../shared/claims/claim.ts';
import { readFence } from '../shared/claims/fence-facts.ts';
import { besidesPreservation, timeOf } from '../shared/remediation/actions.ts';
import type { HoldFact } from '../shared/remediation/actions.ts';
import { controlPlaneHold } from '../shared/remediation/control-plane.ts';
import { CLUSTER_NAME, nodeLeftBy } from '../shared/remediation/place.ts';
import { readNode } from '../shared/remediation/read-node.ts';
import { activeStop } from '../shared/stops.ts';
import { consumerOf } from './consumer.ts';
import { hostKeyOfMachine } from './decide.ts';
import type { MachineRemediationDependencies, WatchedMachines } from './dependencies.ts';
import type { FenceSnapshot } from './by-fence.ts';
import { isOutOfService } from './detach.ts';
import { readHealthChecks } from './health-checks.ts';
import { HOLD, MARKS_OF_OURS, POWERED_OFF, TIMES_OUT_AT } from './names.ts';
import type { OutOfServiceObservations } from './out-of-service-observations.ts';
import { misplacedBecause } from './placement.ts';
import { readMachine } from './read-machine.ts';
import type { FirstSeenDeadlines } from './first-seen-deadlines.ts';
import type { Recoveries } from './recoveries.ts';
import type { MachineFacts, Snapshot } from './snapshot.ts';

/** What a decision is made from, and the objects under whose versions it is carried out. */
export interface Observation {
  snapshot: Snapshot;
  objects: ReadObjects;
  /** status.nodeRef, whether that Node is there or not. */
  nodeName?: string;
  /** Nobody serves the host, and our hold does not stand on it: the Node is fenced instead. */
  byFence?: FenceSnapshot;
  /** Why nothing can be decided about this Machine. */
  blocked?: string;
}

export type Observer = Pick<
  MachineRemediationDependencies,
  'clock' | 'cluster' | 'hosts' | 'nodes' | 'fences' | 'volumesOn' | 'servesOutOfService' | 'stormHolds' | 'options'
> & {
  observations: HostObservations;
  life: LifeObservations;
  recoveries: Recoveries;
  deadlines: FirstSeenDeadlines;
  releases: OutOfServiceObservations;
};

/**
 * Reads everything about one Machine consistently. Rejects when something could not be read: then nothing is decided. `heldBy`: the host on which our hold stands
 * for it, as the watch has it.
 */
export async function observe(
  observer: Observer,
  { resource }: WatchedMachines,
  object: ClusterMachine,
  heldBy: () => BareMetalHost | undefined,
): Promise<Observation> {
  const { options } = observer;
  const { namespace = '' } = object.metadata;
  const machine = await machineFacts(observer, resource, object);
  const [host, node] = await Promise.all([hostObject(observer, machine), nodeObject(observer, object)]);
  const nodeName = object.status?.nodeRef?.name;
  const timesOutMs = observer.deadlines.leftUntilMs(machine);
  const left = host === undefined ? await leftHost(observer, heldBy) : undefined;
  const objects = new ReadObjects();
  objects.put({ ...machine, kind: 'Machine' }, object);
  if (host !== undefined) objects.put({ kind: 'BareMetalHost', ...placed(host) }, host);
  if (left !== undefined) objects.put({ kind: 'BareMetalHost', ...placed(left) }, left);
  if (node !== undefined) objects.put({ kind: 'Node', name: node.metadata.name }, node);
  const holds = await holdsOn(observer, nodeName, node);
  const snapshot: Snapshot = {
    ...now(observer),
    settings: options.settings,
    machine,
    ...(host !== undefined && { host: observer.observations.factsOf(host, HOLD) }),
    ...(left !== undefined && { leftHost: observer.observations.factsOf(left, HOLD) }),
    ...(node !== undefined && { node: nodeFacts(observer, node) }),
    ...(node !== undefined && host?.metadata.annotations?.[HOLD] !== undefined && (await volumesOf(observer, machine, node))),
    healthChecks: isDeadlineWanted(observer, machine, timesOutMs) ? await healthChecksOf(observer, resource, namespace) : [],
    holds: host?.metadata.annotations?.[HOLD] === undefined ? holds : besidesPreservation(holds),
    ...recovered(observer, machine, node),
    ...(timesOutMs !== undefined && { timesOutMs }),
  };
  const byFence = await fenceSnapshot(observer, snapshot, machine, nodeName);
  const isBegun = host?.metadata.annotations?.[HOLD] !== undefined || MARKS_OF_OURS.some((key) => machine.annotations[key] !== undefined);
  const blocked = misplacedBecause({ group: resource.group, machine: object, node, isBegun, nodes: observer.nodes.all() });
  return {
    snapshot,
    objects,
    ...(nodeName !== undefined && { nodeName }),
    ...(byFence !== undefined && { byFence }),
    ...(blocked !== undefined && { blocked }),
  };
}

/** A host on which our hold stands, and which none of our Machines names any more. `undefined`: another Machine has it, which may be new: then the hold is its own. */
export async function observeOrphan(observer: Observer, host: BareMetalHost): Promise<Observation | undefined> {
  const { cluster } = observer;
  if ((await consumerOf(cluster, host)) !== undefined) return undefined;
  const { name = '', namespace = host.metadata.namespace ?? '' } = host.spec?.consumerRef ?? {};
  const node = await nodeLeftBy(cluster, { namespace, name });
  const nodeName = node?.metadata.name;
  const stop = await activeStop(cluster, nodeName);
  const holds = stop === undefined ? [] : [{ reason: 'stop', message: stop, isStop: true }];
  const objects = new ReadObjects();
  objects.put({ kind: 'BareMetalHost', ...placed(host) }, host);
  if (node !== undefined) objects.put({ kind: 'Node', name: node.metadata.name }, node);
  const facts = { host: observer.observations.factsOf(host, HOLD), ...(node !== undefined && { node: nodeFacts(observer, node) }) };
  const snapshot = { ...now(observer), settings: observer.options.settings, ...facts, healthChecks: [], holds };
  return { snapshot, objects, ...(nodeName !== undefined && { nodeName }) };
}

function now({ clock, nodes, hosts }: Observer): Pick<Snapshot, 'nowMs' | 'monotonicMs' | 'nodesFreshSinceMs' | 'hostsFreshSinceMs'> {
  const [nowMs, monotonicMs] = [clock.wallMs(), clock.monotonicMs()];
  const [nodesMs, hostsMs] = [resumedAtMs(nodes), hosts && resumedAtMs(hosts)];
  return {
    nowMs,
    monotonicMs,
    ...(nodesMs !== undefined && { nodesFreshSinceMs: nowMs - (monotonicMs - nodesMs) }),
    ...(hostsMs !== undefined && { hostsFreshSinceMs: hostsMs }),
  };
}

function resumedAtMs({ resumedAtMs: atMs }: Lister<KubeObject>): number | undefined {
  return atMs !== undefined && Number.isFinite(atMs) ? atMs : undefined;
}

async function machineFacts({ cluster }: Observer, { group, version }: Resource, object: ClusterMachine): Promise<MachineFacts> {
  const infrastructure = group === CLUSTER_API_GROUP ? await metal3MachineOf(cluster, object) : undefined;
  return readMachine(object, `${group}/${version}`, infrastructure, await isClusterPaused(cluster, group, version, object));
}

async function isClusterPaused(cluster: Observer['cluster'], group: string, version: string, object: ClusterMachine): Promise<boolean> {
  const name = object.spec?.clusterName ?? object.metadata.labels?.[CLUSTER_NAME];
  const spoken = CLUSTER_API_VERSIONS.find((each) => each === version);
  if (group !== CLUSTER_API_GROUP || name === undefined || spoken === undefined) return false;
  const own = await cluster.get(apiClusters(spoken), name, object.metadata.namespace);
  return own?.spec?.paused === true;
}

/** Health checks say until when its Node may take, which is written once, and anew where part of that could not be heard; and whether its Machine goes then. */
function isDeadlineWanted(observer: Observer, { annotations }: MachineFacts, timesOutMs: number | undefined): boolean {
  const offMs = timeOf(annotations[POWERED_OFF]);
  const isUnobserved = offMs !== undefined && (now(observer).nodesFreshSinceMs ?? 0) > offMs;
  const isOver = timesOutMs !== undefined && observer.clock.monotonicMs() >= timesOutMs;
  return annotations[POWERED_OFF] !== undefined && (isUnobserved || isOver || timeOf(annotations[TIMES_OUT_AT]) === undefined);
}

async function hostObject({ cluster, hosts }: Observer, machine: MachineFacts): Promise<BareMetalHost | undefined> {
  const key = hosts === undefined ? undefined : hostKeyOfMachine(machine);
  return key === undefined ? undefined : cluster.get(BARE_METAL_HOSTS, key.name, key.namespace);
}

/** The host on which our hold stands, and which its Machine names no more. */
async function leftHost({ cluster }: Observer, heldBy: () => BareMetalHost | undefined): Promise<BareMetalHost | undefined> {
  const { name, namespace } = heldBy()?.metadata ?? {};
  return name === undefined ? undefined : cluster.get(BARE_METAL_HOSTS, name, namespace);
}

async function nodeObject({ cluster }: Observer, { status }: ClusterMachine): Promise<Node | undefined> {
  const name = status?.nodeRef?.name;
  return name === undefined ? undefined : cluster.get(NODES, name);
}

/** A fence that brought the Node back since it was asked for has done what was asked. Where nobody saw which was first, a Node that is Ready is left as it is. */
function recovered({ fences, recoveries }: Observer, machine: MachineFacts, node: Node | undefined): Pick<Snapshot, 'recoveredBy'> {
  const fence = node === undefined ? undefined : fences.get(fenceName(node.metadata.name));
  const isSince = fence !== undefined && recoveries.isSince(machine, fence);
  if (node === undefined || fence === undefined || isSince === false || !readNode(node).isReady) return {};
  const unsure = isSince === 'unseen' ? '; whether that was before it was asked for nobody saw: ask anew if it is still to be power-cycled' : '';
  return { recoveredBy: `NodeFence ${fence.metadata.name}${unsure}` };
}

function nodeFacts({ life }: Observer, node: Node): NonNullable<Snapshot['node']> {
  const lifeSeenMs = life.lastLifeMs(node.metadata.name);
  return { ...readNode(node), ...(lifeSeenMs !== undefined && { lifeSeenMs }) };
}

async function volumesOf(
  { volumesOn, servesOutOfService, releases }: Observer,
  { uid }: MachineFacts,
  node: Node,
): Promise<Pick<Snapshot, 'volumes'>> {
  const { metadata } = node;
  const { sinceMs, isRefused } = releases.see(uid, metadata.uid ?? '', isOutOfService(readNode(node)));
  const attached = volumesOn(metadata.name);
  if (attached === 0) return {};
  const isServed = isRefused !== true && (await servesOutOfService());
  return { volumes: { attached, servesOutOfService: isServed, ...(sinceMs !== undefined && { waitedSinceMs: sinceMs }) } };
}

function healthChecksOf({ cluster }: Observer, { group, version }: Resource, namespace: string): Promise<Snapshot['healthChecks']> {
  return readHealthChecks(cluster, machineHealthChecks(group, version), namespace);
}

/** What stops an off or a release now (P6, P10). */
async function holdsOn({ cluster, options, stormHolds }: Observer, nodeName: string | undefined, node: Node | undefined): Promise<HoldFact[]> {
  // What policies read of others is read meanwhile: until then they hold.
  if (nodeName !== undefined) stormHolds(nodeName);
  const stop = await activeStop(cluster, nodeName);
  const majority = node === undefined ? undefined : await controlPlaneHold(cluster, node);
  const isOwn = nodeName !== undefined && nodeName === options.ownNode;
  const storm = nodeName === undefined ? [] : stormHolds(nodeName);
  return [
    ...(stop === undefined ? [] : [{ reason: 'stop', message: stop, isStop: true }]),
    ...(isOwn ? [{ reason: OWN_NODE_REASON, message: `this controller runs on ${nodeName}: another replica has to lead`, isStop: false }] : []),
    ...(majority === undefined ? [] : [majority]),
    ...storm.map(({ reason, message }) => ({ reason, message, isStop: false })),
  ];
}

/** The NodeFence in its name decides, wherever it stands; else that of its Node. */
async function fenceSnapshot(
  { cluster, fences, hosts, observations, options }: Observer,
  { nowMs, settings, host, node, holds }: Snapshot,
  machine: MachineFacts,
  nodeName: string | undefined,
): Promise<FenceSnapshot | undefined> {
  const own = [...fences.all()].find(({ spec }) => spec.requestedBy?.uid === machine.uid);
  const isUnserved =
    hosts === undefined || (host !== undefined && host.annotations[HOLD] === undefined && isUnservedHost(observations, host, options));
  if (own === undefined && !isUnserved) return undefined;
  const name = own?.metadata.name ?? (nodeName === undefined ? undefined : fenceName(nodeName));
  const fence = name === undefined ? undefined : await cluster.get<NodeFence>(NODE_FENCES, name);
  // The watch may be late: it was let go already.
  if (!isUnserved && fence?.spec.requestedBy?.uid !== machine.uid) return undefined;
  const facts = fence === undefined ? {} : { fence: readFence(fence, ownerOf(fence) ?? 'nobody') };
  return { nowMs, settings, machine, holds, ...(node !== undefined && { node }), ...facts };
}

function isUnservedHost(observations: HostObservations, host: NonNullable<Snapshot['host']>, { hasOperator }: Observer['options']): boolean {
  return observations.isUnserved(host) && !hasOperator();
}

function placed({ metadata: { name, namespace } }: KubeObject): { name: string; namespace: string } {
  return { name, namespace: namespace ?? '' };
}
