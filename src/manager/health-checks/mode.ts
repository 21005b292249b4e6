import type { Claim } from '../detection/ownership.ts';

/** `--health-checks`. */
export type HealthCheckChoice = 'auto' | 'own' | 'off';
export const HEALTH_CHECK_CHOICES: readonly HealthCheckChoice[] = ['auto', 'own', 'off'];
/** What the log says of whose MachineHealthChecks are; drills look for it. */
export const HEALTH_CHECK_MODE = 'health check mode';

/** One group of Machines with their MachineHealthChecks, as it is served. */
export interface ServedFamily {
  group: string;
  version: string;
  /** The kind Cluster is served beside. */
  hasClusters: boolean;
  /** See ServedAs. */
  hasBothLists: boolean;
}

/** Cluster API serves them otherwise, or OpenShift's machine-api-operator. */
export function healthCheckClaim(choice: HealthCheckChoice): Claim {
  const definition = { kind: 'MachineHealthCheck', flag: '--health-checks', choice };
  return { other: 'another controller', kinds: 'MachineHealthChecks and Machines', definition };
}
