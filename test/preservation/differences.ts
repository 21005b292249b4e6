/** Cases in which we do something else on purpose: what, and why. docs/preservation.md lists them. */
export const DIFFERENT: ReadonlyMap<string, { ours: Record<string, unknown>; reason: string }> = new Map([
  [
    'REC-24',
    {
      ours: { expirySet: false, machinePreserve: null, condition: { status: 'False', reason: 'Preservation stopped.', message: '' } },
      reason: 'an empty value on the node is honoured and stops the preservation',
    },
  ],
  ['AUT-12', { ours: { annotated: [], removed: ['old', 'mid'] }, reason: 'the oldest machines are released, not those that end soonest' }],
  ['AUT-14', { ours: { annotated: [], removed: [] }, reason: 'what the node says is looked at before a place is given away' }],
  ['SAF-05', { ours: { deleteVm: false }, reason: 'a preserved machine keeps its VM, whatever is known of it' }],
]);
