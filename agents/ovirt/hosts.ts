import { deviceMessage } from '../shared/ssh/words.ts';
import { listAt, textAt } from '../shared/web/web-client.ts';
import type { VirtualMachine } from './virtual-machine.ts';

/** So many hosts of an engine are read at most; of one that has as many it is not known whether these are all. */
export const HOSTS_MAX = 1_000;

/**
 * States of a host in which the engine hears of its machines itself, or knows that none runs there (`HostStatus` of oVirt's API model). In all others a
 * machine that is called down may run there still.
 */
const HEARD = new Set(['up', 'non_operational', 'preparing_for_maintenance', 'maintenance', 'down']);

/**
 * Why `down` proves nothing of a machine that has a lease; undefined: it does. While its host is lost (`non_responsive`) the engine tries to start such a
 * machine on other hosts, without having fenced the first one: each attempt that the lease forbids leaves it `down`, though it runs where it was. Read off
 * oVirt's engine (VdsManager.restartVmsWithLeaseIfNeeded, RunVmParams.setRunInUnknownStatus, VmAnalyzer.proceedDownVm), 4.5.
 */
export function unheardHost({ cluster }: Pick<VirtualMachine, 'cluster'>, body: unknown): string | undefined {
  const all = listAt(body, 'host');
  if (all.length >= HOSTS_MAX)
    return `it has a lease, and the engine shows ${HOSTS_MAX} hosts and may have more: it may run on one of them that is lost (give fence a user that sees the hosts of its cluster alone)`;
  const hosts = all.filter((host) => cluster === undefined || textAt(host, 'cluster', 'id') === cluster);
  if (hosts.length === 0)
    return 'it has a lease, and no host of its cluster is shown to this user: it may run on one that is lost (give the user the role ReadOnlyAdmin)';
  const lost = hosts
    .filter((host) => !HEARD.has(textAt(host, 'status') ?? ''))
    .map((host) => `${textAt(host, 'name') ?? '?'} status=${textAt(host, 'status') ?? '(none)'}`);
  if (lost.length === 0) return undefined;
  return deviceMessage(`it has a lease, and may run on still where the engine hears nothing: host ${lost.join(', host ')}`, []);
}
