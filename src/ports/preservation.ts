import { GROUP } from './resources.ts';

/** What preservation of machines (docs/preservation.md) tells the rest of the program. Implemented by src/controllers/preservation. */

/** Annotation on a Node: `spec.unschedulable` is preservation's own, and no sign that somebody works there. */
export const CORDON_BY_PRESERVATION = `${GROUP}/preserve-cordoned`;

export type PreservationCause = 'user' | 'automatic';

/** What the fence of a node must know; a view, not a write. */
export interface NodeGuard {
  node: string;
  /**
   * never-fence: healthy, preserved by `now`. isolate-and-hold: isolate, keep evidence, hold before power-management.
   * drop: Machine or Node is being deleted: the hold ends, nothing is powered on.
   */
  guard: 'never-fence' | 'isolate-and-hold' | 'drop';
  cause: PreservationCause;
  /** Wall clock. Absent: the period begins when the machine fails. */
  untilMs?: number;
}

/** One row of status and console. */
export interface PreservationView {
  /** A Machine, or a Node without one. */
  kind: 'Machine' | 'Node';
  name: string;
  namespace?: string;
  node?: string;
  pool?: string;
  /** As in the proposal: `Running:Preserved`, `Failed:Preserved`. */
  phase: string;
  isPreserved: boolean;
  cause?: PreservationCause;
  /** Wall clock. */
  expiryMs?: number;
  /** Why it is not what its owner may think, in words. */
  problem?: string;
}

/** Preservation as the fence controller sees it. */
export interface Preservation {
  /**
   * `undefined`: the node is not preserved. `unknown`: Machines have not been heard yet, or not for long, and nothing on the Node itself says: a fence may
   * isolate, and waits before power-management for as long as the implementation says so (it is bounded there).
   */
  guardOf(node: string): NodeGuard | 'unknown' | undefined;
  /** Is its machine preserved, healthy or not? Storm policies and status count it. */
  isPreserved(node: string): boolean;
  /** Called with the nodes whose guard may have changed. Returns the unsubscribe function. */
  onChange(listener: (nodes: readonly string[]) => void): () => void;
}
