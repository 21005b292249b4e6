import { ISOLATION_ONLY } from './last-step.ts';
import type { Hold } from './node-fence.ts';

/** What a person has said, or is meant: nobody is alarmed. */
const KNOWN: ReadonlySet<string> = new Set(['stop', 'observe', ISOLATION_ONLY]);

/** A hold stands of which a person may not know. */
export function isWaiting(hold: Pick<Hold, 'policy'> | undefined): boolean {
  return hold !== undefined && !KNOWN.has(hold.policy);
}
