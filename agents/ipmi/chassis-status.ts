import { describeCompletion } from './completion.ts';
import type { RawAnswer, StatusAnswer } from './line.ts';

/** Power, last event, miscellaneous state, and in newer BMCs the front panel's buttons (table 28-3). */
const BYTES_MIN = 3;
const BYTES_MAX = 4;
const POWER_IS_ON = 0x01;
/** Bits beside the power that explain a machine which does not come on, or goes off by itself. */
const FAULTS: readonly (readonly [number, string])[] = [
  [0x02, 'overload'],
  [0x08, 'power fault'],
  [0x10, 'power control fault'],
];

/** What an answer to Get Chassis Status says of the power; in ipmitool's words, which people know. Only a whole answer without an error is a state. */
export function chassisStatus({ completion, data }: RawAnswer): StatusAnswer {
  if (completion !== 0) return { kind: 'state', state: 'unknown', detail: `Get Chassis Power Status failed: ${describeCompletion(completion)}` };
  if (data.length < BYTES_MIN || data.length > BYTES_MAX)
    return { kind: 'state', state: 'unknown', detail: `Get Chassis Status answered with ${data.length} bytes of ${BYTES_MIN}`, isOdd: true };
  const power = data.readUInt8(0);
  const state = (power & POWER_IS_ON) === 0 ? 'off' : 'on';
  const faults = FAULTS.filter(([bit]) => (power & bit) !== 0).map(([, words]) => words);
  const isBlank = data.every((byte) => byte === 0);
  return {
    kind: 'state',
    state,
    detail: `Chassis Power is ${state}${faults.length === 0 ? '' : ` (${faults.join(', ')})`}`,
    ...(isBlank ? { isBlank } : {}),
  };
}

/** The third byte of Get Device ID (section 20.1): set while the BMC initializes itself, or its firmware is written. */
const IS_STARTING = 0x80;
const DEVICE_ID_MIN = 11;

/** Why a BMC's answer to Get Device ID does not say that it is up; undefined: it does. */
export function whyNotUp({ completion, data }: RawAnswer): string | undefined {
  if (completion !== 0) return `Get Device ID failed: ${describeCompletion(completion)}`;
  if (data.length < DEVICE_ID_MIN) return `Get Device ID answered with ${data.length} bytes of ${DEVICE_ID_MIN}`;
  return (data.readUInt8(2) & IS_STARTING) === 0 ? undefined : 'the BMC still starts, says Get Device ID';
}
