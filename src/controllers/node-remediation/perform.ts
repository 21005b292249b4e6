import { TAKEN_UP_AS } from '../../domain/restored.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { Recorder } from '../../ports/recorder.ts';
import type { NodeFenceRemediation, NodeFenceRemediationStatus } from '../../ports/remediation.ts';
import { claim, releaseClaim } from '../shared/claims/claim.ts';
import type { Claimant } from '../shared/claims/claim.ts';
import { leftAttached } from '../shared/attached-volumes.ts';
import { Conflict } from '../shared/conflict.ts';
import { timeOf } from '../shared/remediation/actions.ts';
import type { ObjectRef } from '../shared/remediation/actions.ts';
import { annotationsPatch, conditionsPatch, precondition } from '../shared/remediation/patch.ts';
import { asksOwner } from '../shared/remediation/owner-machine.ts';
import { resourceOf } from '../shared/remediation/resource-of.ts';
import { activeStopAt } from '../shared/stops.ts';
import type { Action, RequestStatus } from './actions.ts';
import type { RemediationDependencies } from './dependencies.ts';
import { TIMED_OUT } from './names.ts';
import { removeNode } from './node-removal.ts';
import type { LeaseObservations } from './node-removal.ts';
import { keyOf } from './observe.ts';
import type { Observation } from './observe.ts';
import { remediationEvent, requestRef } from './status.ts';
import { targetOf } from './target.ts';

type ActOf<K extends Action['kind']> = Extract<Action, { kind: K }>;

/** Nobody reads Events about objects of another cluster here. */
const SILENT: Recorder = { event: () => undefined };

/** One action, under the uid and the version that it was decided for; its Event follows when the write has succeeded. Rejects with `Conflict` where it no longer fits. */
export async function perform(
  dependencies: RemediationDependencies,
  leases: LeaseObservations,
  observation: Observation,
  action: Action,
): Promise<void> {
  switch (action.kind) {
    case 'annotate':
      await patch(dependencies, observation, action.target, (object) => annotationsPatch(object, action.changes));
      break;
    case 'machine-conditions':
      if (asksOwner(action)) await unlessStopped(dependencies, observation);
      await patch(dependencies, observation, action.target, (object) => conditionsPatch(object, action.lists), 'status');
      break;
    case 'finalizer':
      await patch(dependencies, observation, action.target, (object) => finalizerPatch(object, action));
      break;
    case 'status':
      await patch(dependencies, observation, action.target, (object) => statusPatch(object, action), 'status');
      break;
    case 'request-fence':
      await requestFence(dependencies, observation, action);
      break;
    case 'withdraw-fence':
      await releaseClaim({ cluster: placeIn(observation).cluster }, placeIn(observation).nodeName, claimantOf(action.target));
      break;
    case 'delete-node':
      await deleteNode(dependencies, leases, observation, action);
      break;
  }
  emit(dependencies, observation, action);
}

/** Rejects while a person's stop stands, loudly: whoever owns the Machine would take it down (P6). */
async function unlessStopped({ cluster }: RemediationDependencies, { place, snapshot: { request, machine } }: Observation): Promise<void> {
  const node = place?.nodeName ?? targetOf(request, machine)?.node;
  const stop = await activeStopAt(cluster, place, node);
  if (stop !== undefined) throw new Error(`the owner of its machine is not asked to replace it: ${stop}`);
}

async function deleteNode(
  dependencies: RemediationDependencies,
  leases: LeaseObservations,
  observation: Observation,
  action: ActOf<'delete-node'>,
): Promise<void> {
  const { clock, proofReader } = dependencies;
  const { cluster, isOwn } = placeIn(observation);
  const unlessTakenBack = (): Promise<void> => unlessGivenUp(dependencies.cluster, requestRef(observation.snapshot.request));
  const attached = await removeNode({ clock, cluster, unlessTakenBack, ...(isOwn && { reader: proofReader }) }, action, leases);
  if (attached === 0) return;
  const message = `node ${action.target.name} is deleted while ${leftAttached(attached)}`;
  const event = remediationEvent('Stalled', message);
  dependencies.log.warn('remediation problem', { problem: message });
  emit(dependencies, observation, { ...action, target: requestRef(observation.snapshot.request), event });
}

