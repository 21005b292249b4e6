import type { EvidenceKind } from '../domain/plan.ts';
import { DAEMON_TIME_KEYS, daemonTiming } from '../domain/node-daemon/times.ts';
import type { DaemonTimeField, WrittenTimes } from '../domain/node-daemon/times.ts';
import type { DaemonTiming, DaemonUse } from '../domain/timing-daemon.ts';
import { parseBoolean, parseDuration, parseProperties } from './properties.ts';
import type { Setting } from './configuration.ts';

/** Keys of crash dumps and of fast detection; their times must fit together whether or not anything acts on them yet. */
export const DAEMON_DURATION_KEYS: Readonly<Record<string, Exclude<keyof DaemonTiming, DaemonTimeField>>> = {
  kdump_start_timeout: 'kdumpStartTimeoutMs',
  kdump_finished_timeout: 'kdumpFinishedTimeoutMs',
  kdump_max_duration: 'kdumpMaxDurationMs',
  heartbeat_interval: 'heartbeatIntervalMs',
  heartbeat_timeout: 'heartbeatTimeoutMs',
};

/** What the cluster's ConfigMap says of the times of all node daemons; a value that is no such time is told as such where keys are checked, and left out here. */
export function writtenDaemonTimes(find: (key: string) => Pick<Setting, 'value'> | undefined): WrittenTimes {
  const times: Partial<Record<DaemonTimeField, number>> = {};
  for (const [key, { field, leastMs, mostMs }] of Object.entries(DAEMON_TIME_KEYS)) {
    const ms = parseDuration(find(key)?.value ?? '');
    if (ms !== undefined && ms >= leastMs && ms <= mostMs) times[field] = ms;
  }
  return times;
}

/** The same of the ConfigMap's text, whatever else is wrong with it. */
export function timesOfCluster(text: string | undefined): WrittenTimes {
  const entries = new Map(parseProperties(text ?? '').entries.map((entry) => [entry.key, entry]));
  return writtenDaemonTimes((key) => entries.get(key));
}

/** What is written of them, for the daemons in the cluster's ConfigMap only. A value that cannot be read is told as such where keys are checked, and leaves its default here. */
export function readDaemonTimes(
  find: (key: string) => Setting | undefined,
  findOfCluster: (key: string) => Setting | undefined,
  minimumEvidence: readonly EvidenceKind[],
): { timing: DaemonTiming; use: DaemonUse } {
  const timing = daemonTiming(writtenDaemonTimes(findOfCluster));
  for (const [key, field] of Object.entries(DAEMON_DURATION_KEYS)) {
    const ms = parseDuration(find(key)?.value ?? '');
    if (ms !== undefined) timing[field] = ms;
  }
  const isOn = (key: string): boolean => parseBoolean(find(key)?.value ?? '') === true;
  const use: DaemonUse = {
    admitsWatchdog: minimumEvidence.includes('watchdog'),
    waitsForKdump: isOn('kdump_enabled') || minimumEvidence.includes('kdump'),
    fastDetection: isOn('fast_detection') || (find('fast_detection') === undefined && find('profile')?.value === 'fast'),
  };
  return { timing, use };
}
