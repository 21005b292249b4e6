import type { EvidenceKind } from '../domain/plan.ts';
import { DEFAULT_DAEMON_TIMING } from '../domain/timing-daemon.ts';
import type { DaemonTiming, DaemonUse } from '../domain/timing-daemon.ts';
import { parseBoolean, parseDuration } from './properties.ts';
import type { Setting } from './configuration.ts';

/** Keys of what runs on the node, of crash dumps and of fast detection; nothing acts on them yet, but their times must fit together before it does. */
export const DAEMON_DURATION_KEYS: Readonly<Record<string, keyof DaemonTiming>> = {
  grant_validity: 'grantMs',
  watchdog_timeout: 'watchdogMs',
  feed_interval: 'feedIntervalMs',
  isolation_timeout: 'isolationTimeoutMs',
  pod_stop_max: 'podStopMaxMs',
  reset_time: 'resetTimeMs',
  api_failover: 'apiFailOverMs',
  attestation_interval: 'attestationIntervalMs',
  kdump_start_timeout: 'kdumpStartTimeoutMs',
  kdump_finished_timeout: 'kdumpFinishedTimeoutMs',
  kdump_max_duration: 'kdumpMaxDurationMs',
  heartbeat_interval: 'heartbeatIntervalMs',
  heartbeat_timeout: 'heartbeatTimeoutMs',
};

/** What is written of them. A value that cannot be read is told as such where keys are checked, and leaves its default here. */
export function readDaemonTimes(
  find: (key: string) => Setting | undefined,
  minimumEvidence: readonly EvidenceKind[],
): { timing: DaemonTiming; use: DaemonUse } {
  const timing = { ...DEFAULT_DAEMON_TIMING };
  for (const [key, field] of Object.entries(DAEMON_DURATION_KEYS)) {
    const ms = parseDuration(find(key)?.value ?? '');
    if (ms !== undefined) timing[field] = ms;
  }
  const isOn = (key: string): boolean => parseBoolean(find(key)?.value ?? '') === true;
  const use: DaemonUse = {
    admitsWatchdog: minimumEvidence.includes('watchdog'),
    waitsForKdump: isOn('kdump_enabled') || minimumEvidence.includes('kdump'),
    fastDetection: isOn('fast_detection'),
  };
  return { timing, use };
}
