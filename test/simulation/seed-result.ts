/** What one seed showed. Plain data: it travels between worker processes. */
export interface SeedResult {
  seed: number;
  /** The scenario in one line, for people. */
  scenario: string;
  /** Empty when all laws held and the world ended as it must. */
  violations: readonly string[];
  /** Fingerprint of the whole trace. */
  hash: string;
  /** Events delivered. */
  events: number;
  /** Virtual time that passed. */
  virtualMs: number;
}
