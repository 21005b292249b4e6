import type { AlarmSetting } from '../domain/remedy/configuration.ts';
import type { NodeRemedies } from '../domain/remedy/reach.ts';
import type { RemedyPosition, RemedyRun } from '../domain/remedy/position.ts';
import type { Node } from './objects.ts';

/** Annotations of a Node: records of the last remedy pod. Nothing is ever begun because they are there. */
export const REMEDIATION_TIMESTAMP = 'nodefence.ha.k8s.io/remediation-timestamp';
export const REMEDIATION_POD = 'nodefence.ha.k8s.io/remediation-podname';
/** Annotation of a Node: a remedy cordoned it. Without it a cordon is somebody else's. */
export const CORDON_BY_REMEDY = 'nodefence.ha.k8s.io/cordoned-by-remedy';
/** A NodeFence that a remedy asked for is requested by this kind, and by the id of the run as its uid. */
export const REMEDY_REQUESTER = { apiVersion: 'node-remedy/v1alpha', kind: 'RemedyConfiguration' } as const;

/** Remedies as configured now. */
export interface RemedySettings {
  /** What the Configurations say about this node. */
  remediesOf(node: Node): NodeRemedies;
  /** Called after any of them has changed. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
  /** What is wrong with them, one sentence each. */
  problems(): readonly string[];
}

/** Alarms as configured now. */
export interface AlarmSettings extends Pick<RemedySettings, 'remediesOf' | 'onChange'> {
  /** Those of all Configurations, whichever nodes they are for. */
  alarms(): readonly AlarmSetting[];
}

export const REMEDY_STATUS_LIMITS = { tripped: 64, positions: 64, runs: 16 } as const;

/** Where the remedies of one condition are. */
export interface RemedyPositionStatus extends Omit<RemedyPosition, 'run'> {
  run?: Omit<RemedyRun, 'of'> & { of: string };
  /** When this phase was written. */
  since: string;
  /** What it waits for, or what a person must do. */
  message?: string;
}

/** One run that has ended. */
export interface RemedyRunRecord {
  threshold: string;
  remedy: string;
  /** `1` is remedy1; `recovery`. */
  of: string;
  result: 'succeeded' | 'failed' | 'lost';
  endedAt: string;
  /** Why, and the end of what its pod wrote, without the values of Secrets. */
  message?: string;
  pod?: string;
}

/** `status.remedies` of a NodeFenceReport: what a new leader goes on from. */
export interface RemediesStatus {
  /** uid of the Node that it is about; absent: of before this was written, and taken for that of the Node that is there. */
  nodeUID?: string;
  bootID?: string;
  /** Conditions that stood for their whole period, and are not over. */
  tripped?: { threshold: string; bootID?: string; since: string }[];
  positions?: RemedyPositionStatus[];
  /** The newest last. */
  runs?: RemedyRunRecord[];
}
