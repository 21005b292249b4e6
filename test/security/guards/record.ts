import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EQUIVALENT } from './equivalent.ts';
import { guardFiles, guardMutants } from './guard-mutants.ts';
import type { GuardMutant } from './guard-mutants.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const FILE = join(import.meta.dirname, 'record.json');
const PAGE = join(ROOT, 'docs', 'security.md');
const BEGIN = '<!-- Written by `node test/security/guards/main.ts --write`; edits are lost. -->';
const END = '<!-- End of what is written. -->';

type Outcome = 'killed' | 'survived';

/** What became of each mutant when it was tried last, by a digest of what it is. */
export type Record = Readonly<{ [digest: string]: Outcome }>;

/** Of the policy with its defect: a policy that has changed since was not tried. */
function digestOf({ file, name, text }: GuardMutant): string {
  return createHash('sha256')
    .update(JSON.stringify([file, name, text]))
    .digest('hex')
    .slice(0, 16);
}

export function readRecord(): Record {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Record) : {};
}

/** What is of no policy any more is left out. */
export function recordWith(record: Record, mutant: GuardMutant, outcome: Outcome): Record {
  const all = { ...record, [digestOf(mutant)]: outcome };
  const found = guardMutants().flatMap((each): [string, Outcome][] => {
    const tried = all[digestOf(each)];
    return tried === undefined ? [] : [[digestOf(each), tried]];
  });
  return Object.fromEntries(found);
}

/** The record, and the table of it in docs/security.md. */
export function writeRecord(record: Record): void {
  writeFileSync(FILE, `${JSON.stringify(record, null, 2)}\n`);
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(PAGE, page.replace(shownIn(page), tableOf(record)));
}

/** The part of a page that is written from the record. */
export function shownIn(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/security.md has no part between ${BEGIN} and ${END}`);
  return page.slice(begin, end + END.length);
}

/** One line for each file: how many clauses were taken out of it, and how many of these a test noticed. */
export function tableOf(record: Record): string {
  const mutants = guardMutants();
  const lines = guardFiles().map((file) => {
    const of = mutants.filter((mutant) => mutant.file === file);
    const killed = of.filter((mutant) => record[digestOf(mutant)] === 'killed').length;
    const equal = of.filter((mutant) => isEquivalent(mutant)).length;
    const unnoticed = of.filter((mutant) => record[digestOf(mutant)] === 'survived' && !isEquivalent(mutant)).length;
    const untried = of.filter((mutant) => record[digestOf(mutant)] === undefined && !isEquivalent(mutant)).length;
    return [`\`config/${file}\``, ...[of.length, killed, equal, unnoticed, untried].map(String)];
  });
  const sum = [1, 2, 3, 4, 5].map((column) => String(lines.reduce((total, line) => total + Number(line[column]), 0)));
  const rows = [['policy', 'clauses', 'noticed by a test', 'change nothing', 'noticed by none', 'not tried yet'], ...lines, ['all', ...sum]];
  const widths = [0, 1, 2, 3, 4, 5].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const shown = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [BEGIN, '', shown[0], rule, ...shown.slice(1), '', END].join('\n');
}

/** Those that are listed as equivalent, and were noticed after all. */
export function noEquivalentsIn(record: Record): string[] {
  return guardMutants().flatMap((mutant) => (isEquivalent(mutant) && record[digestOf(mutant)] === 'killed' ? [mutant.name] : []));
}

function isEquivalent({ name, without }: GuardMutant): boolean {
  return EQUIVALENT[name]?.without === without;
}
