/** Values of an INTEGER by what they mean. Whatever is in no list is unknown. */
interface Meanings {
  on: readonly number[];
  off: readonly number[];
  pending?: readonly number[];
}

export interface Column {
  /** The name of the object in the vendor's MIB, for people. */
  name: string;
  /** Everything before the index. */
  root: string;
  /** Behind the index, where one outlet has several of these. */
  suffix?: string;
  /** What stands behind the root for an outlet's number, where that is not the index. */
  instanceOf?: (outlet: number) => string;
}

/** A command: what to write where. */
export interface Command {
  root: string;
  value: number;
  instanceOf?: (outlet: number) => string;
  /** Added to the outlet's number, where commands are counted from another number than states. */
  shift?: number;
}

/** One kind of PDU, as its MIB describes it. */
export interface Family {
  name: string;
  title: string;
  /** The device belongs to it, or to another family with the same, when its sysObjectID is one of these or below it. */
  sysObjectIds: readonly string[];
  /**
   * How the index of an outlet is made: `{unit}`, `{bank}` and `{outlet}` are the numbers of a plug from the left, `{row}` is a number
   * without a meaning of its own (`chain` tells the outlet).
   */
  index: string;
  /** The number in the index that belongs to outlet 1; 1 where it is left out. */
  outletsFrom?: number;
  /** A number means an outlet only where the device has the row of outlet 1: its MIB does not say with which row it begins. Names always do. */
  countsFromFirst?: boolean;
  /** `fallback`: the same values elsewhere, for devices without the first. */
  state: Column & Meanings & { fallback?: Column };
  /** A second column that must agree before an on or off counts, where the device has it. `off`: of the settled values those that an off may stand beside; left out, all. */
  also?: Column & { settled: readonly number[]; pending: readonly number[]; off?: readonly number[] };
  /** A column that must have one of these values, where the device has it; else nothing that the outlet says is believed. */
  sound?: Column & { values: readonly number[] };
  /** Seconds after which the device switches an outlet that is off on again by itself; 0 is never. */
  returns?: Column;
  off: Command;
  on: Command;
  /** Which outlet the row says it is of: one that is meant by another number is refused. */
  number?: Column;
  /** What the admin named the outlet. */
  label?: Column;
  /** Says whether the outlet can be switched: by a value, or by a bit of BITS counted from the left. */
  switchable?: Column & ({ values: readonly number[] } | { bit: number });
  /** Electric current. A negative value is no measurement. `digits`: how many decimal digits the value has, where the device says. `unit`, `number`: of which outlet of which unit, where rows of two tables may differ. `valid`: whether it was measured. `isFromZeroOrOne`: only the device tells with which row it begins. */
  current?: Column & {
    milliamperesPerUnit: number;
    digits?: Column;
    unit?: Column;
    number?: Column;
    valid?: Column & { values: readonly number[] };
    isFromZeroOrOne?: boolean;
  };
  /** Each model has its tables below an arc of its own, the first behind `sysObjectIds[0]` in its sysObjectID. */
  ofModel?: (arc: string) => Family;
  /** Rows of a chain of units: which unit and which outlet of it. */
  chain?: { unit: Column; number: Column };
}
