import { otherInstallationNow } from '../../controllers/self-check/other-installation.ts';
import { definitionFaults, missingRights, refusedOf } from '../../controllers/self-check/questions.ts';
import type { Fault } from '../../controllers/self-check/questions.ts';
import type { Need } from '../../controllers/self-check/rights.ts';
import { CONTROLLER_ACCOUNT } from '../../manifests/access.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Lease } from '../../ports/objects.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { leaderOf } from '../commands/leader.ts';
import { LEADER_LEASE } from '../../manager/composition.ts';
import { doesAct } from '../../manager/self-check/does-act.ts';
import { orUndefined } from '../validate/permitted.ts';
import { ApiServerCheck } from '../../manager/self-check/api-server.ts';
import { installedFor } from '../../manager/self-check/installed.ts';

type Access = Pick<ClusterAccess, 'transport' | 'namespace'>;

/** And whether another installation came first, told at one look. */
export async function activeFaults(access: Pick<ClusterAccess, 'transport' | 'namespace' | 'cluster' | 'clock'>): Promise<Fault[]> {
  const { cluster, namespace, clock } = access;
  const isLive = (lease: Lease): boolean => leaderOf(lease, clock.wallMs()).isAlive;
  const other = otherInstallationNow({ cluster, namespace, leaseName: LEADER_LEASE, acts: doesAct }, isLive);
  const faults = await Promise.all([installationFaults(access), orUndefined(other)]);
  return faults.flatMap((found) => found ?? []);
}

/** What the self-check of the controllers would find in the definitions, seen with the caller's own rights; what he may not read is not told. */
async function installationFaults({ transport, namespace }: Access): Promise<Fault[]> {
  const server = new ApiServerCheck(transport);
  const installed = installedFor({ namespace, remediation: true, healthChecks: 'auto', metal3Remediation: 'auto' });
  const faults = await Promise.all(installed.flatMap((part) => part.kinds.map((kind) => definitionFaults(server, kind, part))));
  return faults.flat();
}

/** And in the rights of the account that is shipped; `unasked`: the caller may not ask for another's; `unused`: it has none at all. */
export async function rightFaults({ transport, namespace }: Access): Promise<Fault[] | 'unasked' | 'unused'> {
  const server = new ApiServerCheck(transport);
  const user = `system:serviceaccount:${namespace}:${CONTROLLER_ACCOUNT}`;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  const mayDo = { mayDo: (need: Need) => server.mayOtherDo(user, groups, need) };
  try {
    const parts = await Promise.all(installedFor({ namespace }).map(async (part) => ({ part, refused: await refusedOf(mayDo, part.needs) })));
    const isUnused = parts.every(({ part, refused }) => refused.length === part.needs.length);
    return isUnused ? 'unused' : parts.flatMap(({ part, refused }) => missingRights(refused, part));
  } catch (error) {
    if (error instanceof ApiStatusError && error.status === 403) return 'unasked';
    throw error;
  }
}
