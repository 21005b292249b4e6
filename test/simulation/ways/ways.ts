import type { DeviceBehaviour } from '../../../src/testbed/simulation/devices.ts';

/** As BMCs do, but each knows its state, and none is opened again behind the back of whoever closed it: what was let go by then would have two writers. */
export type PathBehaviour = Exclude<DeviceBehaviour, 'unknown' | 'restores'>;

/** What a program on the node does. mends: its kubelet is Ready again. reboots: the machine boots anew, its power stays on. nothing: not even harm. */
export type ProgramDeed = 'mends' | 'reboots' | 'nothing';

/** What it says of itself: the truth; that it has failed; that it is done and stands, whatever it did; nothing, though it did it. */
export type ProgramWord = 'truth' | 'failed' | 'done' | 'silent';

export interface Program {
  step: 'isolation' | 'power-management';
  deed: ProgramDeed;
  word: ProgramWord;
  /** From its begin to its end. */
  takesMs: number;
}

/** How nodes are cut off from their storage before anything is switched. */
export interface StoragePaths {
  /** Each node has so many, all of which have to be closed. */
  count: 1 | 2;
  /** Of the failed node's first. */
  behaviour: PathBehaviour;
  /** Whether that a path reads closed lets pods go. */
  isAdmitted: boolean;
  /** Every volume is said to be on that storage, or the first one alone. */
  isWhole: boolean;
}

/** How a fence goes beside its BMC, and lets go beside the taint: none of it is in worlds that were drawn before. */
export interface Ways {
  /** How long a node must say of itself that it is not Ready. */
  notReadyMs: number;
  storage?: StoragePaths;
  program?: Program;
  podsPerMinute?: number;
  podsPerNode: number;
  /** No device shows whose machine it switches, and the plans say so (`identity=unverified`). */
  areUnnamed?: boolean;
}

export const STORAGE = 'san';

export function pathNames(node: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `path-${index + 1}-${node}`);
}

export const OUT_OF_SERVICE_KEY = 'node.kubernetes.io/out-of-service';
