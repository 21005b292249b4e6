import type { VerifiableCondition } from '../domain/node-daemon/found-well.ts';

/** What the checks of a node tell its daemon. Times are milliseconds. */

export const CHECK_NAMES = [
  'storage',
  'storage-lease',
  'multipath',
  'watchdog',
  'bmc',
  'kdump',
  'hardware',
  'previous-boot',
  'file-systems',
] as const;
export type CheckName = (typeof CHECK_NAMES)[number];

/** What a check found. `unknown`: it could not look, and says why. */
export interface CheckFound {
  health: 'ok' | 'problem' | 'unknown';
  /** One plain sentence; what matters stands at its beginning, because readers cut its end. */
  sentence: string;
  /** Of named storage. */
  targets?: readonly StorageFound[];
  lease?: LeaseFound;
  kdump?: KdumpFound;
  bmc?: BmcFound;
  /** Conditions of others that it looked at and found well. */
  well?: readonly VerifiableCondition[];
}

/** `lost`: a probe that ran was not answered, or was refused as by storage that is gone. `unknown`: nothing can be told of it. */
export interface StorageFound {
  path: string;
  reach: 'reachable' | 'lost' | 'unknown';
}

/** The slot of this node on shared storage. */
export interface LeaseFound extends StorageFound {
  /** It was written and read back, again and again. */
  isRenewed: boolean;
  intervalMs: number;
  /** Absent: none is known yet. */
  id?: string;
  slot?: number;
}

export interface KdumpFound {
  /** A crash kernel is loaded. */
  isArmed: boolean;
  /** Whom it notifies by fence_kdump. */
  notifies: readonly string[];
}

/** What a BMC says of itself, in band. */
export interface BmcFound {
  /** Its own, in the network of the BMCs. */
  address?: string;
  mac?: string;
}

export interface NodeCheck {
  name: CheckName;
  intervalMs: number;
  /** What has not ended by then is waited for no longer, and not started a second time before it has. */
  deadlineMs: number;
  /** May hang, as long as nothing of the daemon hangs with it. */
  run(): Promise<CheckFound>;
}
