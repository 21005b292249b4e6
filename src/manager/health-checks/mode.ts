import { doubtsOf } from '../../config/other-controller.ts';
import type { OtherFacts } from '../../config/other-controller.ts';

/** `--health-checks`. */
export type HealthCheckChoice = 'auto' | 'own' | 'off';
export const HEALTH_CHECK_CHOICES: readonly HealthCheckChoice[] = ['auto', 'own', 'off'];

/** One group of Machines with their MachineHealthChecks, as it is served. */
export interface ServedFamily {
  group: string;
  version: string;
  /** The kind Cluster is served beside. */
  hasClusters: boolean;
  /** See ServedAs. */
  hasBothLists: boolean;
}

/** What was found of one group, and of whoever serves it otherwise: Cluster API, or OpenShift's machine-api-operator. */
export interface FamilyFacts extends OtherFacts {
  /** undefined: its MachineHealthChecks, or its Machines, are not served. */
  served: ServedFamily | undefined;
  /** The definition of MachineHealthCheck is ours. */
  isOurs: boolean;
}

export interface FamilyMode {
  isOwn: boolean;
  /** Why, in words. */
  reason: string;
}

/** Ours only where no other controller can be at work; off wherever that is in doubt: two who remediate one machine may power it off twice. */
export function detectFamily(choice: HealthCheckChoice, facts: FamilyFacts): FamilyMode {
  const off = (reason: string): FamilyMode => ({ isOwn: false, reason });
  if (choice === 'off') return off('--health-checks off');
  if (facts.served === undefined) return off('no MachineHealthChecks and Machines are served');
  const doubts = doubtsOf('another controller', facts);
  if (doubts.length > 0) return off(doubts.join('; '));
  if (choice === 'own') return { isOwn: true, reason: '--health-checks own, and no sign of another controller' };
  return facts.isOurs
    ? { isOwn: true, reason: 'the MachineHealthCheck definition is ours, and no sign of another controller' }
    : off('the MachineHealthCheck definition is not ours, so its controller may come back: --health-checks own says that none will');
}
