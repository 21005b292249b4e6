import type { TreeValue } from './message.ts';
import type { Outlet } from './outlets.ts';

/** What of an outlet decides on the values that its PDU shows. */
export interface Shown {
  isOn: boolean;
  /** What the outlet was told last to be. */
  wasTold: boolean;
  pending: 'on' | 'off' | undefined;
  milliamperes: number;
}

/** What a written value means; undefined for one that is refused. */
export type Meaning = (value: number) => 'on' | 'off' | 'other' | undefined;

interface Objects {
  /** Index of the outlet; `row` counts from 1 over the whole device. */
  index(outlet: Outlet, row: number): string;
  /** The column whose value `shows` of a faulty outlet replaces. */
  state: string;
  /** A second one that tells of the state, whose value `showsElsewhere` replaces. */
  second?: string;
  /** Every column that may be read, under the enterprise arc. */
  columns: Readonly<Record<string, (outlet: Outlet, shown: Shown) => TreeValue>>;
  /** The same for columns with an index of their own. */
  cells?: Readonly<Record<string, { of: (outlet: Outlet) => string; shows: (outlet: Outlet, shown: Shown) => TreeValue }>>;
  /** Columns that may be written: what a value means, undefined for one that is refused. */
  commands: Readonly<Record<string, { of?: (outlet: Outlet) => string; means: Meaning }>>;
}

export interface PduKind extends Objects {
  sysObjectId: string;
  description: string;
}

const integer = (value: number): TreeValue => ({ integer: value });
const name = ({ name: text }: Outlet): TreeValue => ({ text });
const byNumber = ({ number }: Outlet): string => String(number);
/** Sensor type 1 of an outlet. */
const rmsCurrentOf = ({ unit, number }: Outlet): string => `${unit}.${number}.1`;
const byRow = (_outlet: Outlet, row: number): string => String(row);
const byUnit = ({ unit, number }: Outlet): string => `${unit}.${number}`;
const byTower = ({ unit, bank, number }: Outlet): string => `${unit}.${bank}.${number}`;

/** A column of states: `[off, on]`, and `[pendingOff, pendingOn]` where the vendor has such. */
function states([off, on]: readonly [number, number], pending?: readonly [number, number]): Objects['columns'][string] {
  return (_outlet, shown) => {
    if (pending !== undefined && shown.pending !== undefined) return integer(pending[shown.pending === 'on' ? 1 : 0]);
    return integer(shown.isOn ? on : off);
  };
}

const commandPending: Objects['columns'][string] = (_outlet, { pending }) => integer(pending === undefined ? 2 : 1);
const current =
  (milliamperesPerUnit: number): Objects['columns'][string] =>
  (_outlet, { milliamperes }) => ({ gauge: Math.round(milliamperes / milliamperesPerUnit) });

/** The scalar of an ATEN's outlet: those of the first eight come before the table of names, the others after it. */
const besideNames = ({ number }: Outlet): string => `${number > 8 ? number + 2 : number + 1}.0`;

/** Gude counts meters of single ports apart from ports. */
const byMeter = ({ number, meterRow = number }: Outlet): string => String(meterRow);

/** An enumeration of commands: those of the delayed kind and reboots are `other`. */
function enumerated(on: number, off: number, most: number): { means: Meaning } {
  return {
    means: (value) => (value === on ? 'on' : value === off ? 'off' : value >= 0 && value <= most ? 'other' : undefined),
  };
}

/** Seconds until the one thing that the object does; -1 takes it back. */
function inSeconds(wanted: 'on' | 'off'): { means: Meaning } {
  return { means: (value) => (value === 0 ? wanted : value >= -1 && value <= 99_999 ? 'other' : undefined) };
}