/** Whoever takes it back, or gives it up, before its Node is gone has the node brought back. */
async function unlessGivenUp(cluster: RemediationDependencies['cluster'], ref: ObjectRef): Promise<void> {
  const found = await cluster.get(resourceOf(ref), ref.name, ref.namespace);
  const { uid, deletionTimestamp, annotations = {} } = found?.metadata ?? {};
  if (uid !== ref.uid || deletionTimestamp !== undefined || annotations[TIMED_OUT] !== undefined) {
    throw new Conflict(`${keyOf(ref)} asks for it no more`);
  }
}

async function patch(
  { cluster }: RemediationDependencies,
  { objects }: Observation,
  target: ObjectRef,
  bodyOf: (object: KubeObject) => object,
  subresource?: 'status',
): Promise<void> {
  const object = objects.get(keyOf(target));
  if (object === undefined || object.metadata.uid !== target.uid) throw new Conflict(`${keyOf(target)} is gone, or another one has its name`);
  const { namespace } = target;
  const options = { ...(namespace !== undefined && { namespace }), ...(subresource !== undefined && { subresource }) };
  objects.set(keyOf(target), await cluster.mergePatch(resourceOf(target), target.name, bodyOf(object), options));
}

function finalizerPatch(object: KubeObject, { finalizer, isPresent, annotations }: ActOf<'finalizer'>): object {
  const others = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer);
  if (!isPresent) return { metadata: { ...precondition(object), finalizers: others } };
  // In one write with the finalizer: a backup of it asks for nothing.
  return {
    metadata: { ...precondition(object), finalizers: [...others, finalizer], annotations: { ...annotations, [TAKEN_UP_AS]: object.metadata.uid } },
  };
}

function statusPatch(object: NodeFenceRemediation, { was, to }: ActOf<'status'>): object {
  const { phase = '', retryCount = 0, lastRemediated } = object.status ?? {};
  const isSame = phase === was.phase && retryCount === was.retryCount && timeOf(lastRemediated) === was.lastRemediatedMs;
  if (!isSame) throw new Conflict(`the status of ${object.metadata.name} is another`);
  return { metadata: precondition(object), status: statusOf(to) };
}

/** Members that are not there are taken away. */
function statusOf({
  phase,
  retryCount,
  lastRemediatedMs,
  nodeFence,
  conditions,
}: RequestStatus): Readonly<Record<keyof NodeFenceRemediationStatus, unknown>> {
  return {
    phase: phase === '' ? null : phase,
    retryCount,
    lastRemediated: lastRemediatedMs === undefined ? null : new Date(lastRemediatedMs).toISOString(),
    nodeFenceRef: nodeFence === undefined ? null : { name: nodeFence },
    conditions,
  };
}

async function requestFence(
  { recorder }: RemediationDependencies,
  observation: Observation,
  { target, node, ending, nodeRemoval }: ActOf<'request-fence'>,
): Promise<void> {
  const { cluster, isOwn } = placeIn(observation);
  const asked = { joinsHeld: true as const, ...(ending !== undefined && { ending }), ...(nodeRemoval === 'None' && { release: 'none' as const }) };
  const outcome = await claim({ cluster, recorder: isOwn ? recorder : SILENT }, node, claimantOf(target), asked);
  if (outcome.kind === 'taken') throw new Conflict(`${outcome.by} has node ${node}`);
}

function claimantOf({ apiVersion, kind, namespace, name, uid }: ObjectRef): Claimant {
  return { apiVersion, kind, name, uid, ...(namespace !== undefined && { namespace }) };
}

function placeIn({ place, snapshot }: Observation): NonNullable<Observation['place']> {
  if (place === undefined) throw new Error(`${snapshot.request.name} names no node, and yet one is to be touched`);
  return place;
}

/** About the object that was written, or, where that is in another cluster or is gone by now, about the request. */
function emit({ recorder }: RemediationDependencies, { objects, snapshot: { request } }: Observation, { event, target }: Action): void {
  if (event === undefined) return;
  const isHere = objects.has(keyOf(target));
  const { apiVersion, kind } = isHere ? target : request;
  const about = objects.get(keyOf(isHere ? target : request));
  if (about !== undefined) recorder.event({ apiVersion, kind, metadata: about.metadata }, event.type, event.reason, event.message);
}
