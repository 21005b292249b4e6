import { REMEDY_PHASES } from './position.ts';
import { REMEDY_ROWS } from './rows.ts';

/** docs/remedies-table.md, printed from the table that decides. */
export function remediesPage(): string {
  const lines = [
    '# The table of remedies',
    '',
    'Printed from the table in `src/domain/remedy/rows.ts` by `npm run generate`; do not edit. What a Configuration says stands in [remedies.md](remedies.md).',
    '',
    'The table is asked for each threshold of each node, level by level: nothing depends on having seen a change. The first row that applies decides. Either the position changes, which is written down, or something is done by the position that was written down before.',
    '',
    '| row | from | when | do | to |',
    '|---|---|---|---|---|',
    ...REMEDY_ROWS.map(({ id, from, when, does, to }) => `| \`${id}\` | ${from} | ${when} | ${does} | ${to} |`),
    '',
    '| phase | meaning |',
    '|---|---|',
    ...REMEDY_PHASES.map((phase) => `| ${phase} | ${MEANINGS[phase]} |`),
    '',
  ];
  return lines.join('\n');
}

const MEANINGS = {
  waiting: 'the condition was noticed; the next remedy is not due, or something holds',
  starting: 'a run is written down, and was not seen yet',
  running: 'the run was seen',
  cooling: 'all remedies were tried; the next attempt comes after `cooldown`',
  recovered: 'the condition is over; if it comes back within `cooldown`, that is the next attempt',
  fenced: 'a fence of the node took over',
  'handed-over': 'a person is asked',
} as const;
