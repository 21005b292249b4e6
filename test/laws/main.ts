// `npm run search`: every run of the automaton with few things out of the ordinary, wider than the tests have time for. Exit 1 on a broken law or a dead end.
import { parseArgs } from 'node:util';
import { ROWS } from '../../src/domain/automaton.ts';
import { CORE, WORLDS } from './plans.ts';
import type { World } from './plans.ts';
import { search } from './search.ts';
import { countsLine } from './counts.ts';

const USAGE = `usage: npm run -s search -- [--deviations N] [--core N] [--only WORDS]
Searches every world with at most N deviations (default 1), and the heart of the automaton with at most that many (default 2).
--only: the worlds whose name has these words, not the heart; which rows they reach is not judged then.`;
const SHOWN_MAX = 10;

const { values } = parseArgs({
  options: {
    deviations: { type: 'string', default: '1' },
    core: { type: 'string', default: '2' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const [deviations, core] = [Number(values.deviations), Number(values.core)];
const { only } = values;
const worlds = WORLDS.filter(({ name }) => only === undefined || name.includes(only));
if (values.help || worlds.length === 0 || !Number.isInteger(deviations) || !Number.isInteger(core) || deviations < 0 || core < 0) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(values.help ? 0 : 2);
}

const rows = new Set<string>();
let [states, transitions, faults] = [0, 0, 0];

function look({ name, plan, begin }: World, deviationsMax: number): void {
  const beganMs = performance.now();
  const found = search(plan, deviationsMax, { begin });
  for (const row of found.rows) rows.add(row);
  states += found.states;
  transitions += found.transitions;
  faults += found.violations.size + found.endless.length;
  const seconds = ((performance.now() - beganMs) / 1000).toFixed(1);
  process.stdout.write(`${name}, at most ${deviationsMax} deviations: ${countsLine(found)}, ${seconds} s\n`);
  for (const [words, trail] of [...found.violations].slice(0, SHOWN_MAX)) process.stdout.write(`  ${words}\n    ${trail.join('\n    ')}\n`);
  for (const trail of found.endless.slice(0, SHOWN_MAX)) process.stdout.write(`  no end\n    ${trail.join('\n    ')}\n`);
}

if (only === undefined) look({ name: 'the heart of it', plan: CORE }, core);
for (const world of worlds) look(world, deviations);
const missed = only === undefined ? ROWS.map(({ id }) => id).filter((id) => !rows.has(id)) : [];
if (missed.length > 0) process.stdout.write(`rows that nothing reached: ${missed.join(', ')}\n`);
process.stdout.write(
  `${states} states, ${transitions} transitions, ${ROWS.filter(({ id }) => rows.has(id)).length} of ${ROWS.length} rows reached, ${faults} faults\n`,
);
process.exitCode = faults + missed.length === 0 ? 0 : 1;
