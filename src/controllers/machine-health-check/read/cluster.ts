import { conditionOf } from '../conditions.ts';
import type { ConditionLists } from '../conditions.ts';
import { CONTROL_PLANE_INITIALIZED, INFRASTRUCTURE_READY } from '../names.ts';
import type { ClusterFacts, Gate, NodeFacts } from '../snapshot.ts';
import type { Node } from '../../../ports/objects.ts';
import { conditionsOf, headerOf, loosely, pathsOf, present, timeOf } from './objects.ts';
import type { UntypedObject } from '../../../ports/cluster-api.ts';

function gateOf(lists: ConditionLists, type: string, otherwise: boolean): Gate {
  const condition = conditionOf(lists, type);
  if (condition === undefined) return { isTrue: otherwise };
  const isTrue = condition.status === 'True';
  return { isTrue, ...(isTrue && present('sinceMs', timeOf(condition.lastTransitionTime))) };
}

export function readCluster(object: UntypedObject): ClusterFacts {
  const header = headerOf(object);
  const lists = conditionsOf(object.status, pathsOf(header.apiVersion, { hasBothLists: true }));
  const status = loosely(object.status);
  return {
    ...header,
    isPaused: loosely(object.spec).raw('paused') === true,
    controlPlaneInitialized: gateOf(lists, CONTROL_PLANE_INITIALIZED, status.child('initialization').raw('controlPlaneInitialized') === true),
    infrastructureReady: gateOf(
      lists,
      INFRASTRUCTURE_READY,
      status.raw('infrastructureReady') === true || status.child('initialization').raw('infrastructureProvisioned') === true,
    ),
  };
}

export function readNode({ metadata, status }: Pick<Node, 'metadata'> & Partial<Pick<Node, 'status'>>): NodeFacts {
  const conditions = (status?.conditions ?? []).map(({ type, status: is, reason = '', lastTransitionTime }) => ({
    type,
    status: is,
    reason,
    sinceMs: timeOf(lastTransitionTime) ?? 0,
  }));
  return { name: metadata.name, conditions };
}

/** Nothing has changed that a check looks at. */
export function isSameNode(one: NodeFacts | undefined, other: NodeFacts | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
