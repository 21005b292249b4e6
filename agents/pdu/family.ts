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
}

/** A command: what to write where. */
interface Command {
  root: string;
  value: number;
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
  /** `fallback`: the same values elsewhere, for devices without the first. */
  state: Column & Meanings & { fallback?: Column };
  /** A second column that must agree before an on or off counts, where the device has it. */
  also?: Column & { settled: readonly number[]; pending: readonly number[] };
  /** A column that must have one of these values, where the device has it; else nothing that the outlet says is believed. */
  sound?: Column & { values: readonly number[] };
  off: Command;
  on: Command;
  /** What the admin named the outlet. */
  label?: Column;
  /** Says whether the outlet can be switched: by a value, or by a bit of BITS counted from the left. */
  switchable?: Column & ({ values: readonly number[] } | { bit: number });
  /** Electric current. A negative value is no measurement. `digits`: how many decimal digits the value has, where the device says. `unit`, `number`: of which outlet of which unit, where rows of two tables may differ. */
  current?: Column & {
    milliamperesPerUnit: number;
    digits?: Column;
    unit?: Column;
    number?: Column;
  };
  /** Rows of a chain of units: which unit and which outlet of it. */
  chain?: { unit: Column; number: Column };
}
