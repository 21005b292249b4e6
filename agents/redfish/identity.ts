import { areSameUUID, normalUUID } from '../shared/machine-uuid.ts';

/** Whether two UUIDs name one machine: same digits in either byte order. */
export function isSameMachine(shown: string, recorded: string): boolean {
  return areSameUUID(shown, recorded);
}

export type IdentityCheck = { kind: 'verified' } | { kind: 'unverified'; why: string } | { kind: 'other'; shown: string; recorded: string };

/** Compares what the device shows with what was recorded of the node while it was healthy (P10). */
export function checkIdentity(shown: unknown, recorded: string | undefined): IdentityCheck {
  const expected = normalUUID(recorded);
  if (expected === undefined)
    return {
      kind: 'unverified',
      why: recorded === undefined ? 'no system UUID is recorded of the node' : 'the recorded system UUID names no machine',
    };
  const digits = normalUUID(shown);
  if (digits === undefined) return { kind: 'unverified', why: 'the device shows no usable UUID' };
  if (isSameMachine(digits, expected)) return { kind: 'verified' };
  return { kind: 'other', shown: String(shown), recorded: recorded ?? '' };
}
