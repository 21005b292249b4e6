import type { ObjectRef, Patch } from './actions.ts';
import { conditionIn } from './conditions.ts';
import { EXTERNAL_REMEDIATION, OWNER_REMEDIATED } from './names.ts';
import type { HealthCheck, MachineFacts, ObjectFacts, RequestFacts } from './snapshot.ts';
import type { ObservedMachine } from './observe.ts';
import type { Evaluation } from './evaluation.ts';

/** A machine under a check, with what was found. */
export interface Target extends ObservedMachine {
  evaluation: Evaluation;
}

export function refOf({ apiVersion, namespace, name, uid }: ObjectFacts, kind: string): ObjectRef {
  return { apiVersion, kind, namespace, name, uid };
}

export function patchOf({ uid, resourceVersion }: ObjectFacts, metadata: Record<string, unknown> = {}): Patch {
  return { metadata: { uid, ...(resourceVersion !== undefined && { resourceVersion }), ...metadata } };
}

/** The request that stands under its name was made for this very Machine. */
export function ownRequest({ subject: { machine }, request }: Target): RequestFacts | undefined {
  return request?.ownerUIDs.includes(machine.uid) === true ? request : undefined;
}

function isWithOwner({ conditions, paths }: MachineFacts): boolean {
  const list = paths.v1beta2 === undefined ? conditions.v1beta1 : conditions.v1beta2;
  return conditionIn(list, OWNER_REMEDIATED)?.status === 'False';
}

/** It has failed, and was handed to an owner that it does not have: nobody remediates it, until it is well again or somebody adopts it. */
function isWithNobody({ subject: { machine }, evaluation }: Target): boolean {
  return evaluation.kind === 'unhealthy' && !machine.hasController && isWithOwner(machine);
}

/** Somebody remediates it already, or was asked to. */
export function isInFlight(target: Target, check: HealthCheck): boolean {
  const { machine } = target.subject;
  if (target.otherCheck !== undefined || isWithNobody(target)) return false;
  if (check.template !== undefined) return ownRequest(target) !== undefined;
  if (check.annotatesMachines) return EXTERNAL_REMEDIATION in machine.annotations;
  return check.flavour === 'openshift' ? machine.isDeleting && target.evaluation.kind === 'unhealthy' : isWithOwner(machine);
}
