import type { Lease } from '../../ports/objects.ts';
import { PRESERVATION_CHOICES } from '../../config/preservation-mode.ts';
import type { PreservationChoice } from '../../config/preservation-mode.ts';
import {
  LEADER_DEVICE_ADDRESSES,
  LEADER_HEALTH_CHECKS,
  LEADER_MODE,
  LEADER_NODE,
  LEADER_PRESERVATION,
  LEADER_PROGRAMS,
} from '../../manager/composition.ts';
import { NAMESPACE } from '../../manifests/access.ts';
import { HEALTH_CHECK_CHOICES } from '../../manager/health-checks/mode.ts';
import type { HealthCheckChoice } from '../../manager/health-checks/mode.ts';
import { DeviceAddresses, parseDeviceAddresses } from '../../domain/addresses/device-addresses.ts';
import { age } from './terminal/times.ts';
import { harmless } from './terminal/text.ts';

/** Who leads, told from the Lease. */
export interface Leader {
  /** Empty: nobody. */
  holder: string;
  renewTime: string | undefined;
  acquireTime: string | undefined;
  epoch: number;
  /** Renewed within its duration, by this machine's clock. */
  isAlive: boolean;
  /** What the caller may not read, in words: nothing is known of it then. */
  unread?: string;
  /** What it says of itself: whether it touches anything, and on which node it runs. Absent: it does not say, or runs on none. */
  mode?: 'observe' | 'enforce';
  node?: string;
  /** How it was told to preserve machines. */
  preservation?: PreservationChoice;
  /** How it was told to drive health checks. */
  healthChecks?: HealthCheckChoice;
  /** The folder of programs that a configuration may name; empty: none. */
  programs?: string;
  /** Which addresses of devices it calls. */
  addresses?: DeviceAddresses;
}

/** Clocks of two machines differ by about so much. */
const SKEW_MS = 2_000;

export function leaderOf(lease: Lease | undefined, nowMs: number, unread?: string): Leader {
  const { holderIdentity = '', renewTime, acquireTime, leaseTransitions = 0, leaseDurationSeconds = 0 } = lease?.spec ?? {};
  const silentMs = nowMs - Date.parse(renewTime ?? '');
  const isAlive = holderIdentity !== '' && silentMs <= leaseDurationSeconds * 1_000 + SKEW_MS;
  const said = isAlive ? saidOf(lease) : {};
  return { holder: holderIdentity, renewTime, acquireTime, epoch: leaseTransitions, isAlive, ...said, ...(unread !== undefined && { unread }) };
}

/** Nobody leads, as far as it is known: who may not look does not know it. */
export function isWithoutLeader({ isAlive, unread }: Pick<Leader, 'isAlive' | 'unread'>): boolean {
  return !isAlive && unread === undefined;
}

/** Whoever can write the Lease wrote this: what makes no sense is not repeated. */
function saidOf(lease: Lease | undefined): Pick<Leader, 'mode' | 'node' | 'preservation' | 'healthChecks' | 'programs' | 'addresses'> {
  const {
    [LEADER_MODE]: mode,
    [LEADER_NODE]: node = '',
    [LEADER_PRESERVATION]: said,
    [LEADER_HEALTH_CHECKS]: driving,
    [LEADER_PROGRAMS]: programs,
    [LEADER_DEVICE_ADDRESSES]: networks,
  } = lease?.metadata.annotations ?? {};
  const healthChecks = HEALTH_CHECK_CHOICES.find((choice) => choice === driving);
  const preservation = PRESERVATION_CHOICES.find((choice) => choice === said);
  const addresses = networks === undefined ? undefined : parseDeviceAddresses(networks);
  return {
    ...(mode === 'observe' || mode === 'enforce' ? { mode } : {}),
    ...(node === '' ? {} : { node: harmless(node) }),
    ...(preservation !== undefined && { preservation }),
    ...(healthChecks !== undefined && { healthChecks }),
    ...(programs !== undefined && { programs: harmless(programs) }),
    ...(addresses instanceof DeviceAddresses && { addresses }),
  };
}

/** The holder without the identifier that each process appends. */
export function leaderName({ holder }: Leader): string {
  return harmless(holder.replace(/_[\da-f-]{36}$/u, ''));
}

/** `leader pod-1 on node a, renewed 2s ago, leads for 3h`, or that nobody leads. `namespace`: of its Lease; one that was named is said. */
export function describeLeader(leader: Leader, nowMs: number, namespace = NAMESPACE): string {
  if (leader.unread !== undefined) return `who leads is not known: you may not read ${leader.unread}`;
  if (leader.holder === '')
    return namespace === NAMESPACE
      ? 'no controller leads: nothing is fenced'
      : `no controller leads in namespace ${harmless(namespace)}: nothing is fenced from there`;
  const renewed = `renewed ${age(leader.renewTime, nowMs)} ago`;
  if (!leader.isAlive) return `no controller leads: ${leaderName(leader)} ${renewed}, its lease is over; nothing is fenced until another one leads`;
  const where = leader.node === undefined ? '' : ` on node ${leader.node}`;
  return `leader ${leaderName(leader)}${where}, ${renewed}, leads for ${age(leader.acquireTime, nowMs)}`;
}
