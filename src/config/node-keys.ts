import { KDUMP_KEYS } from './kdump-settings.ts';
import type { EvidenceKind, Plan, ReleaseMode, Timing } from '../domain/plan.ts';
import type { ClusterTiming } from '../domain/timing-cluster.ts';

interface DurationKey {
  field: keyof Timing;
  /** Shortest value that means anything. */
  minimumMs?: number;
  /** When isolation begins: an error spoils every step. Absent: only those that switch something. */
  isOfIsolation?: true;
  /** Matters only after the off: an error spoils nothing: the default applies, and a warning says so. */
  isOfAftermath?: true;
}

/** Keys of a node, a group or the cluster that are delays and deadlines of the plan. */
export const DURATION_KEYS: Readonly<Record<string, DurationKey>> = {
  isolation_delay: { field: 'isolationDelayMs', isOfIsolation: true },
  power_management_delay: { field: 'powerManagementDelayMs' },
  not_ready_period: { field: 'notReadyPeriodMs', isOfIsolation: true },
  ready_timeout: { field: 'readyTimeoutMs', minimumMs: 1000, isOfAftermath: true },
  healthy_delay: { field: 'healthyDelayMs', isOfAftermath: true },
  probation: { field: 'probationMs', isOfAftermath: true },
  history_ttl: { field: 'historyTtlMs', isOfAftermath: true },
  power_timeout: { field: 'powerTimeoutMs', minimumMs: 1000 },
  set_deadline: { field: 'setDeadlineMs', minimumMs: 100 },
  // Three reads that agree need some time to mean anything.
  off_stable: { field: 'offStableMs', minimumMs: 1000 },
  settle: { field: 'settleMs' },
  intent_max_age: { field: 'intentMaxAgeMs', minimumMs: 1000 },
  release_timeout: { field: 'releaseTimeoutMs', isOfAftermath: true },
  life_wait: { field: 'lifeWaitMs' },
  alarm_after: { field: 'alarmAfterMs', isOfAftermath: true },
  restart_backoff: { field: 'restartBackoffMs', isOfAftermath: true },
};

/** How the cluster itself behaves; in the cluster's ConfigMap only. */
export const CLUSTER_DURATION_KEYS: Readonly<Record<string, keyof ClusterTiming>> = {
  kubelet_lease_renewal: 'kubeletRenewalMs',
  kubelet_read_latency: 'readLatencyMs',
  node_grace: 'nodeGraceMs',
};

/** Names the storm policies that stand; in the cluster's ConfigMap only. */
export const POLICIES_KEY = 'policies';

/** `profile=fast`: what it changes beside switching `fast_detection` on; a key that is written still wins. */
export const PROFILES: Readonly<Record<string, Partial<Timing>>> = {
  default: {},
  fast: { isolationDelayMs: 0, powerManagementDelayMs: 10_000 },
};

export const RELEASE_MODES: readonly ReleaseMode[] = ['auto', 'out-of-service', 'delete-pods', 'evict', 'none'];

/** `preserved=`: the first one stands where nothing is written. */
export const PRESERVED_WORDS: readonly NonNullable<Plan['preserved']>[] = ['isolate-and-hold', 'power-off', 'ignore'];

const READ_BACK: readonly EvidenceKind[] = ['power-off', 'instance-stopped', 'host-off', 'storage-revoked', 'ack'];

/** Words of `minimum_evidence` and the kinds that each admits. */
export const EVIDENCE_WORDS: Readonly<Record<string, readonly EvidenceKind[]>> = {
  'read-back': READ_BACK,
  person: ['ack'],
  ack: ['ack'],
  'power-off': ['power-off'],
  'instance-stopped': ['instance-stopped'],
  'host-off': ['host-off'],
  'storage-revoked': ['storage-revoked'],
  watchdog: ['watchdog'],
  kdump: ['kdump'],
};

/** `never`: nobody is to fence this node; of a node or a group only. */
export const FENCE_KEY = 'fence';
export const FENCE_WORDS = ['auto', 'never'] as const;

/** Keys with readers of their own. */
export const OTHER_KEYS: readonly string[] = [
  FENCE_KEY,
  'node_name',
  'node_selector',
  'profile',
  'step_retries',
  'max_restarts',
  'max_fences_per_day',
  'trigger',
  'release',
  'preserved',
  'pods_per_minute',
  'priority_order',
  'minimum_evidence',
  'identity',
  'supplies',
  'probe_interval',
  'fast_detection',
  'heartbeat_timeout',
  ...KDUMP_KEYS,
];

export const STEP_KEYS: readonly string[] = ['isolation', 'power_management', 'recovery'];

/** Of one step: the first by its own name, then `.2` and so on. */
export const LEVELS_MAX = 8;
