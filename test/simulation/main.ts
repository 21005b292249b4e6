import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { NOTHING_PLAYED, paceText, playedToo } from './pace.ts';
import { runSeed } from './run-seed.ts';
import type { SeedResult } from './seed-result.ts';
import { scenarioWith } from './secondary-controllers/draws.ts';
import type { Cast } from './secondary-controllers/draws.ts';
import { lawOf, shrink } from './shrink.ts';
import { simplified } from './simplify.ts';
import { BASE_NAMES, firstPoint, parsePoint, playPoint, pointAt, pointsOf, pointText, sweptScenario } from './sweep.ts';
import { runInWorkers, serveAsWorker } from './workers.ts';

const WORKER = '--worker';
/** Of one cast. */
const WORKERS: Readonly<Record<Cast, string>> = {
  all: WORKER,
  fence: '--worker-fence',
  daemons: '--worker-daemons',
  dumps: '--worker-dumps',
  remedies: '--worker-remedies',
  ways: '--worker-ways',
};
/** With how many calls lie between two that are struck. */
const SWEEP_WORKER = '--worker-sweep=';
const SILENCE_MS = 300_000;
const PROGRESS_MS = 2_000;
const SHOWN_FAILURES_MAX = 20;

const DIGEST_DIGITS = 16;
const SHRUNK_MAX = 3;
const SHRINK_MS = 60_000;

const USAGE = `usage: npm run -s simulate -- --seeds N [--first S] [--jobs K] [--no-shrink]
       npm run -s simulate -- --seed N [--without WHAT,...] [--trace] [--no-shrink]
       npm run -s simulate -- --sweep [--jobs K] [--every N] | --at BASE:CALL:MOMENT [--trace]
       --controllers fence|all|daemons|dumps|remedies|ways: beside --seeds and --seed, the controller that fences alone, (as by default) those beside it
       too, as the seed draws them, the daemons of the nodes with it, crash kernels or other ways than a BMC, which else are played in a share of the seeds, or remedies
Runs whole simulated clusters, one per seed, and judges laws P1 to P11. A seed that fails is shrunk: what it can do without is left out. --sweep
strikes the controller at each call of a few base scenarios, before and after its effect, and takes its NodeFence away by force at each. "digest" sums the traces up: it stays the same as long as
no simulated code does anything else. The last line is "N seeds, N violations"; exit 1 on any.`;

function wholeNumber(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) {
    return fallback;
  }
  if (!/^\d{1,9}$/.test(text)) {
    process.stderr.write(`--${name}: ${text} is not a whole number\n${USAGE}\n`);
    process.exit(2);
  }
  return Number(text);
}

interface Arguments {
  seeds: string | undefined;
  first: string | undefined;
  seed: string | undefined;
  jobs: string | undefined;
  without: string | undefined;
  every: string | undefined;
  at: string | undefined;
  cast: Cast;
  trace: boolean;
  sweep: boolean;
  isShrinking: boolean;
}

function isCast(name: string): name is Cast {
  return Object.hasOwn(WORKERS, name);
}

