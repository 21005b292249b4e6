import type { Figures } from '../figures-of-all.ts';
import { wordsOf } from '../figures-of-all.ts';
import { rowsOf } from './rows.ts';

/** How one section was measured. */
export interface Origin {
  command: string;
  /** When its figures were written. */
  at: string;
  machine: string;
  /** Processes that wanted a core when it ended, the bench's own included (one minute's mean). */
  load: number;
}

export interface Kept {
  figures: Omit<Figures, 'machine'>;
  origins: Partial<Record<keyof Figures, Origin>>;
}

const HEADING = `# Measured

Printed by \`npm run -s bench -- --write\`; do not edit. \`npm run -s bench -- all --write\` measures everything, in about an hour. The figures of each section are kept in [bench.json](bench.json), so that one can be measured anew alone (\`--only NAME --write\`, \`agents --only NAME --write\`). Everything is on loopback: compare ratios and counts, and take absolute times for the software's own part. Goals are of this project; nothing here fails a build, because a busy machine is not a defect.

What the figures mean for large clusters: [scale.md](scale.md).
`;

/** docs/bench.md. */
export function pageOf({ figures, origins }: Kept): string {
  const head = ['what', 'against', 'goal', 'measured', 'met'];
  const rows = rowsOf(figures).map(([what, against, goal, measured, isMet]) => [what, against, goal, measured, VERDICT[String(isMet)] ?? '']);
  const table = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  const keys = Object.keys(origins) as (keyof Figures)[];
  const measured = keys.flatMap((key) => section(key, figures, origins[key]));
  const graphs = figures.sizes === undefined ? [] : ['## Cost against nodes', '', ...GRAPHS, ''];
  return `${[HEADING, '## The table', '', ...table, '', ...graphs, '## Section by section', '', ...measured].join('\n').trimEnd()}\n`;
}

const VERDICT: Readonly<Record<string, string>> = { true: 'yes', false: '**no**' };

const GRAPHS = [
  '![CPU for one event](images/bench-cpu.svg)',
  '',
  '![Resident memory](images/bench-memory.svg)',
  '',
  '![Time of the first sync](images/bench-sync.svg)',
];

function section(key: keyof Figures, figures: Kept['figures'], origin: Origin | undefined): string[] {
  if (origin === undefined || key === 'machine' || figures[key] === undefined) return [];
  const words = wordsOf({ [key]: figures[key] }).trimEnd();
  return [`### ${key}`, '', `\`${origin.command}\`, ${origin.at} UTC; ${origin.machine}; load ${origin.load}`, '', '```text', words, '```', ''];
}
