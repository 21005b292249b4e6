import type { StandingCondition } from '../domain/node-daemon/conditions.ts';

/** A condition as it is written to a Node. Times are RFC 3339. */
export interface PostedCondition {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastHeartbeatTime: string;
  lastTransitionTime: string;
}

/** The conditions of the daemon's own Node. Both reject as `Cluster` does. */
export interface NodeConditions {
  /** Those that stand there, by the right to write them alone. */
  standing(): Promise<StandingCondition[]>;
  /** Writes these, each by its type, and leaves all others as they are. */
  post(conditions: readonly PostedCondition[]): Promise<void>;
}
