/** A mutant by which no request is decided otherwise. */
interface Equivalent {
  /** What it lacks, so that the entry is of the expression as it stands. */
  without: string;
  reason: string;
}

const ERROR_REFUSES = 'there is no object in a deletion: the rest of the expression is an error then, and failurePolicy Fail refuses it too';

/** By the names of mutants. `main.ts` fails when one of them is killed after all, a test when one is of an expression that is gone. */
export const EQUIVALENT: Readonly<Record<string, Equivalent>> = {
  'nodefence-node validations 0.0': {
    without: "variables.node != ''",
    reason: 'a Lease cannot be called nodefence-node-, which the rest would ask for: a name does not end in a dash',
  },
  'nodefence-node validations 0.1': { without: 'object != null', reason: ERROR_REFUSES },
  'nodefence-node validations 1.0': {
    without: 'key in variables.before',
    reason: 'to compare with an annotation that was not there is an error, and failurePolicy Fail refuses it too',
  },
  'nodefence-authorship-reports variables 2.0': {
    without: 'oldObject == null',
    reason: 'an object that is not there has no spec either: the next clause says the same',
  },
  'nodefence-node-conditions validations 0.1': { without: "variables.node != ''", reason: 'no Node is called by an empty name' },
  'nodefence-node-conditions validations 0.2': { without: 'object != null', reason: ERROR_REFUSES },
};
