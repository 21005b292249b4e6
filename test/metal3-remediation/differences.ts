/** Cases in which we do something else on purpose: what, and why. docs/metal3-remediation.md lists them. */
export const DIFFERENT: ReadonlyMap<string, { ours: Record<string, unknown>; reason: string }> = new Map([
  [
    'm3r-step-028',
    {
      ours: { actions: ['setPhase', 'setLastRemediated', 'increaseRetryCount'], phase: 'Running', requeueAfterSeconds: 1 },
      reason: 'a host that does not come on in time is tried again, and handed to its owner in the end: every phase has a timeout',
    },
  ],
]);
