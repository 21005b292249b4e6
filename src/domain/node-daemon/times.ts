import { DEFAULT_CLUSTER_TIMING } from '../timing-cluster.ts';
import { DEFAULT_DAEMON_TIMING, demandDaemonOnItsOwn } from '../timing-daemon.ts';
import type { DaemonTiming } from '../timing-daemon.ts';
import { collecting } from '../timing-demand.ts';
import type { TimingProblem } from '../timing-demand.ts';
import type { AttestedSelfFence, AttestedWatchdog } from './attestation.ts';

export type DaemonTimeField =
  | 'grantMs'
  | 'watchdogMs'
  | 'feedIntervalMs'
  | 'isolationTimeoutMs'
  | 'podStopMaxMs'
  | 'resetTimeMs'
  | 'apiFailOverMs'
  | 'attestationIntervalMs';

/** What somebody wrote; the rest has its default. */
export type WrittenTimes = Readonly<Partial<Record<DaemonTimeField, number>>>;

interface DaemonTimeKey {
  field: DaemonTimeField;
  leastMs: number;
  mostMs: number;
}

const HOUR_MS = 3_600_000;

/** As `fence-cluster-config` and the daemon's own file and flags call them. */
export const DAEMON_TIME_KEYS = {
  grant_validity: { field: 'grantMs', leastMs: 3_000, mostMs: 60_000 },
  watchdog_timeout: { field: 'watchdogMs', leastMs: 2_000, mostMs: 600_000 },
  feed_interval: { field: 'feedIntervalMs', leastMs: 500, mostMs: 200_000 },
  isolation_timeout: { field: 'isolationTimeoutMs', leastMs: 30_000, mostMs: HOUR_MS },
  pod_stop_max: { field: 'podStopMaxMs', leastMs: 1_000, mostMs: HOUR_MS },
  reset_time: { field: 'resetTimeMs', leastMs: 1_000, mostMs: HOUR_MS },
  api_failover: { field: 'apiFailOverMs', leastMs: 1_000, mostMs: HOUR_MS },
  attestation_interval: { field: 'attestationIntervalMs', leastMs: 5_000, mostMs: HOUR_MS },
} as const satisfies Readonly<Record<string, DaemonTimeKey>>;

const KEYS: Readonly<Record<string, DaemonTimeKey>> = DAEMON_TIME_KEYS;
const LINE = /^([a-z_]{1,40})=(\d{1,9})ms$/;

/** The times that stand where only these are written. A watchdog that waits for less is fed more often. */
export function daemonTiming(written: WrittenTimes): DaemonTiming {
  const timing = { ...DEFAULT_DAEMON_TIMING, ...written };
  const feedIntervalMs = written.feedIntervalMs ?? Math.min(timing.feedIntervalMs, Math.floor(timing.watchdogMs / 3));
  return { ...timing, feedIntervalMs };
}

/** What of the timing rules those times break, whoever rests on them. */
export function checkDaemonTiming(timing: DaemonTiming): TimingProblem[] {
  const problems: TimingProblem[] = [];
  demandDaemonOnItsOwn(timing, DEFAULT_CLUSTER_TIMING, collecting(problems));
  return problems;
}

/** Why a node that attests such times proves nothing by its silence. */
export function brokenTimes(watchdog: AttestedWatchdog, selfFence: AttestedSelfFence): string | undefined {
  return checkDaemonTiming(daemonTiming({ ...selfFence, watchdogMs: watchdog.timeoutMs })).find(({ severity }) => severity === 'error')?.message;
}

/** One per line: `isolation_timeout=60000ms`. */
export function timesText(written: WrittenTimes): string {
  const lines = Object.entries(KEYS).map(([key, { field }]) => (written[field] === undefined ? '' : `${key}=${written[field]}ms`));
  return lines.filter((line) => line !== '').join('\n');
}

/** Undefined where one of them is broken. A key that is not known is of a controller that is newer. */
export function parseTimes(text: string): WrittenTimes | undefined {
  const times: Partial<Record<DaemonTimeField, number>> = {};
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, key = '', number] = LINE.exec(line) ?? [];
    if (number === undefined) return undefined;
    if (!Object.hasOwn(KEYS, key)) continue;
    const { field, leastMs, mostMs } = KEYS[key] as DaemonTimeKey;
    const ms = Number(number);
    if (ms < leastMs || ms > mostMs) return undefined;
    times[field] = ms;
  }
  return times;
}

/** `isolation_timeout 60 s instead of 40 s`: where `found` differs from `wanted`, in words. */
export function differences(found: WrittenTimes, wanted: WrittenTimes): string[] {
  return Object.entries(KEYS).flatMap(([key, { field }]) => {
    const [one, other] = [found[field], wanted[field]];
    return one === undefined || other === undefined || one === other ? [] : [`${key} ${one / 1000} s instead of ${other / 1000} s`];
  });
}
