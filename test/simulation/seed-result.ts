/** What one seed showed. Plain data: it travels between worker processes. */
export interface SeedResult {
  seed: number;
  /** The scenario in one line, for people. */
  scenario: string;
  /** Empty when all laws held and the world ended as it must. */
  violations: readonly string[];
  /** How the fence of the failed node stood at the end; `none`: there was none. */
  state: string;
  /** How often the controllers freed something. */
  releases: number;
  /** When somebody took the NodeFence away by force, if anybody did. */
  fenceRemovedMs?: number;
  /** How many crash points were reached. */
  struck: number;
  /** Calls of the controllers through their ports, from the fault on. */
  calls?: number;
  /** How often one controller process took the Lease after another. */
  takeOvers: number;
  /** How often machines reset themselves. */
  resets?: number;
  /** By law: how often it was put to the test. */
  checks: Readonly<Record<string, number>>;
  /** Fingerprint of the whole trace. */
  hash: string;
  /** Events delivered. */
  events: number;
  /** Virtual time that passed. */
  virtualMs: number;
  /** CPU time that the worker took for it; absent where it was run by none. */
  cpuMs?: number;
}
