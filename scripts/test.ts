// `npm test`: the checks, then every test, then one plain last line that counts both.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runChecks } from './check.ts';
import { COUNTS_FILE_VARIABLE, countsLine, type Counts } from './counts-reporter.ts';
import { assetsLine } from '../src/drill/control-plane/assets.ts';
import { setUpPackages, TEST_PROGRAMS, thisMachine } from './packages.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

function add(left: Counts, right: Counts): Counts {
  return { passed: left.passed + right.passed, failed: left.failed + right.failed, skipped: left.skipped + right.skipped };
}

function packageCounts(): Counts {
  const missing = setUpPackages(TEST_PROGRAMS, thisMachine(), (line) => process.stderr.write(`${line}\n`));
  return { passed: 0, failed: process.env['CI'] === 'true' ? missing.length : 0, skipped: 0 };
}

/** A run that ends without counts, or badly although every test passed, counts as one failed test. */
async function runTests(filters: readonly string[]): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-test-'));
  const file = join(folder, 'counts.json');
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...filters], {
        cwd: ROOT,
        stdio: ['ignore', 'inherit', 'inherit'],
        env: { ...process.env, [COUNTS_FILE_VARIABLE]: file },
      });
      for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.once(signal, () => child.kill(signal));
      child.on('error', reject);
      child.on('exit', resolve);
    });
    const counts = JSON.parse(readFileSync(file, 'utf8')) as Counts;
    return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
  } catch (error) {
    process.stderr.write(`vitest ended without counts: ${error instanceof Error ? error.message : String(error)}\n`);
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const filters = process.argv.slice(2);
process.stdout.write(`${assetsLine(process.env)}\n`);
let counts = packageCounts();
if (filters.length === 0) counts = add(counts, await runChecks());
counts = add(counts, await runTests(filters));
process.stdout.write(`${countsLine(counts)}\n`);
process.exitCode = counts.failed === 0 ? 0 : 1;
