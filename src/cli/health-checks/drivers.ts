import type { ClusterAccess } from '../cluster-access.ts';
import type { Leader } from '../commands/leader.ts';
import { ownershipOf } from '../../manager/detection/ownership.ts';
import { findFamilies } from '../../manager/health-checks/found-families.ts';
import type { FoundFamily } from '../../manager/health-checks/found-families.ts';
import { healthCheckClaim } from '../../manager/health-checks/mode.ts';

type Saying = Pick<Leader, 'isAlive' | 'unread' | 'healthChecks'>;

/** Who drives the MachineHealthChecks that are served here, one sentence for each group, as the leading controller was started; nothing where none are. */
export async function healthCheckDrivers({ transport, clock }: Pick<ClusterAccess, 'transport' | 'clock'>, leader: Saying): Promise<string[]> {
  const families = await findFamilies(transport, clock.wallMs());
  return families.flatMap((facts) => (facts.served === undefined && facts.unpaired === undefined ? [] : [describeDriver(facts, leader)]));
}

/** `auto` where the leader does not say how it was started. */
export function describeDriver(facts: FoundFamily, { isAlive, unread, healthChecks: choice = 'auto' }: Saying): string {
  // One look: a Lease whose last renewal is old is not waited for.
  const leases = facts.leases.map((lease) => ({ ...lease, hasMoved: lease.hasMoved ?? false }));
  const { isOwn, reason } = ownershipOf(healthCheckClaim(choice), { ...facts, leases });
  const what = `MachineHealthChecks of ${facts.group} are`;
  if (!isOwn) return `${what} not driven by nodefence: ${reason}`;
  if (unread !== undefined) return `${what} driven by nodefence, if it leads: ${reason}`;
  return isAlive ? `${what} driven by nodefence: ${reason}` : `${what} driven by nobody, for no controller of nodefence leads`;
}
