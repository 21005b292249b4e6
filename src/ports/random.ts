/** Randomness as the core sees it: seeded in the simulation, from the system otherwise. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** A fresh identifier of lower-case hexadecimal digits and dashes (RFC 9562 shape). */
  uuid(): string;
}
