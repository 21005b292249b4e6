import type { Plan } from '../domain/plan.ts';
import { DEFAULT_DAEMON_TIMING } from '../domain/timing-daemon.ts';
import { parseBoolean, parseProperties } from './properties.ts';
import type { SettingReader } from './setting-reader.ts';

/** Switches the hold for crash dumps on. */
export const KDUMP_ENABLED_KEY = 'kdump_enabled';
/** `yes`: the node's crash kernel is armed and notifies, whatever its daemon attests. */
export const KDUMP_ARMED_KEY = 'kdump';
export const KDUMP_KEYS: readonly string[] = [
  KDUMP_ENABLED_KEY,
  KDUMP_ARMED_KEY,
  'kdump_start_timeout',
  'kdump_finished_timeout',
  'kdump_max_duration',
];

const START_MAX_MS = 600_000;
/** No dump takes longer than a day, and no fence waits for ever. */
const DURATION_MAX_MS = 86_400_000;
/** Twice the longest usual pause between two messages. */
const FINISHED_MIN_MS = 20_000;

/** Absent where it is off, so that a frozen plan stays what it was. A bad value keeps nobody from being fenced: the usual time stands in. */
export function readKdump(lenient: SettingReader): Pick<Plan, 'kdump'> {
  const { kdumpStartTimeoutMs, kdumpFinishedTimeoutMs, kdumpMaxDurationMs } = DEFAULT_DAEMON_TIMING;
  const isEnabled = lenient.boolean(KDUMP_ENABLED_KEY, false);
  const isArmed = lenient.boolean(KDUMP_ARMED_KEY, false);
  const startTimeoutMs = lenient.duration('kdump_start_timeout', kdumpStartTimeoutMs, 0, START_MAX_MS);
  const finishedTimeoutMs = lenient.duration('kdump_finished_timeout', kdumpFinishedTimeoutMs, FINISHED_MIN_MS);
  const maxDurationMs = lenient.duration('kdump_max_duration', kdumpMaxDurationMs, 1_000, DURATION_MAX_MS);
  return isEnabled ? { kdump: { startTimeoutMs, finishedTimeoutMs, maxDurationMs, ...(isArmed && { isArmed }) } } : {};
}

/** Does this text switch it on? Whatever else is wrong with it. */
export function isKdumpEnabled(text: string): boolean {
  return (
    /kdump.enabled/iu.test(text) && parseProperties(text).entries.some(({ key, value }) => key === KDUMP_ENABLED_KEY && parseBoolean(value) === true)
  );
}
