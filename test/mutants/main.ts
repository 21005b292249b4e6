// `npm run mutants`: breaks the core on purpose, one defect at a time, and shows what notices it. Exit 1 when a defect survives.
import { parseArgs } from 'node:util';
import { LEADERSHIP_MUTANTS } from '../simulation/leadership-mutants.ts';
import { MUTANTS } from '../simulation/mutants.ts';
import type { Mutant } from '../simulation/mutants.ts';
import { hunt } from '../simulation/mutant-hunt.ts';
import { SOURCE_MUTANTS } from './mutants.ts';
import { check, failedWithoutMutant } from './run.ts';
import { BY_SEARCH } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';
import { tableOf } from './table.ts';
import type { Hunted } from './table.ts';

const NAME_WIDTH = 30;
const KILLER_MAX = 220;

interface Row extends Hunted {
  name: string;
  defect: string;
  seconds: number;
  /** Not hunted: what its test needs is not installed here. */
  isSkipped?: boolean;
  /** Why nothing can be said of it: it does not fit the source, or its check broke. */
  trouble?: string;
}

const USAGE = `usage: npm run -s mutants -- [--only WORDS] [--jobs N]
  --only   those whose name has these words; default: all
  --jobs   so many at once; default: 2
`;
const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, jobs: { type: 'string', default: '2' }, help: { type: 'boolean', short: 'h', default: false } },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const isWanted = ({ name }: { name: string }): boolean => name.includes(values.only);

async function ofSimulation(mutant: Mutant): Promise<Row> {
  const beganMs = performance.now();
  const { killer, soundViolations } = await hunt(mutant);
  if (soundViolations.length > 0) throw new Error(`the sound core fails in the scenario of ${mutant.name}: ${soundViolations.join('; ')}`);
  return { name: mutant.name, defect: mutant.defect, file: undefined, killer, seconds: (performance.now() - beganMs) / 1000 };
}

async function ofSource(mutant: SourceMutant): Promise<Row> {
  const { name, defect, file, killedBy } = mutant;
  try {
    return { name, defect, file, ...(await check(killedBy, mutant)) };
  } catch (error) {
    // One that must be mended keeps none of the others from being hunted.
    return { name, defect, file, killer: undefined, seconds: 0, trouble: error instanceof Error ? error.message : String(error) };
  }
}

function print({ name, defect, killer, seconds, isSkipped = false, trouble }: Row): void {
  const fate = killer !== undefined ? `killed by ${killer}` : trouble === undefined ? 'SURVIVED' : `BROKEN: ${trouble}`;
  const words = isSkipped ? 'skipped: what its test needs is not installed here' : fate;
  process.stdout.write(`${name.padEnd(NAME_WIDTH)} ${defect}\n${''.padEnd(NAME_WIDTH)} ${words.slice(0, KILLER_MAX)} (${seconds.toFixed(1)} s)\n`);
}

/** Runs every task, so many at once, and prints the rows in their order. */
async function runAll(tasks: readonly (() => Promise<Row>)[], jobs: number): Promise<Row[]> {
  const rows = new Map<number, Row>();
  let [next, shown] = [0, 0];
  const lane = async (): Promise<void> => {
    for (let index = next++; index < tasks.length; index = next++) {
      const row = await tasks[index]?.();
      if (row !== undefined) rows.set(index, row);
      for (let ready = rows.get(shown); ready !== undefined; ready = rows.get(shown)) {
        print(ready);
        shown += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, lane));
  return [...rows.values()];
}

async function soundCore(mutants: readonly SourceMutant[]): Promise<string | undefined> {
  const files = [...new Set(mutants.flatMap(({ killedBy }) => (killedBy.kind === 'test' ? [killedBy.file] : [])))];
  const searched = mutants.some(({ killedBy }) => killedBy.kind === 'search') ? await check(BY_SEARCH) : undefined;
  return searched?.killer ?? (files.length === 0 ? undefined : await failedWithoutMutant(files));
}

const source = SOURCE_MUTANTS.filter(isWanted);
const fault = await soundCore(source);
if (fault !== undefined) {
  process.stdout.write(`the sound core fails already: ${fault}\n`);
  process.exit(1);
}
// One world at a time: a world stands alone on its event loop.
const simulated = [...MUTANTS, ...LEADERSHIP_MUTANTS].filter(isWanted);
const rows = [
  ...(await runAll(
    source.map((mutant) => () => ofSource(mutant)),
    Math.max(1, Number(values.jobs)),
  )),
  ...(await runAll(
    simulated.map((mutant) => () => ofSimulation(mutant)),
    1,
  )),
];
const hunted = rows.filter(({ isSkipped }) => isSkipped !== true);
const killed = hunted.filter(({ killer }) => killer !== undefined).length;
process.stdout.write(`${tableOf(hunted).join('\n')}\n`);
process.stdout.write(`${rows.length} mutants, ${killed} killed, ${rows.length - hunted.length} skipped\n`);
process.exitCode = killed === hunted.length ? 0 : 1;
