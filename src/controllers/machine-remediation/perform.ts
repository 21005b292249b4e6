import { claim, releaseClaim } from '../shared/claims/claim.ts';
import type { Claimant } from '../shared/claims/claim.ts';
import type { LifeObservations } from '../shared/baremetal-host/life-observations.ts';
import { removeTaint, setTaint } from '../shared/baremetal-host/out-of-service.ts';
import { removeNode } from '../shared/baremetal-host/remove-node.ts';
import { Conflict } from '../shared/conflict.ts';
import type { ObjectRef } from '../shared/remediation/actions.ts';
import { resourceOf } from '../shared/remediation/resource-of.ts';
import { activeStop } from '../shared/stops.ts';
import type { Action } from './actions.ts';
import type { FenceAction } from './by-fence.ts';
import type { MachineRemediationDependencies } from './dependencies.ts';
import { HOLD } from './names.ts';
import type { Observation } from './observe.ts';

type Performer = Pick<MachineRemediationDependencies, 'cluster' | 'recorder' | 'stormHolds' | 'offsOnRequest'> & {
  life: LifeObservations;
  /** Who asks for offs, for OffsOnRequest. */
  by: string;
};

/** One action, under the uid and the version that it was decided for; its Event follows when the write has succeeded. Rejects with `Conflict` where it no longer fits. */
export async function perform(performer: Performer, observation: Observation, action: Action | FenceAction): Promise<void> {
  await write(performer, observation, action);
  const { event, target } = action;
  if (event === undefined) return;
  const { apiVersion, kind, ...metadata } = target;
  performer.recorder.event({ apiVersion, kind, metadata }, event.type, event.reason, event.message);
}

async function write(performer: Performer, { objects, nodeName }: Observation, action: Action | FenceAction): Promise<void> {
  const { cluster, recorder, life, stormHolds, offsOnRequest, by } = performer;
  const { target } = action;
  switch (action.kind) {
    case 'annotate':
      if (action.changes.some(({ key, to }) => key === HOLD && to !== undefined)) {
        await unlessStopped(cluster, nodeName);
        if (nodeName !== undefined) offsOnRequest.begin(by, nodeName, stormHolds);
      }
      await objects.annotate(cluster, action);
      return;
    case 'restore-node':
      await objects.restore(cluster, action);
      return;
    case 'taint':
      await (action.isPresent ? setTaint({ cluster, life }, action) : removeTaint(cluster, objects, action));
      return;
    case 'delete-node':
      await removeNode({ cluster, life }, target, action.proof);
      return;
    case 'delete-machine': {
      await unlessStopped(cluster, nodeName);
      const { resourceVersion } = objects.of(target).metadata;
      const { uid, namespace } = target;
      const precondition = { uid, ...(namespace !== undefined && { namespace }), ...(resourceVersion !== undefined && { resourceVersion }) };
      await cluster.remove(resourceOf(target), target.name, precondition);
      return;
    }
    case 'request-fence': {
      const outcome = await claim({ cluster, recorder }, action.node, claimantOf(target));
      if (outcome.kind === 'taken') throw new Conflict(`${outcome.by} has node ${action.node}`);
      return;
    }
    case 'withdraw-fence':
      await releaseClaim({ cluster }, action.node, claimantOf(target));
      return;
  }
}

/** The node was taken and its locks were asked for since it was looked at: once more before each off, and before a Machine goes (P6). */
async function unlessStopped(cluster: Performer['cluster'], nodeName: string | undefined): Promise<void> {
  const stop = await activeStop(cluster, nodeName);
  if (stop !== undefined) throw new Conflict(stop);
}

function claimantOf({ apiVersion, kind, namespace, name, uid }: ObjectRef): Claimant {
  return { apiVersion, kind, name, uid, ...(namespace !== undefined && { namespace }) };
}
