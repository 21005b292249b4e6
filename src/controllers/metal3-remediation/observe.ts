import { fenceName } from '../../domain/node-fence.ts';
import { BARE_METAL_HOSTS } from '../../ports/metal3.ts';
import type { BareMetalHost, Metal3Remediation } from '../../ports/metal3.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { NODE_FENCES } from '../../ports/resources.ts';
import { HOST_ANNOTATION } from '../shared/baremetal-host/host.ts';
import { metal3MachineOf } from '../shared/baremetal-host/host-of.ts';
import { ReadObjects } from '../shared/baremetal-host/write.ts';
import { ownerOf as fenceOwnerOf } from '../shared/claims/claim.ts';
import { readFence } from '../shared/claims/fence-facts.ts';
import { besidesPreservation } from '../shared/remediation/actions.ts';
import { ownerOf } from '../shared/remediation/owner.ts';
import type { Owner } from '../shared/remediation/owner.ts';
import type { SeenFence } from './by-fence.ts';
import { hostNameOf } from './decide.ts';
import type { Metal3RemediationDependencies } from './dependencies.ts';
import type { Memory } from './memory.ts';
import { holdKeyOf } from './names.ts';
import { mayBeTainted, nobodySide, nodeSide } from './node-side.ts';
import type { NodeSide } from './node-side.ts';
import { readRemediation } from './read-remediation.ts';
import { hasFinalizer, isHeldUp, isPhaseOver } from './situation.ts';
import type { RemediationFacts, Snapshot } from './snapshot.ts';

/** What a decision is made from, and the objects under whose versions it is carried out. */
export interface Observation {
  snapshot: Snapshot;
  objects: ReadObjects;
  /** For events about what is not here. */
  remediation: KubeObject;
  place?: NodeSide['place'];
  /** Nobody serves the host, or a NodeFence stands in the name of this remediation already: its Node is fenced. `fence`: that of its Node, whosever. */
  byFence?: { fence: SeenFence | undefined };
}

/**
 * Reads everything about one remediation consistently. Rejects when something could not be read: then nothing is decided. `isFull`: as many hosts are
 * power-cycled as may be.
 */
export async function observe(
  dependencies: Metal3RemediationDependencies,
  object: Metal3Remediation,
  memory: Memory,
  isFull: boolean,
): Promise<Observation> {
  const { clock, own, remediations } = dependencies;
  const apiVersion = `${remediations.resource.group}/${remediations.resource.version}`;
  const owner = await ownerOf(own.cluster, object);
  const isClusterPaused = typeof owner === 'object' && owner.isClusterPaused;
  const known = readRemediation(object, apiVersion, { hasOwner: owner !== 'none', isClusterPaused, phaseSeenMs: memory.phaseSeenMs(object) });
  const { object: nodeObject, place, holds, ...side } = await sideOf(dependencies, object, known, owner, memory);
  // Its phase begins anew where the cluster of the Node is heard again only now.
  const remediation = { ...known, phaseSeenMs: memory.phaseSeenMs(object) };
  memory.nodeName = place?.isOwn === true ? place.nodeName : undefined;
  // Only now the host: what is heard of the Node has been read before it is seen off.
  const { host, infrastructure } = await hostSide(dependencies, remediation, owner);
  memory.hostKey = host === undefined ? undefined : `${host.metadata.namespace ?? ''}/${host.metadata.name}`;
  const objects = new ReadObjects();
  objects.put({ ...remediation, kind: object.kind ?? 'Metal3Remediation' }, object);
  if (typeof owner === 'object') objects.put({ ...owner.facts, kind: 'Machine' }, owner.object);
  if (host !== undefined) objects.put({ ...named(host), kind: 'BareMetalHost' }, host);
  if (nodeObject !== undefined) objects.put({ kind: 'Node', name: nodeObject.metadata.name }, nodeObject);
  const snapshot: Snapshot = {
    nowMs: clock.wallMs(),
    monotonicMs: clock.monotonicMs(),
    remediation,
    machine: typeof owner === 'object' ? owner.facts : 'gone',
    ...side,
    holds: isHeldOff(host, remediation) ? besidesPreservation(holds) : holds,
    canReadBmc: false,
    ...(infrastructure !== undefined && { infrastructure: named(infrastructure) }),
    ...(host !== undefined && { host: memory.hosts.factsOf(host, holdKeyOf(remediation.uid)) }),
  };
  const byFence = await fenceSide(dependencies, snapshot, place, memory, isFull);
  // Behind a hold its phase has the time that it had left.
  const told = { ...snapshot, remediation: { ...remediation, phaseSeenMs: memory.phaseSeenMs(object) } };
  return { snapshot: told, objects, remediation: object, ...(place !== undefined && { place }), ...(byFence !== undefined && { byFence }) };
}

