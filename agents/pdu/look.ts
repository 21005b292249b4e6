import type { PowerState, Reading } from '../../src/ports/agents.ts';
import { integerOf, describeValue, textOf, type SnmpValue } from '../shared/snmp/value.ts';
import type { Column, Family } from './family.ts';
import { nameIn, type Outlet } from './outlet.ts';

/** What one answer of the device showed of one outlet. */
export interface Look {
  state: PowerState;
  /** In the device's words: `rPDUOutletStatusOutletState=2, CommandPending=2`. */
  detail: string;
  witness: Reading<PowerState>['witness'];
  label: string | undefined;
  /** Why the outlet cannot be switched; undefined where it can, or the device does not say. */
  unswitchable: string | undefined;
  /** Which outlet the row says it is of; undefined where it says nothing, not a number where that cannot be read. */
  number: number | undefined;
  /** Why an off of it would not last; undefined where it would. */
  returning: string | undefined;
  /** Unit and number of the row, where rows are a chain's. */
  chain: { unit: number | undefined; number: number | undefined } | undefined;
}

/** The columns that the device had of this outlet when it was first seen, by their roots. What was there once must go on being there. */
export type Known = Set<string>;

/** Everything that one read of an outlet asks for: what the device has, or all of it while that is not known. */
export function columnsOf(family: Family, known: Known): readonly Column[] {
  const { state, also, sound, number, label, switchable, returns, current, chain } = family;
  const columns = [
    state,
    state.fallback,
    also,
    sound,
    number,
    label,
    switchable,
    returns,
    current,
    current?.digits,
    current?.unit,
    current?.number,
    current?.valid,
    chain?.unit,
    chain?.number,
  ];
  return columns.filter((column): column is Column => column !== undefined && (known.size === 0 || known.has(column.root)));
}

/** Makes a reading of the values of `columnsOf`, in that order. Undefined: the device has no such outlet. */
export function look(
  family: Family,
  outlet: Outlet,
  values: readonly (SnmpValue | undefined)[],
  known: Known,
  witness: { isWanted: boolean; offMaxMilliamperes: number },
): Look | undefined {
  const byName = new Map(columnsOf(family, known).map((column, place) => [column.root, values[place]]));
  const { state, also, sound, number, current, chain, label } = family;
  if (known.size === 0) {
    if (byName.get(state.root) === undefined && (state.fallback === undefined || byName.get(state.fallback.root) === undefined)) return undefined;
    for (const [root, value] of byName) if (value !== undefined) known.add(root);
  }
  const column = state.fallback !== undefined && !known.has(state.root) ? state.fallback : state;
  const value = byName.get(column.root);
  const details = [`${column.name}=${describeValue(value)}`];
  let seen = meaningOf(state, integerOf(value));
  if (also !== undefined && known.has(also.root)) {
    const second = byName.get(also.root);
    details.push(`${also.name}=${describeValue(second)}`);
    seen = together(seen, also, integerOf(second));
  }
  if (sound !== undefined && known.has(sound.root)) {
    const health = byName.get(sound.root);
    details.push(`${sound.name}=${describeValue(health)}`);
    if (!sound.values.includes(integerOf(health) ?? Number.NaN)) seen = 'unknown';
  }
  const returning = isReturning(family, byName, known);
  if (returning !== undefined) {
    details.push(returning);
    // Off for so many seconds only.
    if (seen === 'off') seen = 'pending';
  }
  const isMetered = witness.isWanted && current !== undefined && isMeasured(current, outlet, byName, known);
  return {
    state: seen,
    detail: details.join(', '),
    witness: isMetered && seen === 'off' ? currentWitness(current, byName, witness.offMaxMilliamperes) : undefined,
    label: label === undefined ? undefined : textOf(byName.get(label.root)),
    unswitchable: unswitchable(family, byName),
    number: number === undefined || !known.has(number.root) ? undefined : (integerOf(byName.get(number.root)) ?? Number.NaN),
    returning,
    chain: chain === undefined ? undefined : { unit: integerOf(byName.get(chain.unit.root)), number: integerOf(byName.get(chain.number.root)) },
  };
}

/** More would make any current nothing. */
const DIGITS_MAX = 3;

type Values = ReadonlyMap<string, SnmpValue | undefined>;

/** The state by its column alone. */
export function meaningOf(column: Family['state'], value: number | undefined): PowerState {
  if (value === undefined) return 'unknown';
  if (column.on.includes(value)) return 'on';
  if (column.off.includes(value)) return 'off';
  return column.pending?.includes(value) === true ? 'pending' : 'unknown';
}

