// `npm test`: the checks, then every test, then one plain last line that counts both.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runChecks } from './check.ts';
import { COUNTS_FILE_VARIABLE, countsLine, withSecondRun, type Counts, type RunCounts } from './counts-reporter.ts';
import { assetsLine } from '../src/testbed/control-plane/assets.ts';
import { setUpPackages, TEST_PROGRAMS, thisMachine } from './packages.ts';

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
async function runTests(filters: readonly string[]): Promise<RunCounts> {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-test-'));
  const file = join(folder, 'counts.json');
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...filters], {
        cwd: ROOT,
        stdio: ['ignore', 'inherit', 'inherit'],
        // Hundreds of tests start the program: each would compile it anew.
        env: { NODE_COMPILE_CACHE: join(folder, 'compiled'), ...process.env, [COUNTS_FILE_VARIABLE]: file },
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

const filters = process.argv.slice(2);
process.stdout.write(`${assetsLine(process.env)}\n`);
let counts = packageCounts();
if (filters.length === 0) counts = add(counts, await runChecks());
const run = await runTests(filters);
counts = add(counts, filters.length === 0 ? await runAgainAlone(run) : run);
process.stdout.write(`${countsLine(counts)}\n`);
process.exitCode = counts.failed === 0 ? 0 : 1;
