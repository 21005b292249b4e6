import { describe, expect, it } from 'vitest';

import type { SnmpValue } from '../shared/snmp/value.ts';
import type { Family } from './family.ts';
import { FAMILIES } from './families.ts';
import { columnsOf, look, together, type Known, type Look } from './look.ts';

const FAMILY: Family = {
  name: 'made-up',
  title: 'Made up',
  sysObjectIds: [],
  index: '{unit}.{outlet}',
  state: { name: 'state', root: 'state', on: [1], off: [2], pending: [3] },
  also: { name: 'also', root: 'also', settled: [2], pending: [1] },
  sound: { name: 'sound', root: 'sound', values: [2] },
  off: { root: 'command', value: 2 },
  on: { root: 'command', value: 1 },
  switchable: { name: 'switchable', root: 'switchable', bit: 2 },
  current: {
    name: 'current',
    root: 'current',
    milliamperesPerUnit: 1000,
    digits: { name: 'digits', root: 'digits' },
    unit: { name: 'currentUnit', root: 'currentUnit' },
    number: { name: 'currentNumber', root: 'currentNumber' },
  },
};
const OUTLET = { index: '2.7', path: [2, 7] };

const integer = (value: number): SnmpValue => ({ kind: 'integer', integer: value });
const bits = (...bytes: number[]): SnmpValue => ({ kind: 'text', text: '', bytes: Uint8Array.from(bytes) });
const OFF: Readonly<Record<string, SnmpValue | undefined>> = {
  state: integer(2),
  also: integer(2),
  sound: integer(2),
  switchable: bits(0x20),
  current: integer(0),
  digits: integer(0),
  currentUnit: integer(2),
  currentNumber: integer(7),
};

/** What the outlet looks like with these values, after it was seen with all of them. */
function seen(changes: Readonly<Record<string, SnmpValue | undefined>>, known: Known = whole()): Look {
  const values = { ...OFF, ...changes };
  const columns = columnsOf(FAMILY, known);
  const shown = look(
    FAMILY,
    OUTLET,
    columns.map(({ root }) => values[root]),
    known,
    { isWanted: true, offMaxMilliamperes: 50 },
  );
  if (shown === undefined) throw new Error('no such outlet');
  return shown;
}

function whole(): Known {
  return new Set(columnsOf(FAMILY, new Set()).map(({ root }) => root));
}

/** What a device has that never showed these columns. */
function without(...roots: string[]): Known {
  return new Set([...whole()].filter((root) => !roots.includes(root)));
}

describe('what one answer shows of an outlet', () => {
  it('is off where its state, its second column and its health say so, with its current', () => {
    expect(seen({})).toMatchObject({ state: 'off', witness: { source: 'current', state: 'off', detail: '0 mA' }, unswitchable: undefined });
  });

  it.each([
    ['its second column waits', { also: integer(1) }, 'pending'],
    ['its second column says what no MIB has', { also: integer(9) }, 'unknown'],
    ['its second column is gone', { also: undefined }, 'unknown'],
    ['its relay failed', { sound: integer(1) }, 'unknown'],
    ['its health is gone', { sound: undefined }, 'unknown'],
    ['its state is gone', { state: undefined }, 'unknown'],
    ['its state is no integer', { state: { kind: 'other' } as SnmpValue }, 'unknown'],
  ])('is no off where %s', (_what, changes, state) => {
    const shown = seen(changes);
    expect(shown.state).toBe(state);
    expect(shown.witness, 'only an off needs a witness').toBeUndefined();
  });

  it('is off without the columns that the device never had', () => {
    const known = without('also', 'sound', 'current', 'digits', 'currentUnit', 'currentNumber', 'switchable');
    expect(seen({}, known)).toMatchObject({ state: 'off', witness: undefined, unswitchable: undefined });
  });
});

describe('the current of an outlet', () => {
  it.each([
    [{ current: integer(3), digits: integer(1) }, 'on', '300 mA'],
    [{ current: integer(5), digits: integer(2) }, 'off', '50 mA'],
    [{ current: integer(51), digits: integer(3) }, 'on', '51 mA'],
    [{ current: integer(1) }, 'on', '1000 mA'],
    // More digits than any device has would make nothing of any current.
    [{ current: integer(1_300), digits: integer(9) }, 'on', '1300 mA'],
    [{ current: integer(1), digits: integer(-3) }, 'on', '1000 mA'],
    [{ current: integer(1), digits: undefined }, 'on', '1000 mA'],
  ])('is %j: %s, %s', (changes, state, detail) => {
    expect(seen(changes).witness).toMatchObject({ source: 'current', state, detail });
  });

  it('that is no number any more is no witness of an off', () => {
    expect(seen({ current: undefined }).witness).toMatchObject({ state: 'unknown' });
    expect(seen({ current: { kind: 'other' } }).witness).toMatchObject({ state: 'unknown' });
  });

  it.each([
    ['was not measured', { current: integer(-1) }],
    ['is of another outlet', { currentNumber: integer(8) }],
    ['is of another unit', { currentUnit: integer(1) }],
  ])('that %s witnesses nothing', (_what, changes) => {
    expect(seen(changes)).toMatchObject({ state: 'off', witness: undefined });
  });

  it('of a device that never tells the unit is the one of the first unit only', () => {
    const known = without('currentUnit');
    expect(seen({}, known).witness).toBeUndefined();
    const first = look(
      FAMILY,
      { index: '1.7', path: [1, 7] },
      columnsOf(FAMILY, known).map(({ root }) => OFF[root]),
      known,
      { isWanted: true, offMaxMilliamperes: 50 },
    );
    expect(first?.witness).toMatchObject({ state: 'off' });
  });
});

describe('whether an outlet can be switched', () => {
  it.each([
    [bits(0x20), true],
    [bits(0xff), true],
    [bits(0xdf), false],
    [bits(0x04), false],
    [bits(), false],
    [integer(0x20), false],
    [undefined, true],
  ])('is its own bit, counted from the left: %j is %s', (switchable, isSwitchable) => {
    expect(seen({ switchable }).unswitchable === undefined).toBe(isSwitchable);
  });
});

describe('an outlet of Server Technology', () => {
  it.each([
    ['sentry3', [4, 0, 14], [5, 1, 15]],
    ['sentry4', [10, 2, 16], [11, 3, 17]],
  ] as const)('of %s that shows off is not off while its control state says that it is to be on', (name, off, on) => {
    const also = FAMILIES.find((family) => family.name === name)?.also;
    if (also === undefined) throw new Error('no second column');
    expect(off.map((value) => together('off', also, value))).toEqual(['off', 'off', 'off']);
    expect(on.map((value) => together('off', also, value))).toEqual(['unknown', 'unknown', 'unknown']);
    expect(on.map((value) => together('on', also, value))).toEqual(['on', 'on', 'on']);
  });
});
