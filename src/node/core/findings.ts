import { LONGEST_TEXT, NOTIFIED_MAX } from '../../domain/node-daemon/attestation.ts';
import type { Attestation } from '../../domain/node-daemon/attestation.ts';
import { SIGNS } from '../../domain/node-daemon/datagram.ts';
import type { Checks } from './checks.ts';

type Findings = Pick<Checks, 'found'>;

/** Named storage decides; paths to storage do where none is named. */
function storageOf(checks: Findings): 'reachable' | 'lost' | 'unknown' | undefined {
  const found = checks.found('storage') ?? checks.found('multipath');
  return found === undefined ? undefined : ({ ok: 'reachable', problem: 'lost', unknown: 'unknown' } as const)[found.health];
}

/** What the checks found, as it is attested. Nothing of what was not looked at yet. */
export function attestedFindings(checks: Findings): Pick<Attestation, 'storage' | 'kdump' | 'proposedBmc'> {
  const storage = storageOf(checks);
  const kdump = checks.found('kdump')?.kdump;
  const { address, mac } = checks.found('bmc')?.bmc ?? {};
  return {
    ...(storage === undefined ? {} : { storage }),
    ...(kdump === undefined ? {} : { kdump: { isArmed: kdump.isArmed, notifies: kdump.notifies.filter(fits).slice(0, NOTIFIED_MAX) } }),
    ...(address === undefined ? {} : { proposedBmc: { address, ...(mac === undefined ? {} : { mac }) } }),
  };
}

/** What does not fit would spoil the whole attestation. */
const fits = (text: string): boolean => text !== '' && text.length <= LONGEST_TEXT;

/** The same for a heartbeat. */
export function signsOf(checks: Findings): number {
  return (
    (storageOf(checks) === 'lost' ? SIGNS.storageLost : 0) |
    (checks.found('storage-lease')?.lease?.isRenewed === true ? SIGNS.storageLease : 0) |
    (checks.found('kdump')?.kdump?.isArmed === true ? SIGNS.kdumpArmed : 0) |
    (checks.found('hardware')?.health === 'problem' ? SIGNS.hardwareErrors : 0)
  );
}
