import type { StormNode, StormView } from './view.ts';

export const POLICY_NAMES = [
  'max-unhealthy',
  'max-concurrent',
  'rate',
  'failure-domain',
  'controller-isolated',
  'control-plane',
  'startup-grace',
  'maintenance',
  'cooldown',
  'windows',
  'alerts',
  'storage-reachable',
] as const;
export type PolicyName = (typeof POLICY_NAMES)[number];

/** Every reason of every policy. */
export const STORM_REASONS = [
  'max-unhealthy',
  'max-concurrent',
  'rate',
  'failure-domain',
  'stale-view',
  'reconnected',
  'targets-unreachable',
  'control-plane-fencing',
  'etcd-quorum',
  'control-plane-majority',
  'startup-grace',
  'maintenance',
  'maintenance-window',
  'cooldown',
  'outside-window',
  'denied-window',
  'windows-unreadable',
  'alert-firing',
  'alerts-unreachable',
  'host-unreachable',
  'storage-unreachable',
  'lease-alive',
] as const;
export type StormReason = (typeof STORM_REASONS)[number];

/** Holds that say: many failed at once. When the last of them ends, `cooldown` begins; a controller that was cut off itself is no storm. */
export const STORM_ITSELF: ReadonlySet<string> = new Set<StormReason>(['max-unhealthy', 'failure-domain', 'alert-firing']);

/** Why a policy holds one node now. */
export interface PolicyHold {
  /** Lower case with dashes, from a closed set (`STORM_REASONS`): a metric's label. */
  reason: string;
  /** The numbers filled in, and what would end it but time: that is `untilMs`, and told as the moment when it is shown. */
  message: string;
  /** When time alone may end it, monotonic milliseconds; absent: only a change does. */
  untilMs?: number;
}

/** Holds, or does not, each node of one view. */
export type HoldOf = (node: StormNode) => PolicyHold | undefined;

/** Of a policy that holds nobody in this view: it need not be asked about each node. */
export const NOBODY = (): undefined => undefined;

/** A question to a Prometheus: which of these alerts fire. */
export interface AlertQuery {
  /** Base address of its HTTP API. */
  url: string;
  /** An expression whose every result is an alert (label `alertname`); absent: `ALERTS{alertstate="firing"}`. */
  query?: string;
  /** Names of alerts; empty: any that the query gives. */
  names: readonly string[];
}

/** One configured policy (`fence-policy-<name>`, or a default). */
export interface StormPolicy {
  /** Its own name, as configured; unique. */
  name: string;
  policy: PolicyName;
  alarmAfterMs?: number;
  /** Settings that add to the time until a failed node is off, told beforehand. */
  startupMs?: number;
  nodeGraceMs?: number;
  /** What `controller-isolated` was told to reach, as written; the shell asks them and puts the answers into `view.controller.targets`. */
  targets?: readonly string[];
  /** What `alerts` asks; the shell asks it and puts the answer into `view.alerts` under this policy's name. */
  alertQuery?: AlertQuery;
  /** Looks at the whole view once; what it returns then costs next to nothing for each node. */
  judge(view: StormView): HoldOf;
}