/** Written from the vendors' MIBs, apart from the table of the agent: what one of them has wrong, the other does not. */
export const PDU_KINDS: Readonly<Record<string, PduKind>> = {
  'apc-rpdu2': {
    sysObjectId: '1.3.6.1.4.1.318.1.3.4.6',
    description: 'APC Web/SNMP Management Card (MN:AP8959)',
    index: byRow,
    state: '318.1.1.26.9.2.3.1.5',
    columns: {
      '318.1.1.26.9.2.3.1.2': ({ unit }) => integer(unit),
      '318.1.1.26.9.2.3.1.3': name,
      '318.1.1.26.9.2.3.1.4': ({ number }) => integer(number),
      '318.1.1.26.9.2.3.1.5': states([1, 2]),
      '318.1.1.26.9.2.3.1.6': commandPending,
      '318.1.1.26.9.4.3.1.2': ({ unit, meteredUnit = unit }) => integer(meteredUnit),
      '318.1.1.26.9.4.3.1.4': ({ number }) => integer(number),
      '318.1.1.26.9.4.3.1.6': current(100),
      '318.1.1.4.4.2.1.3': states([2, 1]),
    },
    commands: { '318.1.1.26.9.2.4.1.5': enumerated(1, 2, 8) },
  },
  'apc-rpdu': {
    sysObjectId: '1.3.6.1.4.1.318.1.3.4.5',
    description: 'APC Web/SNMP Management Card (MN:AP7920)',
    index: byNumber,
    state: '318.1.1.12.3.5.1.1.4',
    columns: {
      '318.1.1.12.3.5.1.1.2': name,
      '318.1.1.12.3.5.1.1.4': states([2, 1]),
      '318.1.1.12.3.5.1.1.5': commandPending,
      '318.1.1.4.4.2.1.3': states([2, 1]),
    },
    commands: { '318.1.1.12.3.3.1.1.4': enumerated(1, 2, 7) },
  },
  'apc-masterswitch-plus': {
    sysObjectId: '1.3.6.1.4.1.318.1.3.4.4',
    description: 'APC MasterSwitch Plus (MN:AP9225)',
    index: ({ unit, number }) => `${unit}.1.${number}`,
    state: '318.1.1.6.7.1.1.5',
    columns: { '318.1.1.6.7.1.1.4': name, '318.1.1.6.7.1.1.5': states([2, 1]) },
    commands: { '318.1.1.6.5.1.1.5': enumerated(1, 3, 7) },
  },
  'apc-masterswitch': {
    sysObjectId: '1.3.6.1.4.1.318.1.3.4.2',
    description: 'APC Web/SNMP Management Card (MN: AP9606)',
    index: byNumber,
    state: '318.1.1.4.4.2.1.3',
    columns: { '318.1.1.4.4.2.1.2': commandPending, '318.1.1.4.4.2.1.3': states([2, 1]), '318.1.1.4.4.2.1.4': name },
    commands: { '318.1.1.4.4.2.1.3': enumerated(1, 2, 7) },
  },
  'eaton-g3': {
    sysObjectId: '1.3.6.1.4.1.534.6.6.7',
    description: 'ePDU MA 36U-C',
    index: ({ unit, number }) => `${unit - 1}.${number}`,
    state: '534.6.6.7.6.6.1.2',
    columns: {
      '534.6.6.7.6.1.1.3': name,
      '534.6.6.7.6.4.1.3': current(1),
      '534.6.6.7.6.6.1.2': states([0, 1], [2, 3]),
      '534.6.6.7.6.6.1.3': () => integer(-1),
      '534.6.6.7.6.6.1.4': () => integer(-1),
      '534.6.6.7.6.6.1.9': () => integer(1),
    },
    commands: { '534.6.6.7.6.6.1.3': inSeconds('off'), '534.6.6.7.6.6.1.4': inSeconds('on') },
  },
  'eaton-managed': {
    sysObjectId: '1.3.6.1.4.1.534.6.6.6',
    description: 'Managed ePDU',
    index: ({ number }) => String(number - 1),
    state: '534.6.6.6.1.2.2.1.3',
    columns: { '534.6.6.6.1.2.2.1.2': name, '534.6.6.6.1.2.2.1.3': states([0, 1]), '534.6.6.6.1.2.2.1.4': current(1) },
    commands: { '534.6.6.6.1.2.2.1.3': enumerated(1, 0, 2) },
  },
  'eaton-pulizzi': {
    sysObjectId: '1.3.6.1.4.1.20677.1',
    description: 'Switched ePDU',
    index: ({ number }) => `${number}.0`,
    state: '20677.2.6.3',
    columns: { '20677.2.6.3': states([2, 1]) },
    commands: { '20677.2.6.2': { of: ({ number }) => `${number + 1}.0`, ...enumerated(1, 2, 4) } },
  },
  'hpe-pdu3': {
    sysObjectId: '1.3.6.1.4.1.232.165.11',
    description: 'HPE G2 Metered and Switched PDU',
    index: byUnit,
    state: '232.165.11.5.2.1.1',
    columns: {
      '232.165.11.5.1.1.2': name,
      '232.165.11.5.1.1.5': current(10),
      '232.165.11.5.2.1.1': states([1, 2], [3, 4]),
      '232.165.11.5.2.1.8': () => integer(1),
    },
    commands: { '232.165.11.5.2.1.2': inSeconds('off'), '232.165.11.5.2.1.3': inSeconds('on') },
  },
  'hpe-pdu2': {
    sysObjectId: '1.3.6.1.4.1.232.165.7',
    description: 'HP Managed Power Distribution Unit',
    // The walk of a real one counts its units from 0.
    index: ({ unit, number }) => `${unit - 1}.${number}`,
    state: '232.165.7.5.2.1.1',
    columns: {
      '232.165.7.5.1.1.2': name,
      '232.165.7.5.1.1.5': current(1),
      '232.165.7.5.2.1.1': states([1, 2], [3, 4]),
      '232.165.7.5.2.1.8': () => integer(1),
    },
    commands: { '232.165.7.5.2.1.2': inSeconds('off'), '232.165.7.5.2.1.3': inSeconds('on') },
  },
  raritan: {
    sysObjectId: '1.3.6.1.4.1.13742.6',
    description: 'PX3 030400',
    index: byUnit,
    state: '13742.6.4.1.2.1.3',
    columns: {
      '13742.6.3.5.3.1.3': name,
      '13742.6.3.5.3.1.28': () => integer(1),
      '13742.6.4.1.2.1.2': () => integer(0),
      '13742.6.4.1.2.1.3': states([8, 7]),
    },
    cells: {
      '13742.6.3.5.4.1.7': { of: rmsCurrentOf, shows: () => integer(3) },
      '13742.6.5.4.3.1.4': { of: rmsCurrentOf, shows: current(1) },
    },
    commands: { '13742.6.4.1.2.1.2': enumerated(1, 0, 2) },
  },
  'raritan-px1': {
    sysObjectId: '1.3.6.1.4.1.13742.4',
    description: 'Raritan Dominion PX',
    index: byNumber,
    state: '13742.4.1.2.2.1.3',
    columns: { '13742.4.1.2.2.1.2': name, '13742.4.1.2.2.1.3': states([0, 1]), '13742.4.1.2.2.1.4': current(1) },
    commands: { '13742.4.1.2.2.1.3': enumerated(1, 0, 2) },
  },
  'cyberpower-epdu2': {
    sysObjectId: '1.3.6.1.4.1.3808.1.1.6',
    description: 'CyberPower PDU83105',
    index: byRow,
    state: '3808.1.1.6.6.1.4.1.5',
    columns: {
      '3808.1.1.6.6.1.4.1.2': ({ unit }) => integer(unit),
      '3808.1.1.6.6.1.4.1.3': ({ number }) => integer(number),
      '3808.1.1.6.6.1.4.1.4': name,
      '3808.1.1.6.6.1.4.1.5': states([2, 1]),
      '3808.1.1.6.6.1.4.1.6': commandPending,
      '3808.1.1.6.6.2.4.1.2': ({ unit, meteredUnit = unit }) => integer(meteredUnit),
      '3808.1.1.6.6.2.4.1.3': ({ number }) => integer(number),
      '3808.1.1.6.6.2.4.1.6': current(100),
    },
    commands: { '3808.1.1.6.6.1.5.1.5': enumerated(1, 2, 8) },
  },
  'cyberpower-epdu': {
    sysObjectId: '1.3.6.1.4.1.3808.1.1.3',
    description: 'CyberPower PDU41001',
    index: byNumber,
    state: '3808.1.1.3.3.5.1.1.4',
    columns: {
      '3808.1.1.3.3.5.1.1.2': name,
      '3808.1.1.3.3.5.1.1.4': states([2, 1]),
      '3808.1.1.3.3.5.1.1.5': commandPending,
      '3808.1.1.3.3.5.1.1.7': current(100),
    },
    commands: { '3808.1.1.3.3.3.1.1.4': enumerated(1, 2, 8) },
  },
  geist: {
    sysObjectId: '1.3.6.1.4.1.21239.42.1.52',
    description: 'Geist rPDU',
    index: byNumber,
    state: '21239.5.2.3.5.1.4',
    columns: {
      '21239.5.2.3.5.1.3': name,
      '21239.5.2.3.5.1.4': states([2, 1], [3, 4]),
      '21239.5.2.3.5.1.5': () => integer(2),
      '21239.5.2.3.5.1.6': () => integer(8),
      '21239.5.2.3.6.1.8': current(10),
    },
    commands: { '21239.5.2.3.5.1.6': enumerated(2, 4, 8) },
  },
  sentry3: {
    sysObjectId: '1.3.6.1.4.1.1718.3',
    description: 'Sentry Switched CDU',
    index: byTower,
    state: '1718.3.2.3.1.5',
    columns: {
      '1718.3.2.3.1.3': name,
      '1718.3.2.3.1.4': () => ({ text: Buffer.from([0b0110_0000, 0]) }),
      '1718.3.2.3.1.5': states([0, 1], [2, 3]),
      '1718.3.2.3.1.7': (_outlet, { milliamperes }) => integer(milliamperes / 10),
      '1718.3.2.3.1.10': states([4, 5], [11, 10]),
      '1718.3.2.3.1.11': () => integer(0),
    },
    commands: { '1718.3.2.3.1.11': enumerated(1, 2, 3) },
  },
  sentry4: {
    sysObjectId: '1.3.6.1.4.1.1718.4',
    description: 'Sentry PRO2',
    index: byTower,
    state: '1718.4.1.8.3.1.1',
    columns: {
      '1718.4.1.8.2.1.3': name,
      '1718.4.1.8.2.1.5': () => ({ text: Buffer.from([0b1000_0000]) }),
      '1718.4.1.8.3.1.1': states([2, 1]),
      '1718.4.1.8.3.1.3': (_outlet, { milliamperes }) => integer(milliamperes / 10),
      '1718.4.1.8.5.1.1': states([10, 11], [9, 8]),
      '1718.4.1.8.5.1.2': () => integer(0),
    },
    commands: { '1718.4.1.8.5.1.2': enumerated(1, 2, 6) },
  },
  'tripplite-lx': {
    sysObjectId: '1.3.6.1.4.1.850.1.1.1',
    description: 'PowerAlert 20.2.1',
    index: byUnit,
    state: '850.1.1.3.2.3.3.1.1.4',
    columns: {
      '850.1.1.3.2.3.3.1.1.2': name,
      '850.1.1.3.2.3.3.1.1.4': states([1, 2]),
      '850.1.1.3.2.3.3.1.1.5': () => integer(1),
      '850.1.1.3.2.3.3.1.1.6': () => integer(0),
    },
    commands: { '850.1.1.3.2.3.3.1.1.6': enumerated(2, 1, 3) },
  },
  tripplite: {
    sysObjectId: '1.3.6.1.4.1.850.1',
    description: 'PDUMH20HVNET 12.04.0055',
    index: ({ number }) => `1.${number}`,
    state: '850.10.2.3.5.1.2',
    columns: { '850.10.2.3.5.1.2': states([1, 2]), '850.10.2.3.5.1.5': name },
    commands: { '850.10.2.3.5.1.4': enumerated(2, 1, 3) },
  },
  panduit: {
    sysObjectId: '1.3.6.1.4.1.19536.10.1',
    description: 'Model P24G01M, 200-240V 24A 5.0kVA',
    index: byUnit,
    state: '19536.10.1.5.2.1.1',
    columns: {
      '19536.10.1.5.1.1.2': name,
      '19536.10.1.5.1.1.5': current(10),
      '19536.10.1.5.2.1.1': states([1, 2], [3, 4]),
      '19536.10.1.5.2.1.2': () => integer(-1),
      '19536.10.1.5.2.1.3': () => integer(-1),
      '19536.10.1.5.2.1.8': () => integer(1),
      '19536.10.1.5.2.1.10': states([1, 2]),
    },
    commands: {
      '19536.10.1.5.2.1.2': inSeconds('off'),
      '19536.10.1.5.2.1.3': inSeconds('on'),
      '19536.10.1.5.2.1.10': enumerated(2, 1, 6),
    },
  },
  enlogic: {
    sysObjectId: '1.3.6.1.4.1.38446.1',
    description: 'Enlogic PDU',
    index: byUnit,
    state: '38446.1.5.4.1.4',
    second: '38446.1.5.5.1.4',
    columns: {
      '38446.1.5.4.1.2': ({ number, rowSays = number }) => integer(rowSays),
      '38446.1.5.4.1.3': name,
      '38446.1.5.4.1.4': states([0, 1]),
      '38446.1.5.5.1.4': states([1, 2]),
      '38446.1.5.9.1.2': ({ number, meteredNumber = number }) => integer(meteredNumber),
      '38446.1.5.9.1.5': current(10),
    },
    commands: { '38446.1.5.5.1.4': enumerated(2, 1, 6) },
  },
  'iboot-pdu': {
    sysObjectId: '1.3.6.1.4.1.1418.6',
    description: 'iBoot-PDU8-C10',
    // Outlet 1 is printed on what row 0 is.
    index: ({ number }) => String(number - 1),
    state: '1418.6.5.1.7',
    second: '1418.6.5.1.6',
    columns: {
      '1418.6.5.1.1': ({ number }) => integer(number - 1),
      '1418.6.5.1.2': name,
      '1418.6.5.1.5': () => integer(0),
      '1418.6.5.1.6': (_outlet, { wasTold, pending }) => integer(pending === 'on' ? 4 : wasTold ? 1 : 0),
      '1418.6.5.1.7': states([0, 1]),
    },
    commands: { '1418.6.5.1.5': enumerated(1, 0, 2) },
  },
  aten: {
    sysObjectId: '1.3.6.1.4.1.21317.1.3.2.2.2',
    description: 'PE8108G',
    index: byNumber,
    state: '21317.1.3.2.2.2.1.5.1.2',
    second: '21317.1.3.2.2.2.2',
    columns: {
      '21317.1.3.2.2.2.1.5.1.2': states([1, 2], [3, 3]),
      '21317.1.3.2.2.2.2.10.1.2': name,
      '21317.1.3.2.2.2.2.99.1.2': (_outlet, { milliamperes }) => integer(milliamperes),
    },
    cells: { '21317.1.3.2.2.2.2': { of: besideNames, shows: states([1, 2], [3, 3]) } },
    commands: { '21317.1.3.2.2.2.2': { of: besideNames, ...enumerated(2, 1, 4) } },
  },
  gude: {
    sysObjectId: '1.3.6.1.4.1.28507.58',
    description: 'Expert Power Control 8226-1',
    index: byNumber,
    state: '28507.58.1.3.1.2.1.3',
    columns: {
      '28507.58.1.3.1.2.1.2': name,
      '28507.58.1.3.1.2.1.3': states([0, 1]),
      '28507.58.1.3.1.2.1.7': ({ faults }) => integer(faults.repowersAfterS ?? 0),
    },
    cells: {
      '28507.58.1.5.5.2.1.2': { of: byMeter, shows: ({ faults }) => integer(faults.isUnmeasured === true ? 0 : 1) },
      '28507.58.1.5.5.2.1.5': { of: byMeter, shows: current(1) },
    },
    commands: { '28507.58.1.3.1.2.1.3': enumerated(1, 0, 1) },
  },
};
