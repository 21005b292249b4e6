import type { FastFailure } from '../../ports/fast-detection.ts';
import { NODE_DAEMON_HEARD } from '../../ports/resources.ts';
import type { DaemonReason, NodeFenceReport } from '../../ports/resources.ts';

/** What the leader last reported of a node's daemon. */
export interface DaemonRow {
  state: 'armed' | 'heard' | 'silent' | 'on-storage' | 'suspected' | 'failed';
  /** What it said and attests, in words. */
  message: string;
  since: string;
}

const STATES: Readonly<Record<string, DaemonRow['state']>> = {
  WatchdogArmed: 'armed',
  HeartbeatsCome: 'heard',
  Silent: 'silent',
  Suspected: 'suspected',
  AliveOnStorage: 'on-storage',
  TakenForFailed: 'failed',
} satisfies Record<DaemonReason, DaemonRow['state']>;

/** What fast detection of the leader made of it; undefined: it does not take the node for failed, or did not yet at that time. */
export function failureIn(report: NodeFenceReport | undefined, atMs: number): FastFailure | undefined {
  const condition = report?.status?.conditions?.find(
    ({ type, reason }) => type === NODE_DAEMON_HEARD && reason === ('TakenForFailed' satisfies DaemonReason),
  );
  if (condition === undefined || Date.parse(condition.lastTransitionTime) > atMs) return undefined;
  return { since: condition.lastTransitionTime, message: condition.message };
}

/** Others saw it renew its slot on shared storage, as the leader last reported; undefined: nothing is known of it. */
export function renewsLeaseIn(report: NodeFenceReport | undefined): boolean | undefined {
  const isAlive = report?.status?.conditions?.some(
    ({ type, reason }) => type === NODE_DAEMON_HEARD && reason === ('AliveOnStorage' satisfies DaemonReason),
  );
  return isAlive === true ? true : undefined;
}

/** Undefined: nothing was reported, as where no daemon runs, or none is served. */
export function daemonOf(report: NodeFenceReport | undefined): DaemonRow | undefined {
  const condition = report?.status?.conditions?.find(({ type }) => type === NODE_DAEMON_HEARD);
  const state = STATES[condition?.reason ?? ''];
  return condition === undefined || state === undefined ? undefined : { state, message: condition.message, since: condition.lastTransitionTime };
}
