import { normalUUID, withGroupsSwapped } from '../shared/machine-uuid.ts';

export type IdentityCheck =
  | { kind: 'verified' }
  | { kind: 'unverified'; why: string }
  | { kind: 'other'; shown: string; expected: string; expectedBy: 'recorded' | 'pinned' };

const NOT_RECORDED = 'no system UUID is recorded of the node';

/**
 * The UUIDs that 16 bytes of the wire may mean. BMCs send them as RFC 4122 writes them, as SMBIOS stores them, or last byte first as IPMI
 * demands, the last with either kind of groups (ipmitool 1.8.19 knows the same encodings: `mc guid auto|smbios|ipmi|rfc4122`).
 */
export function meanings(wire: string): string[] {
  const backwards = Buffer.from(wire, 'hex').reverse().toString('hex');
  return [wire, withGroupsSwapped(wire), backwards, withGroupsSwapped(backwards)];
}

function dashed(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/**
 * Compares the GUID that a BMC sent with what was recorded of the node while it was healthy (P10). `pinned` is the GUID that an administrator
 * wrote down for a BMC that shows its own instead: it ties the method to that BMC, but says nothing of the machine behind it.
 */
export function checkIdentity(wire: string | undefined, recorded: string | undefined, pinned: string | undefined): IdentityCheck {
  if (pinned === undefined && recorded === undefined) return { kind: 'unverified', why: NOT_RECORDED };
  const sent = normalUUID(wire);
  const shown = sent === undefined ? undefined : meanings(sent);
  if (pinned !== undefined) {
    if (shown === undefined) return { kind: 'other', shown: 'no usable GUID', expected: pinned, expectedBy: 'pinned' };
    if (!shown.includes(normalUUID(pinned) ?? ''))
      return { kind: 'other', shown: shown.map(dashed)[0] ?? '', expected: pinned, expectedBy: 'pinned' };
  }
  if (recorded === undefined) return { kind: 'unverified', why: NOT_RECORDED };
  const expected = normalUUID(recorded);
  if (expected === undefined) return { kind: 'unverified', why: 'the recorded system UUID names no machine' };
  if (shown === undefined) return { kind: 'unverified', why: 'the BMC shows no usable GUID' };
  if (shown.includes(expected)) return { kind: 'verified' };
  if (pinned !== undefined) return { kind: 'unverified', why: "the BMC shows its own GUID, as pinned, and not the machine's" };
  return { kind: 'other', shown: shown.map(dashed)[0] ?? '', expected: recorded, expectedBy: 'recorded' };
}
