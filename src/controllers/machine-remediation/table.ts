/** What the truth table of docs/machine-remediation.md looks at. */
export interface Inputs {
  hasNode: boolean;
  needsRemediation: boolean;
  isPoweredOn: boolean;
  hasRebootAnnotation: boolean;
}

export type TableAction = 'nothing' | 'addRebootAnnotation' | 'deleteNode' | 'removeRemediationAnnotation' | 'removeRebootAnnotation';

export interface TableRow extends Inputs {
  action: TableAction;
}

function row(bits: `${0 | 1}${0 | 1}${0 | 1}${0 | 1}`, action: TableAction): TableRow {
  const [hasNode, needsRemediation, isPoweredOn, hasRebootAnnotation] = Array.from(bits, (bit) => bit === '1');
  return {
    hasNode: hasNode === true,
    needsRemediation: needsRemediation === true,
    isPoweredOn: isPoweredOn === true,
    hasRebootAnnotation: hasRebootAnnotation === true,
    action,
  };
}

/** Row by row: node reference exists, needs remediation, powered on, reboot annotation. The sixteenth combination is not in it: nothing. */
export const TABLE: readonly TableRow[] = [
  row('0110', 'addRebootAnnotation'),
  row('1110', 'addRebootAnnotation'),
  row('1101', 'deleteNode'),
  row('0010', 'nothing'),
  row('0011', 'nothing'),
  row('0100', 'nothing'),
  row('0111', 'nothing'),
  row('1000', 'nothing'),
  row('1010', 'nothing'),
  row('1011', 'nothing'),
  row('1100', 'nothing'),
  row('1111', 'nothing'),
  row('0101', 'removeRemediationAnnotation'),
  row('0001', 'removeRebootAnnotation'),
  row('1001', 'removeRebootAnnotation'),
];

const NAMES = ['hasNode', 'needsRemediation', 'isPoweredOn', 'hasRebootAnnotation'] as const;

export function actionOf(inputs: Inputs): TableAction {
  return TABLE.find((each) => NAMES.every((name) => each[name] === inputs[name]))?.action ?? 'nothing';
}

const WORDS: Readonly<Record<TableAction, string>> = {
  nothing: 'nothing',
  addRebootAnnotation: 'Add reboot annotation',
  deleteNode: 'Delete node',
  removeRemediationAnnotation: 'Remove needs-remediation annotation',
  removeRebootAnnotation: 'Remove reboot annotation',
};

/** As docs/machine-remediation.md prints it. */
export function tableLines(): string[] {
  return TABLE.map((each) => `${NAMES.map((name) => (each[name] ? '1' : '0')).join(' | ')} | ${WORDS[each.action]}`);
}
