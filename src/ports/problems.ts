/** What went wrong with a node, for the counts of docs/remedies.md. */
export interface NodeProblem {
  node: string;
  /** UpperCamel: of an Event, a condition, a failure. */
  reason: string;
  /** By the wall clock. Two of one reason at one moment are one: whoever tells of it again after a restart gives the same. */
  atMs: number;
}

/** Whoever counts problems. Never throws; what no alarm names is not kept. */
export interface ProblemReports {
  report(problem: NodeProblem): void;
}
