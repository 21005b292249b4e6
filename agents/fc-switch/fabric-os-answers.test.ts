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

it('a row of switchshow is of its own port only, in its own slot', () => {
  const others = [ROW.replaceAll('   7   7', '  17  17'), ROW.replace('   7   7', '   7  70')];
  expect(portOfSwitchShow([HEAD, ...others], '7')).toBeUndefined();
  expect(portOfSwitchShow([HEAD, ...others, ROW], '7')).toMatchObject({ isDisabled: true });
  const slots = ' Index Slot Port Address  Media Speed   State       Proto';
  const inSlot = (slot: number): string => ROW.replace('   7   7', `   7  ${slot}   7`);
  expect(portOfSwitchShow([slots, inSlot(1), inSlot(11)], '2/7')).toBeUndefined();
  expect(portOfSwitchShow([slots, inSlot(1), inSlot(2)], '2/7')).toMatchObject({ link: 'No_Light' });
});
