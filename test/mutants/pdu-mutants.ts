import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const AGENT = 'agents/pdu/agent.ts';
const FAMILIES = 'agents/pdu/families.ts';
const DEVICE = 'agents/pdu/device.ts';
const LOOK = 'agents/pdu/look.ts';
const VENDORS = 'agents/pdu/vendors.test.ts';

/** Defects of single families of PDUs. */
export const PDU_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'Panduit soon off',
    defect: 'an outlet of a Panduit whose delayed off still counts down is off',
    file: FAMILIES,
    edits: [['root: `${PANDUIT}.2.1.1`, on: [2], off: [1], pending: [3, 4]', 'root: `${PANDUIT}.2.1.1`, on: [2], off: [1, 3], pending: [4]']],
    killedBy: byTest(VENDORS, 'is pending, not off, while a delayed off counts down'),
  },
  {
    name: 'Panduit unmetered',
    defect: 'the current of an outlet of a Panduit is never more than nothing',
    file: FAMILIES,
    edits: [['root: `${PANDUIT}.1.1.5`, milliamperesPerUnit: 10', 'root: `${PANDUIT}.1.1.5`, milliamperesPerUnit: 0']],
    killedBy: byTest(VENDORS, 'is not believed that shows the command as its state while the current flows on'),
  },
  {
    name: 'Enlogic half off',
    defect: 'an outlet that one of the two objects of an Enlogic says to be on is off',
    file: FAMILIES,
    edits: [['settled: [1, 2], pending: [3, 4, 5, 6], off: [1] }', 'settled: [1, 2], pending: [3, 4, 5, 6] }']],
    killedBy: byTest(VENDORS, 'is not off where one of its two objects says on'),
  },
  {
    name: 'Enlogic in the dark',
    defect: 'an outlet of which an Enlogic says that it does not know its state is believed',
    file: FAMILIES,
    edits: [['settled: [1, 2], pending: [3, 4, 5, 6], off: [1] }', 'settled: [1, 2, 7], pending: [3, 4, 5, 6], off: [1, 7] }']],
    killedBy: byTest(VENDORS, 'is unknown, and sent nothing, where the object of its command does not know the state'),
  },
  {
    name: 'second says on',
    defect: 'an off counts though the second object of the outlet says on',
    file: LOOK,
    edits: [["if (seen === 'off' && also.off?.includes(value) === false) return 'unknown';", '']],
    killedBy: byTest(VENDORS, 'is not off where one of its two objects says on'),
  },
  {
    name: 'iBoot commanded',
    defect: 'an outlet of an iBoot-PDU is off once it was told to be, whatever its relay does',
    file: FAMILIES,
    edits: [["name: 'outletActualStatus', root: `${IBOOT_PDU}.5.1.7`", "name: 'outletActualStatus', root: `${IBOOT_PDU}.5.1.6`"]],
    killedBy: byTest(VENDORS, 'is on while its relay is, whatever it says was commanded'),
  },
  {
    name: 'iBoot between two',
    defect: 'an outlet of an iBoot-PDU is off in the middle of a cycle that ends on',
    file: FAMILIES,
    edits: [['settled: [0, 1], pending: [2, 3, 4], off: [0] }', 'settled: [0, 1, 2, 3, 4], pending: [] }']],
    killedBy: byTest(VENDORS, 'is not off while its relay is off and outletStatus is 2'),
  },
  {
    name: 'iBoot counted blindly',
    defect: 'a number means an outlet of an iBoot-PDU though nobody knows with which row it begins: the neighbour is switched',
    file: DEVICE,
    edits: [['const isCounted = family.countsFromFirst !== true || rows', 'const isCounted = family.countsFromFirst === true || rows']],
    killedBy: byTest(VENDORS, 'switches by number only where it has row 0, and by name always'),
  },
  {
    name: 'ATEN counted through',
    defect: 'the scalars of an ATEN are counted through: from outlet 9 on the neighbour is switched',
    file: FAMILIES,
    edits: [['`${outlet <= 8 ? outlet + 1 : outlet + 2}.0`', '`${outlet <= 9 ? outlet + 2 : outlet + 1}.0`']],
    killedBy: byTest(VENDORS, 'switches the outlet that is meant on both sides of the table that parts its scalars'),
  },
  {
    name: 'ATEN soon off',
    defect: 'an outlet of an ATEN that waits for its delay, or starts again, is off',
    file: FAMILIES,
    edits: [['settled: [1, 2], pending: [3, 4], off: [1] }', 'settled: [1, 2, 3, 4], pending: [] }']],
    killedBy: byTest(VENDORS, 'is not off while its table says off and its scalar 3'),
  },
  {
    name: 'Gude returns',
    defect: 'an outlet that its device is to switch on again in some seconds is off',
    file: LOOK,
    edits: [["if (seen === 'off') seen = 'pending';", '']],
    killedBy: byTest(VENDORS, 'that is to switch an outlet on again by itself is sent no off, and one that is off there is not'),
  },
  {
    name: 'Gude sent all the same',
    defect: 'an off that the device will take back by itself is sent',
    file: AGENT,
    edits: [["if (look.returning !== undefined && state === 'off')", "if (look.returning !== undefined && state !== 'off')"]],
    killedBy: byTest(VENDORS, 'that is to switch an outlet on again by itself is sent no off, and one that is off there is not'),
  },
  {
    name: "Gude's neighbour",
    defect: 'the current of the next outlet witnesses the off of this one, where meters are counted from 0',
    file: DEVICE,
    edits: [["rows.some(({ index }) => index === '0') ?", "rows.some(({ index }) => index === '-') ?"]],
    killedBy: byTest(VENDORS, 'is witnessed by the meter of the outlet itself, whether its rows begin with 0 or with 1'),
  },
  {
    name: 'Gude of any model',
    defect: 'the tables of one model are read on another',
    file: DEVICE,
    edits: [["const own = family.ofModel?.(arc ?? '') ?? family;", 'const own = family;']],
    killedBy: byTest(VENDORS, 'of another model has its tables below an arc of its own, and one that does not tell its model is refused'),
  },
  {
    name: 'row of another outlet',
    defect: 'an outlet is switched by a number though its row says that it is another one',
    file: DEVICE,
    edits: [['shown.number !== plug.numbers.at(-1))', 'shown.number === undefined)']],
    killedBy: byTest(VENDORS, 'is sent nothing by a number where the row says that it is of another outlet'),
  },
];