/** The state with what its second column says to it. */
export function together(seen: PowerState, also: NonNullable<Family['also']>, value: number | undefined): PowerState {
  if (seen === 'unknown' || value === undefined) return 'unknown';
  if (also.pending.includes(value)) return 'pending';
  if (seen === 'off' && also.off?.includes(value) === false) return 'unknown';
  return also.settled.includes(value) ? seen : 'unknown';
}

/** Rows of metered outlets may be counted apart from those of switched ones: a row that says it is another outlet's does not count. */
function isMeasured(current: NonNullable<Family['current']>, outlet: Outlet, values: Values, known: Known): boolean {
  const { valid } = current;
  if (!known.has(current.root)) return false;
  if (valid !== undefined && !valid.values.includes(integerOf(values.get(valid.root)) ?? Number.NaN)) return false;
  const isOf = (column: Column | undefined, wanted: number | undefined): boolean => {
    if (column === undefined) return true;
    const shown = integerOf(values.get(column.root));
    return shown === wanted || (shown === undefined && known.has(column.root));
  };
  // Whether a row without a unit is of this one, nobody can tell in a chain.
  const isUnitTold = current.unit === undefined || known.has(current.unit.root);
  return isOf(current.number, outlet.path.at(-1)) && (isUnitTold ? isOf(current.unit, outlet.path.at(-2)) : outlet.path.at(-2) === 1);
}

/** An outlet that is off lets nothing through. A device that says of itself that it did not measure witnesses nothing. */
function currentWitness(current: NonNullable<Family['current']>, values: Values, maxMilliamperes: number): Look['witness'] {
  const value = values.get(current.root);
  const units = integerOf(value);
  if (units !== undefined && units < 0) return undefined;
  if (units === undefined) return { source: current.name, state: 'unknown', detail: `${current.name}=${describeValue(value)}`, waiver: UNREADABLE };
  // Without its digits a value is taken for whole units: too much, never too little.
  const digits = current.digits === undefined ? 0 : (integerOf(values.get(current.digits.root)) ?? 0);
  const milliamperes = (units * current.milliamperesPerUnit) / 10 ** Math.min(Math.max(digits, 0), DIGITS_MAX);
  const isOff = milliamperes <= maxMilliamperes;
  return { source: current.name, state: isOff ? 'off' : 'on', detail: `${milliamperes} mA`, ...(!isOff && { waiver: flowing(maxMilliamperes) }) };
}

/** What is given up by it: the only sight of a relay that does not open. */
const WAIVED = 'current_witness=no does without it, and an off that the outlet only says of itself is believed then, also where its relay is stuck';
const UNREADABLE = `the current of the outlet can not be read: look at the PDU; where its meter is broken, ${WAIVED}`;

/** Told where the current alone disagrees: a person decides, after a look at what hangs on the outlet. */
function flowing(maxMilliamperes: number): string {
  const limit = `off_current_max_ma=${maxMilliamperes} is the most that counts as none`;
  return `the current alone disagrees, and ${limit}: look whether its load still has power; only where the meter is broken, ${WAIVED}`;
}

function unswitchable({ switchable }: Family, values: Values): string | undefined {
  if (switchable === undefined) return undefined;
  const value = values.get(switchable.root);
  if (value === undefined) return undefined;
  const isSo =
    'bit' in switchable
      ? value.kind === 'text' && (((value.bytes[switchable.bit >> 3] ?? 0) << (switchable.bit & 7)) & 0x80) !== 0
      : switchable.values.includes(integerOf(value) ?? Number.NaN);
  if (isSo) return undefined;
  const shown = value.kind === 'text' ? `0x${Buffer.from(value.bytes).toString('hex').slice(0, 16)}` : describeValue(value);
  return `${switchable.name}=${shown}: the device does not let this outlet be switched`;
}

function isReturning({ returns }: Family, values: Values, known: Known): string | undefined {
  if (returns === undefined || !known.has(returns.root)) return undefined;
  const value = values.get(returns.root);
  return integerOf(value) === 0 ? undefined : `${returns.name}=${describeValue(value)}`;
}

/** Names of all values of one outlet. */
export function namesOf(family: Family, outlet: Outlet, known: Known): string[] {
  return columnsOf(family, known).map((column) => nameIn(column, outlet));
}
