import type { Lease } from '../../ports/objects.ts';
import { LEADER_MODE } from '../composition.ts';

/** One that only observes is in nobody's way; one that does not say what it does may act. */
export function doesAct({ metadata }: Lease): boolean {
  return metadata.annotations?.[LEADER_MODE] !== 'observe';
}
