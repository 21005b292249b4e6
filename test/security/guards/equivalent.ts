/** A mutant by which no request is decided otherwise. */
interface Equivalent {
  /** What it lacks, so that the entry is of the expression as it stands. */
  without: string;
  reason: string;
}

const SERVER_REFUSES =
  'the API server itself refuses that what stands there is changed or removed (podCIDRs, providerID, externalID), before any policy is asked, from 1.30 to 1.36';
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
  'nodefence-controller-nodes validations 2.1': { without: 'variables.after[key] == variables.before[key]', reason: SERVER_REFUSES },
  'nodefence-controller-nodes validations 2.7': {
    without: "variables.before.all(key, key in ['taints', 'unschedulable'] || key in variables.after)",
    reason: SERVER_REFUSES,
  },
};
