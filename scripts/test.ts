// `npm test`: the checks and every test side by side, then one plain last line that counts both.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testsOf } from './changed-tests.ts';
import { checksOf, runChecks } from './check.ts';
import { COUNTS_FILE_VARIABLE, countsLine, withSecondRun, type Counts, type RunCounts } from './counts-reporter.ts';
import { assetsLine } from '../src/testbed/control-plane/assets.ts';
import { MUTANTS_IN_VARIABLE, standingIn } from '../test/mutants/sample.ts';
import { BUILT_VARIABLE } from '../src/testbed/shipped/program.ts';
import { SOURCE_MUTANTS } from '../test/mutants/mutants.ts';
import { bundle } from './supply/bundle.ts';
import { setUpPackages, TEST_PROGRAMS, thisMachine } from './packages.ts';
import { testOptions, USAGE } from './test-options.ts';
import { TIMES_VARIABLE } from './times-reporter.ts';
import { branchPoint, changedSince, isThere, sourcesOf } from './work-tree.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

function add(left: Counts, right: Counts): Counts {
  return { passed: left.passed + right.passed, failed: left.failed + right.failed, skipped: left.skipped + right.skipped };
}

function packageCounts(): Counts {
  const missing = setUpPackages(TEST_PROGRAMS, thisMachine(), (line) => process.stderr.write(`${line}\n`));
  return { passed: 0, failed: process.env['CI'] === 'true' ? missing.length : 0, skipped: 0 };
}

/** More than these are no matter of a busy machine. */
const FILES_RUN_AGAIN_MAX = 4;

/** A run that ends without counts, or badly although every test passed, counts as one failed test. */
async function runTests(filters: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<RunCounts> {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-test-'));
  const file = join(folder, 'counts.json');
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...filters], {
        cwd: ROOT,
        stdio: ['ignore', 'inherit', 'inherit'],
        // Hundreds of tests start the program: each would compile it anew.
        env: { NODE_COMPILE_CACHE: join(folder, 'compiled'), ...process.env, ...more, [COUNTS_FILE_VARIABLE]: file },
      });
      for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.once(signal, () => child.kill(signal));
      child.on('error', reject);
      child.on('exit', resolve);
    });
    const counts = JSON.parse(readFileSync(file, 'utf8')) as RunCounts;
    return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
  } catch (error) {
    process.stderr.write(`vitest ended without counts: ${error instanceof Error ? error.message : String(error)}\n`);
    return { passed: 0, failed: 1, skipped: 0, failedFiles: {} };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A test that waits in real time can fail because two files share the cores. The failed files run once more, alone: what passes then is told
 * by name, as a test that has to be mended; what fails again has failed.
 */
async function runAgainAlone(first: RunCounts): Promise<Counts> {
  const { failedFiles, ...counts } = first;
  const files = Object.keys(failedFiles);
  const inFiles = Object.values(failedFiles).reduce((sum, { failed }) => sum + failed, 0);
  if (files.length === 0 || files.length > FILES_RUN_AGAIN_MAX || inFiles < first.failed) return counts;
  process.stdout.write(`${files.length} file(s) failed; each runs once more, alone\n`);
  const second = await runTests([...files, '--no-file-parallelism']);
  const again = new Set(Object.values(second.failedFiles).flatMap(({ tests }) => tests));
  const flaky = Object.values(failedFiles).flatMap(({ tests }) => tests.filter((test) => !again.has(test)));
  for (const test of flaky) process.stdout.write(`FLAKY: ${test}: failed beside other files, passed alone\n`);
  return withSecondRun(first, second);
}

/** Both at once: tests wait most of their time, and the checks take what they leave. */
async function runAll(environment: NodeJS.ProcessEnv): Promise<Counts> {
  const [checked, run] = await Promise.all([runChecks({ isPolite: true }), runTests([], environment)]);
  return add(checked, await runAgainAlone(run));
}

/** Each text that a mutant quotes stands in its file, and some are hunted. */
const MUTANT_TESTS = ['test/mutants/mutants.test.ts', 'test/mutants/sample.test.ts'];

/** What a change touches, and a line about what it may touch beside that. */
async function runChanged(since: string | undefined, words: readonly string[], environment: NodeJS.ProcessEnv): Promise<Counts> {
  const commit = since ?? branchPoint(ROOT);
  const changed = changedSince(ROOT, commit);
  const { tests, leftOut } = testsOf(changed, sourcesOf(ROOT));
  const hasMutants = standingIn(SOURCE_MUTANTS, changed).length > 0;
  const files = [...new Set([...tests, ...(hasMutants ? MUTANT_TESTS : [])])];
  const through = leftOut.through.length > 3 ? [...leftOut.through.slice(0, 3), 'others'] : leftOut.through;
  const reached = leftOut.tests === 0 ? '' : `${leftOut.tests} test files that it reaches through ${through.join(', ')}; `;
  process.stdout.write(`${changed.length} files differ from ${commit.slice(0, 12)}: ${files.length} test files\n`);
  process.stdout.write(`left out: ${reached}knip, the simulation, most mutants: npm test runs them\n`);
  const more = hasMutants ? { ...environment, [MUTANTS_IN_VARIABLE]: changed.join(',') } : environment;
  const checks = checksOf(changed.filter((file) => isThere(ROOT, file)));
  const [checked, run] = await Promise.all([runChecks({ checks }), runTests([...files, ...words], more)]);
  return add(checked, run);
}

async function runWhatIsAsked(): Promise<Counts> {
  const { changed, hasTimes, filters } = testOptions(process.argv.slice(2));
  const environment = hasTimes ? { [TIMES_VARIABLE]: 'true' } : {};
  // A look at one's own change installs nothing on the machine: what needs other programs is skipped.
  if (changed !== undefined) return runChanged(changed.since, filters, environment);
  const missing = packageCounts();
  return add(missing, filters.length === 0 ? await runAll(environment) : await runTests(filters, environment));
}

/** A program that cannot be built is one failed test; the others start the sources then. */
async function counted(build: () => Promise<void>): Promise<Counts> {
  try {
    await build();
    return { passed: 0, failed: 0, skipped: 0 };
  } catch (error) {
    process.stderr.write(`the program that ships cannot be built: ${error instanceof Error ? error.message : String(error)}\n`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

/** What tests start is what ships: its modules in few files, which start in half the time. It stands as deep as `dist/src`, for what it reads beside it. */
async function withBuiltProgram(task: () => Promise<Counts>): Promise<Counts> {
  const cache = join(ROOT, '.cache');
  mkdirSync(cache, { recursive: true });
  const out = mkdtempSync(join(cache, 'program-'));
  try {
    const built = await counted(() => bundle({ out, isProduct: false }));
    if (built.failed === 0) process.env[BUILT_VARIABLE] = out;
    return add(built, await task());
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

if (testOptions(process.argv.slice(2)).isHelp) {
  process.stdout.write(USAGE);
} else {
  process.stdout.write(`${assetsLine(process.env)}\n`);
  const counts = await withBuiltProgram(runWhatIsAsked);
  process.stdout.write(`${countsLine(counts)}\n`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
}
