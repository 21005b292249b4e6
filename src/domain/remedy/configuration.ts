import type { ReleaseMode } from '../plan.ts';

/** Remedies as an admin wrote them (docs/remedies.md): which conditions of a node are answered, by what, and when. Read by src/config/remedies.ts. */

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** One Configuration (`node-remedy/v1alpha`) without an error. One that has any error is none: nothing of it acts. */
export interface RemedyConfiguration {
  /** `metadata.name`, else ConfigMap and key, and the number of the document from the second on; unique. */
  readonly name: string;
  /** `ConfigMap fence-remedies, key a.yaml, line 1`. */
  readonly where: string;
  /** Its nodeSelector in words, for people; absent: every node. */
  readonly selector?: string;
  readonly selects: (labels: Readonly<Record<string, string>>) => boolean;
  readonly thresholds: readonly Threshold[];
  readonly alarms: readonly AlarmSetting[];
}

/** When the remedies of one condition begin. */
export interface Threshold {
  /** `Ready=False`, or `Ready~flap`; unique in its Configuration, and among those that act on one node. */
  readonly id: string;
  readonly where: string;
  readonly conditionType: string;
  /** What of the condition is answered. `Ready: false` is False and Unknown, `Unknown` only Unknown. */
  readonly trigger: { readonly kind: 'status'; readonly statuses: readonly ConditionStatus[] } | FlapTrigger;
  /** The condition must match for so long without a break. */
  readonly periodMs: number;
  /** It is over when it was clear for so long without a break. */
  readonly clearPeriodMs: number;
  /** A condition whose heartbeat is older than twice this says nothing any more; absent: it is not expected to have a heartbeat. */
  readonly heartbeatPeriodMs?: number;
  /** Whoever posts it never takes it back by itself: that it reads clear in the same boot is no recovery. */
  readonly isLatched: boolean;
  /** remedy1, remedy2, ...; at least one. */
  readonly remedies: readonly RemedyUse[];
  readonly recovery?: RemedyUse;
  /** Passes through all remedies, those of relapses within `cooldownMs` included; then a person is asked. */
  readonly maxAttempts: number;
  /** Between the end of one pass and the next. A condition that comes back within it after a recovery is the same one. */
  readonly cooldownMs: number;
}

/** The condition changed its status so often within the window. */
export interface FlapTrigger {
  readonly kind: 'flap';
  readonly changes: number;
  readonly windowMs: number;
}

export interface RemedyUse {
  readonly name: string;
  readonly remedy: Remedy;
  /** From its end until the next remedy begins, when the condition still stands. */
  readonly periodMs: number;
  /** `clean-resource`: after it the pods of the node are let go, as far as that is safe. */
  readonly cleansResources: boolean;
  /** How they are let go of a node that is proven gone; absent: as its plan says. */
  readonly release?: ReleaseMode;
}

export type Remedy = PodTemplateRemedy | FenceMethodsRemedy | PlanStepRemedy | CordonRemedy | EvictRemedy | FenceRemedy;
export const REMEDY_KINDS = ['podTemplate', 'fenceMethods', 'planStep', 'cordon', 'evict', 'fence'] as const satisfies readonly Remedy['kind'][];

/** A Job. Whether it succeeds is all that is judged; its exit code proves nothing about the node. */
export interface PodTemplateRemedy {
  readonly kind: 'podTemplate';
  /** As written, without the name lists `env` and `configmaps` of its containers. */
  readonly template: PodTemplateText;
  readonly references: readonly ContainerReferences[];
  /** `target` (fsck, a restart of the kubelet): it runs on the sick node. Otherwise never there. */
  readonly runOn: 'other' | 'target';
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface PodTemplateText {
  readonly metadata?: { readonly [key: string]: Json };
  readonly spec: { readonly [key: string]: Json };
}

/** What the seed writes as `env: ["secret-key"]` and `configmaps: ["fence-method-config"]`. */
export interface ContainerReferences {
  readonly container: string;
  readonly isInit: boolean;
  readonly secrets: readonly string[];
  readonly configMaps: readonly string[];
}

/** Methods of the node's own fence configuration, in this order. */
export interface FenceMethodsRemedy {
  readonly kind: 'fenceMethods';
  readonly methods: readonly string[];
}

/** One step of the node's own fence plan. */
export interface PlanStepRemedy {
  readonly kind: 'planStep';
  readonly step: 'isolation' | 'recovery';
}

/** The node takes no new pods, or takes them again where it was a remedy that had cordoned it. */
export interface CordonRemedy {
  readonly kind: 'cordon';
  readonly isCordoned: boolean;
}

/** Pods are evicted under their PodDisruptionBudgets. */
export interface EvictRemedy {
  readonly kind: 'evict';
  /** The node is cordoned first. */
  readonly cordons: boolean;
}

/** A whole fence, with its own evidence and holds. */
export interface FenceRemedy {
  readonly kind: 'fence';
}

/** Remedies that need no remedyConfig. A remedyConfig of the same name wins. */
export const BUILT_IN_REMEDIES: Readonly<Record<string, Remedy>> = {
  'storage-fence': { kind: 'planStep', step: 'isolation' },
  recovery: { kind: 'planStep', step: 'recovery' },
  repair: { kind: 'fence' },
  fence: { kind: 'fence' },
  'restart-instance': { kind: 'fenceMethods', methods: ['restart-instance'] },
  cordon: { kind: 'cordon', isCordoned: true },
  uncordon: { kind: 'cordon', isCordoned: false },
  drain: { kind: 'evict', cordons: true },
  'clean-pods': { kind: 'evict', cordons: false },
};

/** Tell somebody when one reason was counted so often within the window, per node and per workload owner. */
export interface AlarmSetting {
  /** Reason of an Event or problem, such as KernelOops. */
  readonly reason: string;
  readonly count: number;
  readonly windowMs: number;
  readonly where: string;
}

export const DEFAULT_MAX_ATTEMPTS = 3;
export const DEFAULT_COOLDOWN_MS = 3_600_000;
/** node-problem-detector's. */
export const DEFAULT_HEARTBEAT_PERIOD_MS = 300_000;

/** Written by the kubelet or a network plugin: whether they are still true is told by the node's Lease, not by their heartbeat. */
export const KUBELET_CONDITIONS: ReadonlySet<string> = new Set(['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']);

/** Of monitors of logs, which post a problem and never take it back, but for a restart, which posts that all is well. */
export const LATCHED_CONDITIONS: ReadonlySet<string> = new Set([
  'KernelDeadlock',
  'ReadonlyFilesystem',
  'CorruptDockerOverlay2',
  'CperHardwareErrorFatal',
  'XfsShutdown',
]);

/** Bounds of what may be written; the state of a node must stay small. */
export const REMEDY_LIMITS = { remedies: 16, thresholds: 32, flapChanges: 32, attempts: 10, alarms: 64, alarmCount: 100, methods: 16 } as const;
