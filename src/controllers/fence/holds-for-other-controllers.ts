import { fenceName } from '../../domain/node-fence.ts';
import { preservationHoldOnRequest } from '../../domain/preservation.ts';
import type { RemedyStage } from '../../domain/policies/remedied.ts';
import type { Plan } from '../../domain/plan.ts';
import type { ActiveHold } from '../../domain/snapshot.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { FenceDependencies } from './dependencies.ts';
import { guardOf } from './guard.ts';
import { ownOffHolds } from './handover/own-off.ts';
import type { NodeObservation } from './observation.ts';
import type { Storm } from './storm/storm.ts';

/** Why no remedy of this node may begin, where these nodes have remedies. */
export function holdsOnRemedy(
  dependencies: FenceDependencies,
  storm: Pick<Storm, 'holdsOnRemedy'>,
  node: string,
  stages: ReadonlyMap<string, RemedyStage>,
): readonly ActiveHold[] {
  const { nodeLeases, listers } = dependencies;
  const lease = nodeLeases?.holdOn(node, listers.fences.get(fenceName(node))?.spec.requestedBy);
  const guard = guardOf(dependencies, node);
  // One that is being deleted has no remedy, whatever its plan says.
  const isKept = guard !== undefined && (guard.kind === 'drop' || planOf(dependencies, node)?.preserved !== 'ignore');
  return [
    ...(lease === undefined ? [] : [lease]),
    ...(isKept ? [{ policy: 'preserved', reason: 'preserved', message: 'its machine is preserved, or being deleted, or nobody can tell yet' }] : []),
    ...storm.holdsOnRemedy(node, stages, dependencies.offsOnRequest?.all),
  ];
}

/** What this process knows of the fence of a node. */
interface Known {
  fence: NodeFence | undefined;
  seen: NodeObservation | undefined;
}

/** Why a machine may not be switched off on request, without a NodeFence. What somebody asked for does not wait for the grace of a new leader. */
export function holdsOnRequest(
  dependencies: Pick<FenceDependencies, 'options' | 'clock' | 'preservation' | 'listers' | 'planner' | 'offsOnRequest'>,
  storm: Pick<Storm, 'holdsOnRequest'>,
  node: string,
  knownOf: (node: string) => Known,
): readonly ActiveHold[] {
  const { options, clock } = dependencies;
  const stormHolds = storm.holdsOnRequest(node, dependencies.offsOnRequest?.all).filter(({ reason }) => reason !== 'startup-grace');
  const holds = [...preservedOnRequest(dependencies, node), ...stormHolds];
  if (options.ownNode === undefined || options.ownNode === node) return holds;
  const { fence, seen } = knownOf(options.ownNode);
  return fence === undefined ? holds : [...holds, ...ownOffHolds(fence, seen?.since(fence.status) ?? {}, clock.monotonicMs())];
}

function preservedOnRequest(
  dependencies: Pick<FenceDependencies, 'clock' | 'preservation' | 'listers' | 'planner'>,
  node: string,
): readonly ActiveHold[] {
  const guard = guardOf(dependencies, node);
  const hold = guard && preservationHoldOnRequest(guard, planOf(dependencies, node));
  return hold === undefined ? [] : [hold];
}

function planOf({ listers, planner }: Pick<FenceDependencies, 'listers' | 'planner'>, node: string): Plan | undefined {
  const known = listers.nodes.get(node);
  return known && planner.planFor(known);
}
