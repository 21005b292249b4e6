// `node test/security/guards/main.ts [--only WORDS] [--jobs 2] [--write]`: each admission policy that ships, less one clause of one expression, on a real API server; the tests must notice. Exit 1 when one is not, and
// is no known equivalent. `--write` records the outcome of each that was tried, for docs/security.md.
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { EQUIVALENT } from './equivalent.ts';
import { guardMutants, soundFiles } from './guard-mutants.ts';
import type { GuardMutant } from './guard-mutants.ts';
import { readRecord, recordWith, writeRecord } from './record.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
const CONFIG = fileURLToPath(new URL('./vitest.config.ts', import.meta.url));
const DEADLINE_MS = 240_000;
const WORDS_MAX = 150;

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, jobs: { type: 'string', default: '2' }, write: { type: 'boolean', default: false } },
});

interface Report {
  testResults: readonly { status: string; message: string; assertionResults: readonly { fullName: string; status: string }[] }[];
}

/** What noticed, in words; undefined: nothing did. Without a mutant: what fails as things are. */
async function killer(test: string, mutant?: GuardMutant): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-guard-'));
  try {
    const [config, file] = [join(folder, 'config'), join(folder, 'report.json')];
    cpSync(join(ROOT, 'config'), config, { recursive: true });
    for (const { file: place, text } of [...soundFiles(), ...(mutant === undefined ? [] : [mutant])]) writeFileSync(join(config, place), text);
    const words = [VITEST, 'run', '--config', CONFIG, '--reporter', 'json', '--outputFile', file, test];
    const errors = await ended(words, config);
    if (!existsSync(file)) throw new Error(`${test} gave no report: ${errors.slice(-500)}`);
    const results = (JSON.parse(readFileSync(file, 'utf8')) as Report).testResults;
    const tests = results.flatMap(({ assertionResults }) => assertionResults);
    const failed = tests.find(({ status }) => status === 'failed');
    if (failed !== undefined) return failed.fullName;
    const broken = results.find(({ status }) => status === 'failed');
    // What some tests wait for first did not come: they did not run, and others have passed.
    if (broken !== undefined) return `what the tests wait for first ${broken.message}`.trim();
    if (!tests.some(({ status }) => status === 'passed'))
      throw new Error(`${test} ran nothing: there is no real control plane of Kubernetes 1.30 or newer`);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function ended(words: readonly string[], config: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      words,
      { cwd: ROOT, timeout: DEADLINE_MS, env: { ...process.env, NODEFENCE_GUARDS_FROM: config } },
      (error, _out, errors) => resolve(errors === '' ? (error?.message ?? '') : errors),
    );
  });
}

const mutants = guardMutants().filter(({ name, file, without }) => `${file} ${name} ${without}`.includes(values.only));
for (const test of new Set(mutants.map((mutant) => mutant.test))) {
  const failed = await killer(test);
  if (failed !== undefined) throw new Error(`${test} fails as things are: ${failed}`);
}
const waiting = [...mutants];
const survivors: string[] = [];
const known: string[] = [];
const stale: string[] = [];
const lane = async (): Promise<void> => {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const by = await killer(mutant.test, mutant);
    const words = `${mutant.name}, without ${mutant.without}`;
    const reason = EQUIVALENT[mutant.name]?.reason;
    if (by === undefined) (reason === undefined ? survivors : known).push(words);
    if (by !== undefined && reason !== undefined) stale.push(words);
    if (values.write) writeRecord(recordWith(readRecord(), mutant, by === undefined ? 'survived' : 'killed'));
    process.stdout.write(
      `${by === undefined ? (reason === undefined ? 'SURVIVED' : 'equal   ') : 'killed  '} ${words}\n         ${(by ?? reason ?? '').split('\n')[0]?.slice(0, WORDS_MAX) ?? ''}\n`,
    );
  }
};
await Promise.all(Array.from({ length: Number(values.jobs) }, lane));
const killed = mutants.length - survivors.length - known.length;
process.stdout.write(`${mutants.length} policies less a clause, ${killed} killed, ${known.length} equivalent, ${survivors.length} survived\n`);
for (const words of stale) process.stdout.write(`no equivalent any more, take it out of equivalent.ts: ${words}\n`);
process.exitCode = survivors.length + stale.length === 0 ? 0 : 1;
