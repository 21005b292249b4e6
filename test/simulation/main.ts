import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runSeed } from './run-seed.ts';
import type { SeedResult } from './seed-result.ts';
import { runInWorkers, serveAsWorker } from './workers.ts';

const WORKER = '--worker';
const SILENCE_MS = 60_000;
const PROGRESS_MS = 2_000;
const SHOWN_FAILURES_MAX = 20;

const USAGE = `usage: npm run -s simulate -- --seeds N [--first S] [--jobs K]
       npm run -s simulate -- --seed N [--trace]
Runs whole simulated clusters, one per seed, and judges laws P1 to P10. The last line is "N seeds, N violations"; exit 1 on any.`;

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

function readArguments(): {
  seeds: string | undefined;
  first: string | undefined;
  seed: string | undefined;
  jobs: string | undefined;
  trace: boolean;
} {
  try {
    const { values } = parseArgs({
      options: {
        seeds: { type: 'string' },
        first: { type: 'string' },
        seed: { type: 'string' },
        jobs: { type: 'string' },
        trace: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(`${USAGE}\n`);
      process.exit(0);
    }
    return { seeds: values.seeds, first: values.first, seed: values.seed, jobs: values.jobs, trace: values.trace };
  } catch (thrown) {
    process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n${USAGE}\n`);
    process.exit(2);
  }
}

function printFailure(result: SeedResult): void {
  process.stdout.write(`seed ${result.seed}: ${result.scenario}\n`);
  for (const violation of result.violations) {
    process.stdout.write(`  ${violation}\n`);
  }
  process.stdout.write(`  replay: npm run -s simulate -- --seed ${result.seed} --trace\n`);
}

function finish(seeds: number, violations: number): void {
  process.stdout.write(`${seeds} seeds, ${violations} violations\n`);
  process.exitCode = violations === 0 ? 0 : 1;
}

async function runOne(seed: number, withTrace: boolean): Promise<void> {
  const result = await runSeed(seed, withTrace ? { onLine: (line) => process.stdout.write(`${line}\n`) } : {});
  process.stdout.write(
    `seed ${seed}: ${result.scenario}\nhash ${result.hash}, ${result.events} events, ${(result.virtualMs / 1000).toFixed(1)} s of virtual time\n`,
  );
  if (result.violations.length > 0) {
    printFailure(result);
  }
  finish(1, result.violations.length);
}

async function runMany(first: number, seeds: number, jobs: number): Promise<void> {
  const startedMs = performance.now();
  let [done, violations, failures, lastShownMs] = [0, 0, 0, startedMs];
  const rate = (): string => `${(done / ((performance.now() - startedMs) / 1000)).toFixed(0)} seeds/s`;
  await runInWorkers({
    program: fileURLToPath(import.meta.url),
    argument: WORKER,
    first,
    seeds,
    jobs,
    silenceMs: SILENCE_MS,
    onResult: (result) => {
      done += 1;
      violations += result.violations.length;
      if (result.violations.length > 0 && failures++ < SHOWN_FAILURES_MAX) {
        printFailure(result);
      }
      if (performance.now() - lastShownMs > PROGRESS_MS) {
        lastShownMs = performance.now();
        process.stderr.write(`${done} of ${seeds} seeds, ${violations} violations, ${rate()}\n`);
      }
    },
  });
  process.stderr.write(`${rate()} with ${jobs} processes\n`);
  if (failures > SHOWN_FAILURES_MAX) {
    process.stdout.write(`and ${failures - SHOWN_FAILURES_MAX} failing seeds more\n`);
  }
  finish(done, violations);
}

if (process.argv.includes(WORKER)) {
  serveAsWorker((seed) => runSeed(seed));
} else {
  const values = readArguments();
  if (values.seed !== undefined) {
    await runOne(wholeNumber('seed', values.seed, 0), values.trace);
  } else {
    await runMany(
      wholeNumber('first', values.first, 1),
      wholeNumber('seeds', values.seeds, 100),
      wholeNumber('jobs', values.jobs, availableParallelism()),
    );
  }
}
