import { fenceName } from '../../domain/node-fence.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { NodeFenceRemediation } from '../../ports/remediation.ts';
import { NODE_FENCES } from '../../ports/resources.ts';
import { hostOf } from '../shared/baremetal-host/host-of.ts';
import { readHost } from '../shared/baremetal-host/read-host.ts';
import { ownerOf as fenceOwnerOf } from '../shared/claims/claim.ts';
import type { ObjectRef } from '../shared/remediation/actions.ts';
import { ownerOf } from '../shared/remediation/owner.ts';
import { placeOf } from '../shared/remediation/place.ts';
import type { Place } from '../shared/remediation/place.ts';
import { readNode } from '../shared/remediation/read-node.ts';
import type { RemediationDependencies } from './dependencies.ts';
import { readFence } from '../shared/claims/fence-facts.ts';
import { readRequest } from './read-request.ts';
import type { RequestFacts, Snapshot } from './snapshot.ts';
import { leftTarget, targetOf } from './target.ts';

/** What a decision is made from, and the objects under whose versions it is carried out. */
export interface Observation {
  snapshot: Omit<Snapshot, 'inFlight' | 'nodeSeenMs'>;
  objects: Map<string, KubeObject>;
  /** Where the node is fenced; absent: it names none, or its cluster is not needed. */
  place?: Place & { nodeName: string };
}

export function keyOf({ kind, namespace, name }: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** Reads everything about one request, but how many others are under way and what was seen before, consistently. Rejects when something could not be read: then nothing is decided. */
export async function observe(
  dependencies: RemediationDependencies,
  object: NodeFenceRemediation,
  identity: Pick<RequestFacts, 'apiVersion' | 'kind'>,
  phaseSeenMs: number,
): Promise<Observation> {
  const { clock, cluster } = dependencies;
  const owner = await ownerOf(cluster, object);
  const read = readRequest(object, identity);
  const isClusterPaused = typeof owner === 'object' && owner.isClusterPaused;
  const request = { ...read, isPaused: read.isPaused || isClusterPaused, phaseSeenMs };
  const machine = typeof owner === 'object' ? owner.facts : owner;
  const objects = new Map<string, KubeObject>([[keyOf(request), object]]);
  if (typeof owner === 'object') objects.set(keyOf({ ...owner.facts, kind: 'Machine' }), owner.object);
  const isRetired = request.settings.onExhaustion === 'Retire' && typeof owner === 'object';
  const host = isRetired ? await hostOf(cluster, owner.object, owner.facts.apiVersion) : undefined;
  if (host !== undefined) objects.set(keyOf({ kind: 'BareMetalHost', ...named(host) }), host);
  const target = machine === 'gone' ? leftTarget(request) : targetOf(request, machine);
  const base = { nowMs: clock.wallMs(), monotonicMs: clock.monotonicMs(), request, machine };
  const more = host === undefined ? {} : { host: readHost(host) };
  if (target === undefined) return { snapshot: { ...base, ...more }, objects };
  const known = { uid: request.uid, machine: typeof owner === 'object' ? owner.object : undefined };
  const isEnding = machine === 'gone' || request.isDeleting;
  const place = await placeOf(dependencies, target, known).catch((error: unknown) => {
    // The Node of a Machine that was replaced is gone, and with it what said that it was in this cluster.
    if (isEnding && hasNothingLeft(request)) return undefined;
    throw error;
  });
  if (place === undefined) {
    // With its Secret a cluster is gone, and what was begun in it.
    if (machine === 'gone' || (request.isDeleting && (request.phase === '' || hasNothingLeft(request))))
      return { snapshot: { ...base, ...more }, objects };
    return { snapshot: { ...base, ...more, lostNode: target.node }, objects };
  }
  const fence = await place.cluster.get(NODE_FENCES, fenceName(target.node));
  const facts = {
    ...(place.node !== undefined && { node: readNode(place.node) }),
    ...(fence !== undefined && { fence: readFence(fence, fenceOwnerOf(fence) ?? 'nobody') }),
  };
  return { snapshot: { ...base, ...more, ...facts }, objects, place: { ...place, nodeName: target.node } };
}

/** Its fence was withdrawn before it failed, or has brought the node back: nothing is to be taken back wherever the node was. */
function hasNothingLeft({ phase, settings }: Pick<RequestFacts, 'phase' | 'settings'>): boolean {
  return phase === 'Failed' ? settings.onExhaustion !== 'LeaveOff' : phase === 'Succeeded' && settings.strategy !== 'fence';
}

function named({ metadata: { name, namespace } }: KubeObject): { name: string; namespace: string } {
  return { name, namespace: namespace ?? '' };
}
