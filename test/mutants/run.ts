import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILT_VARIABLE } from '../../src/testbed/shipped/program.ts';
import { MUTANT_VARIABLE } from './mutants.ts';
import type { Check, SourceMutant } from './source-mutant.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LOAD = new URL('./load.ts', import.meta.url).href;
const SEARCH = fileURLToPath(new URL('./search-check.ts', import.meta.url));
const CONFIG = fileURLToPath(new URL('./vitest.config.ts', import.meta.url));
const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const DEADLINE_MS = 240_000;
/** For every test that a mutant names, in one run. */
const ALL_DEADLINE_MS = 1_800_000;
const WORDS_MAX = 160;

/** What a check came to: `killer` names what noticed the defect, `undefined` when nothing did. */
export interface Outcome {
  killer: string | undefined;
  /** The test that should notice it is skipped here, for what it needs is not installed. */
  isSkipped: boolean;
  seconds: number;
}

/** Runs one check in a process of its own, with the mutant in it or, without one, with the sound core. Rejects when the check itself broke. */
export async function check(one: Check, mutant?: SourceMutant): Promise<Outcome> {
  const beganMs = performance.now();
  const seconds = (): number => (performance.now() - beganMs) / 1000;
  try {
    const found = one.kind === 'search' ? { killer: await searched(mutant), isSkipped: false } : await tested([one.file], one.name, mutant);
    return { ...found, seconds: seconds() };
  } catch (error) {
    // A defect may make something wait for ever: that is noticed too, and no reason to hunt no other.
    if (mutant === undefined || !(error instanceof DeadlineOver)) throw error;
    return { killer: `deadline: ${error.message}`, isSkipped: false, seconds: seconds() };
  }
}

/** The names of the failed tests in these files with the sound core: there must be none. */
export async function failedWithoutMutant(files: readonly string[]): Promise<string | undefined> {
  return (await tested(files, '', undefined, ALL_DEADLINE_MS)).killer;
}

async function searched(mutant: SourceMutant | undefined): Promise<string | undefined> {
  const { output, errors, code } = await execute(['--import', LOAD, SEARCH], mutant);
  // A defect may make the automaton throw: nothing goes on then, and that is noticed too.
  if (code !== 0) return `search: ${/^\w*Error: .*$/m.exec(errors)?.[0] ?? `ended with code ${String(code)}`}`.slice(0, WORDS_MAX);
  const found = JSON.parse(output) as { words: string; trail: readonly string[] } | null;
  return found === null ? undefined : `search: ${found.words}${found.trail.length === 0 ? '' : ` (${found.trail.join('; ')})`}`;
}

interface Report {
  testResults: readonly { message: string; assertionResults: readonly { fullName: string; status: string }[] }[];
}

async function tested(
  files: readonly string[],
  name: string,
  mutant: SourceMutant | undefined,
  deadlineMs = DEADLINE_MS,
): Promise<Omit<Outcome, 'seconds'>> {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-mutant-'));
  try {
    const file = join(folder, 'report.json');
    const { errors } = await execute([VITEST, 'run', '--config', CONFIG, '--reporter', 'json', '--outputFile', file, ...files], mutant, deadlineMs);
    if (!existsSync(file)) throw new Error(`the tests of ${files.join(', ')} gave no report: ${errors.slice(-500)}`);
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    const unread = report.testResults.find(({ assertionResults }) => assertionResults.length === 0);
    if (unread !== undefined) throw new Error(`no test ran: ${unread.message.slice(0, 500)}`);
    const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
    const named = tests.filter(({ fullName }) => fullName.includes(name));
    if (named.length === 0) throw new Error(`${files.join(', ')} has no test ${JSON.stringify(name)}`);
    const failed = named.find(({ status }) => status === 'failed');
    const killer = failed === undefined ? undefined : `test “${failed.fullName}”${files.length === 1 ? ` (${files[0] ?? ''})` : ''}`;
    return { killer, isSkipped: named.every(({ status }) => status === 'skipped' || status === 'pending') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Ended {
  output: string;
  errors: string;
  code: number | null;
}

class DeadlineOver extends Error {}

function execute(args: readonly string[], mutant: SourceMutant | undefined, deadlineMs = DEADLINE_MS): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // A built program has no mutant in it.
    const { [MUTANT_VARIABLE]: _outer, [BUILT_VARIABLE]: _built, NODE_OPTIONS: _options, ...env } = process.env;
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: deadlineMs,
      killSignal: 'SIGKILL',
      env: { ...env, ...(mutant === undefined ? {} : { [MUTANT_VARIABLE]: mutant.name }) },
    });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (signal === null) resolve({ output, errors, code });
      else reject(new DeadlineOver(`${args.at(-1) ?? ''} was ended by ${signal}: not over within ${deadlineMs / 1000} s`));
    });
  });
}
