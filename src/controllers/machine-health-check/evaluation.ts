/** What the conditions HealthCheckSucceeded say of a failed check: those of v1beta2, and the deprecated ones of v1beta1. */
export interface Failure {
  reason: 'HasRemediateAnnotation' | 'UnhealthyMachine' | 'NodeDeleted' | 'NodeStartupTimeout' | 'UnhealthyNode';
  message: string;
  v1beta1Reason: 'HasRemediateMachineAnnotation' | 'UnhealthyMachine' | 'NodeNotFound' | 'NodeStartupTimeout' | 'UnhealthyNode';
  v1beta1Message: string;
}

export type Evaluation =
  | { kind: 'healthy' }
  /** `sinceMs`: when it became so, where that is known. */
  | { kind: 'unhealthy'; failure: Failure; sinceMs?: number }
  /** Will be unhealthy if nothing changes: to be looked at again at `dueMs`. */
  | { kind: 'pending'; dueMs: number }
  /** Neither: it has not come so far, or nothing may be concluded of it. `problem` is told. */
  | { kind: 'open'; problem?: string }
  /** Its Nodes can not be read: nothing is concluded of the whole check. */
  | { kind: 'unknown' };
