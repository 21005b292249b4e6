import { signsOf } from '../../config/preservation-mode.ts';
import type { ManagerDeployment, ManagerLease } from '../../config/preservation-mode.ts';

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

/** What was found of one group. */
export interface FamilyFacts {
  nowMs: number;
  /** undefined: its MachineHealthChecks, or its Machines, are not served. */
  served: ServedFamily | undefined;
  /** The definition of MachineHealthCheck is ours. */
  isOurs: boolean;
  /** Of whoever serves MachineHealthChecks otherwise: Cluster API, or OpenShift's machine-api-operator. */
  leases: readonly ManagerLease[];
  deployments: readonly ManagerDeployment[];
  /** What could not be looked at, with the right that is missing. */
  unseen: readonly string[];
  /** How long no sign of another controller has been seen; undefined: there never was one. */
  quietForMs?: number;
}

export interface FamilyMode {
  isOwn: boolean;
  /** Why, in words. */
  reason: string;
}

/** A controller that ends and comes back within this time would meet us. */
const QUIET_MS = 10 * 60_000;

/** What shows that another controller serves them, each in words; empty: nothing does. */
export function signsOfOther({ nowMs, leases, deployments }: FamilyFacts): string[] {
  return signsOf({ nowMs, leases, deployments, machines: [], unseen: [], isServed: true, isReadable: true });
}

/** Ours only where no other controller can be at work; off wherever that is in doubt: two who remediate one machine may power it off twice. */
export function detectFamily(choice: HealthCheckChoice, facts: FamilyFacts): FamilyMode {
  const off = (reason: string): FamilyMode => ({ isOwn: false, reason });
  if (choice === 'off') return off('--health-checks off');
  if (facts.served === undefined) return off('no MachineHealthChecks and Machines are served');
  const signs = signsOfOther(facts);
  if (signs.length > 0) return off(signs.join('; '));
  if (facts.quietForMs !== undefined && facts.quietForMs < QUIET_MS) {
    const minutes = Math.floor(facts.quietForMs / 60_000);
    return off(`another controller was at work until ${minutes} min ago; its part is taken over after 10 min without a sign`);
  }
  if (facts.unseen.length > 0) return off(`it is not known whether another controller is at work: ${facts.unseen.join('; ')}`);
  const unsure = facts.leases.find(({ holder, hasMoved }) => holder !== '' && hasMoved === undefined);
  if (unsure !== undefined) return off(`whether Lease ${unsure.namespace}/${unsure.name} is still renewed, a second look will tell`);
  if (choice === 'own') return { isOwn: true, reason: '--health-checks own, and no sign of another controller' };
  return facts.isOurs
    ? { isOwn: true, reason: 'the MachineHealthCheck definition is ours, and no sign of another controller' }
    : off('the MachineHealthCheck definition is not ours, so its controller may come back: --health-checks own says that none will');
}
