import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../config/properties.ts';
import { DAEMON_TIME_KEYS } from '../../domain/node-daemon/times.ts';
import type { DaemonTimeField, WrittenTimes } from '../../domain/node-daemon/times.ts';

const WORDS: Readonly<Record<keyof typeof DAEMON_TIME_KEYS, string>> = {
  grant_validity: 'how long a grant or vouch holds',
  watchdog_timeout: 'how long the watchdog waits before it resets the machine',
  feed_interval: 'how often the watchdog is fed',
  isolation_timeout: 'how long the node waits, cut off, before it stops its pods',
  pod_stop_max: 'how long stopping the pods may take',
  reset_time: 'from the bite of the watchdog until the machine is surely reset',
  api_failover: 'how long the API server may be away when it fails over',
  attestation_interval: 'how often the node attests itself',
};

type Key = keyof typeof DAEMON_TIME_KEYS;
const KEYS = Object.keys(DAEMON_TIME_KEYS) as Key[];

/** One flag for each time; what is not given is what the controllers say. */
export function timeOptions(option: (flags: string, variable: string, description: string) => Option): Option[] {
  return KEYS.map((key) =>
    option(`--${key.replaceAll('_', '-')} <duration>`, key.toUpperCase(), `${WORDS[key]}; default: as fence-cluster-config says`).argParser((text) =>
      duration(text, key),
    ),
  );
}

/** Those that were given, of all options as commander calls them. */
export function writtenTimes(options: Readonly<Record<string, unknown>>): WrittenTimes {
  const times: Partial<Record<DaemonTimeField, number>> = {};
  for (const key of KEYS) {
    const ms = options[new Option(`--${key.replaceAll('_', '-')} <duration>`).attributeName()];
    if (typeof ms === 'number') times[DAEMON_TIME_KEYS[key].field] = ms;
  }
  return times;
}

function duration(text: string, key: Key): number {
  const { leastMs, mostMs } = DAEMON_TIME_KEYS[key];
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= leastMs && ms <= mostMs) return ms;
  throw new InvalidArgumentError(`must be a duration such as 5s or 1m, at least ${leastMs / 1000}s and at most ${mostMs / 1000}s.`);
}
