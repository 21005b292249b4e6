/** A mutant by which no request is decided otherwise. */
interface Equivalent {
  /** What it lacks, so that the entry is of the expression as it stands. */
  without: string;
  reason: string;
}

/** By the names of mutants. `main.ts` fails when one of them is killed after all, a test when one is of an expression that is gone. */
export const EQUIVALENT: Readonly<Record<string, Equivalent>> = {};