function readArguments(): Arguments {
  try {
    const { values } = parseArgs({
      options: {
        seeds: { type: 'string' },
        first: { type: 'string' },
        seed: { type: 'string' },
        jobs: { type: 'string' },
        without: { type: 'string' },
        every: { type: 'string' },
        at: { type: 'string' },
        controllers: { type: 'string', default: 'all' },
        trace: { type: 'boolean', default: false },
        sweep: { type: 'boolean', default: false },
        shrink: { type: 'boolean', default: true },
        help: { type: 'boolean', default: false },
      },
      allowNegative: true,
    });
    if (values.help) {
      process.stdout.write(`${USAGE}\n`);
      process.exit(0);
    }
    const { seeds, first, seed, jobs, without, every, at, controllers, trace, sweep, shrink } = values;
    if (!isCast(controllers)) throw new Error(`--controllers: ${controllers} is none of ${Object.keys(WORKERS).join(', ')}`);
    return { seeds, first, seed, jobs, without, every, at, cast: controllers, trace, sweep, isShrinking: shrink };
  } catch (thrown) {
    process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n${USAGE}\n`);
    process.exit(2);
  }
}

function printFailure(result: SeedResult, cast: Cast | undefined, without: readonly string[] = []): void {
  process.stdout.write(`seed ${result.seed}: ${result.scenario}\n`);
  for (const violation of result.violations) {
    process.stdout.write(`  ${violation}\n`);
  }
  process.stdout.write(`  replay: ${replayOf(result.seed, cast, without)}\n`);
}

function replayOf(seed: number, cast: Cast | undefined, without: readonly string[]): string {
  return `npm run -s simulate -- --seed ${seed}${cast === undefined || cast === 'all' ? '' : ` --controllers ${cast}`}${without.length === 0 ? '' : ` --without ${without.join(',')}`} --trace`;
}

/** Prints the least that still fails in the same way. */
async function printShrunk(failed: SeedResult, cast: Cast, already: readonly string[] = []): Promise<void> {
  const endsAtMs = performance.now() + SHRINK_MS;
  const { without, result, runs } = await shrink(failed, {
    scenario: scenarioWith(failed.seed, cast),
    without: already,
    isEnough: () => performance.now() > endsAtMs,
  });
  process.stdout.write(
    `shrunk in ${runs} runs${performance.now() > endsAtMs ? ', cut short' : ''}: without ${without.length === 0 ? 'anything' : without.join(', ')}\n`,
  );
  if (without.length > already.length) {
    printFailure(result, cast, without);
  }
}

function finish(seeds: number, violations: number): void {
  process.stdout.write(`${seeds} seeds, ${violations} violations\n`);
  process.exitCode = violations === 0 ? 0 : 1;
}

async function runOne(seed: number, without: readonly string[], { trace, cast, isShrinking }: Arguments): Promise<void> {
  const scenario = simplified(scenarioWith(seed, cast), without);
  const result = await runSeed(seed, { scenario, ...(trace ? { onLine: (line: string) => process.stdout.write(`${line}\n`) } : {}) });
  process.stdout.write(
    `seed ${seed}: ${result.scenario}\nhash ${result.hash}, ${result.events} events, ${(result.virtualMs / 1000).toFixed(1)} s of virtual time\n`,
  );
  if (result.violations.length > 0) {
    printFailure(result, cast, without);
    if (isShrinking && !trace) await printShrunk(result, cast, without);
  }
  finish(1, result.violations.length);
}

interface Batch {
  argument: string;
  first: number;
  count: number;
  jobs: number;
  show: (failed: SeedResult) => void;
}

/** Runs worlds in processes of their own; shows the first failures and the pace. */
async function runBatch({ argument, first, count, jobs, show }: Batch): Promise<{ violations: number; failed: SeedResult[]; digest: string }> {
  const startedMs = performance.now();
  let [done, violations, lastShownMs] = [0, 0, startedMs];
  const failed: SeedResult[] = [];
  const traces: string[] = [];
  let pace = NOTHING_PLAYED;
  const rate = (): string => `${(done / ((performance.now() - startedMs) / 1000)).toFixed(0)} seeds/s`;
  await runInWorkers({
    program: fileURLToPath(import.meta.url),
    argument,
    first,
    seeds: count,
    jobs,
    silenceMs: SILENCE_MS,
    onResult: (result) => {
      done += 1;
      pace = playedToo(pace, result);
      traces.push(`${result.seed}:${result.hash}`);
      violations += result.violations.length;
      if (result.violations.length > 0 && failed.push(result) <= SHOWN_FAILURES_MAX) {
        show(result);
      }
      if (performance.now() - lastShownMs > PROGRESS_MS) {
        lastShownMs = performance.now();
        process.stderr.write(`${done} of ${count} seeds, ${violations} violations, ${rate()}\n`);
      }
    },
  });
  process.stderr.write(`${rate()} with ${jobs} processes; ${paceText(pace)}\n`);
  if (failed.length > SHOWN_FAILURES_MAX) {
    process.stdout.write(`and ${failed.length - SHOWN_FAILURES_MAX} failing seeds more\n`);
  }
  return { violations, failed, digest: createHash('sha256').update(traces.toSorted().join()).digest('hex').slice(0, DIGEST_DIGITS) };
}

async function runMany(first: number, seeds: number, jobs: number, { cast, isShrinking }: Arguments): Promise<void> {
  const show = (failure: SeedResult): void => printFailure(failure, cast);
  const { violations, failed, digest } = await runBatch({ argument: WORKERS[cast], first, count: seeds, jobs, show });
  for (const result of isShrinking ? distinct(failed).slice(0, SHRUNK_MAX) : []) {
    await printShrunk(result, cast);
  }
  process.stdout.write(`digest ${digest}\n`);
  finish(seeds, violations);
}

async function runSweep(jobs: number, every: number): Promise<void> {
  let [count, violations] = [0, 0];
  for (const base of BASE_NAMES) {
    const calm = await runSeed(1, { scenario: sweptScenario(base) });
    const points = pointsOf(calm.calls ?? 0, every);
    process.stderr.write(`${base}: ${calm.calls ?? 0} calls, ${points} crashes\n`);
    const show = (result: SeedResult): void => {
      const point = pointText(pointAt(result.seed, every));
      process.stdout.write(`${point}: ${result.scenario}\n${result.violations.map((violation) => `  ${violation}\n`).join('')}`);
      process.stdout.write(`  replay: npm run -s simulate -- --at ${point} --trace\n`);
    };
    const found = await runBatch({ argument: SWEEP_WORKER + String(every), first: firstPoint(base), count: points, jobs, show });
    count += points + 1;
    violations += found.violations + calm.violations.length;
    for (const violation of calm.violations) process.stdout.write(`${base} without any crash: ${violation}\n`);
  }
  finish(count, violations);
}

async function runPoint(text: string, isTraced: boolean): Promise<void> {
  const point = parsePoint(text);
  const result = await playPoint(point, isTraced ? { onLine: (line: string) => process.stdout.write(`${line}\n`) } : {});
  process.stdout.write([`${text}: ${result.scenario}`, ...result.violations.map((violation) => `  ${violation}`), ''].join('\n'));
  finish(1, result.violations.length);
}

/** One seed for each kind of violation. */
function distinct(failed: readonly SeedResult[]): SeedResult[] {
  return [...new Map(failed.map((result) => [lawOf(result.violations[0] ?? ''), result])).values()];
}

function serve(argument: string): void {
  const cast = Object.keys(WORKERS)
    .filter(isCast)
    .find((name) => WORKERS[name] === argument);
  if (cast !== undefined) {
    serveAsWorker((seed) => runSeed(seed, { scenario: scenarioWith(seed, cast) }));
    return;
  }
  const every = Number(argument.slice(SWEEP_WORKER.length));
  serveAsWorker(async (index) => {
    const point = pointAt(index, every);
    return { ...(await playPoint(point)), seed: index };
  });
}

async function main(): Promise<void> {
  const values = readArguments();
  const jobs = wholeNumber('jobs', values.jobs, availableParallelism());
  if (values.at !== undefined) {
    await runPoint(values.at, values.trace);
  } else if (values.sweep) {
    await runSweep(jobs, Math.max(1, wholeNumber('every', values.every, 1)));
  } else if (values.seed !== undefined) {
    const without = (values.without ?? '').split(',').filter((name) => name !== '');
    await runOne(wholeNumber('seed', values.seed, 0), without, values);
  } else {
    await runMany(wholeNumber('first', values.first, 1), wholeNumber('seeds', values.seeds, 100), jobs, values);
  }
}

const worker = process.argv.slice(2).find((argument) => argument.startsWith(WORKER));
if (worker === undefined) {
  await main();
} else {
  serve(worker);
}
