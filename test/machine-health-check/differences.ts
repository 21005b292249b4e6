/** Cases in which we do something else on purpose: what, and why. docs/machine-health-check.md lists them. */
export const DIFFERENT: ReadonlyMap<string, { ours: Record<string, unknown>; reason: string }> = new Map([
  [
    'mhc-rec-022',
    {
      ours: { machineConditionPersisted: true },
      reason: 'that the template is missing is written into the Machine as well, and told before any machine fails',
    },
  ],
  [
    'mhc-mao-011',
    {
      ours: { requeueAfterMs: null },
      reason: 'a short circuit ends with a change of what it was made of; waking every millisecond finds nothing else',
    },
  ],
  ['mhc-allow-109', { ours: { error: true }, reason: 'a maximum that can not be read is told as a problem, not only in a log' }],
]);
