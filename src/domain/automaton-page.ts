import { FENCE_STATES } from './node-fence.ts';
import { ROWS } from './automaton.ts';

/** docs/automaton.md, printed from the table that decides. */
export function automatonPage(): string {
  const lines = [
    '# The fence automaton',
    '',
    'Printed from the table in `src/domain/automaton.ts` by `npm run generate`; do not edit. The first row that applies decides; rows of any state stand first.',
    '',
    '```mermaid',
    'stateDiagram-v2',
    '  [*] --> new: trigger',
    ...diagram(),
    '```',
    '',
    '| row | from | when | do | to |',
    '|---|---|---|---|---|',
    '| `none-triggered` | – | trigger, no fence open | create NodeFence (finalizer), freeze plan and identity | new |',
    '| `restored` | any | the NodeFence was restored from a backup ([backup.md](backup.md)): its record or its mark is that of another object | nothing is done to the node; its words are told, the NodeFence is removed | gone |',
    ...ROWS.map((row) => `| \`${row.id}\` | ${row.from} | ${row.when} | ${row.does} | ${row.to} |`),
    '',
  ];
  return lines.join('\n');
}

function diagram(): string[] {
  const arrows = new Set<string>();
  for (const row of ROWS) {
    if (row.from === 'any') continue;
    for (const state of FENCE_STATES) {
      if (state !== row.from && new RegExp(`\\b${state}\\b`).test(row.to)) arrows.add(`  ${row.from} --> ${state}: ${row.id}`);
    }
    if (row.to === 'gone') arrows.add(`  ${row.from} --> [*]: ${row.id}`);
  }
  return [...arrows];
}
