import { expect, it } from 'vitest';
import { portOfSwitchShow, stateOfFos } from './fabric-os-answers.ts';

const PORT = { link: 'No_Light', isDisabled: true, row: '' };
const HEAD = ' Index Port Address  Media Speed   State       Proto';
const ROW = '   7   7   010700   id    N16   No_Light    FC  Disabled (Persistent)';

it.each([
  ['disabled for good, and dark', PORT, true, 'closed'],
  ['disabled until the next restart of the switch', PORT, false, 'pending'],
  ['to be disabled, and not yet', { ...PORT, isDisabled: false }, true, 'pending'],
  ['disabled, and still on line', { ...PORT, link: 'Online' }, true, 'pending'],
  ['in a state that nobody knows', { ...PORT, link: 'Resting' }, true, 'unknown'],
  ['without a word on the persistent state', PORT, undefined, 'unknown'],
] as const)('a port that is %s', (_what, port, isPersistent, state) => {
  expect(stateOfFos(port, isPersistent)).toBe(state);
});

it('a port of which switchshow has two rows is none that is known', () => {
  expect(portOfSwitchShow([HEAD, ROW], '7')).toMatchObject({ link: 'No_Light', isDisabled: true });
  expect(portOfSwitchShow([HEAD, ROW, ROW.replace('No_Light', 'Online  ').replace('Disabled (Persistent)', '')], '7')).toBeUndefined();
});