async function fenceSide(
  { served, options }: Metal3RemediationDependencies,
  snapshot: Snapshot,
  place: NodeSide['place'],
  memory: Memory,
  isFull: boolean,
): Promise<Observation['byFence']> {
  const { remediation, host } = snapshot;
  // No fence is asked for where our hold stands, and what can not be read of one leaves no host off.
  const isHeld = host?.annotations[holdKeyOf(remediation.uid)] !== undefined;
  const found = place === undefined || isHeld ? undefined : await place.cluster.get(NODE_FENCES, fenceName(place.nodeName));
  const facts = found === undefined ? undefined : readFence(found, fenceOwnerOf(found) ?? 'nobody');
  const isOwn = facts?.requestedByUID === remediation.uid;
  memory.held(isOwn ? facts.heldBecause !== undefined : isHeldUp(snapshot, isFull));
  const fence = facts === undefined ? undefined : { ...facts, seenMs: memory.fenceSeenMs(facts.uid) };
  if (isOwn) return { fence };
  return host !== undefined && !isHeld && served.isUnserved(host) && !options.hasOperator() ? { fence } : undefined;
}

/**
 * A cluster that can not be asked may be on the very machine that is held off: once the phase is over, the way back goes on without it, unless our taint may
 * stand there. Nothing is begun, and nothing released, without it.
 */
async function sideOf(
  dependencies: Metal3RemediationDependencies,
  object: Metal3Remediation,
  remediation: RemediationFacts,
  owner: Owner | 'none' | 'gone',
  memory: Memory,
): Promise<NodeSide> {
  try {
    const side = await nodeSide(dependencies, object, owner, memory);
    memory.phase.answered();
    return side;
  } catch (error) {
    const age = { monotonicMs: dependencies.clock.monotonicMs(), remediation };
    if (!hasFinalizer(remediation) || mayBeTainted(remediation.annotations) || !isPhaseOver(age, remediation.settings.powerOffTimeoutMs)) throw error;
    const nodeName = typeof owner === 'object' ? owner.facts.nodeName : undefined;
    return { ...(await nobodySide(dependencies, nodeName)), node: 'unknown' };
  }
}

/** The host that the Metal3Machine names; where that is gone, the one with our hold. */
async function hostSide(
  { own: { cluster }, hosts }: Metal3RemediationDependencies,
  remediation: RemediationFacts,
  owner: Owner | 'none' | 'gone',
): Promise<{ host?: BareMetalHost; infrastructure?: KubeObject }> {
  const infrastructure = typeof owner === 'object' ? await metal3MachineOf(cluster, owner.object) : undefined;
  const key = hostNameOf(infrastructure?.metadata.annotations?.[HOST_ANNOTATION], infrastructure?.metadata.namespace ?? remediation.namespace);
  const host = key === undefined ? await heldHost({ cluster, hosts }, remediation) : await cluster.get(BARE_METAL_HOSTS, key.name, key.namespace);
  return { ...(host !== undefined && { host }), ...(infrastructure !== undefined && { infrastructure }) };
}

async function heldHost(
  { cluster, hosts }: { cluster: Metal3RemediationDependencies['own']['cluster']; hosts: Metal3RemediationDependencies['hosts'] },
  remediation: RemediationFacts,
): Promise<BareMetalHost | undefined> {
  if (!hasFinalizer(remediation)) return undefined;
  if (!hosts.synced) throw new Error('the BareMetalHosts are not read yet');
  const key = holdKeyOf(remediation.uid);
  for (const { metadata } of hosts.all()) {
    if (metadata.annotations?.[key] !== undefined) return cluster.get(BARE_METAL_HOSTS, metadata.name, metadata.namespace);
  }
  return undefined;
}

/** Our hold stands on it. */
function isHeldOff(host: BareMetalHost | undefined, { uid }: RemediationFacts): boolean {
  return host?.metadata.annotations?.[holdKeyOf(uid)] !== undefined;
}

function named({ metadata: { name, namespace } }: KubeObject): { name: string; namespace: string } {
  return { name, namespace: namespace ?? '' };
}
