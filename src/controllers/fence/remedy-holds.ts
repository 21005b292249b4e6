import { fenceName } from '../../domain/node-fence.ts';
import type { RemedyStage } from '../../domain/policies/remedied.ts';
import type { ActiveHold } from '../../domain/snapshot.ts';
import type { FenceDependencies } from './dependencies.ts';
import { guardOf } from './guard.ts';
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
  const isKept = guardOf(dependencies, node) !== undefined;
  return [
    ...(lease === undefined ? [] : [lease]),
    ...(isKept ? [{ policy: 'preserved', reason: 'preserved', message: 'its machine is preserved, or being deleted, or nobody can tell yet' }] : []),
    ...storm.holdsOnRemedy(node, stages),
  ];
}
