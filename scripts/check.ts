// The static checks, two at a time: compiler, linter, formatter, layering, dead code. Prints the output of those that fail.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { countsLine, type Counts } from './counts-reporter.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Check {
  name: string;
  script: string;
  parameters: readonly string[];
}

/** The slowest first, so that the short ones fill the other core. */
const CHECKS: readonly Check[] = [
  { name: 'eslint', script: 'eslint/bin/eslint.js', parameters: ['.', '--max-warnings', '0'] },
  { name: 'tsc', script: 'typescript/bin/tsc', parameters: ['-p', '.', '--noEmit'] },
  { name: 'knip', script: 'knip/bin/knip.js', parameters: ['--no-progress'] },
  { name: 'dependency-cruiser', script: 'dependency-cruiser/bin/dependency-cruiser.mjs', parameters: ['src', 'agents', 'scripts', 'test'] },
  { name: 'prettier', script: 'prettier/bin/prettier.cjs', parameters: ['--check', '--log-level', 'warn', '.'] },
];

interface Verdict {
  ok: boolean;
  output: string;
  seconds: number;
}

function perform(check: Check): Promise<Verdict> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [`node_modules/${check.script}`, ...check.parameters], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    const finish = (ok: boolean): void => {
      resolve({ ok, output: Buffer.concat(chunks).toString(), seconds: (performance.now() - startedAt) / 1000 });
    };
    child.on('error', (error) => {
      chunks.push(Buffer.from(`cannot start: ${error.message}\n`));
      finish(false);
    });
    child.on('close', (code) => {
      finish(code === 0);
    });
  });
}

/** Runs every check; each counts as one test. */
export async function runChecks(): Promise<Counts> {
  const waiting = [...CHECKS];
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  const worker = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const { ok, output, seconds } = await perform(check);
      counts[ok ? 'passed' : 'failed'] += 1;
      process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${check.name} (${seconds.toFixed(1)} s)\n${ok ? '' : output}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));
  return counts;
}

if (import.meta.main) {
  const counts = await runChecks();
  process.stdout.write(`${countsLine(counts)}\n`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
}
