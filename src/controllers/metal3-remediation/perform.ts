import type { KubeObject, Pod } from '../../ports/objects.ts';
import { PODS } from '../../ports/resources.ts';
import { removeTaint, setTaint } from '../shared/baremetal-host/out-of-service.ts';
import { removeNode } from '../shared/baremetal-host/remove-node.ts';
import { takePods } from '../shared/baremetal-host/take-pods.ts';
import { claim, releaseClaim } from '../shared/claims/claim.ts';
import type { Claimant } from '../shared/claims/claim.ts';
import { Conflict } from '../shared/conflict.ts';
import { timeOf, timeText } from '../shared/remediation/actions.ts';
import type { ObjectRef } from '../shared/remediation/actions.ts';
import { asksOwner } from '../shared/remediation/owner-machine.ts';
import { conditionsPatch, precondition } from '../shared/remediation/patch.ts';
import { activeStopAt } from '../shared/stops.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Metal3Remediation } from '../../ports/metal3.ts';
import type { Action } from './actions.ts';
import type { FenceAction } from './by-fence.ts';
import type { Metal3RemediationDependencies } from './dependencies.ts';
import type { Memory } from './memory.ts';
import { holdKeyOf, offOf, phaseText } from './names.ts';
import type { Observation } from './observe.ts';

type ActOf<K extends Action['kind']> = Extract<Action, { kind: K }>;

/** One action, under the uid and the version that it was decided for; its Event follows when the write has succeeded. Rejects with `Conflict` where it no longer fits. */
export async function perform(
  dependencies: Metal3RemediationDependencies,
  memory: Memory,
  observation: Observation,
  action: Action | FenceAction,
): Promise<void> {
  const { own } = dependencies;
  const { objects } = observation;
  switch (action.kind) {
    case 'annotate':
      if (isPowerOff(action, memory.uid)) {
        await unlessStopped(dependencies, observation);
        const { place } = observation;
        if (place?.isOwn === true) dependencies.offsOnRequest.begin(offOf(memory.uid), place.nodeName, dependencies.stormHolds);
      }
      await objects.annotate(own.cluster, action);
      break;
    case 'machine-conditions':
      if (asksOwner(action)) await unlessStopped(dependencies, observation);
      await objects.patch(own.cluster, action.target, (object) => conditionsPatch(object, action.lists), 'status');
      break;
    case 'finalizer':
      await objects.patch(own.cluster, action.target, (object) => finalizerPatch(object, action));
      break;
    case 'status':
      await objects.patch(own.cluster, action.target, (object) => statusPatch(object, action), 'status');
      break;
    case 'restore-node':
      await objects.restore(clusterOf(observation), action);
      break;
    case 'taint':
      if (action.isPresent) {
        await unlessStopped(dependencies, observation);
        await setTaint({ cluster: clusterOf(observation), life: memory.life }, action);
      } else {
        await removeTaint(clusterOf(observation), objects, action);
      }
      break;
    case 'request-fence':
      await requestFence(dependencies, observation, action.target);
      break;
    case 'withdraw-fence':
      await releaseClaim({ cluster: clusterOf(observation) }, nodeOf(observation), claimantOf(action.target));
      break;
    case 'delete-node':
      await unlessStopped(dependencies, observation);
      await removeNode({ cluster: clusterOf(observation), life: memory.life }, action.target, action.proof);
      break;
  }
  emit(dependencies, observation, action);
  if (action.kind === 'taint' && action.isPresent) {
    const { clock, podsOf } = dependencies;
    const cluster = clusterOf(observation);
    // The pods of another cluster are not watched from here.
    const listed = (node: string): Promise<Pod[]> => cluster.list(PODS, { fieldSelector: `spec.nodeName=${node}` });
    const taking = { cluster, clock, life: memory.life, podsOf: observation.place?.isOwn === true ? podsOf : listed };
    await takePods({ ...taking, unlessStopped: () => unlessStopped(dependencies, observation) }, action.target, action.proof);
  }
}

/** Is it our hold that is set here? */
function isPowerOff({ changes }: ActOf<'annotate'>, uid: string): boolean {
  return changes.some(({ key, to }) => key === holdKeyOf(uid) && to !== undefined);
}

/** Before each off, each release, and before an owner is asked to replace a Machine, in the turn before it is sent (P6). */
async function unlessStopped({ own }: Metal3RemediationDependencies, { place }: Observation): Promise<void> {
  const stop = await activeStopAt(own.cluster, place, place?.nodeName);
  if (stop !== undefined) throw new Conflict(stop);
}

function finalizerPatch(object: KubeObject, { finalizer, isPresent }: ActOf<'finalizer'>): object {
  const others = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer);
  return { metadata: { ...precondition(object), finalizers: isPresent ? [...others, finalizer] : others } };
}

function statusPatch(object: Metal3Remediation, { target, was, to }: ActOf<'status'>): object {
  const { phase = '', retryCount = 0, lastRemediated } = object.status ?? {};
  const isSame =
    phase === phaseText(target.apiVersion, was.phase) && retryCount === was.retryCount && timeOf(lastRemediated) === was.lastRemediatedMs;
  if (!isSame) throw new Conflict(`the status of ${object.metadata.name} is another`);
  const status = {
    phase: phaseText(target.apiVersion, to.phase),
    // The schema of Metal3 refuses 0.
    ...(to.retryCount > 0 && { retryCount: to.retryCount }),
    ...(to.lastRemediatedMs !== undefined && { lastRemediated: timeText(to.lastRemediatedMs) }),
  };
  return { metadata: precondition(object), status };
}

/** The fence controller of the cluster of the Node does the rest. Nobody reads Events about objects of another cluster. */
async function requestFence({ recorder }: Metal3RemediationDependencies, observation: Observation, target: ObjectRef): Promise<void> {
  const about = observation.place?.isOwn === true ? recorder : { event: () => undefined };
  const outcome = await claim({ cluster: clusterOf(observation), recorder: about }, nodeOf(observation), claimantOf(target));
  if (outcome.kind === 'taken') throw new Conflict(`${outcome.by} has node ${nodeOf(observation)}`);
}

function claimantOf({ apiVersion, kind, namespace, name, uid }: ObjectRef): Claimant {
  return { apiVersion, kind, name, uid, ...(namespace !== undefined && { namespace }) };
}

function nodeOf({ place }: Observation): string {
  return place?.nodeName ?? '';
}

function clusterOf({ place, snapshot }: Observation): Cluster {
  if (place === undefined) throw new Error(`${snapshot.remediation.name} is about no Node, and yet one is to be touched`);
  return place.cluster;
}

/** About the object that was written; where that is in another cluster, about the remediation, for nobody reads Events there. */
function emit(
  { recorder, remediations }: Metal3RemediationDependencies,
  { remediation, place, objects }: Observation,
  { kind, event, target }: Action | FenceAction,
): void {
  if (event === undefined) return;
  const isFar = target.kind === 'Node' && place?.isOwn !== true;
  const about = isFar || kind === 'delete-node' ? remediation : objects.of(target);
  const { group, version, kind: ownKind } = remediations.resource;
  const named = about === remediation ? { apiVersion: `${group}/${version}`, kind: ownKind } : { apiVersion: target.apiVersion, kind: target.kind };
  recorder.event({ ...named, metadata: about.metadata }, event.type, event.reason, event.message);
}
