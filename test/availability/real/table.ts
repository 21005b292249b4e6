import type { Row } from './played.ts';

const BEGIN = '<!-- availability: begin -->';
const END = '<!-- availability: end -->';
const COLUMNS = [
  'while the machine is being switched off',
  'ended',
  'told off',
  'went off',
  'final',
  'proven off',
  'final after',
  'time lost',
  'leaders',
  'restarts',
  'refused',
  'told by',
];

/** One line for each disturbance; times are seconds after the fault, and the time lost is against the row of none. */
export function tableOf(rows: readonly Row[]): string {
  const usual = rows.find(({ name }) => name === 'nothing')?.result.timeline.finalAt;
  const lines = rows.map(({ says, result, offs, outages, ends, restarts, answers, told }) => {
    const { poweredOffAt, finalAt } = result.timeline;
    const lost = finalAt === undefined || usual === undefined ? undefined : Math.max(0, finalAt - usual);
    const end = result.expected ? result.outcome : `**not as it must be**: ${result.problems.join('; ')}`;
    const cells = [
      says,
      end,
      `${offs} ×`,
      `${outages} ×`,
      `${ends} ×`,
      seconds(poweredOffAt),
      seconds(finalAt),
      seconds(lost),
      result.leaders.length,
      restarts,
      answers,
    ];
    return [...cells.map(String), told.length === 0 ? 'nothing' : told.join(', ')];
  });
  const all = [COLUMNS, COLUMNS.map(() => '---'), ...lines];
  return all.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** The page with this table in the place of the one that it has. */
export function inPage(page: string, table: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/availability.md has no place for the table: ${BEGIN} … ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${table}\n${page.slice(end)}`;
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? '–' : `${(ms / 1_000).toFixed(1)} s`;
}
