import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Where the counts go instead of stdout, so that `npm test` can add the checks to them and print one last line. */
export const COUNTS_FILE_VARIABLE = 'NODEFENCE_COUNTS_FILE';

export function countsLine(counts: Counts): string {
  return `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
}

/** A file that does not load and an error that no test caught count as one failed test each. */
export function countTests(modules: readonly TestModule[], strayErrors: number): Counts {
  const counts: Counts = { passed: 0, failed: strayErrors, skipped: 0 };
  for (const module of modules) {
    const tests = [...module.children.allTests()];
    const states = tests.map((test) => test.result().state);
    counts.passed += states.filter((state) => state === 'passed').length;
    counts.failed += states.filter((state) => state === 'failed' || state === 'pending').length;
    counts.skipped += states.filter((state) => state === 'skipped').length;
    if (module.state() === 'failed' && !states.includes('failed')) counts.failed += 1;
  }
  return counts;
}

/** What a run leaves for `npm test`: its counts, and the counts of each file in which a test failed. */
export interface RunCounts extends Counts {
  failedFiles: Record<string, Counts & { tests: string[] }>;
}

export function countRun(modules: readonly TestModule[], strayErrors: number): RunCounts {
  const failed = modules.filter((module) => countTests([module], 0).failed > 0);
  const named = failed.map((module) => {
    const tests = [...module.children.allTests()].filter((test) => test.result().state !== 'passed' && test.result().state !== 'skipped');
    return [module.moduleId, { ...countTests([module], 0), tests: tests.map(({ fullName }) => fullName) }] as const;
  });
  return { ...countTests(modules, strayErrors), failedFiles: Object.fromEntries(named) };
}

/** The counts of a run in which the failed files were run again, alone. */
export function withSecondRun({ failedFiles, ...first }: RunCounts, second: Counts): Counts {
  const counts = { passed: first.passed + second.passed, failed: first.failed + second.failed, skipped: first.skipped + second.skipped };
  for (const file of Object.values(failedFiles)) {
    counts.passed -= file.passed;
    counts.failed -= file.failed;
    counts.skipped -= file.skipped;
  }
  return counts;
}

/** One line per suite of which tests were skipped, with their number. */
export function skippedLines(fullNames: readonly string[]): string {
  const suites = new Map<string, number>();
  for (const name of fullNames) {
    const suite = name.split(' > ')[0] ?? name;
    suites.set(suite, (suites.get(suite) ?? 0) + 1);
  }
  return [...suites].map(([suite, count]) => `skipped: ${suite}: ${count} test(s)\n`).join('');
}

/** Ends a run with the plain line `N passed, N failed, N skipped`, and names what was skipped. */
export class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], strayErrors: readonly SerializedError[]): void {
    const counts = countRun(modules, strayErrors.length);
    process.stdout.write(skippedLines(modules.flatMap((module) => [...module.children.allTests('skipped')].map((test) => test.fullName))));
    const file = process.env[COUNTS_FILE_VARIABLE];
    // The default reporter writes its summary after this hook has run.
    if (file === undefined) process.on('exit', () => process.stdout.write(`${countsLine(counts)}\n`));
    else writeFileSync(file, JSON.stringify(counts));
  }
}
