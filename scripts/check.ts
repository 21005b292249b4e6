// The static checks, two at a time: compiler, linter, formatter, layering, dead code. Prints the output of those that fail.
import { spawn } from 'node:child_process';
import { availableParallelism, constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { countsLine, type Counts } from './counts-reporter.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The linter's type checker is a Go program: it collects four times less often, which costs a fifth of its time less and no more memory at its peak. */
const SHORT_LIFE = { GOGC: '400' };

export interface Check {
  name: string;
  /** From the root of the repository. */
  script: string;
  parameters: readonly string[];
}

const CRUISER = 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs';
const LINTER = 'node_modules/oxlint/bin/oxlint';
const FORMATTER = 'node_modules/oxfmt/bin/oxfmt';

/** The slowest first, so that the short ones fill the other core. */
const CHECKS: readonly Check[] = [
  { name: 'types and oxlint', script: LINTER, parameters: ['.'] },
  { name: 'knip', script: 'node_modules/knip/bin/knip.js', parameters: ['--no-progress'] },
  { name: 'dependency-cruiser', script: CRUISER, parameters: ['src', 'agents', 'scripts', 'test'] },
  { name: 'oxfmt', script: FORMATTER, parameters: ['--check', '.'] },
];

/** What can be said of some files alone; what they broke elsewhere compiler and linter say, which read them all. */
export function checksOf(files: readonly string[]): Check[] {
  const typed = files.filter((file) => /^(?:src|agents|scripts|test)\/.*\.ts$/u.test(file));
  const checks: Check[] = [
    { name: 'types and oxlint', script: LINTER, parameters: ['.'] },
    { name: 'dependency-cruiser', script: CRUISER, parameters: typed },
    { name: 'oxfmt', script: FORMATTER, parameters: ['--check', '--no-error-on-unmatched-pattern', ...files] },
  ];
  const given: Record<string, number> = { 'dependency-cruiser': typed.length, oxfmt: files.length };
  return checks.filter(({ name }) => given[name] !== 0);
}

interface Verdict {
  ok: boolean;
  output: string;
  seconds: number;
}

/** Polite, a check has what others leave of the cores: tests that wait in real time do not suffer by it. */
function perform(check: Check, isPolite: boolean): Promise<Verdict> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const env = { ...process.env, ...SHORT_LIFE };
    const child = spawn(process.execPath, [check.script, ...check.parameters], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    if (isPolite && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
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

/** Runs these checks, or every one, two at a time: the long one leaves nothing for the end that keeps one core alone. Each counts as one test. */
export async function runChecks({ checks = CHECKS, isPolite = false }: { checks?: readonly Check[]; isPolite?: boolean } = {}): Promise<Counts> {
  const waiting = [...checks];
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  const worker = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const { ok, output, seconds } = await perform(check, isPolite);
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
