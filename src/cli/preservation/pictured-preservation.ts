import type { NodeGuard, Preservation } from '../../ports/preservation.ts';
import type { PreservationPicture } from './picture.ts';

/** What a fence would be told of its node by the controller, at the moment of the picture. */
export function picturedPreservation({ decision }: PreservationPicture): Preservation {
  const guards = new Map(decision.guards.map((guard) => [guard.node, guard]));
  const kept = new Set(decision.views.flatMap(({ isPreserved, node }) => (isPreserved && node !== undefined ? [node] : [])));
  return {
    guardOf: (node) => guards.get(node),
    isPreserved: (node) => kept.has(node),
    onChange: () => () => undefined,
  };
}

const GUARDS: Readonly<Record<NodeGuard['guard'], string>> = {
  'never-fence': 'it is preserved and healthy: it is not fenced',
  'isolate-and-hold': 'it is preserved: a fence isolates it, and is then held before power-management',
  drop: 'its Machine or Node is being deleted: nothing holds its fence, and nothing is switched on again',
};

/** The guard in words: what it means, on whose behalf, until when. */
export function describeGuard(guard: NodeGuard | undefined): string {
  if (guard === undefined) return 'nothing: its machine is not preserved';
  const by = guard.cause === 'user' ? 'on request' : 'automatically';
  const until = guard.untilMs === undefined ? '' : `, until ${new Date(guard.untilMs).toISOString()}`;
  return `${GUARDS[guard.guard]} (${by}${until})`;
}
